/* The stacks of a profile. */
#include "format/stacks/stacks.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/rollup.h"

#include <string.h>

/* By the states of a sample; NULL where the frame itself ran. */
static const char *const state_names[SND_SAMPLE_STATES] = {
    [SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON] = "[waiting for a processor]",
    [SND_METRIC_WAIT_LOCK - SND_METRIC_PYTHON] = "[waiting for a lock]",
    [SND_METRIC_WAIT_GIL - SND_METRIC_PYTHON] = "[waiting for the GIL]",
    [SND_METRIC_WAIT_IO - SND_METRIC_PYTHON] = "[waiting for I/O]",
    [SND_METRIC_WAIT_SLEEP - SND_METRIC_PYTHON] = "[sleeping]",
    [SND_METRIC_WAIT_OTHER - SND_METRIC_PYTHON] = "[waiting]",
};

const char *
snd_stacks_state_name(uint32_t state)
{
    return state_names[state];
}

void
snd_stacks_free(snd_stacks *self)
{
    snd_map_free(&self->frame_map);
    snd_map_free(&self->stack_map);
    snd_intern_free(self->texts);
    snd_free(self->frames);
    snd_free(self->stacks);
    snd_free(self->of_track);
    snd_free(self->of_site);
    snd_free(self->of_node);
    *self = (snd_stacks){0};
}

static snd_status
make_room(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    return snd_make_room(array, count, capacity, size) ? SND_OK : SND_NO_MEMORY;
}

void
snd_stacks_put_name(snd_buffer *out, const char *name)
{
    for (; *name != '\0'; name++) {
        int is_control = (unsigned char)*name < 0x20 || *name == 0x7f;
        char shown = is_control ? ' ' : *name;
        snd_buffer_char(out, shown == ';' ? ',' : shown);
    }
}

/* As folded stacks have it: "name (file:line)". */
static void
put_frame(snd_buffer *out, const snd_stacks_frame *frame)
{
    const char *base = snd_path_base(frame->file);

    snd_stacks_put_name(out, frame->name);
    if (frame->kind == SND_SITE_REGION || *frame->file == '\0')
        return;
    snd_buffer_text(out, " (");
    snd_stacks_put_name(out, *base == '\0' ? frame->file : base);
    if (frame->line != 0)
        snd_buffer_printf(out, ":%u", frame->line);
    snd_buffer_char(out, ')');
}

static snd_status
text_of(snd_stacks *self, const snd_stacks_frame *frame, snd_stacks_frame *shown)
{
    snd_buffer text = {0};
    uint32_t id;

    if (self->texts == NULL && (self->texts = snd_intern_new()) == NULL)
        return SND_NO_MEMORY;
    put_frame(&text, frame);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_intern_add(self->texts, snd_buffer_str(&text), text.size, &id);
    snd_buffer_free(&text);
    if (status == SND_OK)
        *shown = (snd_stacks_frame){SND_SITE_OTHER, snd_intern_text(self->texts, id), "", 0, 0};
    return status;
}

static snd_status
add_frame(snd_stacks *self, const snd_stacks_frame *frame, uint32_t *id)
{
    snd_stacks_frame shown;
    snd_status status = self->by_text ? text_of(self, frame, &shown) : SND_OK;
    if (status != SND_OK)
        return status;
    if (self->by_text)
        frame = &shown;
    const struct {
        const char *name, *file;
        uint64_t kind, line, first_line;
    } key = {frame->name, frame->file, frame->kind, frame->line, frame->first_line};
    uint64_t hash = snd_hash(&key, sizeof key, 0); /* the texts are kept once each: their addresses tell them apart */
    uint32_t cursor = 0, known;

    while ((known = snd_map_next(&self->frame_map, hash, &cursor)) != SND_MAP_NONE) {
        const snd_stacks_frame *other = &self->frames[known];
        if (other->name == frame->name && other->file == frame->file && other->kind == frame->kind &&
            other->line == frame->line && other->first_line == frame->first_line) {
            *id = known;
            return SND_OK;
        }
    }
    status = make_room(&self->frames, self->frame_count + 1, &self->frame_capacity, sizeof *self->frames);
    if (status == SND_OK)
        status = snd_map_add(&self->frame_map, hash, self->frame_count);
    if (status != SND_OK)
        return status;
    self->frames[self->frame_count] = *frame;
    *id = self->frame_count++;
    return SND_OK;
}

static snd_status
frame_of_site(snd_stacks *self, const snd_profile *profile, uint32_t site, uint32_t *frame)
{
    const snd_profile_site *about = &profile->sites[site];

    if (self->of_site[site] == SND_NONE) {
        snd_stacks_frame added = {about->kind, about->name, about->file, about->line, about->line};
        if (snd_site_is_sampled(about->kind))
            added.first_line = about->first_line;
        if (!self->by_line)
            added.line = added.first_line;
        snd_status status = add_frame(self, &added, &self->of_site[site]);
        if (status != SND_OK)
            return status;
    }
    *frame = self->of_site[site];
    return SND_OK;
}

static snd_status
add_stack(snd_stacks *self, const snd_stacks_entry *stack, uint32_t *id)
{
    snd_status status = make_room(&self->stacks, self->stack_count + 1, &self->stack_capacity, sizeof *self->stacks);
    if (status == SND_OK) {
        self->stacks[self->stack_count] = *stack;
        *id = self->stack_count++;
    }
    return status;
}

/* The stack that is known by the key, or else `added`. */
static snd_status
find_or_add_stack(snd_stacks *self, uint64_t key, const snd_stacks_entry *added, uint32_t *id)
{
    uint32_t cursor = 0, known = snd_map_next(&self->stack_map, key, &cursor);

    if (known == SND_MAP_NONE) {
        snd_status status = add_stack(self, added, &known);
        if (status != SND_OK)
            return status;
        status = snd_map_add(&self->stack_map, key, known);
        if (status != SND_OK) {
            self->stack_count--;
            return status;
        }
    }
    *id = known;
    return SND_OK;
}

static snd_status
add_child(snd_stacks *self, uint32_t parent, uint32_t frame, uint32_t *id)
{
    const snd_stacks_entry *above = &self->stacks[parent];
    const snd_stacks_entry added = {parent, frame, above->depth + 1, above->track};
    return find_or_add_stack(self, (uint64_t)parent << 32 | frame, &added, id);
}

static snd_status
stack_of_track(snd_stacks *self, const snd_profile *profile, uint32_t track, uint32_t *stack)
{
    const snd_stacks_entry empty = {SND_NONE, SND_NONE, 0, track};
    uint32_t frame;

    if (!self->by_text)
        return add_stack(self, &empty, stack);
    const snd_stacks_frame name = {SND_SITE_THREAD, profile->tracks[track].name, "", 0, 0};
    snd_status status = add_frame(self, &name, &frame);
    return status != SND_OK ? status : find_or_add_stack(self, (uint64_t)SND_NONE << 32 | frame, &empty, stack);
}

/* What a line is in, as its code names it, is a frame below it. */
static snd_status
add_callee(snd_stacks *self, const char *name, uint32_t above, uint32_t *stack)
{
    snd_buffer text = {0};
    uint32_t id, frame;

    *stack = above;
    if (*name == '\0' || self->stacks[above].depth >= SND_STACK_DEPTH)
        return SND_OK;
    if (self->texts == NULL && (self->texts = snd_intern_new()) == NULL)
        return SND_NO_MEMORY;
    snd_buffer_printf(&text, "[in %s()]", name);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_intern_add(self->texts, snd_buffer_str(&text), text.size, &id);
    snd_buffer_free(&text);
    if (status != SND_OK)
        return status;
    status = add_frame(self, &(snd_stacks_frame){SND_SITE_OTHER, snd_intern_text(self->texts, id), "", 0, 0}, &frame);
    return status != SND_OK ? status : add_child(self, above, frame, stack);
}

static snd_status
stack_of_node(snd_stacks *self, const snd_profile *profile, uint32_t node, uint32_t *stack)
{
    const snd_profile_node *about = &profile->nodes[node];
    snd_site_kind kind = profile->sites[about->site].kind;
    uint32_t frame;

    if (about->parent == SND_NONE) {
        *stack = self->of_track[about->track];
        return SND_OK;
    }
    *stack = self->of_node[about->parent];
    if (*stack == SND_NONE || (!snd_site_is_entered(kind) && !snd_site_is_sampled(kind))) {
        *stack = SND_NONE;
        return SND_OK;
    }
    if (kind == SND_SITE_OTHER && strcmp(profile->sites[about->site].name, SND_STACKS_OUTSIDE) == 0)
        return SND_OK; /* it was on none */
    if ((self->without_regions && snd_site_is_entered(kind)) || self->stacks[*stack].depth >= SND_STACK_DEPTH)
        return SND_OK;
    snd_status status = frame_of_site(self, profile, about->site, &frame);
    if (status == SND_OK)
        status = add_child(self, *stack, frame, stack);
    if (status == SND_OK && kind == SND_SITE_LINE)
        status = add_callee(self, profile->sites[about->site].detail, *stack, stack);
    return status;
}

static snd_status
make_rooms(snd_stacks *self, const snd_profile *profile)
{
    snd_status status = make_room(&self->of_track, profile->track_count, &self->track_capacity, sizeof(uint32_t));
    if (status == SND_OK)
        status = make_room(&self->of_site, profile->site_count, &self->site_capacity, sizeof(uint32_t));
    if (status == SND_OK)
        status = make_room(&self->of_node, profile->node_count, &self->node_capacity, sizeof(uint32_t));
    return status;
}

snd_status
snd_stacks_update(snd_stacks *self, const snd_profile *profile)
{
    snd_status status = make_rooms(self, profile);

    while (status == SND_OK && self->track_count < profile->track_count) {
        status = stack_of_track(self, profile, self->track_count, &self->of_track[self->track_count]);
        self->track_count += status == SND_OK;
    }
    while (status == SND_OK && self->site_count < profile->site_count)
        self->of_site[self->site_count++] = SND_NONE;
    while (status == SND_OK && self->node_count < profile->node_count) {
        status = stack_of_node(self, profile, self->node_count, &self->of_node[self->node_count]);
        self->node_count += status == SND_OK;
    }
    return status;
}

static snd_status
find_waiting(snd_stacks *self, uint32_t above, uint32_t state, uint32_t *stack)
{
    uint32_t frame;

    *stack = above;
    if (above == SND_NONE || state_names[state] == NULL || self->stacks[above].depth >= SND_STACK_DEPTH)
        return SND_OK;
    snd_status status = add_frame(self, &(snd_stacks_frame){SND_SITE_OTHER, state_names[state], "", 0, 0}, &frame);
    return status != SND_OK ? status : add_child(self, above, frame, stack);
}

snd_status
snd_stacks_find(snd_stacks *self, uint32_t node, uint32_t state, uint32_t *stack)
{
    return find_waiting(self, self->of_node[node], state, stack);
}

snd_status
snd_stacks_outside(snd_stacks *self, uint32_t *frame)
{
    return add_frame(self, &(snd_stacks_frame){SND_SITE_OTHER, SND_STACKS_OUTSIDE, "", 0, 0}, frame);
}

uint32_t
snd_stacks_common(const snd_stacks *self, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (self->stacks[a].depth < self->stacks[b].depth)
            b = self->stacks[b].parent;
        else
            a = self->stacks[a].parent;
    }
    return a;
}

/* ---- costs ---- */

/* A thread is the root of regions: without any its time is that of nothing. */
static int
has_entries(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_entered(profile->sites[profile->nodes[i].site].kind))
            return 1;
    return 0;
}

/* The metrics of a node that count. */
static snd_metric_set
counted_of(const snd_profile *profile, uint32_t node, int is_entered, int cpu_only)
{
    snd_metric_set time = is_entered ? SND_COST_BIT(SELF) : 0;

    if (snd_profile_kind(profile, node) == SND_SITE_THREAD)
        return time;
    if (cpu_only || profile->nodes[node].parent == SND_NONE)
        return (~SND_COST_BIT(SELF) & ~SND_COST_WAIT_BITS) | time;
    return ~SND_COST_BIT(SELF) | time;
}

unsigned
snd_stacks_known(const snd_profile *profile)
{
    int is_entered = has_entries(profile);
    snd_metric_set known = 0;
    unsigned costs = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        snd_site_kind kind = snd_profile_kind(profile, i);
        snd_metric_set left = profile->nodes[i].present & counted_of(profile, i, is_entered, 0) & ~known;
        if (profile->nodes[i].parent != SND_NONE && !snd_site_is_entered(kind) && !snd_site_is_sampled(kind))
            continue;
        for (; left != 0; left &= left - 1)
            if (snd_profile_whole(profile, i, snd_metric_first(left)) != 0)
                known |= left & -left;
    }
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        costs |= (unsigned)((snd_costs[i].metrics & known) != 0) << i;
    return costs;
}

typedef struct counting {
    const snd_stacks *stacks;
    int is_entered, cpu_only;
} counting;

static uint32_t
by_stack(const snd_rollup *rows, uint32_t node)
{
    return ((const counting *)rows->context)->stacks->of_node[node];
}

static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    const counting *self = rows->context;
    return counted_of(rows->profile, node, self->is_entered, self->cpu_only);
}

/* A value of the roll-up goes to its stack, or to the frame below it that says what was waited for. */
static void
put_values(snd_stacks *self, const snd_rollup *rows, snd_metric metric, snd_profile *out)
{
    snd_metric_set bit = SND_METRIC_BIT(metric);
    int is_waiting = (SND_COST_WAIT_BITS & bit) != 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t stack = i;
        if ((rows->present[i] & bit) == 0 || (is_waiting && rows->columns[metric][i].whole == 0))
            continue;
        if (is_waiting)
            snd_work_need(find_waiting(self, i, metric - SND_METRIC_PYTHON, &stack));
        out->columns[metric][stack] = rows->columns[metric][i];
        out->nodes[stack].present |= bit;
    }
}

void
snd_stacks_tree(snd_stacks *self, const snd_profile *profile, int cpu_only, snd_profile *out)
{
    counting context = {self, has_entries(profile), cpu_only};
    uint32_t stack;
    snd_rollup rows;

    snd_rollup_make(profile, by_stack, counted, &context, &rows);
    for (uint32_t i = 0; i < rows.count; i++) /* before it is known how many stacks there are */
        for (uint32_t state = 0; state < SND_SAMPLE_STATES; state++)
            if (!SND_SAMPLE_IS_CPU(state) && snd_rollup_whole(&rows, i, SND_SAMPLE_METRIC(state)) != 0)
                snd_work_need(find_waiting(self, i, state, &stack));
    *out = (snd_profile){.nodes = snd_new(self->stack_count, sizeof *out->nodes), .node_count = self->stack_count};
    for (uint32_t i = 0; i < self->stack_count; i++)
        out->nodes[i] = (snd_profile_node){self->stacks[i].parent, self->stacks[i].track, self->stacks[i].frame, 0};
    for (unsigned metric = 0; metric < SND_METRIC_COUNT_OF; metric++)
        if (rows.columns[metric] != NULL) {
            out->columns[metric] = snd_new(self->stack_count, sizeof **out->columns);
            put_values(self, &rows, (snd_metric)metric, out);
        }
}

uint64_t *
snd_stacks_sums(snd_stacks *self, const snd_profile *profile, snd_cost cost)
{
    uint64_t any = 0;
    snd_profile tree;

    if (cost == SND_COST_COUNT)
        snd_work_end(SND_NO_DATA);
    snd_stacks_tree(self, profile, cost != SND_COST_WALL, &tree);
    uint64_t *sums = snd_new(tree.node_count, sizeof *sums);
    for (uint32_t i = 0; i < tree.node_count; i++)
        any |= sums[i] = snd_cost_read(tree.nodes[i].present & snd_costs[cost].metrics, tree.columns, i).of[cost];
    if (any == 0)
        snd_work_end(SND_NO_DATA);
    return sums;
}

snd_cost
snd_stacks_main_cost(const snd_profile *profile, int cpu_only)
{
    const snd_cost order[] = {cpu_only ? SND_COST_CPU : SND_COST_WALL, SND_COST_TIME, SND_COST_ALLOC_SPACE,
                              SND_COST_COPIED_SPACE};
    unsigned known = snd_stacks_known(profile);

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if ((known >> order[i] & 1) != 0)
            return order[i];
    return SND_COST_COUNT;
}

const snd_cost_info snd_costs[SND_COST_COUNT] = {
#define SND_COST_ENTRY(id, name, unit, metrics, meaning) {name, unit, metrics, meaning},
    SND_COST_MAP(SND_COST_ENTRY)
#undef SND_COST_ENTRY
};

snd_cost
snd_cost_find(const char *name)
{
    unsigned cost = 0;
    while (cost < SND_COST_COUNT && strcmp(snd_costs[cost].name, name) != 0)
        cost++;
    return (snd_cost)cost;
}

void
snd_cost_add(snd_cost_values *sum, const snd_cost_values *more)
{
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        sum->of[i] += more->of[i];
}

int
snd_cost_is_any(const snd_cost_values *values)
{
    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        if (values->of[i] != 0)
            return 1;
    return 0;
}

snd_cost_values
snd_cost_read(snd_metric_set present, snd_value *const *columns, uint32_t at)
{
    snd_cost_values values = {{0}};

    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        for (snd_metric_set left = present & snd_costs[i].metrics; left != 0; left &= left - 1)
            values.of[i] += columns[snd_metric_first(left)][at].whole;
    return values;
}
