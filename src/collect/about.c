/* What every recording says of the run it is of. */
#include "collect/about.h"

#include "collect/extras.h"
#include "collect/version.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/counted.h"
#include "probe/memory.h"
#include "probe/sample.h"
#include "probe/site.h"
#include "probe/track.h"

#include <stdio.h>

static snd_status
describe_texts(const snd_about *self, snd_profile *profile)
{
    const snd_settings *set = self->set;
    char probes[64];
    snprintf(probes, sizeof probes, "region%s%s%s%s%s%s%s", set->cpu ? ", cpu" : "",
             set->counters != 0 ? ", counter" : "", set->calls ? ", call" : "", self->has_samples ? ", sample" : "",
             self->has_memory ? ", memory" : "", self->has_ops ? ", op" : "", self->has_graphs ? ", graph" : "");
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
        {"probes", probes},
        {"note", self->note == NULL ? "" : self->note},
        {"working_directory", self->working_directory},
    };
    snd_status status = SND_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == SND_OK; i++)
        status = snd_profile_set_info(profile, texts[i].key, texts[i].value);
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
        status = snd_counted_add_info(profile);
    if (status == SND_OK && self->has_samples)
        status = snd_sample_describe(profile);
    if (status == SND_OK && self->has_memory)
        status = snd_memory_describe(profile);
    return status == SND_OK ? snd_extras_add(profile) : status;
}
