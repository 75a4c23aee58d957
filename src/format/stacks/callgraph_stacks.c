/* Functions and pairs from stacks: the tree of stacks, rolled up by function, by pair and by line. */
#include "base/alloc.h"
#include "format/stacks/callgraph.h"
#include "format/stacks/stacks.h"
#include "model/rollup.h"

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
        snd_callgraph_find(self->graph, frame->kind, &place, &self->functions[i]);
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
add_numbers(walking *self)
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
    snd_callgraph_find(self->graph, SND_SITE_OTHER,
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

void
snd_callgraph_from_stacks(snd_callgraph *graph, const snd_profile *profile)
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
    add_numbers(&self);
    add_lines(&self);
    for (uint32_t i = 0; i < self.tree.node_count; i++)
        if (self.tree.nodes[i].parent == SND_NONE)
            add_outside(&self, i);
}
