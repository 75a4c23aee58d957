/* The numbers that sum up a recording. */
#include "view/sampled/facts.h"

#include "base/alloc.h"
#include "view/core/footer.h"

#include <string.h>

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
static void
count_threads(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    unsigned char *left_out = snd_calloc((size_t)profile->track_count + 1, 1);
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

static void
add_samples(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    snd_samples samples;
    snd_samples_make(profile, options, &samples);
    out->sampled = samples.all;
    out->python_ns = samples.all.states[0];
    out->native_ns = samples.all.states[1];
    out->system_ns = samples.all.states[2];
    out->waiting_ns = snd_samples_waiting(&samples.all);
    out->samples = samples.all.samples;
    if (out->cpu_ns == 0 || options->thread != NULL || options->region != NULL)
        out->cpu_ns = snd_samples_cpu(&samples.all);
}

static void
make_facts(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    snd_facts self = {.length_ns = snd_profile_info_number(profile, "length_ns"),
                      .cpu_ns = snd_profile_info_number(profile, "cpu_ns")};

    snd_entry_counts counts = snd_footer_count(profile);

    self.entries = counts.entries;
    self.dropped_entries = counts.dropped_entries;
    self.dropped_events = counts.dropped_events;
    add_collections(profile, options, &self);
    count_threads(profile, options, &self);
    if (snd_profile_has_samples(profile))
        add_samples(profile, options, &self);
    *out = self;
}

typedef struct question {
    const snd_profile *profile;
    const snd_view_options *options;
    snd_facts *out;
} question;

static void
answer(void *context)
{
    question *self = context;
    make_facts(self->profile, self->options, self->out);
}

snd_status
snd_facts_make(const snd_profile *profile, const snd_view_options *options, snd_facts *out)
{
    return snd_work_run(answer, &(question){profile, options, out}, NULL);
}

/* ---- the program's own code ---- */

static uint64_t
in_functions(const snd_profile *profile)
{
    uint64_t ns = 0;
    snd_own own;

    snd_own_rules(&own, profile, &(snd_view_options){0});
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (site->kind == SND_SITE_FUNCTION && snd_own_has(&own, site->file))
            ns += snd_profile_whole(profile, i, SND_METRIC_SELF);
    }
    return ns;
}

static void
add_own(const snd_profile *profile, uint64_t *ns)
{
    snd_samples samples;
    snd_samples_numbers numbers;

    *ns = 0;
    if (!snd_profile_has_samples(profile)) {
        *ns = in_functions(profile);
        return;
    }
    snd_samples_make(profile, &(snd_view_options){0}, &samples);
    for (uint32_t i = 0; i < profile->node_count && !samples.own.has_none; i++)
        if (samples.charged[i] != SND_NONE && snd_samples_read(&samples, i, &numbers))
            *ns += snd_samples_cpu(&numbers) + snd_samples_waited(&numbers);
}

typedef struct own_question {
    const snd_profile *profile;
    uint64_t *ns;
} own_question;

static void
answer_own(void *context)
{
    own_question *self = context;
    add_own(self->profile, self->ns);
}

snd_status
snd_own_time(const snd_profile *profile, uint64_t *ns)
{
    snd_status status = snd_work_run(answer_own, &(own_question){profile, ns}, NULL);
    return status == SND_NO_DATA ? SND_OK : status;
}
