/* The tree of the events of PyTorch, and what each of them has for itself. */
#include "view/ops/op_events.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/work.h"
#include "view/ops/op_links.h"

#include <string.h>

snd_op_events *
snd_op_events_new(const snd_op_events_options *options)
{
    snd_op_events *self = snd_calloc(1, sizeof *self);
    uint32_t nothing;

    if (self == NULL)
        return NULL;
    self->options = *options;
    self->texts = snd_intern_new();
    if (self->texts == NULL || snd_intern_add(self->texts, "", 0, &nothing) != SND_OK) {
        snd_op_events_free(self);
        return NULL;
    }
    return self;
}

void
snd_op_events_free(snd_op_events *self)
{
    if (self == NULL)
        return;
    snd_intern_free(self->texts);
    snd_free(self->events);
    snd_free(self->memory);
    snd_free(self->order);
    snd_free(self);
}

snd_intern *
snd_op_events_texts(snd_op_events *self)
{
    return self->texts;
}

snd_op_event *
snd_op_events_add(snd_op_events *self)
{
    snd_pool *work = snd_pool_use(NULL); /* if one runs: they outlive it */
    int has_room = snd_make_room(&self->events, self->count + 1, &self->capacity, sizeof *self->events);

    snd_pool_use(work);
    if (!has_room)
        return NULL;
    snd_op_event *added = &self->events[self->count++];
    memset(added, 0, sizeof *added);
    added->parent = added->first_child = added->last_child = added->next_child = SND_OP_NO_EVENT;
    return added;
}

snd_status
snd_op_events_add_memory(snd_op_events *self, const snd_op_memory *memory)
{
    if (!snd_make_room(&self->memory, self->memory_count + 1, &self->memory_capacity, sizeof *self->memory))
        return SND_NO_MEMORY;
    self->memory[self->memory_count++] = *memory;
    return SND_OK;
}

uint32_t
snd_op_events_count(const snd_op_events *self)
{
    return self->count;
}

snd_op_event *
snd_op_events_at(snd_op_events *self, uint32_t index)
{
    return &self->events[index];
}

uint32_t
snd_op_events_in_time(const snd_op_events *self, uint32_t index)
{
    return self->order[index];
}

static int
is_nested(const snd_op_event *event)
{
    return event->device == SND_OP_CPU && !event->is_async;
}

static void
add_child(snd_op_events *self, uint32_t parent, uint32_t child)
{
    snd_op_event *above = &self->events[parent];

    self->events[child].parent = parent;
    if (above->last_child == SND_OP_NO_EVENT)
        above->first_child = child;
    else
        self->events[above->last_child].next_child = child;
    above->last_child = child;
    above->child_count++;
}

/* The event that each thread began last. */
typedef struct thread_list {
    snd_map numbers;
    uint32_t *last;
    uint32_t count, capacity;
} thread_list;

/* Valid until the next thread is met. */
static uint32_t *
last_of(thread_list *self, uint64_t thread)
{
    uint32_t cursor = 0, number = snd_map_next(&self->numbers, thread, &cursor);

    if (number != SND_MAP_NONE)
        return &self->last[number];
    snd_need_room(&self->last, self->count + 1, &self->capacity, sizeof *self->last);
    snd_work_need(snd_map_add(&self->numbers, thread, self->count));
    self->last[self->count] = SND_OP_NO_EVENT;
    return &self->last[self->count++];
}

/* The events come in the order of their start, longer ones first. So the parent is the one before on the same thread,
 * or one of those that it is in: the innermost that has not ended. */
static void
build_tree(snd_op_events *self)
{
    thread_list threads = {0};

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_op_event *event = &self->events[self->order[i]];
        if (!is_nested(event))
            continue;
        uint32_t *last = last_of(&threads, event->thread), parent = *last;
        while (parent != SND_OP_NO_EVENT &&
               (event->start_ns >= self->events[parent].end_ns || event->end_ns > self->events[parent].end_ns))
            parent = self->events[parent].parent;
        if (parent != SND_OP_NO_EVENT)
            add_child(self, parent, self->order[i]);
        *last = self->order[i];
    }
}

/* The only child takes its parent's place below: its children and its kernels become the parent's. */
static void
merge_into_parent(snd_op_events *self, snd_op_event *event)
{
    snd_op_event *parent = &self->events[event->parent];

    parent->first_child = event->first_child;
    parent->last_child = event->last_child;
    parent->child_count = event->child_count;
    parent->kernels_us = event->kernels_us;
    for (uint32_t child = event->first_child; child != SND_OP_NO_EVENT; child = self->events[child].next_child)
        self->events[child].parent = event->parent;
    event->is_removed = 1;
}

static void
remove_doubles(snd_op_events *self)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (uint32_t i = 0; i < self->count; i++) {
            snd_op_event *event = &self->events[self->order[i]];
            if (event->is_removed || event->parent == SND_OP_NO_EVENT)
                continue;
            const snd_op_event *parent = &self->events[event->parent];
            if (parent->name == event->name && parent->child_count == 1) {
                merge_into_parent(self, event);
                changed = 1;
            }
        }
    }
}

static double
children_device_us(const snd_op_events *self, const snd_op_event *event)
{
    snd_op_sum sum = {.is_compensated = self->options.is_compensated};

    for (uint32_t child = event->first_child; child != SND_OP_NO_EVENT; child = self->events[child].next_child)
        snd_op_sum_add(&sum, self->events[child].device_us);
    return snd_op_sum_value(&sum);
}

/* Children come after their parents in the order of time, so it is gone through from its end. */
static void
sum_device_times(snd_op_events *self)
{
    for (uint32_t i = self->count; i-- > 0;) {
        snd_op_event *event = &self->events[self->order[i]];
        if (event->is_async || event->is_removed)
            continue;
        if (event->device != SND_OP_CPU)
            event->device_us = snd_op_elapsed_us(event);
        else
            event->device_us = event->kernels_us + (event->legacy_us > 0 ? 0 : children_device_us(self, event));
    }
}

static void
arrange(void *context)
{
    snd_op_events *self = context;

    for (uint32_t i = 0; i < self->count; i++)
        self->has_links |= self->events[i].linked > 0 || self->events[i].legacy_us > 0;
    snd_op_link_memory(self);
    snd_op_link_kernels(self);
    snd_op_link_order(self);
    build_tree(self);
    remove_doubles(self);
    if (self->options.has_device)
        sum_device_times(self);
}

snd_status
snd_op_events_arrange(snd_op_events *self)
{
    return snd_work_run(arrange, self, NULL);
}

/* What is left when the children's part is taken away. */
static void
set_own(const snd_op_events *self, const snd_op_event *event, snd_op_average *row)
{
    snd_op_sum cpu = {.is_compensated = self->options.is_compensated};

    row->self_cpu_bytes = event->cpu_bytes;
    row->self_device_bytes = event->device_bytes;
    for (uint32_t child = event->first_child; child != SND_OP_NO_EVENT; child = self->events[child].next_child) {
        const snd_op_event *below = &self->events[child];
        snd_op_sum_add(&cpu, snd_op_elapsed_us(below));
        row->self_cpu_bytes -= below->cpu_bytes;
        row->self_device_bytes -= below->device_bytes;
    }
    row->self_cpu_us = row->total_cpu_us - snd_op_sum_value(&cpu);
    if (self->options.has_device)
        row->self_device_us = event->device_us - children_device_us(self, event);
}

static void
fill_row(const snd_op_events *self, const snd_op_event *event, snd_op_average *row)
{
    *row = (snd_op_average){
        .name = snd_intern_text(self->texts, event->name),
        .node = -1,
        .device = event->device,
        .is_legacy = event->legacy_us > 0,
        .is_annotation = event->is_annotation,
        .is_async = event->is_async,
        .has_parent = event->parent != SND_OP_NO_EVENT,
        .scope = event->scope,
        .count = 1,
        .cpu_bytes = event->cpu_bytes,
        .device_bytes = event->device_bytes,
        .total_device_us = event->device_us,
        .flops = event->flops,
    };
    if (event->device == SND_OP_CPU)
        row->total_cpu_us = snd_op_elapsed_us(event);
    else if (!event->is_async)
        row->self_device_us = event->device_us;
    if (is_nested(event))
        set_own(self, event, row);
}

/* The first lines of a text, as a text of its own in `out`. */
static void
cut_stack(const char *stack, uint32_t count, snd_buffer *out)
{
    const char *end = stack;

    for (uint32_t i = 0; i < count && *end != '\0'; i++)
        end = strchrnul(end + (i != 0), '\n');
    snd_buffer_clear(out);
    snd_buffer_put(out, stack, (size_t)(end - stack));
}

typedef struct averaging {
    const snd_op_events *events;
    const snd_op_grouping *grouping;
    snd_op_averages *out;
} averaging;

static void
average(void *context)
{
    const averaging *asked = context;
    const snd_op_events *self = asked->events;
    const snd_op_grouping *grouping = asked->grouping;
    snd_buffer stack = {0};

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_op_event *event = &self->events[self->order[i]];
        snd_op_average row;
        if (event->is_removed)
            continue;
        fill_row(self, event, &row);
        if (grouping->by_overload)
            row.overload = snd_intern_text(self->texts, event->overload);
        if (grouping->by_shapes)
            row.shapes = event->shapes == 0 ? "[]" : snd_intern_text(self->texts, event->shapes);
        if (grouping->stack_count > 0) {
            cut_stack(snd_intern_text(self->texts, event->stack), grouping->stack_count, &stack);
            row.stack = snd_buffer_str(&stack);
        }
        snd_op_averages_put(asked->out, &row);
    }
}

snd_status
snd_op_events_average(snd_op_events *self, const snd_op_grouping *grouping, snd_op_averages *out)
{
    return snd_work_run(average, &(averaging){self, grouping, out}, NULL);
}
