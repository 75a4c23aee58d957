/* Where the time of calling and of compiling a function went. */
#include "base/buffer.h"
#include "base/text.h"
#include "view/graph/graph_tree.h"
#include "view/sampled/sample_table.h"

#include <stdio.h>
#include <string.h>

/* Of the nodes that took longest to link. */
#define SLOWEST 5u

enum { TIME, SHARE, WHAT, COLUMN_COUNT };

static const snd_column columns[] = {
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
    [SHARE] = {"percent", "share", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    [WHAT] = {"name", "where", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
};

/* A table in the making. */
typedef struct maker {
    const snd_graph *graph;
    snd_table *table;
    uint64_t whole_ns; /* what shares are shares of */
} maker;

/* A line; `more` says more about it, "" for nothing. */
static void
add_line(const maker *self, uint32_t depth, uint64_t ns, const char *what, const char *more)
{
    snd_buffer text = {0};
    snd_cell *cells = snd_table_row(self->table, depth);
    snd_buffer_printf(&text, "%s%s%s", what, *more == '\0' ? "" : ": ", more);
    snd_set_whole(&cells[TIME], ns);
    if (self->whole_ns != 0)
        snd_set_share(&cells[SHARE], 100.0 * (double)ns / (double)self->whole_ns);
    snd_set_buffer(self->table, &cells[WHAT], &text);
}

static uint64_t
less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Inside the calls: the part that runs the nodes, with what that takes beside them, and the rest. */
static void
add_parts(const maker *self)
{
    const snd_graph_node *root = &self->graph->nodes[0];
    int has_vm = snd_graph_has(root, SND_METRIC_GRAPH_VM), is_timed = self->graph->is_timed;
    uint64_t vm_ns = has_vm ? root->vm_ns : root->total_ns, thunks_ns = self->graph->thunks_ns;
    uint32_t depth = has_vm ? 2 : 1;
    char nodes[32];

    snprintf(nodes, sizeof nodes, "%u node%s", root->applies, root->applies == 1 ? "" : "s");
    if (has_vm)
        add_line(self, 1, vm_ns, "in the VM", "");
    if (is_timed)
        add_line(self, depth, thunks_ns, "in thunks", nodes);
    if (is_timed)
        add_line(self, depth, less(vm_ns, thunks_ns), has_vm ? "VM overhead" : "overhead",
                 "scheduling, storage and freeing between thunks");
    if (has_vm)
        add_line(self, 1, less(root->total_ns, vm_ns), "call overhead", "inputs, outputs and updates around the VM");
}

static void
add_calls(maker *self)
{
    const snd_graph_node *root = &self->graph->nodes[0];
    char calls[48], duration[SND_DURATION_SIZE], each[SND_DURATION_SIZE + 8] = "";

    if (root->count == 0)
        return;
    snprintf(calls, sizeof calls, "in %llu call%s", (unsigned long long)root->count, root->count == 1 ? "" : "s");
    if (root->count > 1) {
        snd_duration_text(snd_graph_per_call(root), duration);
        snprintf(each, sizeof each, "%s each", duration);
    }
    self->whole_ns = root->total_ns;
    add_line(self, 0, root->total_ns, calls, each);
    add_parts(self);
}

/* Whether one took longer than the other, or as long and stands before it. */
static int
is_slower(const snd_graph *self, uint32_t node, uint32_t other)
{
    uint64_t ns = self->nodes[node].total_ns, other_ns = self->nodes[other].total_ns;

    return ns > other_ns || (ns == other_ns && node < other);
}

/* The one that took longest after `last`, the first for SND_NONE; SND_NONE: no more. */
static uint32_t
next_slowest(const snd_graph *self, uint32_t parent, uint32_t last)
{
    uint32_t best = SND_NONE;

    for (uint32_t i = self->nodes[parent].first; i != SND_NONE; i = self->nodes[i].next)
        if (snd_graph_is_slow(&self->nodes[i]) && (last == SND_NONE || is_slower(self, last, i)) &&
            (best == SND_NONE || is_slower(self, i, best)))
            best = i;
    return best;
}

static void
add_slowest(const maker *self, uint32_t parent, uint32_t depth)
{
    uint32_t node = next_slowest(self->graph, parent, SND_NONE);

    for (uint32_t i = 0; i < SLOWEST && node != SND_NONE; i++) {
        const snd_graph_node *about = &self->graph->nodes[node];
        add_line(self, depth, about->total_ns, i == 0 ? "slowest node" : "node", about->site->name);
        node = next_slowest(self->graph, parent, node);
    }
}

/* Whether it is shown as a part of the phase above it. */
static int
is_part(const snd_graph_node *node)
{
    return node->site->kind == SND_SITE_GRAPH_PHASE && !snd_graph_is_slow(node);
}

/* What no part of a phase at the top says. */
static void
add_other(const maker *self, uint32_t node)
{
    uint64_t parts_ns = 0;

    for (uint32_t i = self->graph->nodes[node].first; i != SND_NONE; i = self->graph->nodes[i].next)
        parts_ns += is_part(&self->graph->nodes[i]) ? self->graph->nodes[i].total_ns : 0;
    uint64_t other_ns = less(self->graph->nodes[node].total_ns, parts_ns);
    if (parts_ns != 0 && other_ns != 0)
        add_line(self, 1, other_ns, "other", "");
}

/* A phase at the top and those below it, in their order. */
static void
add_phases(maker *self, uint32_t top)
{
    const snd_graph *graph = self->graph;

    self->whole_ns = graph->nodes[top].total_ns;
    for (uint32_t i = top; i != SND_NONE; i = snd_graph_next(graph, i)) {
        const snd_graph_node *node = &graph->nodes[i];
        uint32_t depth = node->depth - 1;
        if (i != top && depth == 0)
            break;
        if (graph->nodes[node->parent].first_slow == i)
            add_slowest(self, node->parent, depth);
        else if (is_part(node) && graph->nodes[node->parent].site->kind != SND_SITE_GRAPH_REWRITER)
            add_line(self, depth, node->total_ns, node->site->name, "");
    }
    add_other(self, top);
}

void
snd_graph_time_table(const snd_graph *self, snd_table **out)
{
    snd_table *table = snd_table_new("graph", columns, COLUMN_COUNT);
    maker of = {.graph = self, .table = table};
    table->is_tree = table->has_guides = 1;
    add_calls(&of);
    for (uint32_t i = self->nodes[0].first; i != SND_NONE; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_PHASE)
            add_phases(&of, i);
    *out = table;
}

/* ---- the functions ---- */

enum { F_SHARE, F_SUM, F_TIME, F_PER_CALL, F_CALLS, F_APPLIES, F_COMPILE, F_NAME, F_COLUMN_COUNT };

static const snd_column function_columns[] = {
    [F_SHARE] = {"percent", "% time", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    [F_SUM] = {"sum_percent", "sum %", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    [F_TIME] = {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
    [F_PER_CALL] = {"per_call_ns", "per call", SND_UNIT_NS, SND_COLUMN_SHOWN},
    [F_CALLS] = {"calls", "calls", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    [F_APPLIES] = {"nodes", "nodes", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    [F_COMPILE] = {"compile_ns", "compiling", SND_UNIT_NS, SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY},
    [F_NAME] = {"name", "function", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
};

static void
add_function(const snd_graph *graph, uint64_t whole_ns, uint64_t *sum_ns, snd_table *table)
{
    const snd_graph_node *root = &graph->nodes[0];
    uint32_t compile = snd_graph_find(graph, 0, SND_SITE_GRAPH_PHASE, "compile");
    snd_cell *cells = snd_table_row(table, 0);
    *sum_ns += root->total_ns;
    if (whole_ns != 0) {
        snd_set_share(&cells[F_SHARE], 100.0 * (double)root->total_ns / (double)whole_ns);
        snd_set_share(&cells[F_SUM], 100.0 * (double)*sum_ns / (double)whole_ns);
    }
    snd_set_whole(&cells[F_TIME], root->total_ns);
    if (root->count != 0)
        snd_set_whole(&cells[F_PER_CALL], snd_graph_per_call(root));
    snd_set_whole(&cells[F_CALLS], root->count);
    snd_set_whole(&cells[F_APPLIES], root->applies);
    if (compile != SND_NONE)
        snd_set_whole(&cells[F_COMPILE], graph->nodes[compile].total_ns);
    snd_set_text(table, &cells[F_NAME], root->site->name);
}

void
snd_graph_function_table(const snd_graph_functions *functions, snd_table **out)
{
    snd_table *table = snd_table_new("graph", function_columns, F_COLUMN_COUNT);
    uint64_t whole_ns = 0, sum_ns = 0;

    for (uint32_t i = 0; i < functions->count; i++)
        whole_ns += functions->rows[i].outer == SND_NONE ? functions->rows[i].total_ns : 0;
    for (uint32_t i = 0; i < functions->count; i++) {
        snd_graph graph;
        if (functions->rows[i].outer != SND_NONE)
            continue;
        snd_graph_make(functions, i, &graph);
        add_function(&graph, whole_ns, &sum_ns, table);
    }
    *out = table;
}
