/* The tables by class, by operator and by node of a compiled function. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "view/graph/graph_tree.h"
#include "view/sampled/sample_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE, SUM, TIME, PER_CALL, IMPLEMENTATION, CALLS, APPLIES, ID, SPEED, FUNCTION, NAME, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN
#define RARE (SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY)

static const snd_column columns[] = {
    [SHARE] = {"percent", "% time", SND_UNIT_PERCENT, SHOWN},
    [SUM] = {"sum_percent", "sum %", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SHOWN},
    [PER_CALL] = {"per_call_ns", "per call", SND_UNIT_NS, SHOWN},
    [IMPLEMENTATION] = {"implementation", "type", SND_UNIT_TEXT, RARE},
    [CALLS] = {"calls", "calls", SND_UNIT_COUNT, SHOWN},
    [APPLIES] = {"nodes", "nodes", SND_UNIT_COUNT, RARE},
    [ID] = {"id", "id", SND_UNIT_COUNT, RARE},
    [SPEED] = {"gflops_per_second", "Gflop/s", SND_UNIT_NUMBER, RARE | SND_COLUMN_OPTIONAL},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, RARE},
    [NAME] = {"name", "name", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
};

/* ---- lists, for the other tables too ---- */

uint32_t *
snd_graph_sorted(const snd_graph *self, snd_site_kind kind, int (*compare)(const void *a, const void *b, void *self),
                 uint32_t *count)
{
    uint32_t *list = snd_malloc(((size_t)self->count + 1) * sizeof *list);

    *count = 0;
    if (list == NULL)
        return NULL;
    for (uint32_t i = 0; i < self->count; i++)
        if (self->nodes[i].site->kind == kind)
            list[(*count)++] = i;
    qsort_r(list, *count, sizeof *list, compare, (void *)(uintptr_t)self);
    return list;
}

void
snd_graph_remaining(snd_site_kind kind, uint32_t count, snd_buffer *out)
{
    const char *one = kind == SND_SITE_GRAPH_CLASS ? "class" : kind == SND_SITE_GRAPH_OP ? "op" : "node";
    const char *more = kind == SND_SITE_GRAPH_CLASS ? "es" : "s";

    snd_buffer_printf(out, "remaining: %u %s%s", count, one, count == 1 ? "" : more);
}

/* By time, then by what else there is of it, as Aesara's own tables have it. */
static int
compare_times(const void *a, const void *b, void *context)
{
    const snd_graph *self = context;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    const snd_graph_node *x = &self->nodes[first], *y = &self->nodes[second];

    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->applies != y->applies)
        return x->applies > y->applies ? -1 : 1;
    return first < second ? -1 : first > second;
}

/* ---- rows ---- */

/* What the row for the rest says. */
typedef struct rest {
    uint64_t total_ns, calls;
    uint32_t applies, count;
} rest;

static double
share_of(const snd_graph *self, uint64_t ns)
{
    return self->thunks_ns == 0 ? 0 : 100.0 * (double)ns / (double)self->thunks_ns;
}

double
snd_graph_speed(const snd_graph_node *node)
{
    char text[32];

    if (!(node->flops > 0) || node->flops_ns == 0)
        return 0;
    snprintf(text, sizeof text, "%.3g", node->flops / (double)node->flops_ns);
    return strtod(text, NULL);
}

static void
put_node(const snd_graph *self, const snd_graph_node *node, snd_table *table, snd_cell *cells)
{
    snd_buffer implementation = {0};
    int is_apply = node->site->kind == SND_SITE_GRAPH_APPLY;

    if (node->count != 0)
        snd_set_whole(&cells[PER_CALL], snd_graph_per_call(node));
    snd_graph_implementation(node, &implementation);
    if (implementation.size != 0)
        snd_set_buffer(table, &cells[IMPLEMENTATION], &implementation);
    if (!is_apply)
        snd_set_whole(&cells[APPLIES], node->applies);
    if (is_apply && snd_graph_id(node) >= 0)
        snd_set_whole(&cells[ID], (uint64_t)snd_graph_id(node));
    if (snd_graph_speed(node) > 0)
        cells[SPEED] = (snd_cell){.is_there = 1, .real = snd_graph_speed(node)};
    if (is_apply && self->function_count > 1)
        snd_set_text(table, &cells[FUNCTION], node->function);
    snd_set_text(table, &cells[NAME], snd_graph_name(node));
}

static void
put_time(const snd_graph *self, uint64_t ns, uint64_t calls, uint64_t sum_ns, snd_cell *cells)
{
    snd_set_share(&cells[SHARE], share_of(self, ns));
    snd_set_share(&cells[SUM], share_of(self, sum_ns));
    snd_set_whole(&cells[TIME], ns);
    snd_set_whole(&cells[CALLS], calls);
}

/* What is known of its inputs and outputs, a line each. */
static void
add_variables(const snd_graph *self, uint32_t node, snd_table *table)
{
    uint32_t count;
    uint32_t *list = snd_graph_variables(self, node, &count);

    for (uint32_t i = 0; i < count; i++) {
        const snd_profile_site *site = self->nodes[list[i]].site;
        snd_buffer text = {0};
        snd_buffer_printf(&text, "        %s%s%s", site->name, *site->detail == '\0' ? "" : ": ", site->detail);
        snd_work_need(snd_table_add_heading(table, 1, snd_buffer_str(&text)));
        snd_table_last(table)->colour = SND_COLOUR_DIM;
    }
}

static void
add_row(const snd_graph *self, uint32_t number, uint64_t sum_ns, snd_table *table)
{
    const snd_graph_node *node = &self->nodes[number];
    snd_cell *cells = snd_table_row(table, 0);
    put_time(self, node->total_ns, node->count, sum_ns, cells);
    put_node(self, node, table, cells);
    add_variables(self, number, table);
}

static void
add_rest(const snd_graph *self, snd_site_kind kind, const rest *left, snd_table *table)
{
    snd_buffer text = {0};
    snd_cell *cells = snd_table_row(table, 0);
    put_time(self, left->total_ns, left->calls, self->thunks_ns, cells);
    if (kind != SND_SITE_GRAPH_APPLY)
        snd_set_whole(&cells[APPLIES], left->applies);
    snd_graph_remaining(kind, left->count, &text);
    snd_set_buffer(table, &cells[NAME], &text);
    snd_table_last(table)->colour = SND_COLOUR_DIM;
}

static void
fill(const snd_graph *self, snd_site_kind kind, uint32_t limit, snd_table *table)
{
    uint64_t sum_ns = 0;
    rest left = {0};
    uint32_t count;
    uint32_t *list = snd_graph_sorted(self, kind, compare_times, &count);
    for (uint32_t i = 0; i < count; i++) {
        const snd_graph_node *node = &self->nodes[list[i]];
        sum_ns += node->total_ns;
        if (i < limit)
            add_row(self, list[i], sum_ns, table);
        else {
            left.total_ns += node->total_ns;
            left.calls += node->count;
            left.applies += node->applies;
            left.count++;
        }
    }
    add_rest(self, kind, &left, table);
}

void
snd_graph_table(const snd_graph *self, snd_site_kind kind, uint32_t limit, snd_table **out)
{
    snd_table *table = snd_table_new("graph", columns, COLUMN_COUNT);

    if (self->is_timed)
        fill(self, kind, limit, table);
    *out = table;
}
