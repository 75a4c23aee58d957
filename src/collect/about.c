/* What every recording says of the run it is of. */
#include "collect/about.h"

#include "base/alloc.h"
#include "collect/extras.h"
#include "collect/probes.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/core/site.h"
#include "probe/core/track.h"
#include "view/core/own_code.h"
#include "view/core/source.h"

static snd_status
describe_texts(const snd_about *self, snd_profile *profile)
{
    const snd_settings *set = self->set;
    snd_buffer probes = {0}, note = {0};

    snd_buffer_printf(&probes, "region%s", set->cpu ? ", cpu" : "");
    snd_probes_list(&probes);
    if (set->python_note != NULL)
        snd_buffer_printf(&note, "%s%s", set->python_note, self->note == NULL ? "" : "; ");
    snd_buffer_text(&note, self->note == NULL ? "" : self->note);
    const struct {
        const char *key;
        const char *value;
    } texts[] = {
        {"program", set->program},
        {"arguments", set->arguments},
        {"host", snd_process_host()},
        {"python", set->python == NULL ? "" : set->python},
        {"sonde", SND_VERSION},
        {"clock", snd_clock_name()},
        {"probes", snd_buffer_str(&probes)},
        {"note", snd_buffer_str(&note)},
        {"working_directory", self->working_directory},
    };
    snd_status status = snd_buffer_status(probes.failed ? &probes : &note);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == SND_OK; i++)
        status = snd_profile_set_info(profile, texts[i].key, texts[i].value);
    snd_buffer_free(&probes);
    snd_buffer_free(&note);
    return status;
}

snd_status
snd_about_describe(const snd_about *self, snd_profile *profile)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"process_id", snd_process_id()},
        {"parent_id", snd_process_parent()},
        {"start_realtime_ns", self->start_realtime_ns},
        {"start_monotonic_ns", self->start_monotonic_ns},
        {"process_cpu_ns", snd_process_cpu_ns()},
        {"process_cpu_before_ns", self->cpu_before_ns},
        {"children_cpu_ns", snd_process_children_cpu_ns()},
        {"own_cost_ns", self->set->own_cost_ns},
        {"own_call_cost_ns", self->set->call_cost_ns},
        {"length_ns", self->length_ns},
        {"lost_entries", snd_track_lost() + snd_site_lost()},
        {"complete", (uint64_t)self->is_complete},
    };
    snd_status status = describe_texts(self, profile);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, numbers[i].key, numbers[i].value);
    if (status == SND_OK && snd_process_rank() >= 0)
        status = snd_profile_set_info_number(profile, "rank", (uint64_t)snd_process_rank());
    if (status == SND_OK)
        status = snd_probes_describe(profile);
    return status == SND_OK ? snd_extras_add(profile) : status;
}

/* ---- source files ---- */

/* Texts that go into the recording: of one file, and of all. */
#define TEXT_LIMIT (1u << 20)
#define TOTAL_LIMIT (16u << 20)

/* Sources that the caller gave are in it as well, and may be more than the limit by themselves. */
static size_t
total_size(const snd_profile *profile)
{
    size_t size = 0;
    for (uint32_t i = 0; i < profile->source_count; i++)
        size += profile->sources[i].text == NULL ? 0 : profile->sources[i].size;
    return size < TOTAL_LIMIT ? size : TOTAL_LIMIT;
}

static snd_status
add_file(snd_profile *profile, const char *path, int is_own)
{
    snd_source source = {.file = path};
    snd_status status = snd_file_load(path, SND_SOURCE_FILE_LIMIT, &source.text, &source.size);
    char *text = source.text;

    if (text == NULL)
        return status;
    if (!is_own || source.size > TEXT_LIMIT || source.size > TOTAL_LIMIT - total_size(profile)) {
        snd_sha256(text, source.size, source.sha256);
        source.text = NULL;
    }
    status = snd_profile_copy_source(profile, &source);
    snd_free(text);
    return status;
}

snd_status
snd_sources_add(snd_profile *profile, uint32_t *from)
{
    profile->load_text = snd_file_load;
    snd_own own;
    const char *last = "";
    snd_status status = SND_OK;

    snd_own_rules(&own, profile, &(snd_view_options){0});
    for (; *from < profile->site_count && status == SND_OK; ++*from) {
        const snd_profile_site *site = &profile->sites[*from];
        if (!snd_site_is_code(site) || site->file[0] != '/' || site->file == last)
            continue;
        last = site->file; /* texts are interned: lines of one file come in runs */
        if (snd_profile_source(profile, site->file) == NULL)
            status = add_file(profile, site->file, snd_own_has(&own, site->file));
    }
    return status;
}
