/* Where the time of calling and of compiling a function went. */
#include "base/buffer.h"
#include "base/duration.h"
#include "view/arrange.h"
#include "view/graph.h"
#include "view/sample_table.h"

#include <string.h>

/* Of the nodes that took longest to link. */
#define SLOWEST 5u

enum { WHAT, TIME, SHARE, NOTE, COLUMN_COUNT };

static const snd_column columns[] = {
    [WHAT] = {"name", "time in", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    [TIME] = {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
    [SHARE] = {"percent", "share", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    [NOTE] = {"note", "", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL},
};

/* One line of the table. */
typedef struct line {
    uint32_t depth;
    const char *what;
    uint64_t ns;
    uint64_t whole_ns; /* 0: no share */
    const char *note;
} line;

static snd_status
add_line(snd_table *table, const line *about)
{
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, about->depth, &cells);
    if (status != SND_OK)
        return status;
    snd_set_text(table, &cells[WHAT], about->what);
    snd_set_whole(&cells[TIME], about->ns);
    if (about->whole_ns != 0)
        snd_set_share(&cells[SHARE], 100.0 * (double)about->ns / (double)about->whole_ns);
    if (*about->note != '\0')
        snd_set_text(table, &cells[NOTE], about->note);
    snd_table_last(table)->look = about->depth == 0 ? SND_LOOK_PLAIN : SND_LOOK_BY_SHARE;
    return snd_table_check(table, cells);
}

static uint64_t
less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void
put_count(snd_buffer *out, uint64_t count, const char *what)
{
    snd_buffer_printf(out, "%llu %s%s", (unsigned long long)count, what, count == 1 ? "" : "s");
}

/* Inside the calls: the part that runs the nodes, with what that takes beside them, and the rest. */
static snd_status
add_parts(const snd_graph *self, snd_table *table)
{
    const snd_graph_node *root = &self->nodes[0];
    int has_vm = snd_graph_has(root, SND_METRIC_GRAPH_VM);
    uint64_t vm_ns = has_vm ? root->vm_ns : root->total_ns, whole = root->total_ns;
    uint32_t depth = has_vm ? 2 : 1;
    snd_buffer nodes = {0};
    snd_status status = SND_OK;

    put_count(&nodes, root->applies, "node");
    if (has_vm)
        status = add_line(table, &(line){1, "the VM", vm_ns, whole, ""});
    if (status == SND_OK && self->is_timed)
        status = add_line(table, &(line){depth, "thunks", self->thunks_ns, whole, snd_buffer_str(&nodes)});
    if (status == SND_OK && self->is_timed)
        status = add_line(table, &(line){depth, has_vm ? "overhead of the VM" : "overhead",
                                         less(vm_ns, self->thunks_ns), whole, "between thunks: their order, storage, freeing"});
    if (status == SND_OK && has_vm)
        status = add_line(table, &(line){1, "overhead of the call", less(whole, vm_ns), whole,
                                         "around the VM: inputs, outputs, updates"});
    snd_buffer_free(&nodes);
    return status;
}

static snd_status
add_calls(const snd_graph *self, snd_table *table)
{
    const snd_graph_node *root = &self->nodes[0];
    char each[SND_DURATION_SIZE];
    snd_buffer note = {0};

    if (root->count == 0)
        return SND_OK;
    put_count(&note, root->count, "call");
    if (root->count > 1) {
        snd_duration_text(root->total_ns / root->count, each);
        snd_buffer_printf(&note, ", %s each", each);
    }
    snd_status status = snd_buffer_status(&note);
    if (status == SND_OK)
        status = add_line(table, &(line){0, "calls", root->total_ns, root->total_ns, snd_buffer_str(&note)});
    snd_buffer_free(&note);
    return status == SND_OK ? add_parts(self, table) : status;
}

static int
is_slow_node(const snd_graph_node *node)
{
    return node->site->kind == SND_SITE_GRAPH_PHASE && strcmp(node->site->detail, "node") == 0;
}

/* The one that took longest after `last`; SND_NONE: no more. */
static uint32_t
next_slowest(const snd_graph *self, uint32_t parent, uint32_t last)
{
    uint32_t best = SND_NONE;

    for (uint32_t i = self->nodes[parent].first; i != SND_NONE; i = self->nodes[i].next) {
        const snd_graph_node *node = &self->nodes[i];
        int is_after = last == SND_NONE || node->total_ns < self->nodes[last].total_ns ||
                       (node->total_ns == self->nodes[last].total_ns && i > last);
        if (is_slow_node(node) && is_after && (best == SND_NONE || node->total_ns > self->nodes[best].total_ns))
            best = i;
    }
    return best;
}

static snd_status
add_slowest(const snd_graph *self, uint32_t parent, uint32_t depth, uint64_t whole_ns, snd_table *table)
{
    snd_status status = SND_OK;
    uint32_t node = next_slowest(self, parent, SND_NONE);

    for (uint32_t i = 0; i < SLOWEST && node != SND_NONE && status == SND_OK; i++) {
        const snd_graph_node *about = &self->nodes[node];
        const char *note = i == 0 ? "the slowest nodes to link" : "";
        status = add_line(table, &(line){depth, about->site->name, about->total_ns, whole_ns, note});
        node = next_slowest(self, parent, node);
    }
    return status;
}

/* A phase and those in it, in their order; a phase has few levels. */
static snd_status /* NOLINTNEXTLINE(misc-no-recursion) */
add_phase(const snd_graph *self, uint32_t node, uint32_t depth, uint64_t whole_ns, snd_table *table)
{
    enum { DEEPEST = 8 };
    const snd_graph_node *about = &self->nodes[node];
    const char *name = about->site->name;
    const char *note = strcmp(name, "validation") == 0 ? "part of rewriting"
                       : strcmp(name, "import") == 0   ? "loading what was compiled"
                                                       : "";
    snd_status status = add_line(table, &(line){depth, name, about->total_ns, whole_ns, note});

    for (uint32_t i = about->first; i != SND_NONE && status == SND_OK && depth < DEEPEST; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_PHASE && !is_slow_node(&self->nodes[i]))
            status = add_phase(self, i, depth + 1, whole_ns, table);
    return status == SND_OK ? add_slowest(self, node, depth + 1, whole_ns, table) : status;
}

snd_status
snd_graph_time_table(const snd_graph *self, snd_table **out)
{
    snd_table *table = snd_table_new("graph", columns, COLUMN_COUNT);
    if (table == NULL)
        return SND_NO_MEMORY;
    table->is_tree = table->has_guides = 1;
    snd_status status = add_calls(self, table);
    for (uint32_t i = self->nodes[0].first; i != SND_NONE && status == SND_OK; i = self->nodes[i].next)
        if (self->nodes[i].site->kind == SND_SITE_GRAPH_PHASE)
            status = add_phase(self, i, 0, self->nodes[i].total_ns, table);
    if (status == SND_OK)
        *out = table;
    else
        snd_table_free(table);
    return status;
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

static snd_status
add_function(const snd_graph *graph, uint64_t whole_ns, uint64_t *sum_ns, snd_table *table)
{
    const snd_graph_node *root = &graph->nodes[0];
    uint32_t compile = snd_graph_find(graph, 0, SND_SITE_GRAPH_PHASE, "compile");
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
    *sum_ns += root->total_ns;
    if (whole_ns != 0) {
        snd_set_share(&cells[F_SHARE], 100.0 * (double)root->total_ns / (double)whole_ns);
        snd_set_share(&cells[F_SUM], 100.0 * (double)*sum_ns / (double)whole_ns);
    }
    snd_set_whole(&cells[F_TIME], root->total_ns);
    if (root->count != 0)
        snd_set_whole(&cells[F_PER_CALL], root->total_ns / root->count);
    snd_set_whole(&cells[F_CALLS], root->count);
    snd_set_whole(&cells[F_APPLIES], root->applies);
    if (compile != SND_NONE)
        snd_set_whole(&cells[F_COMPILE], graph->nodes[compile].total_ns);
    snd_set_text(table, &cells[F_NAME], root->site->name);
    return snd_table_check(table, cells);
}

snd_status
snd_graph_function_table(const snd_profile *profile, const snd_graph_functions *functions, snd_table **out)
{
    snd_table *table = snd_table_new("graph", function_columns, F_COLUMN_COUNT);
    uint64_t whole_ns = 0, sum_ns = 0;
    snd_status status = table == NULL ? SND_NO_MEMORY : SND_OK;

    for (uint32_t i = 0; i < functions->count; i++)
        whole_ns += functions->rows[i].outer == SND_NONE ? functions->rows[i].total_ns : 0;
    for (uint32_t i = 0; i < functions->count && status == SND_OK; i++) {
        snd_graph graph;
        if (functions->rows[i].outer != SND_NONE)
            continue;
        status = snd_graph_make(profile, functions, i, &graph);
        if (status != SND_OK)
            break;
        status = add_function(&graph, whole_ns, &sum_ns, table);
        snd_graph_free(&graph);
    }
    if (status == SND_OK)
        *out = table;
    else
        snd_table_free(table);
    return status;
}
