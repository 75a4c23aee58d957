/* From what the sampler has seen to a profile. */
#include "base/alloc.h"
#include "os/clock.h"
#include "os/process.h"
#include "probe/gpu.h"
#include "probe/memory_private.h"
#include "probe/sample_private.h"
#include "probe/snapshot_private.h"

#include <string.h>

static uint64_t
since_origin(uint64_t ns)
{
    return ns > snd_sample_state.origin_ns ? ns - snd_sample_state.origin_ns : 0;
}

/* Threads of libraries mostly bear the program's name, which says nothing. */
static const char *
name_of(const snd_sample_row *row)
{
    char program[16];

    if (row->thread_id == snd_process_id())
        return "main";
    if (row->is_python)
        return row->name;
    snd_task_name(&(snd_task){.thread_id = snd_process_id()}, program);
    return strcmp(row->name, program) == 0 ? "native" : row->name;
}

static snd_profile_track
describe_row(const snd_sample_row *row, uint64_t now_ns)
{

    return (snd_profile_track){
        .process_id = snd_process_id(),
        .thread_id = row->thread_id,
        .thread_count = row->thread_count,
        .name = name_of(row),
        .start_ns = since_origin(row->start_ns),
        .end_ns = since_origin(row->end_ns == 0 ? now_ns : row->end_ns),
    };
}

/* A thread with regions has a track already; its life is as long as the sampler saw it. */
static snd_status
widen_track(snd_profile *profile, uint32_t id, const snd_sample_row *row, uint64_t now_ns)
{
    snd_profile_track seen = describe_row(row, now_ns), track = profile->tracks[id];

    track.start_ns = seen.start_ns < track.start_ns ? seen.start_ns : track.start_ns;
    track.end_ns = seen.end_ns > track.end_ns ? seen.end_ns : track.end_ns;
    return snd_profile_set_track(profile, id, &track);
}

static snd_status
add_track(snd_profile *profile, const snd_profile_track *track, snd_snapshot_row *out)
{
    uint32_t site;
    snd_status status = snd_profile_add_track(profile, track, &out->track);
    if (status == SND_OK)
        status = snd_snapshot_root_site(profile, track->name, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, SND_NONE, out->track, site, &out->root);
    if (status != SND_OK)
        out->track = SND_NONE;
    return status;
}

static snd_status
update_row(snd_snapshot *self, snd_profile *profile, uint32_t index, uint64_t now_ns)
{
    const snd_sample_row *row = &snd_sample_state.seen.rows[index];
    snd_snapshot_row *known = &self->rows[index];
    uint32_t shared = row->track == NULL ? SND_NONE : snd_snapshot_track_id(self, row->track);
    snd_profile_track track = describe_row(row, now_ns);

    known->thread_id = row->thread_id;
    if (known->track == SND_NONE && shared != SND_NONE) {
        known->track = shared;
        known->root = snd_snapshot_node(self, row->track, 0);
    }
    if (known->track == SND_NONE)
        return add_track(profile, &track, known);
    if (shared != SND_NONE)
        return widen_track(profile, known->track, row, now_ns);
    return snd_profile_set_track(profile, known->track, &track);
}

static snd_status
update_rows(snd_snapshot *self, snd_profile *profile, uint64_t now_ns)
{
    uint32_t count = snd_sample_state.seen.row_count;
    snd_status status = SND_OK;

    if (count > self->row_count) {
        snd_snapshot_row *rows = snd_realloc(self->rows, count * sizeof *rows);
        if (rows == NULL)
            return SND_NO_MEMORY;
        for (uint32_t i = self->row_count; i < count; i++)
            rows[i] = (snd_snapshot_row){.track = SND_NONE};
        self->rows = rows;
        self->row_count = count;
    }
    for (uint32_t i = 0; i < count && status == SND_OK; i++)
        status = update_row(self, profile, i, now_ns);
    return status;
}

/* The profile's node for one that is new. */
static snd_status
add_node(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t *id)
{
    const snd_snapshot_row *row = &self->rows[node->row];
    const snd_sample_row *seen = &snd_sample_state.seen.rows[node->row];
    uint32_t site;

    if (node->parent == SND_NONE) {
        *id = row->root;
        return SND_OK;
    }
    if (node->region != NULL) {
        uint32_t region = snd_snapshot_node(self, seen->track, node->region->id);
        *id = region == SND_NONE ? row->root : region;
        return SND_OK;
    }
    snd_status status = snd_snapshot_add_site(self, profile, node->site, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, self->sample_nodes[node->parent], row->track, site, id);
    return status;
}

static snd_status
add_nodes(snd_snapshot *self, snd_profile *profile)
{
    const snd_sample_seen *seen = &snd_sample_state.seen;
    snd_status status = SND_OK;

    if (seen->node_count > self->sample_capacity) {
        uint32_t *nodes = snd_realloc(self->sample_nodes, seen->node_capacity * sizeof *nodes);
        if (nodes == NULL)
            return SND_NO_MEMORY;
        self->sample_nodes = nodes;
        self->sample_capacity = seen->node_capacity;
    }
    while (self->sample_count < seen->node_count && status == SND_OK) {
        status = add_node(self, profile, &seen->nodes[self->sample_count], &self->sample_nodes[self->sample_count]);
        if (status == SND_OK)
            self->sample_count++;
    }
    return status == SND_OK ? snd_snapshot_make_changed(self, profile) : status;
}

/* Where no GPU was looked at there is no number, not even zero. */
static snd_status
put_gpu(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t id)
{
    double average = node->gpu_seen_ns == 0 ? 0 : node->gpu_area / (double)node->gpu_seen_ns;

    if (node->gpu_seen_ns == 0 && !snd_profile_has(profile, id, SND_METRIC_GPU))
        return SND_OK;
    snd_status status = snd_snapshot_put(self, profile, id, SND_METRIC_GPU, (snd_value){.whole = node->gpu_ns});
    if (status == SND_OK)
        status =
            snd_snapshot_put(self, profile, id, SND_METRIC_GPU_MEMORY, (snd_value){.whole = (uint64_t)(average + 0.5)});
    return status;
}

static snd_status
put_values(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t id)
{
    snd_status status = SND_OK;

    if (node->samples != 0 || snd_profile_has(profile, id, SND_METRIC_SAMPLES))
        status = snd_snapshot_put(self, profile, id, SND_METRIC_SAMPLES, (snd_value){.whole = node->samples});
    for (unsigned i = 0; i < SND_SAMPLE_STATES && status == SND_OK; i++)
        if (node->values[i] != 0 || snd_profile_has(profile, id, SND_SAMPLE_METRIC(i)))
            status = snd_snapshot_put(self, profile, id, SND_SAMPLE_METRIC(i), (snd_value){.whole = node->values[i]});
    if (status == SND_OK)
        status = put_gpu(self, profile, node, id);
    return status == SND_OK ? snd_memory_put_values(self, profile, (uint32_t)(node - snd_sample_state.seen.nodes), id)
                            : status;
}

/* CPU time of the process that no thread's clock has shown: threads that came and went between two looks. */
static void
account_for_short_threads(uint64_t now_ns)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t rest = self->measured_cpu_ns > self->seen_cpu_ns ? self->measured_cpu_ns - self->seen_cpu_ns : 0;

    if (snd_sample_is_running() || rest == 0 || self->seen.row_count == 0)
        return;
    if (self->other_row == SND_NONE) {
        self->other_row = snd_sample_seen_row(&self->seen, 0, NULL, now_ns);
        if (self->other_row == SND_NONE)
            return;
        strcpy(self->seen.rows[self->other_row].name, "short threads");
    }
    self->seen_cpu_ns += rest;
    uint32_t root = self->seen.rows[self->other_row].root;
    snd_sample_seen_add(&self->seen, snd_sample_seen_other(&self->seen, root, "[short threads]"), 1, rest, now_ns);
    self->seen.rows[self->other_row].end_ns = now_ns;
}

static snd_status
update_locked(snd_snapshot *self, snd_profile *profile)
{
    const snd_sample_seen *seen = &snd_sample_state.seen;
    uint64_t now_ns = snd_sample_is_running() ? snd_clock_monotonic_ns() : snd_sample_state.stop_ns;

    account_for_short_threads(now_ns);
    snd_status status = update_rows(self, profile, now_ns);
    if (status == SND_OK)
        status = add_nodes(self, profile);
    for (uint32_t i = 0; i < self->sample_count && status == SND_OK; i++)
        if ((int32_t)(seen->nodes[i].changed - self->sample_look) >= 0)
            status = put_values(self, profile, &seen->nodes[i], self->sample_nodes[i]);
    if (status == SND_OK)
        self->sample_look = seen->look;
    return status;
}

snd_status
snd_sample_update(snd_snapshot *snapshot, snd_profile *profile)
{
    snd_lock_take(&snd_sample_state.lock);
    snd_status status = update_locked(snapshot, profile);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}

void
snd_sample_drain(const snd_snapshot *snapshot, const snd_profile *profile, snd_sample_take_event *take, void *context)
{
    snd_sample_seen *seen = &snd_sample_state.seen;

    snd_lock_take(&snd_sample_state.lock);
    snd_sample_event *events = seen->events;
    uint32_t count = seen->event_count;
    snd_sample_seen_drained(seen);
    snd_lock_leave(&snd_sample_state.lock);
    for (uint32_t i = 0; i < count; i++) {
        const snd_sample_event *event = &events[i];
        if (event->node >= snapshot->sample_count)
            continue; /* memory ran out when it should have become known */
        uint32_t node = snapshot->sample_nodes[event->node];
        snd_profile_event given = {since_origin(event->start_ns), event->duration_ns, node, event->state, 0};
        /* a thread's root or a region is no place of a sample */
        if (snd_site_is_sampled(profile->sites[profile->nodes[node].site].kind))
            take(context, profile->nodes[node].track, &given);
    }
    snd_free(events);
}

/* How many samples of one weight would say as much. */
static uint64_t
effective_samples(const snd_sampler *self)
{
    double sum = (double)self->weighed_ns;

    return self->weighed_ns2 > 0 ? (uint64_t)(sum * sum / self->weighed_ns2) : 0;
}

snd_status
snd_sample_describe(snd_profile *profile)
{
    const snd_sampler *self = &snd_sample_state;
    snd_status status = SND_OK;

    snd_lock_take(&snd_sample_state.lock);
    int is_looking = snd_sample_is_running() && !SND_GET(self->is_paused);
    uint64_t cpu = self->measured_cpu_ns + (is_looking ? snd_process_cpu_ns() - self->start_cpu_ns : 0);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"sample_rate_hz", self->options.rate_hz},
        {"samples", self->seen.samples},
        {"samples_effective", effective_samples(self)},
        {"samples_missed", self->missed},
        {"interrupted_calls", self->interrupted},
        {"cpu_ns", cpu},
        {"own_cpu_ns", self->own_cpu_ns},
        {"own_sample_cost_ns", self->answers == 0 ? 0 : snd_clock_counter_ns(self->answer_ticks) / self->answers},
        {"signals", !self->options.no_signals},
        {"native", (uint64_t)self->options.native},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, numbers[i].key, numbers[i].value);
    if (status == SND_OK)
        status = snd_gpu_describe(profile, self->origin_ns);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}

snd_status
snd_memory_describe(snd_profile *profile)
{
    snd_lock_take(&snd_sample_state.lock);
    snd_status status = snd_memory_describe_locked(profile, snd_sample_state.origin_ns);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}
