/* PyTorch's events become a profile: who called whom, what memory and which kernels belong to which operator. Where
 * something here looks strange, PyTorch does it so. */
#include "probe/op/torch_profile.h"

#include "base/alloc.h"
#include "base/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum of floats that ends in the same last digit as Python's sum(). */
typedef struct float_sum {
    double value, lost;
} float_sum;

/* What is found out about an event. Numbers of others are SND_NONE where there is none. */
typedef struct call {
    uint32_t parent, first_child, next_child;
    uint32_t launcher; /* the operator that a kernel belongs to, or that called this in the driver */
    uint32_t stack;    /* a text */
    uint32_t track, node;
    int is_left_out; /* memory that an event saw; the only child of one of its own name */
} call;

/* Memory taken less given back: meanwhile, on whatever thread, or up to a moment. */
typedef struct memory {
    int64_t time_ns, cpu_bytes, device_bytes;
    uint32_t moment; /* of an event: what was there when it began */
} memory;

typedef struct device {
    float_sum kernels; /* that it launched */
    double us;         /* with its children */
} device;

typedef struct track {
    uint32_t first, last; /* of its events: the one that was met first, and the one that began last */
} track;

typedef struct builder {
    const snd_torch_events *from;
    const snd_torch_event *events;
    uint32_t count;
    call *calls;     /* one for each event */
    uint32_t *order; /* the events by start, longer ones first */
    track *tracks;
    uint32_t track_count, track_capacity;
    device *devices; /* for each event; NULL: nobody wants them */
    memory *memory;  /* for each event; NULL: nothing is known of memory */
    memory *moments; /* after each record of memory, in the order of time; the first is before all */
    uint32_t moment_count;
    int has_device_memory;
    snd_profile *profile;
    snd_intern *sites;  /* the keys of those that follow those of the tracks */
    snd_intern *places; /* of nodes, in the same way */
    snd_status status;  /* of what was added to the profile */
} builder;

snd_status
snd_torch_events_start(snd_torch_events *self)
{
    uint32_t nothing;

    self->texts = snd_intern_new();
    return self->texts == NULL ? SND_NO_MEMORY : snd_intern_add(self->texts, "", 0, &nothing);
}

void
snd_torch_events_free(snd_torch_events *self)
{
    snd_intern_free(self->texts);
    snd_free(self->list);
    *self = (snd_torch_events){0};
}

snd_torch_event *
snd_torch_events_add(snd_torch_events *self)
{
    if (!snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        return NULL;
    snd_torch_event *added = &self->list[self->count++];
    memset(added, 0, sizeof *added);
    return added;
}

static void
add_float(const builder *self, float_sum *sum, double value)
{
    double next = sum->value + value;

    if (self->from->is_compensated)
        sum->lost += fabs(sum->value) >= fabs(value) ? (sum->value - next) + value : (value - next) + sum->value;
    sum->value = next;
}

static double
total_of(const float_sum *sum)
{
    return sum->lost != 0 && isfinite(sum->lost) ? sum->value + sum->lost : sum->value;
}

/* Microseconds, rounded where PyTorch rounds them. */
static double
elapsed_us(const snd_torch_event *event)
{
    return (double)event->end_ns / 1000.0 - (double)event->start_ns / 1000.0;
}

static int
is_memory(const snd_torch_event *event)
{
    return event->kind == SND_TORCH_MEMORY || event->kind == SND_TORCH_FAILURE;
}

/* The device that memory is on says nothing of where it was asked for. */
static int
runs_on_cpu(const snd_torch_event *event)
{
    return event->device == SND_OP_CPU || is_memory(event);
}

static int
is_nested(const snd_torch_event *event)
{
    return runs_on_cpu(event) && !event->is_async;
}

/* ---- kernels ---- */

static void
link_kernel(builder *self, uint32_t index, uint32_t launcher)
{
    const snd_torch_event *event = &self->events[index];

    self->calls[index].launcher = launcher;
    if (self->devices == NULL)
        return;
    if (event->device == SND_OP_CUDA || event->device == SND_OP_PRIVATE || event->device == SND_OP_XPU)
        add_float(self, &self->devices[launcher].kernels, elapsed_us(event));
}

/* Gives every operator the time of the kernels that it launched. */
static void
link_kernels(builder *self)
{
    snd_map launchers = {0}; /* by what their kernels are linked to */
    uint32_t launcher;

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_torch_event *event = &self->events[i];
        if (event->linked == 0 && event->correlation > 0 && is_nested(event))
            snd_work_need(snd_map_add(&launchers, (uint64_t)event->correlation, i));
    }
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t cursor = 0;
        while (self->events[i].linked > 0 &&
               (launcher = snd_map_next(&launchers, (uint64_t)self->events[i].linked, &cursor)) != SND_MAP_NONE)
            link_kernel(self, i, launcher);
    }
}

/* What an operator called in the driver is on its thread. */
static uint64_t
thread_of(const builder *self, uint32_t index)
{
    uint32_t launcher = self->calls[index].launcher;
    int is_called = launcher != SND_NONE && runs_on_cpu(&self->events[index]);

    return self->events[is_called ? launcher : index].thread;
}

/* ---- time and memory ---- */

static int
compare(const void *left, const void *right, void *context)
{
    const snd_torch_event *events = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    const snd_torch_event *a = &events[x], *b = &events[y];

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    int order = (is_memory(a) ? a->kind : 0) - (is_memory(b) ? b->kind : 0); /* memory after calls, failures last */
    return order != 0 ? order : (x > y) - (x < y);
}

static void
put_in_order(builder *self)
{
    int is_sorted = 1;

    for (uint32_t i = 0; i < self->count; i++) {
        self->order[i] = i;
        is_sorted &= i == 0 || compare(&self->order[i - 1], &self->order[i], (void *)self->events) < 0;
    }
    if (!is_sorted)
        qsort_r(self->order, self->count, sizeof *self->order, compare, (void *)self->events);
}

static void
add_memory(const snd_torch_event *event, memory *sum)
{
    int32_t on = event->device;

    if (on == SND_OP_CPU || on == SND_OP_MKLDNN || on == SND_OP_IDEEP)
        sum->cpu_bytes += event->bytes;
    else if (on == SND_OP_CUDA || on == SND_OP_PRIVATE || on == SND_OP_HIP || on == SND_OP_XPU)
        sum->device_bytes += event->bytes;
}

/* Lists the moments. What no call saw, and what failed, stands for itself. */
static void
find_memory(builder *self)
{
    int64_t seen_ns = INT64_MIN; /* up to here */

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_torch_event *event = &self->events[self->order[i]];
        memory *now = &self->moments[self->moment_count], *about = &self->memory[self->order[i]];
        about->moment = self->moment_count;
        if (!is_memory(event)) {
            seen_ns = runs_on_cpu(event) && event->end_ns > seen_ns ? event->end_ns : seen_ns;
            continue;
        }
        add_memory(event, about);
        self->has_device_memory |= about->device_bytes != 0;
        if (event->kind != SND_TORCH_MEMORY)
            continue;
        now[1] = *now;
        now[1].time_ns = event->start_ns;
        add_memory(event, &now[1]);
        self->calls[self->order[i]].is_left_out = seen_ns >= event->start_ns;
        self->moment_count++;
    }
}

/* The last one up to a time; most calls have none after their start. */
static const memory *
moment_at(const builder *self, uint32_t start, int64_t time_ns)
{
    uint32_t low = start, high = self->moment_count;

    while (low < high) {
        uint32_t middle = low == start ? low : low + (high - low) / 2;
        if (self->moments[middle + 1].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return &self->moments[low];
}

static void
link_memory(builder *self)
{
    self->memory = snd_new(self->count, sizeof *self->memory);
    self->moments = snd_new((size_t)self->count + 1, sizeof *self->moments);
    find_memory(self);
    for (uint32_t i = 0; i < self->count; i++) {
        if (is_memory(&self->events[i]) || !runs_on_cpu(&self->events[i]))
            continue;
        memory *about = &self->memory[i];
        const memory *first = &self->moments[about->moment];
        const memory *last = moment_at(self, about->moment, self->events[i].end_ns);
        about->cpu_bytes = last->cpu_bytes - first->cpu_bytes;
        about->device_bytes = last->device_bytes - first->device_bytes;
    }
}

/* ---- the tree ---- */

/* The track of a thread, or of a device. `keys` has a number for each. */
static uint32_t
find_track(builder *self, snd_intern *keys, uint32_t index)
{
    int is_cpu = runs_on_cpu(&self->events[index]);
    const uint64_t key[] = {is_cpu ? thread_of(self, index) : (uint64_t)self->events[index].device, (uint64_t)is_cpu};
    uint32_t id;

    snd_work_need(snd_intern_add(keys, (const char *)key, sizeof key, &id));
    if (id == self->track_count) {
        snd_need_room(&self->tracks, id + 1, &self->track_capacity, sizeof *self->tracks);
        self->tracks[self->track_count++] = (track){index, SND_NONE};
    }
    return id;
}

/* The events come in the order of their start, longer ones first. So the parent is the one before on the same thread,
 * or one of those that it is in: the innermost that has not ended. */
static void
find_parents(builder *self)
{
    snd_intern *keys = snd_intern_new();

    for (uint32_t i = 0; i < self->count; i++) {
        const snd_torch_event *event = &self->events[self->order[i]];
        call *about = &self->calls[self->order[i]];
        if (about->is_left_out)
            continue;
        about->track = find_track(self, keys, self->order[i]);
        if (!is_nested(event))
            continue;
        uint32_t parent = self->tracks[about->track].last;
        while (parent != SND_NONE &&
               (event->start_ns >= self->events[parent].end_ns || event->end_ns > self->events[parent].end_ns))
            parent = self->calls[parent].parent;
        about->parent = parent;
        self->tracks[about->track].last = self->order[i];
    }
}

/* What the children of an event have. */
typedef struct below {
    float_sum cpu_us, device_us;
    int64_t cpu_bytes, device_bytes;
} below;

static below
add_children(const builder *self, uint32_t index)
{
    below sum = {0};

    for (uint32_t child = self->calls[index].first_child; child != SND_NONE; child = self->calls[child].next_child) {
        add_float(self, &sum.cpu_us, elapsed_us(&self->events[child]));
        if (self->devices != NULL)
            add_float(self, &sum.device_us, self->devices[child].us);
        if (self->memory != NULL) {
            sum.cpu_bytes += self->memory[child].cpu_bytes;
            sum.device_bytes += self->memory[child].device_bytes;
        }
    }
    return sum;
}

/* An only child of the same name is its parent, which gets its children and its kernels. */
static void
merge_child(builder *self, uint32_t index)
{
    uint32_t only = self->calls[index].first_child;

    if (only == SND_NONE || self->calls[only].next_child != SND_NONE ||
        self->events[only].name != self->events[index].name)
        return;
    if (self->devices != NULL)
        self->devices[index].kernels = self->devices[only].kernels;
    self->calls[only].is_left_out = 1;
    self->calls[index].first_child = self->calls[only].first_child;
    for (uint32_t child = self->calls[only].first_child; child != SND_NONE; child = self->calls[child].next_child)
        self->calls[child].parent = index;
}

static double
device_us_of(const builder *self, uint32_t index)
{
    const snd_torch_event *event = &self->events[index];

    if (event->is_async)
        return 0;
    if (!runs_on_cpu(event))
        return elapsed_us(event);
    below children = add_children(self, index);
    return total_of(&self->devices[index].kernels) + (event->legacy_us > 0 ? 0 : total_of(&children.device_us));
}

/* Children come after their parents in the order of time. From its end their lists are made in that order, and all that
 * a parent adds up is there. */
static void
list_children(builder *self)
{
    for (uint32_t i = self->count; i-- > 0;) {
        call *about = &self->calls[self->order[i]];
        if (about->is_left_out)
            continue;
        merge_child(self, self->order[i]);
        if (self->devices != NULL)
            self->devices[self->order[i]].us = device_us_of(self, self->order[i]);
        if (about->parent != SND_NONE) {
            about->next_child = self->calls[about->parent].first_child;
            self->calls[about->parent].first_child = self->order[i];
        }
    }
}

/* ---- stacks ---- */

/* The nearest of the event and those around it that is a backward function; SND_NONE: none. */
static uint32_t
backward_of(const builder *self, uint32_t index)
{
    while (index != SND_NONE && self->events[index].scope != SND_TORCH_BACKWARD)
        index = self->calls[index].parent;
    return index;
}

/* The first that is no part of a backward function, by sequence and thread. SND_NONE: there is none. */
static uint32_t
find_forward(const builder *self, const snd_map *forward, int64_t sequence, uint64_t thread, uint64_t *hash)
{
    const uint64_t words[] = {(uint64_t)sequence, thread};
    uint32_t cursor = 0, found;

    *hash = snd_hash(words, sizeof words, 0);
    while ((found = snd_map_next(forward, *hash, &cursor)) != SND_MAP_NONE)
        if (self->events[found].sequence == sequence && thread_of(self, found) == thread)
            break;
    return found;
}

/* Backward operators have the stack of their forward one. */
static void
share_stacks(builder *self)
{
    snd_map forward = {0};
    uint64_t hash;

    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t at = self->order[i];
        if (!self->calls[at].is_left_out && backward_of(self, at) == SND_NONE &&
            find_forward(self, &forward, self->events[at].sequence, thread_of(self, at), &hash) == SND_NONE)
            snd_work_need(snd_map_add(&forward, hash, at));
    }
    for (uint32_t i = 0; i < self->count; i++) {
        uint32_t backward = backward_of(self, i);
        if (backward == SND_NONE)
            continue;
        const snd_torch_event *about = &self->events[backward];
        uint32_t found = find_forward(self, &forward, about->sequence, about->forward_thread, &hash);
        self->calls[i].stack = found == SND_NONE ? 0 : self->events[found].stack;
    }
}

/* ---- the profile ---- */

static snd_site_kind
kind_of(const snd_torch_event *event)
{
    return event->kind == SND_TORCH_OPERATOR     ? SND_SITE_OP
           : event->kind == SND_TORCH_ANNOTATION ? SND_SITE_REGION
           : event->kind == SND_TORCH_PYTHON     ? SND_SITE_FUNCTION
                                                 : SND_SITE_OTHER;
}

static const char *
text_of(const builder *self, uint32_t text)
{
    return snd_intern_text(self->from->texts, text);
}

/* What was written for it is freed. */
static void
add_site(builder *self, snd_site_kind kind, const char *name, const char *file, snd_buffer *detail)
{
    const snd_profile_site site = {.kind = kind, .name = name, .file = file, .detail = snd_buffer_str(detail)};
    uint32_t id;

    if (self->status == SND_OK)
        self->status = snd_buffer_status(detail);
    if (self->status == SND_OK)
        self->status = snd_profile_add_site(self->profile, &site, &id);
    snd_buffer_free(detail);
}

static uint32_t
find_site(builder *self, uint32_t index)
{
    const snd_torch_event *event = &self->events[index];
    uint32_t stack = self->calls[index].stack, known = snd_intern_count(self->sites), id = 0;
    snd_op_detail detail = {.device = runs_on_cpu(event) ? SND_OP_CPU : event->device,
                            .scope = event->scope,
                            .is_async = event->is_async,
                            .is_legacy = event->legacy_us > 0};
    const uint32_t key[] = {event->name,
                            event->overload,
                            event->shapes,
                            stack,
                            (uint32_t)detail.device,
                            (uint32_t)detail.scope,
                            event->kind * 4u + (event->is_async ? 2u : 0u) + (event->legacy_us > 0)};
    snd_buffer text = {0};

    self->status = snd_intern_add(self->sites, (const char *)key, sizeof key, &id);
    if (id == known) {
        detail.inputs = event->shapes == 0 && self->from->has_shapes ? "[]" : text_of(self, event->shapes);
        detail.overload = text_of(self, event->overload);
        detail.inputs_size = strlen(detail.inputs);
        detail.overload_size = strlen(detail.overload);
        snd_op_detail_write(&detail, &text);
        add_site(self, kind_of(event), text_of(self, event->name), text_of(self, stack), &text);
    }
    return self->track_count + id;
}

/* Its root, and the site of that, have the same number. */
static void
add_track(builder *self, uint32_t number)
{
    const snd_torch_event *event = &self->events[self->tracks[number].first];
    int is_cpu = runs_on_cpu(event);
    snd_buffer name = {0}, detail = {0};
    uint32_t id;

    snd_buffer_printf(&name, "%s %d", is_cpu ? "thread" : "device", is_cpu ? (int)event->thread_id : event->device);
    self->status = snd_buffer_status(&name);
    add_site(self, SND_SITE_THREAD, snd_buffer_str(&name), "", &detail);
    const snd_profile_track about = {
        .thread_id = is_cpu ? event->thread_id : 0, .thread_count = 1, .name = snd_buffer_str(&name)};
    if (self->status == SND_OK)
        self->status = snd_profile_add_track(self->profile, &about, &id);
    if (self->status == SND_OK)
        self->status = snd_profile_add_node(self->profile, SND_NONE, number, number, &id);
    snd_buffer_free(&name);
}

static void
set(builder *self, uint32_t node, snd_metric metric, double value)
{
    snd_value kept = {.real = value};

    if (!snd_metric_get(metric)->is_real)
        kept.whole = value > 0 ? (uint64_t)value : 0;
    if (self->from->by_place && snd_profile_has(self->profile, node, metric))
        kept = snd_metric_combine(metric, snd_metric_get(metric)->rule, self->profile->columns[metric][node], kept);
    if (self->status == SND_OK)
        self->status = snd_profile_set(self->profile, node, metric, kept);
}

/* With and without what the children have; nothing is the own part of what did not keep its thread busy. */
static void
set_both(builder *self, uint32_t index, snd_metric metric, snd_metric own, double value, double below_it)
{
    set(self, self->calls[index].node, metric, value);
    set(self, self->calls[index].node, own, self->events[index].is_async ? 0 : value - below_it);
}

/* As recordings have them, in nanoseconds. */
static void
set_recorded(builder *self, uint32_t index)
{
    const snd_torch_event *event = &self->events[index];
    uint32_t node = self->calls[index].node;
    double total = (double)(event->end_ns - event->start_ns);
    below children = add_children(self, index);

    set(self, node, SND_METRIC_COUNT, 1);
    set(self, node, SND_METRIC_TOTAL, total);
    set(self, node, SND_METRIC_SELF, event->is_async ? 0 : round(total - total_of(&children.cpu_us) * 1e3));
    set(self, node, SND_METRIC_MIN, total);
    set(self, node, SND_METRIC_MAX, total);
    if (event->flops != 0)
        set(self, node, SND_METRIC_OP_FLOPS, (double)event->flops);
}

static void
set_metrics(builder *self, uint32_t index)
{
    const snd_torch_event *event = &self->events[index];
    const memory *bytes = self->memory == NULL ? NULL : &self->memory[index];
    uint32_t node = self->calls[index].node;
    below children = add_children(self, index);

    set(self, node, SND_METRIC_COUNT, 1);
    set_both(self, index, SND_METRIC_OP_CPU, SND_METRIC_OP_CPU_SELF, runs_on_cpu(event) ? elapsed_us(event) : 0,
             total_of(&children.cpu_us));
    if (self->devices != NULL)
        set_both(self, index, SND_METRIC_OP_DEVICE, SND_METRIC_OP_DEVICE_SELF, self->devices[index].us,
                 total_of(&children.device_us));
    if (bytes != NULL)
        set_both(self, index, SND_METRIC_OP_MEMORY, SND_METRIC_OP_MEMORY_SELF, (double)bytes->cpu_bytes,
                 (double)children.cpu_bytes);
    if (bytes != NULL && self->has_device_memory)
        set_both(self, index, SND_METRIC_OP_DEVICE_MEMORY, SND_METRIC_OP_DEVICE_MEMORY_SELF,
                 (double)bytes->device_bytes, (double)children.device_bytes);
    if (event->flops != 0)
        set(self, node, SND_METRIC_OP_FLOPS, (double)event->flops);
    if (!event->is_copy)
        return;
    set(self, node, SND_METRIC_TOTAL, (double)(event->end_ns - event->start_ns));
    set(self, node, SND_METRIC_COPIES, 1);
    if (event->bytes >= 0)
        set(self, node, SND_METRIC_COPIED, (double)event->bytes);
}

/* Of a kernel that seems to begin before the operator that launched it: the root. In a recording a node is on the track
 * of the one above it. */
static uint32_t
node_above(const builder *self, uint32_t index)
{
    const call *about = &self->calls[index];
    uint32_t launcher = self->from->by_place ? SND_NONE : about->launcher;
    uint32_t above = runs_on_cpu(&self->events[index]) ? about->parent : launcher;

    while (above != SND_NONE && self->calls[above].is_left_out)
        above = self->calls[above].parent;
    return above == SND_NONE || self->calls[above].node == SND_NONE ? about->track : self->calls[above].node;
}

/* A new one, or the one of its place: they follow the roots of the tracks. */
static snd_status
find_node(builder *self, call *about, uint32_t above, uint32_t site)
{
    const uint32_t key[] = {above, site};
    uint32_t known = snd_intern_count(self->places), id = known;

    if (self->from->by_place && snd_intern_add(self->places, (const char *)key, sizeof key, &id) != SND_OK)
        return SND_NO_MEMORY;
    about->node = self->track_count + id;
    return id < known ? SND_OK : snd_profile_add_node(self->profile, above, about->track, site, &about->node);
}

static void
add_node(builder *self, uint32_t index)
{
    const snd_torch_event *event = &self->events[index];
    call *about = &self->calls[index];
    snd_profile *profile = self->profile;
    uint32_t site = find_site(self, index);

    if (self->status == SND_OK)
        self->status = find_node(self, about, node_above(self, index), site);
    if (self->status != SND_OK)
        return;
    if (self->from->by_place)
        set_recorded(self, index);
    else
        set_metrics(self, index);
    if (self->from->has_times)
        profile->events[profile->event_count++] =
            (snd_profile_event){.start_ns = (uint64_t)event->start_ns,
                                .duration_ns = (uint64_t)(event->end_ns - event->start_ns),
                                .node = about->node,
                                .track = about->track};
}

static void
fill_profile(builder *self)
{
    snd_profile_event *times = NULL;

    self->sites = snd_intern_new();
    self->places = snd_intern_new();
    self->profile = snd_profile_new();
    if (self->profile != NULL && self->from->has_times)
        self->profile->events = times = snd_malloc(((size_t)self->count + 1) * sizeof *times);
    if (self->sites == NULL || self->places == NULL || self->profile == NULL ||
        (self->from->has_times && times == NULL))
        self->status = SND_NO_MEMORY;
    for (uint32_t i = 0; i < self->track_count && self->status == SND_OK; i++)
        add_track(self, i);
    for (uint32_t i = 0; i < self->count && self->status == SND_OK; i++)
        if (!self->calls[self->order[i]].is_left_out)
            add_node(self, self->order[i]);
    snd_intern_free(self->sites);
    snd_intern_free(self->places);
}

/* A part of a work. */
static void
arrange(void *context)
{
    builder *self = context;
    int has_links = 0, has_memory = 0;

    self->order = snd_new(self->count, sizeof *self->order);
    self->calls = snd_malloc(((size_t)self->count + 1) * sizeof *self->calls);
    if (self->from->has_device)
        self->devices = snd_new(self->count, sizeof *self->devices);
    for (uint32_t i = 0; i < self->count; i++) {
        const snd_torch_event *event = &self->events[i];
        self->calls[i] = (call){SND_NONE, SND_NONE, SND_NONE, SND_NONE, event->stack, SND_NONE, SND_NONE, 0};
        if (self->devices != NULL)
            self->devices[i].kernels.value = event->legacy_us;
        has_links |= event->linked > 0;
        has_memory |= is_memory(event);
    }
    if (has_links)
        link_kernels(self);
    put_in_order(self);
    if (has_memory)
        link_memory(self);
    find_parents(self);
    list_children(self);
    if (self->from->has_stacks)
        share_stacks(self);
}

snd_status
snd_torch_profile(const snd_torch_events *events, snd_profile **out)
{
    builder self = {.from = events, .events = events->list, .count = events->count};
    snd_pool *arranged;
    snd_status status = snd_work_run(arrange, &self, &arranged);

    if (status != SND_OK)
        return status;
    fill_profile(&self);
    if (self.status == SND_OK)
        *out = self.profile;
    else
        snd_profile_free(self.profile);
    snd_pool_free(arranged);
    return self.status;
}
