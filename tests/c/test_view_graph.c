/* The view of compiled functions, its tables, and what other views make of them, on profiles made by hand. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_graph.h"
#include "fixture_memory.h"
#include "fixture_ops.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"
#include "view/graph/graph_tree.h"

#include <string.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const snd_view_options usual;

/* ---- what is asked of a table ---- */

/* The sum of a column over the rows that have one, a heading has none. */
static double
sum_of(const snd_table *table, const char *column)
{
    double sum = 0;

    for (uint32_t r = 0; r < table->row_count; r++) {
        const snd_cell *cell = cell_of(table, r, column);
        sum += cell->is_there ? cell->real + (double)cell->whole : 0;
    }
    return sum;
}

/* ---- one function, or all of them ---- */

typedef struct made {
    snd_profile *profile;
    snd_graph_functions functions;
    snd_graph graph;
} made;

/* By name; NULL: the sum of all. */
static made
make_graph(const char *name)
{
    made self = {.profile = graph_profile()};
    uint32_t number = SND_NONE;

    snd_graph_functions_make(self.profile, &usual, &self.functions);
    for (uint32_t i = 0; i < self.functions.count && name != NULL; i++)
        if (strcmp(self.functions.rows[i].name, name) == 0)
            number = i;
    REQUIRE((number == SND_NONE) == (name == NULL));
    snd_graph_make(&self.functions, number, &self.graph);
    return self;
}

static void
free_graph(made *self)
{
    snd_profile_free(self->profile);
}

static snd_table *
table_of(const made *self, snd_site_kind kind, uint32_t limit)
{
    snd_table *table = NULL;

    snd_graph_table(&self->graph, kind, limit, &table);
    return table;
}

static void
functions_stand_longest_first_with_those_inside_them(void)
{
    made of = make_graph("train");
    static const char *const names[] = {"train", "step", "predict", "unused"};

    CHECK_NUMBER(of.functions.count, 4); /* recompiled is gone */
    CHECK_NUMBER(of.functions.called_count, 3);
    for (uint32_t i = 0; i < 4 && i < of.functions.count; i++)
        CHECK_TEXT(of.functions.rows[i].name, names[i]);
    CHECK_NUMBER(of.functions.rows[1].outer, 0);
    CHECK(of.functions.rows[2].outer == SND_NONE);
    free_graph(&of);
}

static void
classes_and_operators_are_the_sums_of_their_nodes(void)
{
    made of = make_graph("train");
    snd_table *classes = table_of(&of, SND_SITE_GRAPH_CLASS, 20), *ops = table_of(&of, SND_SITE_GRAPH_OP, 20);

    CHECK_NUMBER(classes->row_count, 4); /* the last one is what remains */
    CHECK_NUMBER(whole_of(classes, "name", "aesara.tensor.blas_c.CGemv", "time"), 980 * MS);
    CHECK_NUMBER(whole_of(classes, "name", "aesara.tensor.blas_c.CGemv", "calls"), 2000);
    CHECK_NUMBER(whole_of(classes, "name", "aesara.tensor.blas_c.CGemv", "nodes"), 2);
    CHECK_NUMBER(whole_of(classes, "name", "aesara.tensor.blas_c.CGemv", "per_call"), 490 * US);
    CHECK_NUMBER(whole_of(classes, "name", "aesara.tensor.elemwise.Elemwise", "time"), 44500 * US);
    CHECK_TEXT(cell_of(classes, row_of(classes, "name", "aesara.tensor.elemwise.Elemwise"), "implementation")->text,
               "C & Py");
    CHECK_NEAR(cell_of(classes, 0, "gflops_per_second")->real, 1.28, 1e-9); /* 1254.4e6 in 980e6 ns */
    CHECK_NUMBER(ops->row_count, 5);
    CHECK_NUMBER(whole_of(ops, "name", "CGemv{inplace}", "nodes"), 2);
    CHECK_TEXT(cell_of(ops, row_of(ops, "name", "for{cpu,scan_fn}"), "implementation")->text, "Py");
    snd_table_free(classes);
    snd_table_free(ops);
    free_graph(&of);
}

static void
what_is_inside_a_node_does_not_count_again(void)
{
    made of = make_graph("train"), inside = make_graph("step");

    CHECK_NUMBER(of.graph.thunks_ns, 1144500 * US);
    CHECK_NUMBER(of.graph.nodes[0].applies, 5);
    CHECK_NUMBER(inside.graph.thunks_ns, 80 * MS);
    CHECK_NUMBER(inside.graph.nodes[0].applies, 1);
    free_graph(&of);
    free_graph(&inside);
}

/* Whatever the limit: all rows add up, and the cumulative share ends at 100. */
static void
the_rest_has_a_row(void)
{
    static const snd_site_kind kinds[] = {SND_SITE_GRAPH_CLASS, SND_SITE_GRAPH_OP, SND_SITE_GRAPH_APPLY};
    static const char *const names[] = {"train", "step", "predict", NULL};

    for (size_t n = 0; n < 4; n++) {
        made of = make_graph(names[n]);
        for (size_t k = 0; k < 3; k++)
            for (uint32_t limit = 0; limit < 8; limit++) {
                snd_table *table = table_of(&of, kinds[k], limit);
                CHECK_NEAR(sum_of(table, "time"), (double)of.graph.thunks_ns, 1e-9);
                CHECK_NEAR(sum_of(table, "percent"), 100, 1e-9);
                CHECK_NEAR(cell_of(table, table->row_count - 1, "sum_percent")->real, 100, 1e-9);
                CHECK(strncmp(cell_of(table, table->row_count - 1, "name")->text, "remaining: ", 11) == 0);
                snd_table_free(table);
            }
        free_graph(&of);
    }
}

static void
what_remains_is_told_in_numbers(void)
{
    made of = make_graph("train");
    snd_table *table = table_of(&of, SND_SITE_GRAPH_CLASS, 1);

    CHECK_NUMBER(table->row_count, 2);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 2 classes", "time"), 164500 * US);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 2 classes", "calls"), 3000);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 2 classes", "nodes"), 3);
    snd_table_free(table);
    table = table_of(&of, SND_SITE_GRAPH_APPLY, 4);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 1 node", "time"), 800 * US);
    snd_table_free(table);
    free_graph(&of);
}

static void
a_node_has_its_variables_below_it(void)
{
    made of = make_graph("train");
    snd_table *table = table_of(&of, SND_SITE_GRAPH_APPLY, 1);

    CHECK_NUMBER(table->row_count, 5);
    CHECK_NUMBER(cell_of(table, 0, "id")->whole, 3);
    CHECK_TEXT(table->rows[1].heading, "        input 2: float64 (400, 784), strides (6272, 8)");
    CHECK_TEXT(table->rows[2].heading, "        input 10: float64 ()");
    CHECK_TEXT(table->rows[3].heading, "        output 0: float64 (400,), strides (8,)");
    snd_table_free(table);
    free_graph(&of);
}

static void
the_sum_of_all_has_equal_operators_once_and_every_node(void)
{
    made of = make_graph(NULL);
    snd_table *ops = table_of(&of, SND_SITE_GRAPH_OP, 20), *nodes = table_of(&of, SND_SITE_GRAPH_APPLY, 20);

    CHECK_NUMBER(of.graph.function_count, 3);
    CHECK_NUMBER(of.graph.nodes[0].count, 1001);
    CHECK_NUMBER(of.graph.nodes[0].total_ns, 1234041 * US);
    CHECK_NUMBER(of.graph.thunks_ns, 1144500 * US + 7123);
    CHECK_NUMBER(ops->row_count, 5);
    CHECK_NUMBER(whole_of(ops, "name", "Elemwise{gt,no_inplace}", "calls"), 1001);
    CHECK_NUMBER(whole_of(ops, "name", "Elemwise{gt,no_inplace}", "nodes"), 2);
    CHECK_NUMBER(count_text(cell_of(nodes, nodes->row_count - 2, "function")->text, "predict"), 1);
    CHECK_NUMBER(of.graph.nodes[0].applies, 6);
    snd_table_free(ops);
    snd_table_free(nodes);
    free_graph(&of);
}

static void
the_time_around_nodes_is_spelled_out(void)
{
    made of = make_graph("train");
    snd_table *table = NULL;

    snd_graph_time_table(&of.graph, &table);
    CHECK_NUMBER(whole_of(table, "name", "in 1000 calls: 1.234 ms each", "time"), 1234 * MS);
    CHECK_NUMBER(whole_of(table, "name", "in the VM", "time"), 1190 * MS);
    CHECK_NUMBER(whole_of(table, "name", "in thunks: 5 nodes", "time"), 1144500 * US);
    CHECK_NUMBER(whole_of(table, "name", "VM overhead: scheduling, storage and freeing between thunks", "time"),
                 45500 * US);
    CHECK_NUMBER(whole_of(table, "name", "call overhead: inputs, outputs and updates around the VM", "time"), 44 * MS);
    CHECK_NUMBER(whole_of(table, "name", "other", "time"), 45 * MS); /* of compiling */
    CHECK_NEAR(cell_of(table, row_of(table, "name", "rewriting"), "percent")->real, 100.0 * 1400 / 2345, 1e-9);
    snd_table_free(table);
    free_graph(&of);
}

static void
the_five_slowest_nodes_to_link_are_named(void)
{
    made of = make_graph("train");
    snd_table *table = NULL;

    snd_graph_time_table(&of.graph, &table);
    uint32_t row = row_of(table, "name", "slowest node: f"); /* 16 ms */
    CHECK_NUMBER(cell_of(table, row, "time")->whole, 16 * MS);
    CHECK_TEXT(cell_of(table, row + 1, "name")->text, "node: d");
    CHECK_TEXT(cell_of(table, row + 4, "name")->text, "node: e");
    CHECK_TEXT(cell_of(table, row + 5, "name")->text, "other");
    snd_table_free(table);
    free_graph(&of);
}

static void
without_times_of_nodes_there_are_no_lists(void)
{
    snd_profile *profile = snd_profile_new();
    snd_graph_functions functions;
    snd_graph graph;
    snd_table *table = NULL;

    uint32_t function =
        add_graph(profile, add_root(profile, add_track(profile, "main", 1, 0, MS), MS, MS), SND_SITE_GRAPH, "fast", "");
    set_whole(profile, function, SND_METRIC_COUNT, 2);
    set_whole(profile, function, SND_METRIC_TOTAL, 3001);
    add_graph(profile, add_graph(profile, function, SND_SITE_GRAPH_CLASS, "Dot", ""), SND_SITE_GRAPH_APPLY, "d", "#0");
    snd_graph_functions_make(profile, &usual, &functions);
    snd_graph_make(&functions, 0, &graph);
    CHECK(!graph.is_timed);
    snd_graph_table(&graph, SND_SITE_GRAPH_OP, 20, &table);
    CHECK_NUMBER(table->row_count, 0);
    snd_table_free(table);
    snd_graph_time_table(&graph, &table);
    CHECK_NUMBER(table->row_count, 1);
    CHECK_TEXT(cell_of(table, 0, "name")->text, "in 2 calls: 1.501 µs each"); /* rounded */
    snd_table_free(table);
    snd_profile_free(profile);
}

/* ---- memory and rewriting ---- */

static void
memory_is_listed_by_size_from_a_least_one_on(void)
{
    made of = make_graph("train");
    snd_table *table = NULL;

    snd_graph_memory_table(&of.graph, 20, 1024, &table);
    CHECK_NUMBER(table->row_count, 4);
    CHECK_NUMBER(cell_of(table, 0, "inplace")->whole, 6272);
    CHECK_NUMBER(whole_of(table, "name", "Elemwise{sub}(y, p)", "created"), 3200);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 2 nodes, 2 below 1.00 KiB", "created"), 400);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 2 nodes, 2 below 1.00 KiB", "view"), 8);
    snd_table_free(table);
    snd_graph_memory_table(&of.graph, 1, 0, &table);
    CHECK_NUMBER(whole_of(table, "name", "remaining: 4 nodes", "inplace"), 3200);
    snd_table_free(table);
    free_graph(&of);
}

static void
a_peak_of_all_is_the_largest(void)
{
    made of = make_graph(NULL);
    snd_table *table = NULL;

    snd_graph_peak_table(&of.graph, &table);
    CHECK_NUMBER(table->row_count, 4);
    CHECK_NUMBER(whole_of(table, "name", "peak, as executed", "peak"), 2512000);
    CHECK_NUMBER(whole_of(table, "name", "peak measured", "peak"), 2515000);
    snd_table_free(table);
    free_graph(&of);
}

static void
rewriters_that_changed_nothing_are_apart(void)
{
    made of = make_graph("train");
    snd_table *table = NULL;
    uint32_t idle = 0;

    snd_graph_rewriter_table(&of.graph, &table);
    CHECK_NUMBER(table->row_count, 4);
    CHECK_TEXT(cell_of(table, 0, "name")->text, "SeqOptimizer");
    CHECK(!cell_of(table, 0, "applied")->is_there);
    CHECK_NUMBER(whole_of(table, "name", "SeqOptimizer", "nodes_after"), 21);
    CHECK_TEXT(cell_of(table, 1, "name")->text, "canonicalize"); /* which has one below it that was applied */
    CHECK_NUMBER(table->rows[row_of(table, "name", "local_lift")].depth, 2);
    CHECK_NUMBER(whole_of(table, "name", "merge1", "validation"), 3 * MS);
    for (uint32_t i = 0; i < of.graph.count; i++)
        idle += snd_graph_is_idle(&of.graph, i) != 0;
    CHECK_NUMBER(idle, 2);
    snd_table_free(table);
    free_graph(&of);
}

/* ---- the view, and other views ---- */

static void
the_view_has_a_row_for_everything(void)
{
    snd_profile *profile = graph_profile();
    snd_table *table = NULL;

    REQUIRE(snd_view_graph(profile, &usual, &table) == SND_OK);
    CHECK_TEXT(cell_of(table, 0, "name")->text, "train");
    CHECK_NUMBER(cell_of(table, 0, "vm_ns")->whole, 1190 * MS);
    CHECK_NUMBER(whole_of(table, "name", "for{cpu,scan_fn}(n, x)", "id"), 12);
    CHECK_TEXT(cell_of(table, row_of(table, "name", "input 2"), "description")->text,
               "float64 (400, 784), strides (6272, 8)");
    CHECK_NUMBER(whole_of(table, "name", "merge1", "validation"), 3 * MS);
    CHECK_NUMBER(table->rows[row_of(table, "name", "local_lift")].depth, 5);
    snd_table_free(table);
    REQUIRE(snd_view_graph(profile, &(snd_view_options){.total = 1}, &table) == SND_OK);
    CHECK_TEXT(cell_of(table, 0, "name")->text, "all functions");
    snd_table_free(table);
    CHECK_TEXT(snd_view_default(profile)->name, "graph");
    snd_profile_free(profile);
}

/* What a view says in comma-separated values, "" where it says nothing. */
static void
write_view(const snd_profile *profile, const snd_view *view, snd_buffer *text)
{
    snd_table *table = NULL;

    if (view->make(profile, &usual, &table) != SND_OK)
        return;
    snd_format_csv(table, &(snd_format_options){0}, text);
    snd_buffer_text(text, table->footer == NULL ? "" : table->footer);
    snd_table_free(table);
}

typedef struct stacks_question {
    const snd_profile *profile;
    uint32_t count, frame_count, frames[1000];
    uint64_t sums[1000];
} stacks_question;

static void
sum_stacks(void *context)
{
    stacks_question *self = context;
    snd_stacks stacks = {0};

    snd_work_need(snd_stacks_update(&stacks, self->profile));
    self->count = stacks.stack_count;
    self->frame_count = stacks.frame_count;
    const uint64_t *sums = snd_stacks_sums(&stacks, self->profile, SND_COST_SAMPLES);
    REQUIRE(self->count <= 1000);
    for (uint32_t i = 0; i < self->count; i++) {
        self->frames[i] = stacks.stacks[i].frame;
        self->sums[i] = sums[i];
    }
}

/* Every stack with samples of its own, as numbers of frames. */
static void
write_stacks(const snd_profile *profile, snd_buffer *text)
{
    stacks_question all = {.profile = profile};
    snd_status status = snd_work_run(sum_stacks, &all, NULL);

    snd_buffer_printf(text, "%u stacks, %u frames", all.count, all.frame_count);
    for (uint32_t i = 0; i < all.count && status == SND_OK; i++)
        snd_buffer_printf(text, "\n%u %llu", all.frames[i], (unsigned long long)all.sums[i]);
}

/* A compiled function is no region and no sample, and has no memory of the program's. */
static void
other_views_are_as_without_graphs(void)
{
    snd_profile *(*const makers[])(void) = {small_profile, calls_profile, walk_profile, memory_profile, ops_profile};

    for (size_t m = 0; m < sizeof makers / sizeof makers[0]; m++) {
        snd_profile *plain = makers[m](), *more = makers[m]();
        add_graphs(more, 0);
        for (unsigned i = 0; i < snd_view_count; i++) {
            snd_buffer without = {0}, with = {0};
            if (snd_views[i].make == snd_view_graph)
                continue;
            write_view(plain, &snd_views[i], &without);
            write_view(more, &snd_views[i], &with);
            CHECK_TEXT(snd_buffer_str(&with), snd_buffer_str(&without));
            snd_buffer_free(&without);
            snd_buffer_free(&with);
        }
        CHECK_TEXT(snd_view_default(more)->name, snd_view_default(plain)->name);
        snd_buffer without = {0}, with = {0};
        write_stacks(plain, &without);
        write_stacks(more, &with);
        CHECK_TEXT(snd_buffer_str(&with), snd_buffer_str(&without));
        snd_buffer_free(&without);
        snd_buffer_free(&with);
        snd_profile_free(plain);
        snd_profile_free(more);
    }
}

static void
a_profile_without_graphs_has_none_to_show(void)
{
    snd_profile *profile = small_profile();
    snd_table *table = NULL;

    CHECK(!snd_graphs_exist(profile));
    CHECK(snd_view_graph(profile, &usual, &table) == SND_NO_DATA);
    snd_profile_free(profile);
}

static void
a_recording_keeps_graphs(void)
{
    const char *path = temp_path("graphs.sonde");
    snd_profile *wanted = graph_profile();

    write_graphs(path);
    snd_profile *profile = read_recording(path);
    CHECK(profiles_are_equal(profile, wanted));
    snd_profile_free(profile);
    snd_profile_free(wanted);
}

static snd_status
try_view(void *profile)
{
    snd_table *table = NULL;
    snd_status status = snd_view_graph(profile, &usual, &table);
    snd_table_free(table);
    return status;
}

static void
without_memory_it_says_so(void)
{
    snd_profile *profile = graph_profile();

    CHECK(fail_each_allocation(try_view, profile) > 10);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN_WORK(functions_stand_longest_first_with_those_inside_them);
    RUN_WORK(classes_and_operators_are_the_sums_of_their_nodes);
    RUN_WORK(what_is_inside_a_node_does_not_count_again);
    RUN_WORK(the_rest_has_a_row);
    RUN_WORK(what_remains_is_told_in_numbers);
    RUN_WORK(a_node_has_its_variables_below_it);
    RUN_WORK(the_sum_of_all_has_equal_operators_once_and_every_node);
    RUN_WORK(the_time_around_nodes_is_spelled_out);
    RUN_WORK(the_five_slowest_nodes_to_link_are_named);
    RUN_WORK(without_times_of_nodes_there_are_no_lists);
    RUN_WORK(memory_is_listed_by_size_from_a_least_one_on);
    RUN_WORK(a_peak_of_all_is_the_largest);
    RUN_WORK(rewriters_that_changed_nothing_are_apart);
    RUN_WORK(the_view_has_a_row_for_everything);
    RUN_WORK(other_views_are_as_without_graphs);
    RUN_WORK(a_profile_without_graphs_has_none_to_show);
    RUN_WORK(a_recording_keeps_graphs);
    RUN_WORK(without_memory_it_says_so);
    return check_report();
}
