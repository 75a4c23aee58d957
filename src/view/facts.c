/* The numbers that sum up a recording. */
#include "view/facts.h"

#include "base/alloc.h"

#include <string.h>

void
snd_facts_count(const snd_profile *profile, snd_facts *out)
{
    out->entries = 0;
    out->dropped_entries = snd_profile_info_number(profile, "lost_entries");
    out->dropped_events = snd_profile_info_number(profile, "lost_events");
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_kind(profile, i) == SND_SITE_REGION)
            out->entries +=
                snd_profile_whole(profile, i, SND_METRIC_COUNT) + snd_profile_whole(profile, i, SND_METRIC_OPEN);
    for (uint32_t i = 0; i < profile->track_count; i++) {
        out->dropped_entries += profile->tracks[i].dropped_entries;
        out->dropped_events += profile->tracks[i].dropped_events;
    }
}

static int
is_wanted(const snd_profile *profile, const snd_view_options *options, uint32_t track)
{
    return options->thread == NULL || strcmp(options->thread, profile->tracks[track].name) == 0;
}

/* Whether a node stands for threads that are not the program's, or that nobody saw. */
static int
is_of_others(const snd_profile *profile, uint32_t node)
{
    const snd_profile_site *site = &profile->sites[profile->nodes[node].site];

    return site->kind == SND_SITE_OTHER &&
           (strcmp(site->name, "[sonde]") == 0 || strcmp(site->name, "[short threads]") == 0);
}

/* A track on which the threads of several processes were summed is counted by their own lines. */
static snd_status
count_threads(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    unsigned char *left_out = snd_calloc((size_t)profile->track_count + 1, 1);
    if (left_out == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < profile->node_count; i++)
        left_out[profile->nodes[i].track] |= (unsigned char)is_of_others(profile, i);
    for (uint32_t i = profile->track_count; i-- > 0;) { /* a line stands behind the track that it was summed on */
        const snd_profile_track *track = &profile->tracks[i];
        uint32_t sum = track->summed_on == 0 ? i : track->summed_on - 1;
        if (!(left_out[sum] & 1) && left_out[i] == 0 && is_wanted(profile, options, i))
            out->threads += track->thread_count;
        if (sum != i)
            left_out[sum] |= 2; /* it has lines */
    }
    snd_free(left_out);
    return SND_OK;
}

static void
add_collections(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    for (uint32_t i = 0; i < profile->node_count && options->region == NULL; i++) {
        uint64_t longest = snd_profile_whole(profile, i, SND_METRIC_MAX);
        if (snd_profile_kind(profile, i) != SND_SITE_GC || !is_wanted(profile, options, profile->nodes[i].track))
            continue;
        out->collections += snd_profile_whole(profile, i, SND_METRIC_COUNT);
        out->collections_ns += snd_profile_whole(profile, i, SND_METRIC_TOTAL);
        out->longest_ns = longest > out->longest_ns ? longest : out->longest_ns;
    }
}

static snd_status
add_samples(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    snd_samples samples;
    snd_status status = snd_samples_make(profile, options, &samples);
    if (status != SND_OK)
        return status;
    out->sampled = samples.all;
    out->python_ns = samples.all.states[0];
    out->native_ns = samples.all.states[1];
    out->system_ns = samples.all.states[2];
    out->waiting_ns = snd_samples_waiting(&samples.all);
    out->samples = samples.all.samples;
    if (out->cpu_ns == 0 || options->thread != NULL || options->region != NULL)
        out->cpu_ns = snd_samples_cpu(&samples.all);
    snd_samples_free(&samples);
    return SND_OK;
}

snd_status
snd_facts_make(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    snd_facts self = {.length_ns = snd_profile_info_number(profile, "length_ns"),
                      .cpu_ns = snd_profile_info_number(profile, "cpu_ns")};

    snd_facts_count(profile, &self);
    add_collections(profile, options, &self);
    snd_status status = count_threads(profile, options, &self);
    if (status == SND_OK && snd_samples_exist(profile))
        status = add_samples(profile, options, &self);
    if (status == SND_OK)
        *out = self;
    return status;
}
