/* Functions and pairs, from calls or from stacks. */
#include "format/stacks/callgraph.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "format/stacks/stacks.h"
#include "model/rollup.h"
#include "view/calls/calls.h"

#include <stdlib.h>
#include <string.h>

static const char *
name_of(const snd_callgraph *self, snd_site_kind kind, const char *name)
{
    const char *dot = strrchr(name, '.');
    int is_short = self->options.short_names && (kind == SND_SITE_FUNCTION || kind == SND_SITE_LINE);
    return is_short && dot != NULL ? dot + 1 : name;
}

static void
find_place(snd_callgraph *self, snd_site_kind kind, const snd_callgraph_function *place, uint32_t *id)
{
    const char *name = name_of(self, kind, place->name);
    snd_buffer key = {0};

    snd_need_room(&self->functions, self->function_count + 1, &self->function_capacity, sizeof *self->functions);
    snd_buffer_put(&key, name, strlen(name) + 1);
    snd_buffer_put(&key, place->file, strlen(place->file) + 1);
    snd_buffer_number(&key, place->line);
    snd_work_need(snd_intern_add(self->places, key.data, key.size, id));
    if (*id == self->function_count) {
        self->functions[self->function_count] = *place;
        self->functions[self->function_count++].name = name;
    }
}

/* ---- from calls ---- */

static snd_callgraph_numbers
numbers_of(const snd_calls_numbers *from)
{
    return (snd_callgraph_numbers){
        .count = from->count,
        .primitive = from->primitive,
        .self.of[SND_COST_TIME] = from->self_ns,
        .total.of[SND_COST_TIME] = from->total_ns,
    };
}

static void
add_numbers(snd_callgraph_numbers *sum, const snd_callgraph_numbers *more)
{
    sum->count += more->count;
    sum->primitive += more->primitive;
    snd_cost_add(&sum->self, &more->self);
    snd_cost_add(&sum->total, &more->total);
}

static void
add_function(snd_callgraph *self, const snd_calls_row *row, uint32_t *id)
{
    int is_builtin = row->site.kind == SND_SITE_BUILTIN;
    const snd_callgraph_function place = {
        .name = row->site.name, .file = is_builtin ? "" : row->site.file, .line = is_builtin ? 0 : row->site.line};
    const snd_callgraph_numbers numbers = numbers_of(&row->numbers);

    find_place(self, row->site.kind, &place, id);
    snd_need_room(&self->lines, self->line_count + 1, &self->line_capacity, sizeof *self->lines);
    add_numbers(&self->functions[*id].numbers, &numbers);
    snd_cost_add(&self->all, &numbers.self);
    self->lines[self->line_count++] = (snd_callgraph_line){*id, place.line, numbers.self};
}

static void
add_pair(snd_callgraph *self, const snd_calls_pair *pair, const uint32_t *ids)
{
    snd_need_room(&self->pairs, self->pair_count + 1, &self->pair_capacity, sizeof *self->pairs);
    self->pairs[self->pair_count++] = (snd_callgraph_pair){.caller = ids[pair->caller],
                                                           .callee = ids[pair->callee],
                                                           .line = self->functions[ids[pair->caller]].line,
                                                           .numbers = numbers_of(&pair->numbers)};
}

static void
from_calls(snd_callgraph *self, const snd_calls *calls)
{
    uint32_t *ids = snd_malloc(((size_t)calls->row_count + 1) * sizeof *ids);

    for (uint32_t i = 0; i < calls->row_count; i++) {
        ids[i] = SND_NONE;
        if (calls->rows[i].function == i && snd_calls_is_used(&calls->rows[i].numbers))
            add_function(self, &calls->rows[i], &ids[i]);
    }
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        const snd_calls_pair *pair = &calls->pairs[i];
        if (ids[pair->caller] != SND_NONE && ids[pair->callee] != SND_NONE && snd_calls_is_used(&pair->numbers))
            add_pair(self, pair, ids);
    }
}

int
snd_callgraph_is_used(const snd_callgraph_numbers *numbers)
{
    return numbers->count != 0 || snd_cost_is_any(&numbers->self) || snd_cost_is_any(&numbers->total);
}

/* ---- from stacks: their tree, rolled up by function, by pair and by line ---- */

typedef struct walking {
    snd_callgraph *graph;
    snd_stacks stacks;
    snd_profile tree;
    uint32_t *functions; /* per frame */
    snd_rollup rows;     /* functions, by their numbers */
    snd_rollup links;    /* caller and callee, whatever the line */
    snd_rollup pairs;    /* the same with the caller's line, if that is asked for */
} walking;

static void
make_functions(walking *self)
{
    uint32_t count = self->stacks.frame_count;

    self->functions = snd_new(count, sizeof *self->functions);
    for (uint32_t i = 0; i < count; i++) {
        const snd_stacks_frame *frame = &self->stacks.frames[i];
        const snd_callgraph_function place = {.name = frame->name, .file = frame->file, .line = frame->first_line};
        find_place(self->graph, frame->kind, &place, &self->functions[i]);
    }
}

/* SND_NONE: a thread, or what is above it. */
static uint32_t
function_of(const walking *self, uint32_t stack)
{
    uint32_t frame = stack == SND_NONE ? SND_NONE : self->tree.nodes[stack].site;
    return frame == SND_NONE ? SND_NONE : self->functions[frame];
}

static uint32_t
line_of(const walking *self, uint32_t stack)
{
    return self->stacks.frames[self->tree.nodes[stack].site].line;
}

static uint32_t
by_function(const snd_rollup *rows, uint32_t stack)
{
    return function_of(rows->context, stack);
}

static uint32_t
by_link(const snd_rollup *rows, uint32_t stack)
{
    uint32_t caller = function_of(rows->context, rows->profile->nodes[stack].parent);
    const uint32_t key[] = {caller, function_of(rows->context, stack)};

    return caller == SND_NONE ? SND_NONE : snd_rollup_key(rows, key, sizeof key);
}

static uint32_t
by_pair(const snd_rollup *rows, uint32_t stack)
{
    const walking *self = rows->context;
    uint32_t link = self->links.row_of[stack];
    uint32_t line =
        link == SND_NONE || !self->graph->options.by_line ? 0 : line_of(self, rows->profile->nodes[stack].parent);
    const uint32_t key[] = {link, line};

    return link == SND_NONE ? SND_NONE : snd_rollup_key(rows, key, sizeof key);
}

static uint32_t
by_line(const snd_rollup *rows, uint32_t stack)
{
    uint32_t function = function_of(rows->context, stack);
    const uint32_t key[] = {function, function == SND_NONE ? 0 : line_of(rows->context, stack)};

    return function == SND_NONE ? SND_NONE : snd_rollup_key(rows, key, sizeof key);
}

static void
roll_up(walking *self, snd_rollup_row *row, snd_rollup *out)
{
    snd_rollup_make(&self->tree, row, NULL, self, out);
}

static snd_cost_values
costs_of(const snd_rollup *rows, uint32_t row)
{
    return snd_cost_read(rows->present[row], rows->columns, row);
}

static void
set_own(const snd_rollup *rows, uint32_t row, snd_callgraph_numbers *numbers)
{
    numbers->self = costs_of(rows, row);
    numbers->count = numbers->self.of[SND_COST_ENTRIES] + numbers->self.of[SND_COST_SAMPLES];
    numbers->primitive = numbers->self.of[SND_COST_SAMPLES];
}

/* With all below; a pair that is inside another one of the same functions is in that one's, whatever the lines. */
static void
add_totals(walking *self, snd_cost cost)
{
    const snd_profile *tree = &self->tree;
    uint64_t *values = snd_new(tree->node_count, sizeof *values);
    snd_callgraph *graph = self->graph;

    for (uint32_t i = 0; i < tree->node_count; i++)
        values[i] = snd_cost_read(tree->nodes[i].present & snd_costs[cost].metrics, tree->columns, i).of[cost];
    snd_profile_add_below(tree, values);
    const uint64_t *totals = snd_rollup_outermost(&self->rows, values);
    for (uint32_t i = 0; i < self->rows.count; i++)
        graph->functions[i].numbers.total.of[cost] = totals[i];
    (void)snd_rollup_outermost(&self->links, values); /* which ones are inside */
    for (uint32_t i = 0; i < tree->node_count; i++)
        values[i] = self->links.is_inner[i] ? 0 : values[i];
    totals = snd_rollup_outermost(&self->pairs, values);
    for (uint32_t i = 0; i < self->pairs.count; i++)
        graph->pairs[i].numbers.total.of[cost] = totals[i];
}

static void
add_primitive(walking *self)
{
    for (uint32_t i = 0; i < self->tree.node_count; i++) {
        uint64_t entries = snd_profile_whole(&self->tree, i, SND_METRIC_COUNT);
        if (self->rows.row_of[i] == SND_NONE || self->rows.is_inner[i])
            continue;
        self->graph->functions[self->rows.row_of[i]].numbers.primitive += entries;
        if (self->pairs.row_of[i] != SND_NONE)
            self->graph->pairs[self->pairs.row_of[i]].numbers.primitive += entries;
    }
}

static void
add_stack_numbers(walking *self)
{
    snd_callgraph *graph = self->graph;

    for (uint32_t i = 0; i < self->rows.count; i++)
        set_own(&self->rows, i, &graph->functions[i].numbers);
    snd_need_room(&graph->pairs, self->pairs.count, &graph->pair_capacity, sizeof *graph->pairs);
    for (uint32_t i = 0; i < self->pairs.count; i++) {
        uint32_t stack = self->pairs.first[i], above = self->tree.nodes[stack].parent;
        graph->pairs[i] = (snd_callgraph_pair){.caller = function_of(self, above),
                                               .callee = function_of(self, stack),
                                               .line = graph->options.by_line ? line_of(self, above) : 0};
        set_own(&self->pairs, i, &graph->pairs[i].numbers);
    }
    graph->pair_count = self->pairs.count;
    for (unsigned cost = 0; cost < SND_COST_COUNT; cost++)
        add_totals(self, (snd_cost)cost);
    add_primitive(self);
}

static void
add_line(snd_callgraph *graph, uint32_t function, uint32_t line, const snd_cost_values *own)
{
    if (!snd_cost_is_any(own))
        return;
    snd_need_room(&graph->lines, graph->line_count + 1, &graph->line_capacity, sizeof *graph->lines);
    snd_cost_add(&graph->all, own);
    graph->lines[graph->line_count++] = (snd_callgraph_line){function, line, *own};
}

static void
add_lines(walking *self)
{
    snd_rollup lines;

    roll_up(self, by_line, &lines);
    for (uint32_t i = 0; i < lines.count; i++) {
        snd_cost_values own = costs_of(&lines, i);
        add_line(self->graph, function_of(self, lines.first[i]), line_of(self, lines.first[i]), &own);
    }
}

/* Time of a thread outside of all regions is a function that nobody calls. */
static void
add_outside(walking *self, uint32_t stack)
{
    snd_cost_values own = snd_cost_read(self->tree.nodes[stack].present, self->tree.columns, stack);
    uint32_t frame, function;

    if (!snd_cost_is_any(&own))
        return;
    snd_work_need(snd_stacks_outside(&self->stacks, &frame));
    find_place(self->graph, SND_SITE_OTHER,
               &(snd_callgraph_function){.name = self->stacks.frames[frame].name, .file = ""}, &function);
    snd_cost_add(&self->graph->functions[function].numbers.self, &own);
    snd_cost_add(&self->graph->functions[function].numbers.total, &own);
    add_line(self->graph, function, 0, &own);
}

static int
has_costs(const snd_profile *tree)
{
    for (uint32_t i = 0; i < tree->node_count; i++) {
        snd_cost_values own = snd_cost_read(tree->nodes[i].present, tree->columns, i);
        if (snd_cost_is_any(&own))
            return 1;
    }
    return 0;
}

static void
from_stacks(snd_callgraph *graph, const snd_profile *profile)
{
    walking self = {.graph = graph, .stacks = {.by_line = 1}};

    snd_work_need(snd_stacks_update(&self.stacks, profile));
    snd_stacks_tree(&self.stacks, profile, graph->options.cpu_only, &self.tree);
    if (!has_costs(&self.tree))
        return;
    make_functions(&self);
    roll_up(&self, by_function, &self.rows);
    roll_up(&self, by_link, &self.links);
    roll_up(&self, by_pair, &self.pairs);
    add_stack_numbers(&self);
    add_lines(&self);
    for (uint32_t i = 0; i < self.tree.node_count; i++)
        if (self.tree.nodes[i].parent == SND_NONE)
            add_outside(&self, i);
}

/* ---- order ---- */

static int
compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int
compare_pairs(const void *left, const void *right)
{
    const snd_callgraph_pair *a = left, *b = right;
    int order = compare(a->caller, b->caller);

    if (order == 0)
        order = compare(a->callee, b->callee);
    return order != 0 ? order : compare(a->line, b->line);
}

static int
compare_turned(const void *left, const void *right)
{
    const snd_callgraph_pair *a = left, *b = right;
    int order = compare(a->callee, b->callee);

    if (order == 0)
        order = compare(a->caller, b->caller);
    return order != 0 ? order : compare(a->line, b->line);
}

void
snd_callgraph_turn(snd_callgraph *self)
{
    if (self->pair_count != 0)
        qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_turned);
}

static int
compare_lines(const void *left, const void *right)
{
    const snd_callgraph_line *a = left, *b = right;
    int order = compare(a->function, b->function);
    return order != 0 ? order : compare(a->line, b->line);
}

/* Sorts both lists and adds up what is equal: two code objects of one name at one place are one function. */
static void
arrange(snd_callgraph *self)
{
    uint32_t pairs = 0, lines = 0;

    if (self->pair_count != 0)
        qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_pairs);
    for (uint32_t i = 0; i < self->pair_count; i++) {
        if (pairs != 0 && compare_pairs(&self->pairs[pairs - 1], &self->pairs[i]) == 0)
            add_numbers(&self->pairs[pairs - 1].numbers, &self->pairs[i].numbers);
        else
            self->pairs[pairs++] = self->pairs[i];
    }
    self->pair_count = pairs;
    if (self->line_count != 0)
        qsort(self->lines, self->line_count, sizeof *self->lines, compare_lines);
    for (uint32_t i = 0; i < self->line_count; i++) {
        if (lines != 0 && compare_lines(&self->lines[lines - 1], &self->lines[i]) == 0)
            snd_cost_add(&self->lines[lines - 1].self, &self->lines[i].self);
        else
            self->lines[lines++] = self->lines[i];
    }
    self->line_count = lines;
}

void
snd_callgraph_make(const snd_profile *profile, const snd_callgraph_options *options, snd_callgraph *out)
{
    snd_callgraph self = {.options = *options, .places = snd_intern_new()};
    snd_calls calls;

    snd_work_need(snd_calls_make(profile, SND_PAIRS_OF_FUNCTIONS, &calls));
    from_calls(&self, &calls);
    self.is_of_calls = self.function_count != 0;
    if (self.function_count == 0)
        from_stacks(&self, profile);
    if (self.function_count == 0)
        snd_work_end(SND_NO_DATA);
    arrange(&self);
    *out = self;
}
