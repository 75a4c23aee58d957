/* Functions and pairs from stacks: the tree is walked once, and what is open on the way down is known. */
#include "base/alloc.h"
#include "format/stacks/callgraph.h"
#include "format/stacks/stacks.h"

#include <string.h>

typedef struct walking {
    snd_callgraph *graph;
    snd_stacks stacks;
    snd_cost_values *own; /* per stack */
    uint32_t own_count, own_capacity;
    uint32_t *first, *next; /* children of each stack, and the next of its parent's; SND_NONE: none */
    uint32_t *functions;    /* per frame */
    uint32_t *open;         /* per function: how often it is on the way down */
    uint32_t *open_links;   /* the same for pairs of functions */
    uint32_t link_count, link_capacity;
    snd_map link_map, pair_map;
} walking;

/* A stack on the way down. */
typedef struct step {
    uint32_t stack;
    uint32_t function;   /* SND_NONE: a thread */
    uint32_t pair, link; /* SND_NONE: nobody called it */
    int is_recursive;
    snd_cost_values total;
} step;

static snd_status
take_cost(void *context, uint32_t stack, const snd_cost_values *values)
{
    walking *self = context;
    uint32_t wanted = self->stacks.stack_count;

    if (wanted > self->own_count) {
        snd_need_room(&self->own, wanted, &self->own_capacity, sizeof *self->own);
        memset(self->own + self->own_count, 0, (wanted - self->own_count) * sizeof *self->own);
        self->own_count = wanted;
    }
    snd_cost_add(&self->own[stack], values);
    return SND_OK;
}

static void
make_lists(walking *self)
{
    uint32_t count = self->stacks.stack_count;

    self->first = snd_malloc(((size_t)count + 1) * sizeof *self->first);
    self->next = snd_malloc(((size_t)count + 1) * sizeof *self->next);
    memset(self->first, 0xff, ((size_t)count + 1) * sizeof *self->first);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t parent = self->stacks.stacks[i].parent;
        if (parent == SND_NONE)
            continue;
        self->next[i] = self->first[parent];
        self->first[parent] = i;
    }
}

static void
make_functions(walking *self)
{
    uint32_t count = self->stacks.frame_count;

    self->functions = snd_malloc(((size_t)count + 1) * sizeof *self->functions);
    for (uint32_t i = 0; i < count; i++) {
        const snd_stacks_frame *frame = &self->stacks.frames[i];
        const snd_callgraph_function place = {.name = frame->name, .file = frame->file, .line = frame->first_line};
        snd_callgraph_find(self->graph, frame->kind, &place, &self->functions[i]);
    }
    self->open = snd_calloc((size_t)self->graph->function_count + 1, sizeof *self->open);
}

/* The pair of two functions, whatever the line. */
static void
find_link(walking *self, uint32_t caller, uint32_t callee, uint32_t *link)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t cursor = 0;

    *link = snd_map_next(&self->link_map, key, &cursor);
    if (*link != SND_MAP_NONE)
        return;
    snd_need_room(&self->open_links, self->link_count + 1, &self->link_capacity, sizeof *self->open_links);
    snd_work_need(snd_map_add(&self->link_map, key, self->link_count));
    self->open_links[self->link_count] = 0;
    *link = self->link_count++;
}

static void
find_pair(walking *self, const step *above, step *below)
{
    snd_callgraph *graph = self->graph;
    uint32_t line = self->stacks.frames[self->stacks.stacks[above->stack].frame].line, cursor = 0;
    find_link(self, above->function, below->function, &below->link);
    uint64_t key = (uint64_t)below->link << 32 | (graph->options.by_line ? line : 0);
    below->pair = snd_map_next(&self->pair_map, key, &cursor);
    if (below->pair != SND_MAP_NONE)
        return;
    snd_need_room(&graph->pairs, graph->pair_count + 1, &graph->pair_capacity, sizeof *graph->pairs);
    snd_work_need(snd_map_add(&self->pair_map, key, graph->pair_count));
    graph->pairs[graph->pair_count] = (snd_callgraph_pair){
        .caller = above->function, .callee = below->function, .line = graph->options.by_line ? line : 0};
    below->pair = graph->pair_count++;
}

static void
enter(walking *self, const step *above, step *below)
{
    uint32_t frame = self->stacks.stacks[below->stack].frame;

    below->function = below->pair = below->link = SND_NONE;
    below->total = self->own[below->stack];
    if (frame == SND_NONE)
        return;
    below->function = self->functions[frame];
    below->is_recursive = self->open[below->function]++ != 0;
    if (above->function == SND_NONE)
        return;
    find_pair(self, above, below);
    self->open_links[below->link]++;
}

static void
add_own(snd_callgraph_numbers *numbers, const snd_cost_values *own, int is_recursive)
{
    numbers->count += own->of[SND_COST_ENTRIES] + own->of[SND_COST_SAMPLES];
    numbers->primitive += own->of[SND_COST_SAMPLES] + (is_recursive ? 0 : own->of[SND_COST_ENTRIES]);
    snd_cost_add(&numbers->self, own);
}

static void
leave(walking *self, const step *from)
{
    const snd_cost_values *own = &self->own[from->stack];

    if (from->function == SND_NONE)
        return;
    snd_callgraph_numbers *numbers = &self->graph->functions[from->function].numbers;
    add_own(numbers, own, from->is_recursive);
    if (--self->open[from->function] == 0)
        snd_cost_add(&numbers->total, &from->total);
    if (from->pair == SND_NONE)
        return;
    numbers = &self->graph->pairs[from->pair].numbers;
    add_own(numbers, own, from->is_recursive);
    if (--self->open_links[from->link] == 0)
        snd_cost_add(&numbers->total, &from->total);
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

/* Time of a thread outside of all regions is a function that nobody calls. */
static void
add_outside(walking *self, uint32_t stack)
{
    const snd_cost_values *own = &self->own[stack];
    uint32_t frame, function;

    if (!snd_cost_is_any(own))
        return;
    snd_work_need(snd_stacks_outside(&self->stacks, &frame));
    snd_callgraph_find(self->graph, SND_SITE_OTHER,
                       &(snd_callgraph_function){.name = self->stacks.frames[frame].name, .file = ""}, &function);
    snd_cost_add(&self->graph->functions[function].numbers.self, own);
    snd_cost_add(&self->graph->functions[function].numbers.total, own);
    add_line(self->graph, function, 0, own);
}

static void
walk_thread(walking *self, uint32_t root, step *steps)
{
    uint32_t depth = 0, stack = root;
    const step nobody = {.function = SND_NONE};

    for (;;) {
        step *below = &steps[depth];
        *below = (step){.stack = stack};
        enter(self, depth == 0 ? &nobody : &steps[depth - 1], below);
        if (below->function != SND_NONE)
            add_line(self->graph, below->function, self->stacks.frames[self->stacks.stacks[stack].frame].line,
                     &self->own[stack]);
        uint32_t after = self->first[stack];
        while (after == SND_NONE) {
            leave(self, &steps[depth]);
            if (depth-- == 0)
                return;
            snd_cost_add(&steps[depth].total, &steps[depth + 1].total);
            after = self->next[steps[depth + 1].stack];
        }
        stack = after;
        depth++;
    }
}

static void
walk(walking *self)
{
    uint32_t count = self->stacks.stack_count;
    step *steps = snd_malloc((SND_STACK_DEPTH + 2) * sizeof *steps);

    for (uint32_t i = 0; i < count; i++)
        if (self->stacks.stacks[i].parent == SND_NONE) {
            walk_thread(self, i, steps);
            add_outside(self, i);
        }
}

void
snd_callgraph_from_stacks(snd_callgraph *graph, const snd_profile *profile)
{
    walking self = {.graph = graph, .stacks = {.by_line = 1}};
    snd_cost_values nothing = {{0}};

    snd_work_need(snd_stacks_update(&self.stacks, profile));
    snd_work_need(snd_stacks_costs(&self.stacks, profile, graph->options.cpu_only, take_cost, &self));
    if (self.own_count != 0) {
        (void)take_cost(&self, 0, &nothing); /* room for all stacks */
        make_lists(&self);
        make_functions(&self);
        walk(&self);
    }
}
