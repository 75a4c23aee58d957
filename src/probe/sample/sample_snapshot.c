/* From what the sampler has seen to a profile. */
#include "base/alloc.h"
#include "os/clock.h"
#include "os/process.h"
#include "probe/core/snapshot.h"
#include "probe/sample/gpu.h"
#include "probe/sample/sample_private.h"

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

static snd_status
update_rows(snd_snapshot *self, snd_profile *profile, uint64_t now_ns)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < snd_sample_state.tree.row_count && status == SND_OK; i++) {
        const snd_sample_row *row = &snd_sample_state.tree.rows[i];
        snd_profile_track about = describe_row(row, now_ns);
        status = snd_snapshot_place_row(self, profile, i, row->track, &about);
    }
    return status;
}

/* The profile's node for one that is new. */
static snd_status
add_node(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t *id)
{
    const snd_snapshot_place *row = &self->rows[node->row];
    const snd_sample_row *live = &snd_sample_state.tree.rows[node->row];
    uint32_t site;

    if (node->parent == SND_NONE) {
        *id = row->root;
        return SND_OK;
    }
    if (node->region != NULL) {
        uint32_t region = snd_snapshot_node(self, live->track, node->region->id);
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
    const snd_sample_tree *tree = &snd_sample_state.tree;
    snd_status status = SND_OK;

    if (!snd_make_room(&self->sample_nodes, tree->node_count, &self->sample_capacity, sizeof *self->sample_nodes))
        return SND_NO_MEMORY;
    while (self->sample_count < tree->node_count && status == SND_OK) {
        status = add_node(self, profile, &tree->nodes[self->sample_count], &self->sample_nodes[self->sample_count]);
        if (status == SND_OK)
            self->sample_count++;
    }
    return status == SND_OK ? snd_snapshot_make_changed(self, profile) : status;
}

/* Where no GPU was asked there is no number, not even zero. */
static snd_status
put_gpu(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t id)
{
    double average = node->gpu_seen_ns == 0 ? 0 : node->gpu_area / (double)node->gpu_seen_ns;

    if (node->gpu_seen_ns == 0 && !snd_profile_has(profile, id, SND_METRIC_GPU))
        return SND_OK;
    const snd_number numbers[] = {
        {SND_METRIC_GPU, 0, {node->gpu_ns}},
        {SND_METRIC_GPU_MEMORY, 0, {(uint64_t)(average + 0.5)}},
    };
    return SND_PUT_NUMBERS(self, profile, id, numbers);
}

static snd_status
put_values(snd_snapshot *self, snd_profile *profile, const snd_sample_node *node, uint32_t id)
{
    snd_number numbers[1 + SND_SAMPLE_STATES] = {{SND_METRIC_SAMPLES, 1, {node->samples}}};

    for (unsigned i = 0; i < SND_SAMPLE_STATES; i++)
        numbers[1 + i] = (snd_number){SND_SAMPLE_METRIC(i), 1, {node->values[i]}};
    snd_status status = SND_PUT_NUMBERS(self, profile, id, numbers);
    return status == SND_OK ? put_gpu(self, profile, node, id) : status;
}

/* CPU time of the process that no thread's clock has shown: threads that came and went between two ticks. */
static void
account_for_short_threads(uint64_t now_ns)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t rest = self->measured_cpu_ns > self->seen_cpu_ns ? self->measured_cpu_ns - self->seen_cpu_ns : 0;

    if (snd_sample_is_running() || rest == 0 || self->tree.row_count == 0)
        return;
    if (self->other_row == SND_NONE) {
        self->other_row = snd_sample_tree_row(&self->tree, 0, NULL, now_ns);
        if (self->other_row == SND_NONE)
            return;
        strcpy(self->tree.rows[self->other_row].name, "short threads");
    }
    self->seen_cpu_ns += rest;
    uint32_t root = self->tree.rows[self->other_row].root;
    snd_sample_tree_add(&self->tree, snd_sample_tree_other(&self->tree, root, "[short threads]"), 1, rest, now_ns);
    self->tree.rows[self->other_row].end_ns = now_ns;
}

static snd_status
update_locked(snd_snapshot *self, snd_profile *profile)
{
    const snd_sample_tree *tree = &snd_sample_state.tree;
    uint64_t now_ns = snd_sample_is_running() ? snd_clock_monotonic_ns() : snd_sample_state.stop_ns;

    account_for_short_threads(now_ns);
    snd_status status = update_rows(self, profile, now_ns);
    if (status == SND_OK)
        status = add_nodes(self, profile);
    for (uint32_t i = 0; i < self->sample_count && status == SND_OK; i++)
        if (!(tree->drops_imports && tree->nodes[i].in_import) &&
            (int32_t)(tree->nodes[i].changed - self->sample_tick) >= 0)
            status = put_values(self, profile, &tree->nodes[i], self->sample_nodes[i]);
    if (status == SND_OK)
        self->sample_tick = tree->tick;
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
    snd_sample_tree *tree = &snd_sample_state.tree;

    snd_lock_take(&snd_sample_state.lock);
    snd_sample_event *events = tree->events;
    uint32_t count = tree->event_count;
    snd_sample_tree_drained(tree);
    snd_lock_leave(&snd_sample_state.lock);
    for (uint32_t i = 0; i < count; i++) {
        const snd_sample_event *event = &events[i];
        if (event->node >= snapshot->sample_count)
            continue; /* memory ran out when it should have become known */
        uint32_t node = snapshot->sample_nodes[event->node];
        snd_profile_event given = {.start_ns = since_origin(event->start_ns),
                                   .duration_ns = event->duration_ns,
                                   .node = node,
                                   .state = event->state,
                                   .track = profile->nodes[node].track};
        /* a thread's root or a region is no place of a sample */
        if (snd_site_is_sampled(profile->sites[profile->nodes[node].site].kind))
            take(context, &given);
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

/* What was seen while modules were imported, and is left out. */
static snd_sample_node
left_out(const snd_sample_tree *tree)
{
    snd_sample_node sum = {0};

    for (uint32_t i = 0; tree->drops_imports && i < tree->node_count; i++) {
        const snd_sample_node *node = &tree->nodes[i];
        if (!node->in_import)
            continue;
        sum.samples += node->samples;
        for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
            sum.values[0] += SND_SAMPLE_IS_CPU(state) ? node->values[state] : 0;
    }
    return sum;
}

snd_status
snd_sample_describe(snd_profile *profile)
{
    const snd_sampler *self = &snd_sample_state;
    snd_status status = SND_OK;

    snd_lock_take(&snd_sample_state.lock);
    int is_looking = snd_sample_is_running() && !SND_GET(self->is_paused);
    uint64_t cpu = self->measured_cpu_ns + (is_looking ? snd_process_cpu_ns() - self->start_cpu_ns : 0);
    snd_sample_node without = left_out(&self->tree);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"sample_rate_hz", self->options.rate_hz},
        {"samples", self->tree.samples - without.samples},
        {"samples_effective", effective_samples(self)},
        {"samples_missed", self->missed},
        {"interrupted_calls", self->interrupted},
        {"cpu_ns", cpu - (without.values[0] < cpu ? without.values[0] : cpu)},
        {"own_cpu_ns", self->own_cpu_ns},
        {"own_sample_cost_ns", self->answers == 0 ? 0 : snd_clock_counter_ns(self->answer_ticks) / self->answers},
        {"signals", !self->options.no_signals},
        {"native", (uint64_t)self->options.native},
        {"native_stitched", self->stitched},
        {"native_misfits", self->misfits},
        {"samples_plain", self->plain},
        {"samples_plain_inside", self->plain_inside},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == SND_OK; i++)
        status = snd_profile_set_info_number(profile, numbers[i].key, numbers[i].value);
    if (status == SND_OK && self->tree.drops_imports)
        status = snd_profile_set_info_number(profile, "imports_left_out_ns", without.values[0]);
    if (status == SND_OK)
        status = snd_gpu_describe(profile, self->origin_ns);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}
