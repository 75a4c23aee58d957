/* Linking events: allocations and kernels to the operators that made them, backward operators to forward ones. */
#include "view/op_links.h"

#include "base/alloc.h"
#include "base/map.h"

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
free_index(memory_index *self)
{
    snd_free(self->cpu_bytes);
    snd_free(self->device_bytes);
    snd_free(self->spans);
    snd_free(self->places);
}

static snd_status
make_index(snd_op_events *events, memory_index *self)
{
    size_t room = (size_t)events->memory_count + 1;

    self->records = events->memory;
    self->cpu_bytes = snd_calloc(room, sizeof *self->cpu_bytes);
    self->device_bytes = snd_calloc(room, sizeof *self->device_bytes);
    self->spans = snd_calloc(room, sizeof *self->spans);
    self->places = snd_calloc(room, sizeof *self->places);
    if (self->cpu_bytes == NULL || self->device_bytes == NULL || self->spans == NULL || self->places == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < events->memory_count; i++)
        if (!events->memory[i].is_failure)
            self->places[self->count++] = i;
    qsort_r(self->places, self->count, sizeof *self->places, compare_memory, events->memory);
    for (uint32_t i = 0; i < self->count; i++) {
        const snd_op_memory *record = &events->memory[self->places[i]];
        self->cpu_bytes[i + 1] = self->cpu_bytes[i] + cpu_bytes_of(record);
        self->device_bytes[i + 1] = self->device_bytes[i] + device_bytes_of(record);
    }
    return SND_OK;
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

static snd_status
add_memory_event(snd_op_events *self, const snd_op_memory *memory)
{
    snd_op_event *event = snd_op_events_add(self);
    if (event == NULL)
        return SND_NO_MEMORY;
    event->name = memory->name;
    event->start_ns = event->end_ns = memory->start_ns;
    event->thread = event->forward_thread = memory->thread;
    event->sequence = -1;
    event->cpu_bytes = cpu_bytes_of(memory);
    event->device_bytes = device_bytes_of(memory);
    event->linked = -1; /* no kernel is linked to it, and it to none */
    return SND_OK;
}

/* Those that no event saw, in the order in which they were given; then those that failed. */
static snd_status
add_memory_events(snd_op_events *self, const memory_index *index)
{
    uint8_t *is_seen = snd_calloc((size_t)self->memory_count + 1, 1);
    snd_status status = is_seen == NULL ? SND_NO_MEMORY : SND_OK;
    int32_t open = 0;

    for (uint32_t i = 0; i < index->count && status == SND_OK; i++) {
        open += index->spans[i];
        is_seen[index->places[i]] = open > 0;
    }
    for (int failures = 0; failures < 2; failures++)
        for (uint32_t i = 0; i < self->memory_count && status == SND_OK; i++)
            if (self->memory[i].is_failure == failures && !is_seen[i])
                status = add_memory_event(self, &self->memory[i]);
    snd_free(is_seen);
    return status;
}

snd_status
snd_op_link_memory(snd_op_events *self)
{
    memory_index index = {0};

    if (self->memory_count == 0)
        return SND_OK;
    snd_status status = make_index(self, &index);
    if (status == SND_OK) {
        give_memory(self, &index);
        status = add_memory_events(self, &index);
    }
    free_index(&index);
    return status;
}

static int
is_kernel_device(int32_t device)
{
    return device == SND_OP_CUDA || device == SND_OP_PRIVATE || device == SND_OP_XPU;
}

static double
duration_us(const snd_op_event *event)
{
    return (double)event->end_ns / 1000.0 - (double)event->start_ns / 1000.0;
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
            snd_op_sum_add(&sum, duration_us(linked));
        else if (linked->device == SND_OP_CPU)
            linked->thread = event->thread;
    }
    event->kernels_us = snd_op_sum_value(&sum);
}

/* `tail` is the last of the chain that begins with an event. */
static snd_status
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
            snd_status status = snd_map_add(first, key, i);
            if (status != SND_OK)
                return status;
            found = i;
        }
        else {
            next[tail[found]] = i;
        }
        tail[found] = i;
    }
    return SND_OK;
}

snd_status
snd_op_link_kernels(snd_op_events *self)
{
    snd_map first = {0};

    if (!self->has_links)
        return SND_OK;
    uint32_t *next = snd_calloc((size_t)self->count + 1, sizeof *next);
    uint32_t *tail = snd_calloc((size_t)self->count + 1, sizeof *tail);
    snd_status status = next == NULL || tail == NULL ? SND_NO_MEMORY : chain_links(self, &first, next, tail);
    for (uint32_t i = 0; i < self->count && status == SND_OK; i++)
        if (self->events[i].device == SND_OP_CPU && !self->events[i].is_async)
            take_kernels(self, i, &first, next);
    snd_map_free(&first);
    snd_free(next);
    snd_free(tail);
    return status;
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

snd_status
snd_op_link_order(snd_op_events *self)
{
    int is_sorted = 1;

    self->order = snd_calloc((size_t)self->count + 1, sizeof *self->order);
    if (self->order == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < self->count; i++) {
        self->order[i] = i;
        if (i > 0 && compare_events(&self->order[i - 1], &self->order[i], self->events) > 0)
            is_sorted = 0;
    }
    if (!is_sorted)
        qsort_r(self->order, self->count, sizeof *self->order, compare_events, self->events);
    return SND_OK;
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

snd_status
snd_op_events_share_stacks(snd_op_events *self)
{
    snd_map forward = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->count && status == SND_OK; i++) {
        const snd_op_event *event = &self->events[self->order[i]];
        if (event->is_removed || backward_of(self, self->order[i]) != SND_OP_NO_EVENT)
            continue;
        if (find_forward(self, &forward, event->sequence, event->thread) == SND_MAP_NONE)
            status = snd_map_add(&forward, forward_key(event->sequence, event->thread), self->order[i]);
    }
    for (uint32_t i = 0; i < self->count && status == SND_OK; i++) {
        snd_op_event *event = &self->events[self->order[i]];
        uint32_t backward = event->is_removed ? SND_OP_NO_EVENT : backward_of(self, self->order[i]);
        if (backward == SND_OP_NO_EVENT)
            continue;
        const snd_op_event *about = &self->events[backward];
        uint32_t found = find_forward(self, &forward, about->sequence, about->forward_thread);
        event->stack = found == SND_MAP_NONE ? 0 : self->events[found].stack;
    }
    snd_map_free(&forward);
    return status;
}
