/* The view of operators, and what other views make of them, on a profile made by hand. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_ops.h"
#include "fixture_table.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"
#include "model/rollup.h"
#include "view/core/arrange.h"
#include "view/ops/ops.h"
#include "view/sampled/tree.h"

#include <string.h>

#define MS UINT64_C(1000000)

/* The first row with this name and, if not NULL, this text in the column. */
static uint32_t
find_op(const snd_table *table, const char *name, const char *column, const char *text)
{
    for (uint32_t r = 0; r < table->row_count; r++)
        if (!table->rows[r].is_extra && strcmp(cell_of(table, r, "name")->text, name) == 0 &&
            (text == NULL || strcmp(cell_of(table, r, column)->text, text) == 0))
            return r;
    CHECK_TEXT(name, "a row");
    return 0;
}

static void
calls_of_one_name_are_one_row(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){0});

    CHECK_NUMBER(table->row_count, 6); /* dot, apply_along_axis, add, a heading and the two regions */
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "calls"), 7);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "self"), 46 * MS);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "total"), 46 * MS);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "min"), 2 * MS);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "max"), 18 * MS);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "read"), 640000 + 1280000 + 160000);
    CHECK_NUMBER(whole_of(table, "name", "numpy.dot", "copies"), 2);
    CHECK_NUMBER(whole_of(table, "name", "numpy.add", "calls"), 7); /* of both threads */
    CHECK_NUMBER(whole_of(table, "name", "numpy.add", "casts"), 5);
    CHECK_NUMBER(whole_of(table, "name", "numpy.apply_along_axis", "self"), 6 * MS);
    CHECK_NUMBER(whole_of(table, "name", "numpy.apply_along_axis", "average"), 12 * MS);
    CHECK(!cell_of(table, 0, "shapes")->is_there);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
the_speed_is_that_of_the_calls_with_a_formula(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){0});
    double speed = cell_of(table, find_op(table, "numpy.dot", "", NULL), "gflops_per_second")->real;

    CHECK(speed > 0.913 - 1e-9 && speed < 0.913 + 1e-9); /* 42e6 operations in 46e6 ns */
    CHECK(!cell_of(table, find_op(table, "numpy.apply_along_axis", "", NULL), "gflops_per_second")->is_there);
    CHECK(!cell_of(table, find_op(table, "region step", "", NULL), "read_bytes")->is_there);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
regions_stand_beside_operators(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){0});
    uint64_t self = 0;

    CHECK_NUMBER(whole_of(table, "name", "region step", "total"), 70 * MS);
    CHECK_NUMBER(whole_of(table, "name", "region step", "self"), 10 * MS);
    CHECK_NUMBER(whole_of(table, "name", "region inner", "calls"), 4);
    CHECK_NUMBER(whole_of(table, "name", "region inner", "total"), 10 * MS);
    CHECK_TEXT(cell_of(table, find_op(table, "region inner", "", NULL), "kind")->text, "region");
    CHECK_TEXT(cell_of(table, 0, "kind")->text, "op"); /* the one with the most time of its own */
    CHECK_TEXT(table->rows[3].heading, "regions");     /* they come after all operators, whatever they took */
    CHECK_TEXT(cell_of(table, 4, "name")->text, "region step");
    CHECK_TEXT(cell_of(table, 5, "name")->text, "region inner");
    for (uint32_t r = 0; r < table->row_count; r++)
        self += (uint64_t)cell_of(table, r, "self")->whole;
    CHECK_NUMBER(self, 85 * MS);
    CHECK(strstr(table->footer, "15 calls of operators, 2 copies, 5 casts; percentages are of 85.00 ms") ==
          table->footer);
    snd_table_free(table);
    snd_profile_free(profile);
}

static int
is_notable(const snd_table *table, const char *op, const char *column)
{
    return snd_format_is_notable(table, find_op(table, op, "", NULL), (uint32_t)snd_table_find(table, column));
}

static void
copies_and_casts_are_highlighted(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){0});

    CHECK(is_notable(table, "numpy.dot", "copies") && !is_notable(table, "numpy.dot", "casts"));
    CHECK(is_notable(table, "numpy.add", "casts") && !is_notable(table, "numpy.add", "calls"));
    CHECK(!is_notable(table, "numpy.apply_along_axis", "copies"));
    snd_table_limit(table, 4); /* a heading without rows below is none */
    CHECK_NUMBER(table->row_count, 3);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
other_inputs_are_other_rows_when_asked_for(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){.by_shape = 1});
    uint32_t row = find_op(table, "numpy.dot", "shapes", "float64[100,100], float64[100,100]");

    CHECK_NUMBER(table->row_count, 8);
    CHECK_NUMBER(cell_of(table, row, "calls")->whole, 5);
    CHECK_NUMBER(cell_of(table, row, "total")->whole, 10 * MS);
    row = find_op(table, "numpy.dot", "shapes", "float64[200,200], float64[200,200]");
    CHECK_NUMBER(cell_of(table, row, "calls")->whole, 2);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
other_lines_are_other_rows_when_asked_for(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "ops", (snd_view_options){.by_line = 1});
    uint32_t row = find_op(table, "numpy.dot", "place", "prog.py:14");

    CHECK_NUMBER(cell_of(table, row, "calls")->whole, 1);
    CHECK_NUMBER(cell_of(table, row, "line")->whole, 14);
    CHECK_NUMBER(cell_of(table, find_op(table, "numpy.add", "place", "prog.py:20"), "calls")->whole, 7);
    snd_table_free(table);
    table = make_view(profile, "ops", (snd_view_options){.by_shape = 1, .by_line = 1});
    CHECK_NUMBER(table->row_count, 9);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
what_is_inside_itself_counts_once_in_the_total(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 1);
    uint32_t outer = add_op(profile, root, "numpy.sum", "float64[9]", 1, 1, 9, 2);
    uint32_t other = add_op(profile, outer, "ndarray.sum", "float64[9]", 1, 1, 7, 3);
    add_op(profile, other, "numpy.sum", "float64[3]", 1, 1, 4, 4);
    snd_table *table = make_view(profile, "ops", (snd_view_options){0});

    CHECK_NUMBER(whole_of(table, "name", "numpy.sum", "calls"), 2);
    CHECK_NUMBER(whole_of(table, "name", "numpy.sum", "total"), 9);
    CHECK_NUMBER(whole_of(table, "name", "numpy.sum", "self"), 6);
    CHECK_NUMBER(whole_of(table, "name", "ndarray.sum", "total"), 7);
    snd_table_free(table);
    table = make_view(profile, "ops", (snd_view_options){.by_shape = 1}); /* now they are not the same */
    CHECK_NUMBER(cell_of(table, find_op(table, "numpy.sum", "shapes", "float64[3]"), "total")->whole, 4);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
a_profile_without_operators_has_none_to_show(void)
{
    snd_profile *profile = small_profile();
    snd_table *table = NULL;

    CHECK(snd_view_find("ops")->make(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    CHECK(snd_profile_without_ops(profile) == NULL);
    CHECK_TEXT(snd_view_default(profile)->name, "regions");
    snd_profile_free(profile);
    profile = ops_profile();
    CHECK_TEXT(snd_view_default(profile)->name, "ops");
    snd_profile_free(profile);
}

/* ---- other views ---- */

static void
an_operators_time_is_its_regions_own_where_regions_are_shown(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "regions", (snd_view_options){0});

    CHECK_NUMBER(table->row_count, 4); /* both threads, step, and inner below it */
    CHECK_NUMBER(whole_of(table, "name", "<main>", "self"), 30 * MS);
    CHECK_NUMBER(whole_of(table, "name", "<worker>", "self"), 50 * MS);
    CHECK_NUMBER(whole_of(table, "name", "step", "self"), 60 * MS);
    CHECK_NUMBER(whole_of(table, "name", "inner", "count"), 4);
    CHECK_NUMBER(whole_of(table, "name", "inner", "total"), 10 * MS);
    CHECK_NUMBER(whole_of(table, "name", "inner", "self"), 10 * MS);
    CHECK_NUMBER(whole_of(table, "name", "inner", "min"), 2 * MS);
    CHECK_NUMBER(whole_of(table, "name", "inner", "max"), 4 * MS);
    CHECK_TEXT(cell_of(table, find_op(table, "inner", "", NULL), "parent_name")->text, "step");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
self_times_add_up_without_operators_too(void)
{
    snd_profile *profile = ops_profile(), *folded = snd_profile_without_ops(profile);

    REQUIRE(folded != NULL);
    for (uint32_t track = 0; track < 2; track++) {
        CHECK_NUMBER(self_sum(folded, track), self_sum(profile, track));
        CHECK_NUMBER(self_sum(folded, track),
                     snd_profile_whole(folded, snd_tree_root(folded, track), SND_METRIC_TOTAL));
    }
    snd_profile_free(folded);
    snd_profile_free(profile);
}

static void
threads_do_not_count_operators_as_regions(void)
{
    snd_profile *profile = ops_profile();
    snd_table *table = make_view(profile, "threads", (snd_view_options){0});

    CHECK_NUMBER(whole_of(table, "name", "main", "in_regions"), 70 * MS);
    CHECK_NUMBER(whole_of(table, "name", "main", "entries"), 6);
    CHECK_NUMBER(whole_of(table, "name", "worker", "in_regions"), 0);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
operators_are_frames_where_regions_are(void)
{
    snd_profile *profile = ops_profile();
    snd_stacks stacks = {0}, sampled = {.without_regions = 1};
    uint32_t step = find_node(profile, "main", "step"), dot = find_node(profile, "main", "step/numpy.dot");
    uint32_t deep = find_node(profile, "main", "step/numpy.apply_along_axis/inner");

    REQUIRE(snd_stacks_update(&stacks, profile) == SND_OK && snd_stacks_update(&sampled, profile) == SND_OK);
    CHECK_NUMBER(stacks.stacks[stacks.of_node[dot]].parent, stacks.of_node[step]);
    CHECK_TEXT(stacks.frames[stacks.stacks[stacks.of_node[dot]].frame].name, "numpy.dot");
    CHECK_NUMBER(stacks.stacks[stacks.of_node[deep]].depth, 3);
    CHECK_NUMBER(sampled.stacks[sampled.of_node[deep]].depth, 0);
    snd_stacks_free(&stacks);
    snd_stacks_free(&sampled);
    snd_profile_free(profile);
}

/* ---- the table as PyTorch has it ---- */

static const snd_ops_row *
find_average(const snd_ops *ops, const char *name)
{
    for (uint32_t i = 0; i < ops->count; i++)
        if (strcmp(ops->rows[i].name, name) == 0)
            return &ops->rows[i];
    return NULL;
}

static snd_ops
averages_of(snd_ops_question asked)
{
    snd_ops ops;

    REQUIRE(snd_ops_make(&asked, &ops) == SND_OK);
    return ops;
}

static void
operators_become_rows_of_averages(void)
{
    snd_profile *profile = ops_profile();
    snd_ops ops = averages_of((snd_ops_question){.profile = profile, .by_shape = 1, .lines = 1});
    const snd_ops_row *row = find_average(&ops, "numpy.dot");

    CHECK_NUMBER(ops.count, 8);
    CHECK_TEXT(row->shapes, "float64[100,100], float64[100,100]");
    CHECK_TEXT(row->stack, "/app/prog.py(10)");
    CHECK_NUMBER(row->count, 4);
    CHECK(row->self_cpu_us == 8000 && row->total_cpu_us == 8000);
    CHECK(row->flops == 8000000);
    CHECK(row->has_parent && !row->is_annotation);
    CHECK(find_average(&ops, "region step")->is_annotation && !find_average(&ops, "region step")->has_parent);
    snd_ops_free(&ops);
    snd_profile_free(profile);
}

static void
what_was_there_before_does_not_count(void)
{
    snd_profile *before = ops_profile(), *now = ops_profile();
    uint32_t root = snd_tree_root(now, 0);

    add_op(now, root, "numpy.add", "float64[1000], int64[1000]", 20, 3, MS, 3 * MS);
    add_op(now, root, "numpy.exp", "float64[1000]", 21, 1, MS, MS);
    snd_ops ops = averages_of((snd_ops_question){.profile = now, .before = before});
    CHECK_NUMBER(ops.count, 2);
    CHECK_NUMBER(find_average(&ops, "numpy.add")->count, 3);
    CHECK(find_average(&ops, "numpy.add")->total_cpu_us == 3000);
    CHECK_NUMBER(find_average(&ops, "numpy.exp")->count, 1);
    snd_ops_free(&ops);
    snd_profile_free(before);
    snd_profile_free(now);
}

static void
rows_of_another_profile_follow(void)
{
    snd_profile *profile = ops_profile(), *more = ops_profile();
    snd_ops ops = averages_of((snd_ops_question){.profile = profile}), twice;

    twice = averages_of((snd_ops_question){.profile = profile, .before = profile, .more = more});
    CHECK_NUMBER(twice.count, ops.count);
    CHECK_NUMBER(find_average(&twice, "numpy.dot")->count, find_average(&ops, "numpy.dot")->count);
    CHECK_NUMBER(twice.whole_ns, ops.whole_ns);
    snd_ops_free(&ops);
    snd_ops_free(&twice);
    snd_profile_free(profile);
    snd_profile_free(more);
}

/* ---- recordings, and memory that runs out ---- */

static void
a_recording_keeps_operators(void)
{
    const char *path = temp_path("ops.sonde");
    write_ops(path);
    snd_profile *profile = ops_profile(), *read = read_recording(path);

    CHECK(profiles_are_equal(profile, read));
    snd_profile_free(read);
    snd_profile_free(profile);
}

typedef struct attempt {
    const snd_profile *profile;
    const char *view;
} attempt;

static snd_status
try_view(void *context)
{
    const attempt *wanted = context;
    snd_table *table = NULL;
    snd_status status =
        snd_view_find(wanted->view)->make(wanted->profile, &(snd_view_options){.by_shape = 1, .by_line = 1}, &table);
    snd_table_free(table);
    return status;
}

static void
views_without_memory_say_so(void)
{
    snd_profile *profile = ops_profile();
    static const char *const views[] = {"ops", "regions", "threads"};

    for (size_t i = 0; i < 3; i++)
        CHECK(fail_each_allocation(try_view, &(attempt){profile, views[i]}) > 3);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(calls_of_one_name_are_one_row);
    RUN(the_speed_is_that_of_the_calls_with_a_formula);
    RUN(regions_stand_beside_operators);
    RUN(copies_and_casts_are_highlighted);
    RUN(other_inputs_are_other_rows_when_asked_for);
    RUN(other_lines_are_other_rows_when_asked_for);
    RUN(what_is_inside_itself_counts_once_in_the_total);
    RUN_WORK(a_profile_without_operators_has_none_to_show);
    RUN(an_operators_time_is_its_regions_own_where_regions_are_shown);
    RUN_WORK(self_times_add_up_without_operators_too);
    RUN(threads_do_not_count_operators_as_regions);
    RUN(operators_are_frames_where_regions_are);
    RUN(operators_become_rows_of_averages);
    RUN(what_was_there_before_does_not_count);
    RUN(rows_of_another_profile_follow);
    RUN(a_recording_keeps_operators);
    RUN(views_without_memory_say_so);
    return check_report();
}
