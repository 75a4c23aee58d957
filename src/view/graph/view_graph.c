/* The view of compiled functions: each with its classes, operators and nodes, phases, rewriters and peaks. */
#include "base/buffer.h"
#include "view/core/arrange.h"
#include "view/graph/graph_tree.h"
#include "view/sampled/sample_table.h"

enum {
    NAME,
    KIND,
    FUNCTION,
    SHARE,
    TIME,
    PER_CALL,
    IMPLEMENTATION,
    CALLS,
    APPLIES,
    ID,
    SPEED,
    FLOPS,
    VM,
    CREATED,
    INPLACE,
    VIEW,
    PEAK,
    BEFORE,
    AFTER,
    VALIDATION,
    DESCRIPTION,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define RARE (SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL)

static const snd_column columns[] = {
    [NAME] = {"name", "name", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [KIND] = {"kind", "kind", SND_UNIT_TEXT, 0},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, 0},
    [SHARE] = {"percent", "% time", SND_UNIT_PERCENT, SHOWN},
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SHOWN},
    [PER_CALL] = {"per_call_ns", "per call", SND_UNIT_NS, SHOWN | SND_COLUMN_OPTIONAL},
    [IMPLEMENTATION] = {"implementation", "type", SND_UNIT_TEXT, RARE},
    [CALLS] = {"calls", "calls", SND_UNIT_COUNT, SHOWN},
    [APPLIES] = {"nodes", "nodes", SND_UNIT_COUNT, SHOWN | SND_COLUMN_NO_ZERO},
    [ID] = {"id", "id", SND_UNIT_COUNT, RARE},
    [SPEED] = {"gflops_per_second", "Gflop/s", SND_UNIT_NUMBER, RARE},
    [FLOPS] = {"flops", "operations", SND_UNIT_NUMBER, 0},
    [VM] = {"vm_ns", "in the VM", SND_UNIT_NS, 0},
    [CREATED] = {"created_bytes", "created", SND_UNIT_BYTES, 0},
    [INPLACE] = {"inplace_bytes", "in place", SND_UNIT_BYTES, 0},
    [VIEW] = {"view_bytes", "view", SND_UNIT_BYTES, 0},
    [PEAK] = {"peak_bytes", "peak", SND_UNIT_BYTES, RARE},
    [BEFORE] = {"nodes_before", "nodes before", SND_UNIT_COUNT, 0},
    [AFTER] = {"nodes_after", "nodes after", SND_UNIT_COUNT, 0},
    [VALIDATION] = {"validation_ns", "validation", SND_UNIT_NS, 0},
    [DESCRIPTION] = {"description", "", SND_UNIT_TEXT, RARE},
};

static void
put_known(const snd_graph_node *node, snd_metric metric, uint64_t value, snd_cell *cell)
{
    if (snd_graph_has(node, metric))
        snd_set_whole(cell, value);
}

static void
put_numbers(const snd_graph *self, const snd_graph_node *node, snd_cell *cells)
{
    put_known(node, SND_METRIC_TOTAL, node->total_ns, &cells[TIME]);
    put_known(node, SND_METRIC_COUNT, node->count, &cells[CALLS]);
    put_known(node, SND_METRIC_GRAPH_VM, node->vm_ns, &cells[VM]);
    put_known(node, SND_METRIC_GRAPH_PEAK, node->peak, &cells[PEAK]);
    put_known(node, SND_METRIC_GRAPH_BEFORE, node->before, &cells[BEFORE]);
    put_known(node, SND_METRIC_GRAPH_AFTER, node->after, &cells[AFTER]);
    if (node->site->kind == SND_SITE_GRAPH_APPLY) {
        put_known(node, SND_METRIC_GRAPH_CREATED, node->created, &cells[CREATED]);
        put_known(node, SND_METRIC_GRAPH_INPLACE, node->inplace, &cells[INPLACE]);
        put_known(node, SND_METRIC_GRAPH_VIEW, node->view, &cells[VIEW]);
    }
    if (cells[TIME].is_there && node->count != 0)
        snd_set_whole(&cells[PER_CALL], snd_graph_per_call(node));
    if (cells[TIME].is_there && snd_graph_is_run(node) && self->thunks_ns != 0)
        snd_set_share(&cells[SHARE], 100.0 * (double)node->total_ns / (double)self->thunks_ns);
    if (snd_graph_is_run(node) || node->site->kind == SND_SITE_GRAPH)
        snd_set_whole(&cells[APPLIES], node->applies);
    if (node->flops > 0)
        cells[FLOPS] = (snd_cell){.is_there = 1, .real = node->flops};
    if (snd_graph_speed(node) > 0)
        cells[SPEED] = (snd_cell){.is_there = 1, .real = snd_graph_speed(node)};
}

static void
put_texts(const snd_graph *self, const snd_graph_node *node, snd_table *table, snd_cell *cells)
{
    snd_buffer implementation = {0};
    int is_sum = self->function_count > 1 && node->parent == SND_NONE;

    snd_set_text(table, &cells[NAME], is_sum ? "all functions" : snd_graph_name(node));
    snd_set_text(table, &cells[KIND], snd_site_kind_name(node->site->kind));
    if (!is_sum && node->function != NULL)
        snd_set_text(table, &cells[FUNCTION], node->function);
    if (snd_graph_id(node) >= 0)
        snd_set_whole(&cells[ID], (uint64_t)snd_graph_id(node));
    if (node->site->kind == SND_SITE_GRAPH_VARIABLE)
        snd_set_text(table, &cells[DESCRIPTION], node->site->detail);
    snd_graph_implementation(node, &implementation);
    if (implementation.size != 0 && snd_graph_is_run(node))
        snd_set_buffer(table, &cells[IMPLEMENTATION], &implementation);
    snd_buffer_free(&implementation);
}

static void
add_node(const snd_graph *self, uint32_t number, snd_table *table)
{
    const snd_graph_node *node = &self->nodes[number];
    snd_cell *cells = snd_table_row(table, node->depth);
    put_texts(self, node, table, cells);
    put_numbers(self, node, cells);
    if (snd_graph_find(self, number, SND_SITE_GRAPH_PHASE, "validation") != SND_NONE)
        snd_set_whole(&cells[VALIDATION], snd_graph_validation(self, number));
}

static void
add_function(const snd_graph_functions *functions, uint32_t number, snd_table *table)
{
    snd_graph graph;
    snd_graph_make(functions, number, &graph);
    for (uint32_t i = 0; i != SND_NONE; i = snd_graph_next(&graph, i))
        add_node(&graph, i, table);
}

static void
ask_graph(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_graph_functions functions;
    snd_graph_functions_make(profile, options, &functions);
    snd_table *table = snd_table_new("graph", columns, COLUMN_COUNT);
    if (options->total)
        add_function(&functions, SND_NONE, table);
    for (uint32_t i = 0; i < functions.count && !options->total; i++)
        add_function(&functions, i, table);
    table->is_tree = table->is_grouped = table->has_guides = 1;
    *out = table;
}

SND_VIEW(graph, ask_graph)
