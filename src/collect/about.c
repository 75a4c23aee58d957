/* What every recording says of the run it is of. */
#include "collect/about.h"

#include "collect/version.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/counted.h"

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
        {"program", set->program},    {"arguments", set->arguments},
        {"host", snd_process_host()}, {"python", set->python == NULL ? "" : set->python},
        {"sonde", SND_VERSION},       {"clock", snd_clock_name()},
        {"probes", probes},           {"note", self->note == NULL ? "" : self->note},
    };
    snd_status status = SND_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == SND_OK; i++)
        status = snd_profile_set_info(profile, texts[i].key, texts[i].value);
    return status;
}

/* Which counters regions have, and why others that were asked for are not there. */
static snd_status
describe_counters(snd_profile *profile)
{
    snd_buffer counted = {0}, missing = {0};

    snd_counted_describe(&counted, &missing);
    snd_status status = snd_buffer_status(&counted);
    if (status == SND_OK)
        status = snd_buffer_status(&missing);
    if (status == SND_OK)
        status = snd_profile_set_info(profile, "counters", snd_buffer_str(&counted));
    if (status == SND_OK)
        status = snd_profile_set_info(profile, "counters_missing", snd_buffer_str(&missing));
    snd_buffer_free(&counted);
    snd_buffer_free(&missing);
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
    };
    snd_status status = describe_texts(self, profile);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, numbers[i].key, numbers[i].value);
    if (status == SND_OK && snd_process_rank() >= 0)
        status = snd_profile_set_info_number(profile, "rank", (uint64_t)snd_process_rank());
    if (status == SND_OK && self->set->counters != 0)
        status = describe_counters(profile);
    return status;
}
