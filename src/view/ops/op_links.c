/* Linking events: allocations and kernels to the operators that made them, backward operators to forward ones. */
#include "view/ops/op_links.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/work.h"

#include <stdlib.h>
#include <string.h>

/* Allocations in the order of time. Before each: what all earlier ones add up to, and how many spans of events begin
 * there, minus those that end: where the sum of these is not 0, some event saw it. */
typedef struct memory_index {
    snd_op_memory *records;
    int64_t *cpu_bytes, *device_bytes; /* count + 1 of each */
    int32_t *spans;
    uint32_t *places; /* of each record in the list, for the order in which it was given */
    uint32_t count;
} memory_index;

static int
compare_memory(const void *left, const void *right, void *context)
{
    const snd_op_memory *records = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (records[a].start_ns != records[b].start_ns)
        return records[a].start_ns < records[b].start_ns ? -1 : 1;
    return (a > b) - (a < b);
}

static int64_t
cpu_bytes_of(const snd_op_memory *memory)
{
    int is_cpu = memory->device == SND_OP_CPU || memory->device == SND_OP_MKLDNN || memory->device == SND_OP_IDEEP;
    return is_cpu ? memory->bytes : 0;
}

static int64_t
device_bytes_of(const snd_op_memory *memory)
{
    int is_device = memory->device == SND_OP_CUDA || memory->device == SND_OP_PRIVATE || memory->device == SND_OP_HIP ||
                    memory->device == SND_OP_XPU;
    return is_device ? memory->bytes : 0;
}

static void
make_index(snd_op_events *events, memory_index *self)
{
    size_t room = (size_t)events->memory_count + 1;

    self->records = events->memory;
    self->cpu_bytes = snd_new(room, sizeof *self->cpu_bytes);
    self->device_bytes = snd_new(room, sizeof *self->device_bytes);
    self->spans = snd_new(room, sizeof *self->spans);
    self->places = snd_new(room, sizeof *self->places);
    for (uint32_t i = 0; i < events->memory_count; i++)
        if (!events->memory[i].is_failure)
            self->places[self->count++] = i;
    qsort_r(self->places, self->count, sizeof *self->places, compare_memory, events->memory);
    for (uint32_t i = 0; i < self->count; i++) {
        const snd_op_memory *record = &events->memory[self->places[i]];
        self->cpu_bytes[i + 1] = self->cpu_bytes[i] + cpu_bytes_of(record);
        self->device_bytes[i + 1] = self->device_bytes[i] + device_bytes_of(record);
    }
}

/* How many records are before `time_ns`, or, with `or_at`, not after it. */
static uint32_t
count_before(const memory_index *self, int64_t time_ns, int or_at)
{
    uint32_t low = 0, high = self->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t there = self->records[self->places[middle]].start_ns;
        if (there < time_ns || (or_at && there == time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void
give_memory(snd_op_events *self, memory_index *index)
{
    for (uint32_t i = 0; i < self->count; i++) {
        snd_op_event *event = &self->events[i];
        if (event->device != SND_OP_CPU)
            continue;
        uint32_t from = count_before(index, event->start_ns, 0), to = count_before(index, event->end_ns, 1);
        if (from >= to)
            continue;
        event->cpu_bytes = index->cpu_bytes[to] - index->cpu_bytes[from];
        event->device_bytes = index->device_bytes[to] - index->device_bytes[from];
        index->spans[from]++;
        index->spans[to]--;
    }
}

static void
add_memory_event(snd_op_events *self, const snd_op_memory *memory)
{
    snd_op_event *event = snd_op_events_add(self);
    event->name = memory->name;
    event->start_ns = event->end_ns = memory->start_ns;
    event->thread = event->forward_thread = memory->thread;
    event->sequence = -1;
    event->cpu_bytes = cpu_bytes_of(memory);
    event->device_bytes = device_bytes_of(memory);
    event->linked = -1; /* no kernel is linked to it, and it to none */
}

/* Those that no event saw, in the order in which they were given; then those that failed. */
static void
add_memory_events(snd_op_events *self, const memory_index *index)
{
    uint8_t *is_seen = snd_new(self->memory_count, 1);
    int32_t open = 0;

    for (uint32_t i = 0; i < index->count; i++) {
        open += index->spans[i];
        is_seen[index->places[i]] = open > 0;
    }
    for (int failures = 0; failures < 2; failures++)
        for (uint32_t i = 0; i < self->memory_count; i++)
            if (self->memory[i].is_failure == failures && !is_seen[i])
                add_memory_event(self, &self->memory[i]);
}

void
snd_op_link_memory(snd_op_events *self)
{
    memory_index index = {0};

    if (self->memory_count == 0)
        return;
    make_index(self, &index);
    give_memory(self, &index);
    add_memory_events(self, &index);
}

static int
is_kernel_device(int32_t device)
{
    return device == SND_OP_CUDA || device == SND_OP_PRIVATE || device == SND_OP_XPU;
}

/* `next` chains the events that are linked to one correlation, in their order; `first` finds the chain's beginning. */
static void
take_kernels(snd_op_events *self, uint32_t index, const snd_map *first, const uint32_t *next)
{
    snd_op_event *event = &self->events[index];
    snd_op_sum sum = {.is_compensated = self->options.is_compensated};
    uint32_t cursor = 0;
    uint32_t at = event->linked == 0 ? snd_map_next(first, (uint64_t)event->correlation, &cursor) : SND_MAP_NONE;

    if (event->legacy_us > 0)
        snd_op_sum_add(&sum, event->legacy_us);
    for (; at != SND_MAP_NONE; at = next[at]) {
        snd_op_event *linked = &self->events[at];
        if (is_kernel_device(linked->device))
            snd_op_sum_add(&sum, snd_op_elapsed_us(linked));
        else if (linked->device == SND_OP_CPU)
            linked->thread = event->thread;
    }
    event->kernels_us = snd_op_sum_value(&sum);
}

/* `tail` is the last of the chain that begins with an event. */
static void
chain_links(const snd_op_events *self, snd_map *first, uint32_t *next, uint32_t *tail)
{
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t cursor = 0;
        uint64_t key = (uint64_t)self->events[i].linked;
        next[i] = SND_MAP_NONE;
        if (self->events[i].linked <= 0)
            continue;
        uint32_t found = snd_map_next(first, key, &cursor);
        if (found == SND_MAP_NONE) {
            snd_work_need(snd_map_add(first, key, i));
            found = i;
        }
        else {
            next[tail[found]] = i;
        }
        tail[found] = i;
    }
}

void
snd_op_link_kernels(snd_op_events *self)
{
    snd_map first = {0};

    if (!self->has_links)
        return;
    uint32_t *next = snd_new(self->count, sizeof *next), *tail = snd_new(self->count, sizeof *tail);
    chain_links(self, &first, next, tail);
    for (uint32_t i = 0; i < self->count; i++)
        if (self->events[i].device == SND_OP_CPU && !self->events[i].is_async)
            take_kernels(self, i, &first, next);
}

static int
compare_events(const void *left, const void *right, void *context)
{
    const snd_op_event *events = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (events[a].start_ns != events[b].start_ns)
        return events[a].start_ns < events[b].start_ns ? -1 : 1;
    if (events[a].end_ns != events[b].end_ns)
        return events[a].end_ns > events[b].end_ns ? -1 : 1;
    return (a > b) - (a < b);
}

void
snd_op_link_order(snd_op_events *self)
{
    snd_pool *work = snd_pool_use(NULL); /* it outlives the work */
    int is_sorted = 1;

    self->order = snd_new(self->count, sizeof *self->order);
    snd_pool_use(work);
    for (uint32_t i = 0; i < self->count; i++) {
        self->order[i] = i;
        if (i > 0 && compare_events(&self->order[i - 1], &self->order[i], self->events) > 0)
            is_sorted = 0;
    }
    if (!is_sorted)
        qsort_r(self->order, self->count, sizeof *self->order, compare_events, self->events);
}

/* The nearest of the event and those around it that is a backward function; SND_OP_NO_EVENT: none. */
static uint32_t
backward_of(const snd_op_events *self, uint32_t index)
{
    while (index != SND_OP_NO_EVENT && self->events[index].scope != SND_OP_SCOPE_BACKWARD)
        index = self->events[index].parent;
    return index;
}

static uint64_t
forward_key(int64_t sequence, uint64_t thread)
{
    uint64_t words[2] = {(uint64_t)sequence, thread};
    return snd_hash(words, sizeof words, 0);
}

static uint32_t
find_forward(const snd_op_events *self, const snd_map *forward, int64_t sequence, uint64_t thread)
{
    uint32_t cursor = 0;

    for (;;) {
        uint32_t found = snd_map_next(forward, forward_key(sequence, thread), &cursor);
        if (found == SND_MAP_NONE || (self->events[found].sequence == sequence && self->events[found].thread == thread))
            return found;
    }
}

static void
share_stacks(void *context)
{
    snd_op_events *self = context;
    snd_map forward = {0};

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_op_event *event = &self->events[self->order[i]];
        if (event->is_removed || backward_of(self, self->order[i]) != SND_OP_NO_EVENT)
            continue;
        if (find_forward(self, &forward, event->sequence, event->thread) == SND_MAP_NONE)
            snd_work_need(snd_map_add(&forward, forward_key(event->sequence, event->thread), self->order[i]));
    }
    for (uint32_t i = 0; i < self->count; i++) {
        snd_op_event *event = &self->events[self->order[i]];
        uint32_t backward = event->is_removed ? SND_OP_NO_EVENT : backward_of(self, self->order[i]);
        if (backward == SND_OP_NO_EVENT)
            continue;
        const snd_op_event *about = &self->events[backward];
        uint32_t found = find_forward(self, &forward, about->sequence, about->forward_thread);
        event->stack = found == SND_MAP_NONE ? 0 : self->events[found].stack;
    }
}

snd_status
snd_op_events_share_stacks(snd_op_events *self)
{
    return snd_work_run(share_stacks, self, NULL);
}
