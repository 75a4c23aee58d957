/* The processes that a profile is of. */
#include "model/processes.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A host whose two clocks differ by more than they did was started anew, or slept. */
#define OTHER_CLOCK_NS UINT64_C(60000000000)

static const char *
text_of(const snd_profile *profile, const char *key)
{
    const char *text = snd_profile_info(profile, key);
    return text == NULL ? "" : text;
}

snd_process
snd_process_describe(const snd_profile *profile)
{
    const char *complete = snd_profile_info(profile, "complete");

    return (snd_process){
        .host = text_of(profile, "host"),
        .program = text_of(profile, "program"),
        .arguments = text_of(profile, "arguments"),
        .probes = text_of(profile, "probes"),
        .process_id = (uint32_t)snd_profile_info_number(profile, "process_id"),
        .parent_id = (uint32_t)snd_profile_info_number(profile, "parent_id"),
        .has_rank = snd_profile_info(profile, "rank") != NULL,
        .rank = snd_profile_info_number(profile, "rank"),
        .start_realtime_ns = snd_profile_info_number(profile, "start_realtime_ns"),
        .start_monotonic_ns = snd_profile_info_number(profile, "start_monotonic_ns"),
        .length_ns = snd_profile_info_number(profile, "length_ns"),
        .has_cpu = snd_profile_info(profile, "cpu_ns") != NULL,
        .cpu_ns = snd_profile_info_number(profile, "cpu_ns"),
        .is_complete = complete != NULL && strcmp(complete, "1") == 0,
    };
}

snd_status
snd_profile_add_process(snd_profile *self, const snd_process *process, uint32_t *id)
{
    snd_process kept = *process;
    const char **texts[] = {&kept.host, &kept.program, &kept.arguments, &kept.probes};
    snd_status status = SND_OK;

    if (!snd_make_room(&self->processes, self->process_count + 1, &self->process_capacity, sizeof kept))
        return SND_NO_MEMORY;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == SND_OK; i++)
        status = snd_profile_keep_text(self, *texts[i], texts[i]);
    if (status != SND_OK)
        return status;
    self->processes[self->process_count] = kept;
    *id = self->process_count++;
    return SND_OK;
}

int
snd_process_is_same(const snd_process *a, const snd_process *b)
{
    return a->process_id == b->process_id && a->start_realtime_ns == b->start_realtime_ns &&
           a->start_monotonic_ns == b->start_monotonic_ns && strcmp(a->host, b->host) == 0;
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int
snd_process_compare(const void *a, const void *b)
{
    const snd_process *x = a, *y = b;
    int order = compare_numbers(x->offset_ns, y->offset_ns);

    if (order == 0)
        order = compare_numbers(x->start_realtime_ns, y->start_realtime_ns);
    if (order == 0)
        order = compare_numbers(x->start_monotonic_ns, y->start_monotonic_ns);
    if (order == 0)
        order = strcmp(x->host, y->host);
    return order != 0 ? order : compare_numbers(x->process_id, y->process_id);
}

/* ---- clocks ---- */

/* Of each host the process that started first, by the time of day, is what the others are compared with. */
static int
is_before(const snd_process *a, const snd_process *b)
{
    int order = compare_numbers(a->start_realtime_ns, b->start_realtime_ns);
    if (order == 0)
        order = compare_numbers(a->start_monotonic_ns, b->start_monotonic_ns);
    return order < 0 || (order == 0 && a->process_id < b->process_id);
}

/* For qsort: hosts together, the first process of a host first. */
static int
compare_on_hosts(const void *a, const void *b)
{
    const snd_process *x = *(const snd_process *const *)a, *y = *(const snd_process *const *)b;
    int order = strcmp(x->host, y->host);

    if (order != 0)
        return order;
    return is_before(x, y) ? -1 : is_before(y, x);
}

/* The start in nanoseconds since 1970, as the clock of the host's first process would tell it. */
static uint64_t
moment_of(const snd_process *process, const snd_process *first)
{
    uint64_t apart = process->start_monotonic_ns - first->start_monotonic_ns;
    uint64_t by_day = process->start_realtime_ns - first->start_realtime_ns;
    int64_t off = (int64_t)(apart - by_day);

    if (process->start_monotonic_ns == 0 || first->start_monotonic_ns == 0 || (uint64_t)llabs(off) > OTHER_CLOCK_NS)
        return process->start_realtime_ns;
    return first->start_realtime_ns + apart;
}

void
snd_processes_align(snd_process *processes, uint32_t count, uint64_t *length_ns)
{
    snd_process **order = snd_malloc((count + 1u) * sizeof *order);
    uint64_t start = UINT64_MAX, end = 0;

    for (uint32_t i = 0; i < count; i++) {
        processes[i].offset_ns = processes[i].start_realtime_ns;
        if (order != NULL)
            order[i] = &processes[i];
    }
    if (order != NULL) { /* without memory by the time of day alone */
        qsort(order, count, sizeof *order, compare_on_hosts);
        const snd_process *first = NULL;
        for (uint32_t i = 0; i < count; i++) {
            if (first == NULL || strcmp(first->host, order[i]->host) != 0)
                first = order[i];
            order[i]->offset_ns = moment_of(order[i], first);
        }
    }
    snd_free(order);
    for (uint32_t i = 0; i < count; i++) /* one without a start stands where the others begin */
        if (processes[i].start_realtime_ns != 0 && processes[i].offset_ns < start)
            start = processes[i].offset_ns;
    for (uint32_t i = 0; i < count; i++) {
        processes[i].offset_ns = processes[i].start_realtime_ns == 0 ? 0 : processes[i].offset_ns - start;
        if (processes[i].offset_ns + processes[i].length_ns > end)
            end = processes[i].offset_ns + processes[i].length_ns;
    }
    *length_ns = end;
}

/* ---- which one ---- */

static int
is_meant(const snd_process *process, uint32_t id, const char *which)
{
    const char *colon = strrchr(which, ':');
    const char *number = colon == NULL ? which : colon + 1;
    char *end;
    unsigned long long value = strtoull(number, &end, 10);

    if (*number < '0' || *number > '9' || *end != '\0')
        return 0;
    if (colon == NULL)
        return process->process_id == value;
    size_t len = (size_t)(colon - which);
    if (len == 2 && strncmp(which, "id", len) == 0)
        return id == value;
    if (len == 4 && strncmp(which, "rank", len) == 0)
        return process->has_rank && process->rank == value;
    return strncmp(process->host, which, len) == 0 && process->host[len] == '\0' && process->process_id == value;
}

uint32_t
snd_process_find(const snd_profile *profile, const char *which, uint32_t *found)
{
    uint32_t id = SND_NONE;

    *found = 0;
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (is_meant(&profile->processes[i], i, which)) {
            id = *found == 0 ? i : SND_NONE;
            ++*found;
        }
    return id;
}

void
snd_process_name(const snd_profile *profile, uint32_t id, snd_buffer *out)
{
    const snd_process *process = &profile->processes[id];
    int hosts_differ = 0;

    if (process->has_rank) {
        snd_buffer_printf(out, "rank %llu", (unsigned long long)process->rank);
        return;
    }
    for (uint32_t i = 0; i < profile->process_count; i++)
        hosts_differ |= strcmp(profile->processes[i].host, process->host) != 0;
    if (hosts_differ)
        snd_buffer_printf(out, "%s:", process->host);
    snd_buffer_printf(out, "%u", process->process_id);
}
