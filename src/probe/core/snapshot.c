/* From the live tracks to a profile. */
#include "probe/core/snapshot.h"

#include "base/alloc.h"
#include "os/process.h"
#include "probe/core/reported.h"

#include <sched.h>
#include <string.h>

/* With the pauses some milliseconds: a thread that was interrupted in the middle of an entry has gone on by then. */
#define READ_TRIES 20000

typedef struct snd_snapshot_track {
    uint32_t id; /* in the profile; SND_NONE: not there yet */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t *nodes; /* live node id to the profile's */
} snapshot_track;

/* A node's numbers at one moment. */
typedef struct reading {
    uint64_t count, total, self, min, max, suspended, cpu_ns, open, open_start;
    uint64_t recursive, resumes;
    uint64_t collected; /* by garbage collections: objects */
    double square;
    double value_last, value_min, value_max, value_sum;
    snd_system_counter_values counted;
    int is_running; /* its self time passes since `last` */
    uint64_t last;
} reading;

/* What the pairs of caller and callee add up to. */
typedef struct snd_call_sum {
    uint64_t count, self, suspended, resumes;
} call_sum;

snd_snapshot_put_op *_Atomic snd_snapshot_op_putter;

void
snd_snapshot_free(snd_snapshot *self)
{
    for (uint32_t i = 0; i < self->track_count; i++)
        snd_free(self->tracks[i].nodes);
    snd_free(self->tracks);
    snd_free(self->sites);
    snd_free(self->changed);
    snd_free(self->sums);
    snd_free(self->rows);
    snd_free(self->sample_nodes);
    snd_free(self->reported);
    *self = (snd_snapshot){0};
}

snd_status
snd_snapshot_add_site(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t *id)
{
    if (!snd_make_longer(&self->sites, snd_site_count(), &self->site_count, sizeof *self->sites, 0xff))
        return SND_NO_MEMORY;
    if (self->sites[site] == SND_NONE) {
        snd_profile_site live = snd_site_get(site);
        snd_status status = snd_profile_add_site(profile, &live, &self->sites[site]);
        if (status != SND_OK)
            return status;
    }
    *id = self->sites[site];
    return SND_OK;
}

/* The site of a track's root is the thread itself. */
static snd_status
root_site(snd_profile *profile, const char *name, uint32_t *id)
{
    return snd_profile_add_site(profile, &(snd_profile_site){SND_SITE_THREAD, name, "", 0, "", 0, 0}, id);
}

static snd_status
make_track_room(snd_snapshot *self, uint32_t live)
{
    uint32_t known = self->track_count;

    if (!snd_make_longer(&self->tracks, live + 1, &self->track_count, sizeof *self->tracks, 0))
        return SND_NO_MEMORY;
    for (; known < self->track_count; known++)
        self->tracks[known].id = SND_NONE;
    return SND_OK;
}

static snd_status
make_node_room(snapshot_track *known, uint32_t count)
{
    int is_there = snd_make_room(&known->nodes, count, &known->node_capacity, sizeof *known->nodes);
    return is_there ? SND_OK : SND_NO_MEMORY;
}

/* Ticks of the track as nanoseconds. */
static uint64_t
ns_of(const snd_track *live, uint64_t ticks)
{
    return live->is_in_ns ? ticks : snd_clock_ns(ticks);
}

static uint64_t
since(const snd_track *live, uint64_t origin, uint64_t ticks)
{
    return ticks > origin ? ns_of(live, ticks - origin) : 0;
}

static snd_profile_track
describe_track(const snd_track *live, uint64_t origin, uint64_t now)
{
    snd_ring *ring = snd_track_ring(live);
    uint64_t end = SND_GET(live->end);
    const char *name = atomic_load_explicit(&live->name, memory_order_acquire);

    return (snd_profile_track){
        .process_id = snd_process_id(),
        .thread_id = SND_GET(live->thread_id),
        .thread_count = SND_GET(live->thread_count),
        .name = name == NULL ? "" : name,
        .start_ns = since(live, origin, SND_GET(live->start)),
        .end_ns = since(live, origin, end == 0 ? now : end),
        .dropped_entries = SND_GET(live->dropped),
        .dropped_events = ring == NULL ? 0 : SND_GET(ring->dropped),
    };
}

static snd_status
add_nodes(snd_snapshot *self, snd_profile *profile, const snd_track *live, snapshot_track *known)
{
    uint32_t count = atomic_load_explicit(&live->node_count, memory_order_acquire);
    snd_status status = make_node_room(known, count);

    for (uint32_t i = known->node_count; i < count && status == SND_OK; i++) {
        const snd_node *node = snd_node_get(live, i);
        uint32_t site;
        uint32_t parent = node->parent == NULL ? SND_NONE : known->nodes[node->parent->id];
        if (node->parent == NULL)
            status = root_site(profile, profile->tracks[known->id].name, &site);
        else
            status = snd_snapshot_add_site(self, profile, node->site, &site);
        if (status == SND_OK)
            status = snd_profile_add_node(profile, parent, known->id, site, &known->nodes[i]);
        if (status == SND_OK)
            known->node_count = i + 1;
    }
    return status;
}

static reading
read_fields(const snd_track *live, const snd_node *node)
{
    return (reading){
        .count = SND_GET(node->count),
        .total = SND_GET(node->total),
        .self = SND_GET(node->self),
        .min = SND_GET(node->min),
        .max = SND_GET(node->max),
        .suspended = SND_GET(node->suspended),
        .collected = SND_GET(node->collected), /* the same place: the site's kind says which it is */
        .cpu_ns = SND_GET(node->cpu_ns),
        .open = SND_GET(node->open),
        .open_start = SND_GET(node->open_start),
        .square = SND_GET(node->square),
        .value_last = SND_GET(node->value_last),
        .value_min = SND_GET(node->value_min),
        .value_max = SND_GET(node->value_max),
        .value_sum = SND_GET(node->value_sum),
        .counted = snd_snapshot_read_counted(live, node),
        .is_running = SND_GET(live->running) == node,
        .last = SND_GET(live->last),
    };
}

static reading
read_call(const snd_track *live, const snd_node *node)
{
    return (reading){
        .count = SND_GET(node->count),
        .total = SND_GET(node->call.total),
        .self = SND_GET(node->call.self),
        .suspended = SND_GET(node->call.suspended),
        .recursive = SND_GET(node->call.recursive),
        .resumes = SND_GET(node->call.resumes),
        .open = SND_GET(node->call.level),
        .open_start = SND_GET(node->call.start),
        .is_running = SND_GET(live->call_running) == node,
        .last = SND_GET(live->call_last),
    };
}

/* All fields as they stood between two writes of the owner. 0 when its thread stays in the middle of one: then what
 * was read last time is the better answer. */
static int
read_node(const snd_track *live, const snd_node *node, int is_call, reading *out)
{
    for (int tries = 0; tries < READ_TRIES; tries++) {
        uint32_t before = atomic_load_explicit(&live->version, memory_order_acquire);
        *out = is_call ? read_call(live, node) : read_fields(live, node);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && SND_GET(live->version) == before)
            return 1;
        if (tries % 64 == 63)
            sched_yield(); /* it may be waiting for this processor */
    }
    return 0;
}

snd_status
snd_snapshot_put(snd_snapshot *self, snd_profile *profile, uint32_t node, snd_metric metric, snd_value value)
{
    if (snd_profile_has(profile, node, metric) && profile->columns[metric][node].whole == value.whole)
        return SND_OK;
    self->changed[node] = 1;
    return snd_profile_set(profile, node, metric, value);
}

snd_status
snd_snapshot_put_numbers(snd_snapshot *self, snd_profile *profile, uint32_t node, const snd_number *numbers,
                         size_t count)
{
    snd_status status = SND_OK;

    for (size_t i = 0; i < count && status == SND_OK; i++)
        if (!numbers[i].is_rare || numbers[i].value.whole != 0 || snd_profile_has(profile, node, numbers[i].metric))
            status = snd_snapshot_put(self, profile, node, numbers[i].metric, numbers[i].value);
    return status;
}

static snd_status
put_whole(snd_snapshot *self, snd_profile *profile, uint32_t node, snd_metric metric, uint64_t value)
{
    return snd_snapshot_put(self, profile, node, metric, (snd_value){.whole = value});
}

static snd_status
put_histogram(snd_profile *profile, uint32_t id, const snd_node *node)
{
    const _Atomic uint32_t *live = atomic_load_explicit(&node->histogram, memory_order_acquire);
    uint64_t counts[SND_HISTOGRAM_BUCKETS];

    if (live == NULL)
        return SND_OK;
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = SND_GET(live[i]);
    return snd_profile_set_histogram(profile, id, counts);
}

static snd_status
put_counter(snd_snapshot *self, snd_profile *profile, uint32_t id, const reading *now)
{
    const snd_number numbers[] = {
        {SND_METRIC_VALUE_LAST, 0, {.real = now->value_last}},
        {SND_METRIC_VALUE_MIN, 0, {.real = now->value_min}},
        {SND_METRIC_VALUE_MAX, 0, {.real = now->value_max}},
        {SND_METRIC_VALUE_SUM, 0, {.real = now->value_sum}},
    };
    snd_status status = put_whole(self, profile, id, SND_METRIC_COUNT, now->count);
    return status == SND_OK && now->count != 0 ? SND_PUT_NUMBERS(self, profile, id, numbers) : status;
}

static snd_status
put_collections(snd_snapshot *self, snd_profile *profile, const snd_track *live, uint32_t id, const reading *now)
{
    const snd_number numbers[] = {
        {SND_METRIC_COUNT, 0, {now->count}},
        {SND_METRIC_TOTAL, 0, {ns_of(live, now->total)}},
        {SND_METRIC_MIN, 0, {now->count == 0 ? 0 : ns_of(live, now->min)}},
        {SND_METRIC_MAX, 0, {ns_of(live, now->max)}},
        {SND_METRIC_GC_COLLECTED, 0, {now->collected}},
    };
    return SND_PUT_NUMBERS(self, profile, id, numbers);
}

static snd_status
put_op(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t node, uint64_t count)
{
    snd_snapshot_put_op *put = snd_snapshot_op_putter;
    return put == NULL ? SND_OK : put(self, profile, site, node, count);
}

/* An open entry counts with the time it has lasted; the root is one that is always open. */
static reading
with_open(reading now, uint64_t until)
{
    uint64_t open_ticks = now.open * until - now.open_start;

    if (now.open == 0 || (int64_t)open_ticks < 0)
        return now;
    now.total += open_ticks;
    if (now.open == 1 && open_ticks > now.max)
        now.max = open_ticks;
    return now;
}

static snd_status
put_region(snd_snapshot *self, snd_profile *profile, const snd_track *live, const snd_node *node, uint32_t id,
           reading now)
{
    double scale = (double)SND_GET(snd_clock_now.scale) / 4294967296.0;
    const snd_number numbers[] = {
        {SND_METRIC_COUNT, 0, {now.count}},
        {SND_METRIC_TOTAL, 0, {ns_of(live, now.total)}},
        {SND_METRIC_SELF, 0, {snd_reported_leave_self(live, node->id, ns_of(live, now.self))}},
        {SND_METRIC_MIN, 0, {now.min == UINT64_MAX ? ns_of(live, now.max) : ns_of(live, now.min)}},
        {SND_METRIC_MAX, 0, {ns_of(live, now.max)}},
        {SND_METRIC_SUSPENDED, 0, {ns_of(live, now.suspended)}},
        {SND_METRIC_OPEN, 0, {now.open}},
        {SND_METRIC_SQUARE, 0, {.real = now.square * scale * scale}},
        {SND_METRIC_CPU, 1, {now.cpu_ns}},
    };
    snd_status status = SND_PUT_NUMBERS(self, profile, id, numbers);
    return status == SND_OK ? snd_snapshot_put_counted(self, profile, id, &now.counted) : status;
}

static snd_status
put_call(snd_snapshot *self, snd_profile *profile, const snd_track *live, uint32_t id, const reading *now)
{
    const snd_number numbers[] = {
        {SND_METRIC_COUNT, 0, {now->count > now->open ? now->count - now->open : 0}}, /* it counts starts */
        {SND_METRIC_TOTAL, 0, {ns_of(live, now->total)}},
        {SND_METRIC_SELF, 0, {ns_of(live, now->self)}},
        {SND_METRIC_OPEN, 1, {now->open}},
        {SND_METRIC_RECURSIVE, 1, {now->recursive}},
        {SND_METRIC_SUSPENDED, 1, {ns_of(live, now->suspended)}},
        {SND_METRIC_RESUMES, 1, {now->resumes}},
    };
    return SND_PUT_NUMBERS(self, profile, id, numbers);
}

static int
is_call(const snd_profile *profile, uint32_t id)
{
    return snd_site_is_call(snd_profile_kind(profile, id));
}

static void
add_to_sum(call_sum *sum, const reading *read)
{
    sum->count += read->count;
    sum->self += read->self;
    sum->suspended += read->suspended;
    sum->resumes += read->resumes;
}

/* A pair of caller and callee, or a function. What a function did for its callers stands in the pairs only. */
static snd_status
update_call(snd_snapshot *self, snd_profile *profile, const snd_track *live, const snd_node *node, uint32_t id,
            reading read, uint64_t until)
{
    const snd_node *function = atomic_load_explicit(&node->call.function, memory_order_acquire);
    const snd_node *base = SND_GET(node->call.base);

    if (function == NULL) /* the collector came between its making and its first call */
        return SND_OK;
    if (read.is_running && until > read.last)
        read.self += until - read.last;
    if (read.open != 0 && until > read.open_start)
        read.total += until - read.open_start;
    add_to_sum(&self->sums[function->id], &read);
    if (base != NULL)
        add_to_sum(&self->sums[base->id], &read);
    if (function == node) {
        const call_sum *sum = &self->sums[node->id];
        read.count = sum->count;
        read.self = sum->self;
        read.suspended = sum->suspended;
        read.resumes = sum->resumes;
    }
    return put_call(self, profile, live, id, &read);
}

static snd_status
update_region(snd_snapshot *self, snd_profile *profile, const snd_track *live, const snd_node *node, uint32_t id,
              reading read, uint64_t until)
{
    if (read.is_running && until > read.last) /* what has run since the owner last looked at its clock */
        read.self += until - read.last;
    if (node->parent == NULL) {
        read.open = 1;
        read.open_start = SND_GET(live->start);
        read.count = 1;
        read.total = read.max = 0;
    }
    reading counted = with_open(read, until);
    if (node->parent == NULL)
        counted.open = 0;
    snd_status status = SND_OK;
    if (read.count != snd_profile_whole(profile, id, SND_METRIC_COUNT))
        status = put_histogram(profile, id, node);
    if (status == SND_OK)
        status = put_region(self, profile, live, node, id, counted);
    return status == SND_OK ? put_op(self, profile, node->site, id, counted.count) : status;
}

static snd_status
update_node(snd_snapshot *self, snd_profile *profile, const snd_track *live, uint32_t i, uint64_t now, int *stuck)
{
    const snd_node *node = snd_node_get(live, i);
    uint32_t id = self->tracks[live->id].nodes[i];
    uint64_t end = SND_GET(live->end);
    uint64_t until = end == 0 ? now : end;
    int is_a_call = is_call(profile, id);

    reading read;
    *stuck = !read_node(live, node, is_a_call, &read);
    if (*stuck)
        return SND_OK;
    if (is_a_call)
        return update_call(self, profile, live, node, id, read, until);
    if (snd_profile_kind(profile, id) == SND_SITE_COUNTER)
        return put_counter(self, profile, id, &read);
    if (snd_profile_kind(profile, id) == SND_SITE_MARK)
        return put_whole(self, profile, id, SND_METRIC_COUNT, read.count);
    if (snd_profile_kind(profile, id) == SND_SITE_GC)
        return put_collections(self, profile, live, id, &read);
    return update_region(self, profile, live, node, id, read, until);
}

/* Functions come after the pairs, of which they are the sum, and what stands for all signatures comes last. */
static int
turn_of(const snd_profile *profile, const snd_track *live, uint32_t i, uint32_t id)
{
    const snd_node *node = snd_node_get(live, i);
    if (!is_call(profile, id) || node->parent != live->root)
        return 0;
    return SND_GET(node->call.base) != NULL ? 1 : 2;
}

static snd_status
make_sums(snd_snapshot *self, uint32_t count)
{
    if (!snd_make_room(&self->sums, count, &self->sum_capacity, sizeof *self->sums))
        return SND_NO_MEMORY;
    memset(self->sums, 0, count * sizeof *self->sums);
    return SND_OK;
}

static snd_status
update_nodes(snd_snapshot *self, snd_profile *profile, const snd_track *live, uint64_t now)
{
    const snapshot_track *known = &self->tracks[live->id];
    snd_status status = make_sums(self, known->node_count);
    int stuck = 0; /* its thread is stopped in the middle of an entry: one wait is enough */

    for (int turn = 0; turn <= 2; turn++)
        for (uint32_t i = 0; i < known->node_count && status == SND_OK && !stuck; i++)
            if (turn_of(profile, live, i, known->nodes[i]) == turn)
                status = update_node(self, profile, live, i, now, &stuck);
    return status;
}

snd_status
snd_snapshot_make_changed(snd_snapshot *self, const snd_profile *profile)
{
    return snd_make_longer(&self->changed, profile->node_count, &self->changed_count, 1, 1) ? SND_OK : SND_NO_MEMORY;
}

/* ---- whose track a thread is ---- */

/* A thread that was sampled before it had regions has a track and a root already. */
static snd_status
adopt_row(const snd_snapshot *self, uint32_t thread_id, snapshot_track *known)
{
    for (uint32_t i = 0; i < self->row_count; i++) {
        if (self->rows[i].thread_id != thread_id || self->rows[i].track == SND_NONE)
            continue;
        snd_status status = make_node_room(known, 1);
        if (status != SND_OK)
            return status;
        known->id = self->rows[i].track;
        known->nodes[0] = self->rows[i].root;
        known->node_count = 1;
        return SND_OK;
    }
    return SND_OK;
}

static snd_status
add_place(snd_profile *profile, const snd_profile_track *about, snd_snapshot_place *out)
{
    uint32_t site;
    snd_status status = snd_profile_add_track(profile, about, &out->track);
    if (status == SND_OK)
        status = root_site(profile, about->name, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, SND_NONE, out->track, site, &out->root);
    if (status != SND_OK)
        out->track = SND_NONE;
    return status;
}

snd_status
snd_snapshot_place_row(snd_snapshot *self, snd_profile *profile, uint32_t row, const snd_track *live,
                       const snd_profile_track *about)
{
    uint32_t of_regions = live == NULL ? SND_NONE : snd_snapshot_track_id(self, live);
    if (!snd_make_longer(&self->rows, row + 1, &self->row_count, sizeof *self->rows, 0xff))
        return SND_NO_MEMORY;
    snd_snapshot_place *place = &self->rows[row];
    place->thread_id = about->thread_id;
    if (place->track == SND_NONE && of_regions != SND_NONE) {
        place->track = of_regions;
        place->root = snd_snapshot_node(self, live, 0);
    }
    if (place->track == SND_NONE)
        return add_place(profile, about, place);
    if (of_regions == SND_NONE)
        return snd_profile_set_track(profile, place->track, about);
    snd_profile_track wider = profile->tracks[place->track];
    wider.start_ns = about->start_ns < wider.start_ns ? about->start_ns : wider.start_ns;
    wider.end_ns = about->end_ns > wider.end_ns ? about->end_ns : wider.end_ns;
    return snd_profile_set_track(profile, place->track, &wider);
}

static snd_status
update_track(snd_snapshot *self, snd_profile *profile, const snd_track *live, uint64_t origin, uint64_t now)
{
    snd_status status = make_track_room(self, live->id);
    if (status != SND_OK)
        return status;
    snapshot_track *known = &self->tracks[live->id];
    snd_profile_track track = describe_track(live, origin, now);
    if (known->id == SND_NONE)
        status = adopt_row(self, track.thread_id, known);
    if (status != SND_OK)
        return status;
    if (known->id == SND_NONE)
        status = snd_profile_add_track(profile, &track, &known->id);
    else
        status = snd_profile_set_track(profile, known->id, &track);
    if (status == SND_OK)
        status = add_nodes(self, profile, live, known);
    if (status != SND_OK)
        return status;
    status = snd_snapshot_make_changed(self, profile);
    return status == SND_OK ? update_nodes(self, profile, live, now) : status;
}

/* Nothing in the profile is left from before a reset that the track's thread has not met yet. */
static snd_status
clear_track(snd_snapshot *self, snd_profile *profile, const snd_track *live)
{
    snd_status status = SND_OK;

    if (live->id >= self->track_count)
        return SND_OK;
    for (uint32_t i = 0; i < self->tracks[live->id].node_count && status == SND_OK; i++) {
        uint32_t id = self->tracks[live->id].nodes[i];
        if (is_call(profile, id))
            status = put_call(self, profile, live, id, &(reading){0});
        else if (snd_profile_kind(profile, id) == SND_SITE_GC)
            status = put_collections(self, profile, live, id, &(reading){0});
        else if (snd_profile_has(profile, id, SND_METRIC_TOTAL))
            status = put_region(self, profile, live, snd_node_get(live, i), id, (reading){0});
        else
            status = put_whole(self, profile, id, SND_METRIC_COUNT, 0);
        if (status == SND_OK)
            status = put_op(self, profile, snd_node_get(live, i)->site, id, 0);
    }
    return status;
}

snd_status
snd_snapshot_add(snd_snapshot *self, snd_profile *profile, const snd_track *track, uint64_t origin, uint64_t now)
{
    snd_reported_lock();
    snd_status status = update_track(self, profile, track, origin, now);
    snd_reported_unlock();
    return status;
}

snd_status
snd_snapshot_update(snd_snapshot *self, snd_profile *profile, uint64_t origin, uint64_t now)
{
    snd_status status = SND_OK;

    snd_reported_lock();
    for (const snd_track *live = snd_track_first(); live != NULL && status == SND_OK; live = live->next)
        status =
            SND_GET(live->epoch) == SND_GET(snd_track_epoch) /* else it holds nothing that counts since the reset */
                ? update_track(self, profile, live, origin, now)
                : clear_track(self, profile, live);
    if (status == SND_OK)
        status = snd_snapshot_put_reported(self, profile);
    snd_reported_unlock();
    return status;
}

void
snd_snapshot_written(snd_snapshot *self)
{
    if (self->changed_count != 0)
        memset(self->changed, 0, self->changed_count);
}

uint32_t
snd_snapshot_track_id(const snd_snapshot *self, const snd_track *track)
{
    return track->id < self->track_count ? self->tracks[track->id].id : SND_NONE;
}

uint32_t
snd_snapshot_site(const snd_snapshot *self, uint32_t site)
{
    return site < self->site_count ? self->sites[site] : SND_NONE;
}

uint32_t
snd_snapshot_node(const snd_snapshot *self, const snd_track *track, uint32_t node)
{
    if (track->id >= self->track_count || node >= self->tracks[track->id].node_count)
        return SND_NONE;
    return self->tracks[track->id].nodes[node];
}
