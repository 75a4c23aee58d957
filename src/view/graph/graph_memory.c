/* The memory of a compiled function, and the rewriters that made it. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"
#include "view/core/arrange.h"
#include "view/graph/graph_tree.h"
#include "view/sampled/sample_table.h"

#include <string.h>

#define SHOWN SND_COLUMN_SHOWN
#define RARE (SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY)

/* Hands over the table, or frees it. */
static void
finish(snd_table *table, snd_table **out)
{
    *out = table;
}

/* ---- peaks ---- */

enum { PEAK, PEAK_NAME, PEAK_COLUMN_COUNT };

static const snd_column peak_columns[] = {
    [PEAK] = {"peak_bytes", "peak", SND_UNIT_BYTES, SHOWN},
    [PEAK_NAME] = {"name", "memory of one call", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
};

static void
add_peak(const snd_graph_node *node, snd_table *table)
{
    const char *name = node->site->name;
    snd_cell *cells = snd_table_row(table, 0);
    snd_set_whole(&cells[PEAK], node->peak);
    snd_set_text(table, &cells[PEAK_NAME], name);
}

void
snd_graph_peak_table(const snd_graph *self, snd_table **out)
{
    snd_table *table = snd_table_new("graph", peak_columns, PEAK_COLUMN_COUNT);

    for (uint32_t i = self->nodes[0].first; i != SND_NONE; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_MEMORY && snd_graph_has(&self->nodes[i], SND_METRIC_GRAPH_PEAK))
            add_peak(&self->nodes[i], table);
    finish(table, out);
}

/* ---- nodes by the size of their outputs ---- */

enum { CREATED, INPLACE, VIEW, ID, FUNCTION, NAME, COLUMN_COUNT };

static const snd_column columns[] = {
    [CREATED] = {"created_bytes", "created", SND_UNIT_BYTES, SHOWN},
    [INPLACE] = {"inplace_bytes", "in place", SND_UNIT_BYTES, SHOWN},
    [VIEW] = {"view_bytes", "view", SND_UNIT_BYTES, SHOWN},
    [ID] = {"id", "id", SND_UNIT_COUNT, RARE},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, RARE},
    [NAME] = {"name", "name", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
};

static uint64_t
size_of(const snd_graph_node *node)
{
    return node->created + node->inplace + node->view;
}

static int
compare_sizes(const void *a, const void *b, void *context)
{
    const snd_graph *self = context;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    uint64_t x = size_of(&self->nodes[first]), y = size_of(&self->nodes[second]);

    if (x != y)
        return x > y ? -1 : 1;
    return first < second ? -1 : first > second;
}

static int
has_size(const snd_graph_node *node)
{
    return snd_graph_has(node, SND_METRIC_GRAPH_CREATED) || snd_graph_has(node, SND_METRIC_GRAPH_INPLACE) ||
           snd_graph_has(node, SND_METRIC_GRAPH_VIEW);
}

static void
put_sizes(const snd_graph_node *node, snd_cell *cells)
{
    snd_set_whole(&cells[CREATED], node->created);
    snd_set_whole(&cells[INPLACE], node->inplace);
    snd_set_whole(&cells[VIEW], node->view);
}

static void
add_node(const snd_graph *self, const snd_graph_node *node, snd_table *table)
{
    snd_cell *cells = snd_table_row(table, 0);
    put_sizes(node, cells);
    if (snd_graph_id(node) >= 0)
        snd_set_whole(&cells[ID], (uint64_t)snd_graph_id(node));
    if (self->function_count > 1)
        snd_set_text(table, &cells[FUNCTION], node->function);
    snd_set_text(table, &cells[NAME], node->site->name);
}

/* `left` is the sum of the nodes that have no row, `small` of them for their size. */
static void
add_rest(const snd_graph_node *left, uint32_t small, uint64_t least, snd_table *table)
{
    char bytes[SND_BYTES_SIZE];
    snd_buffer text = {0};
    snd_cell *cells = snd_table_row(table, 0);
    put_sizes(left, cells);
    snd_graph_remaining(SND_SITE_GRAPH_APPLY, left->applies, &text);
    if (small != 0) {
        snd_bytes_text(least, bytes);
        snd_buffer_printf(&text, ", %u below %s", small, bytes);
    }
    snd_set_buffer(table, &cells[NAME], &text);
    snd_table_last(table)->colour = SND_COLOUR_DIM;
}

static void
fill(const snd_graph *self, uint32_t limit, uint64_t least, snd_table *table)
{
    snd_graph_node left = {0};
    uint32_t count, known = 0, small = 0;
    uint32_t *list = snd_graph_sorted(self, SND_SITE_GRAPH_APPLY, compare_sizes, &count);
    for (uint32_t i = 0; i < count; i++) {
        const snd_graph_node *node = &self->nodes[list[i]];
        if (!has_size(node))
            continue;
        known++;
        if (known <= limit && size_of(node) >= least) {
            add_node(self, node, table);
            continue;
        }
        small += size_of(node) < least;
        left.applies++;
        left.created += node->created;
        left.inplace += node->inplace;
        left.view += node->view;
    }
    if (known != 0)
        add_rest(&left, small, least, table);
}

void
snd_graph_memory_table(const snd_graph *self, uint32_t limit, uint64_t least, snd_table **out)
{
    snd_table *table = snd_table_new("graph", columns, COLUMN_COUNT);

    fill(self, limit, least, table);
    finish(table, out);
}

/* ---- rewriters ---- */

enum { TIME, SHARE, VALIDATION, APPLIED, BEFORE, AFTER, REWRITER, REWRITER_COLUMN_COUNT };

static const snd_column rewriter_columns[] = {
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SHOWN},
    [SHARE] = {"percent", "share", SND_UNIT_PERCENT, SHOWN},
    [VALIDATION] = {"validation_ns", "validation", SND_UNIT_NS, RARE},
    [APPLIED] = {"applied", "applied", SND_UNIT_COUNT, RARE},
    [BEFORE] = {"nodes_before", "nodes before", SND_UNIT_COUNT, RARE},
    [AFTER] = {"nodes_after", "after", SND_UNIT_COUNT, RARE},
    [REWRITER] = {"name", "rewriter", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
};

uint64_t
snd_graph_validation(const snd_graph *self, uint32_t node)
{
    uint32_t child = snd_graph_find(self, node, SND_SITE_GRAPH_PHASE, "validation");

    return child == SND_NONE ? 0 : self->nodes[child].total_ns;
}

/* One with others in it is shown for them. */
int
snd_graph_is_idle(const snd_graph *self, uint32_t node)
{
    const snd_graph_node *about = &self->nodes[node];

    if (about->site->kind != SND_SITE_GRAPH_REWRITER || !snd_graph_has(about, SND_METRIC_COUNT) || about->count != 0)
        return 0;
    for (uint32_t i = about->first; i != SND_NONE; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_REWRITER)
            return 0;
    return 1;
}

static void
add_rewriter(const snd_graph *self, uint32_t node, uint64_t whole_ns, snd_table *table)
{
    const snd_graph_node *about = &self->nodes[node];
    snd_cell *cells = snd_table_row(table, about->rewriters);
    snd_set_whole(&cells[TIME], about->total_ns);
    if (whole_ns != 0)
        snd_set_share(&cells[SHARE], 100.0 * (double)about->total_ns / (double)whole_ns);
    if (snd_graph_find(self, node, SND_SITE_GRAPH_PHASE, "validation") != SND_NONE)
        snd_set_whole(&cells[VALIDATION], snd_graph_validation(self, node));
    if (snd_graph_has(about, SND_METRIC_COUNT))
        snd_set_whole(&cells[APPLIED], about->count);
    if (snd_graph_has(about, SND_METRIC_GRAPH_BEFORE))
        snd_set_whole(&cells[BEFORE], about->before);
    if (snd_graph_has(about, SND_METRIC_GRAPH_AFTER))
        snd_set_whole(&cells[AFTER], about->after);
    snd_set_text(table, &cells[REWRITER], about->site->name);
}

static uint64_t
whole_of(const snd_graph *self)
{
    uint64_t whole = 0;

    for (uint32_t i = 0; i < self->count; i++)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_REWRITER && self->nodes[i].rewriters == 0)
            whole += self->nodes[i].total_ns;
    return whole;
}

void
snd_graph_rewriter_table(const snd_graph *self, snd_table **out)
{
    snd_table *table = snd_table_new("graph", rewriter_columns, REWRITER_COLUMN_COUNT);

    uint64_t whole_ns = whole_of(self);

    for (uint32_t i = 0; i != SND_NONE; i = snd_graph_next(self, i))
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_REWRITER && !snd_graph_is_idle(self, i))
            add_rewriter(self, i, whole_ns, table);
    table->is_tree = table->has_guides = 1;
    snd_work_need(snd_table_sort(table, "time_ns"));
    finish(table, out);
}
