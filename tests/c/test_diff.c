/* Two profiles compared: the same things are found in both, and differences are rated by their noise. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_memory.h"
#include "fixture_ops.h"
#include "fixture_samples.h"
#include "view/compare/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000u

static const snd_view_options usual;

static snd_diff
compare(const snd_profile *before, const snd_profile *after, unsigned kinds)
{
    static snd_diff_options options;
    snd_diff diff;

    options = (snd_diff_options){.view = &usual, .kinds = kinds, .run_share = 0.01};
    REQUIRE(snd_diff_make(before, after, &options, &diff) == SND_OK);
    return diff;
}

/* NULL: there is none. */
static const snd_diff_row *
find(const snd_diff *diff, snd_diff_kind kind, const char *name)
{
    for (uint32_t i = 0; i < diff->count; i++)
        if (diff->rows[i].kind == kind && strcmp(diff->rows[i].name, name) == 0)
            return &diff->rows[i];
    return NULL;
}

static const char *
verdict(const snd_diff *diff, snd_diff_kind kind, const char *name)
{
    const snd_diff_row *row = find(diff, kind, name);

    return row == NULL ? "no row" : snd_diff_verdict_text(row);
}

static double
sum(const snd_diff *diff, snd_diff_kind kind, int side)
{
    double all = 0;

    for (uint32_t i = 0; i < diff->count; i++)
        all += diff->rows[i].kind == kind ? diff->rows[i].sides[side].estimate.value : 0;
    return all;
}

static snd_profile *
new_profile(const char *program)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    set_info(profile, "length_ns", "1000000000");
    set_info(profile, "program_path", program);
    return profile;
}

/* A line of a file where a thread was found `samples` times, a millisecond each. */
static uint32_t
add_sampled(snd_profile *profile, uint32_t parent, const char *function, const char *file, uint32_t line,
            uint32_t first_line, uint64_t samples)
{
    snd_profile_site site = {SND_SITE_LINE, function, file, line, "", 0, first_line};
    uint32_t id, node;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, id, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_SAMPLES, samples);
    set_whole(profile, node, SND_METRIC_PYTHON, samples * MS);
    return node;
}

static uint32_t
add_main(snd_profile *profile)
{
    return add_root(profile, add_track(profile, "main", 100, 0, 1000 * MS), 1000 * MS, 1000 * MS);
}

static void
add_text(snd_profile *profile, const char *file, const char *text)
{
    REQUIRE(snd_profile_add_source(profile, file, text, strlen(text)) == SND_OK);
}

/* ---- matching ---- */

static void
a_profile_is_the_same_as_itself(void)
{
    snd_profile *profiles[] = {samples_profile(), calls_profile(), ops_profile(), memory_profile(), small_profile()};

    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        snd_diff diff = compare(profiles[i], profiles[i], 0);
        CHECK(diff.count != 0 && diff.beyond == 0);
        for (uint32_t r = 0; r < diff.count; r++)
            CHECK(diff.rows[r].verdict == SND_DIFF_SAME || diff.rows[r].verdict == SND_DIFF_UNRATED);
        snd_diff_free(&diff);
        snd_profile_free(profiles[i]);
    }
}

static void
lines_are_found_again_in_an_edited_file_in_another_folder(void)
{
    snd_profile *before = new_profile("/home/a/prog.py"), *after = new_profile("/srv/b/prog.py");
    uint32_t root = add_main(before);
    add_sampled(before, root, "f", "/home/a/prog.py", 2, 1, 100);
    add_sampled(before, root, "f", "/home/a/prog.py", 3, 1, 900);
    add_sampled(before, root, "g", "/home/a/lib/util.py", 1, 1, 500);
    add_text(before, "/home/a/prog.py", "def f():\n    one()\n    two()\n");
    add_text(before, "/home/a/lib/util.py", "old()\nrest()\n");
    root = add_main(after);
    add_sampled(after, root, "f", "/srv/b/prog.py", 4, 3, 100);
    add_sampled(after, root, "f", "/srv/b/prog.py", 5, 3, 1800);
    add_sampled(after, root, "g", "/srv/b/lib/util.py", 1, 1, 500);
    add_text(after, "/srv/b/prog.py", "import x\n\ndef f():\n    one()\n    two()\n");
    add_text(after, "/srv/b/lib/util.py", "very()\nnew()\nrest()\n");

    snd_diff diff = compare(before, after, 1u << SND_DIFF_LINES | 1u << SND_DIFF_FUNCTIONS);
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "one()"), "same");
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "two()"), "slower");
    CHECK_TEXT(find(&diff, SND_DIFF_LINES, "two()")->place, "prog.py:5");
    CHECK(find(&diff, SND_DIFF_LINES, "two()")->difference == 900.0 * MS);
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "old()"), "gone");
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "very()"), "new");
    CHECK_TEXT(verdict(&diff, SND_DIFF_FUNCTIONS, "f"), "slower");
    CHECK_TEXT(verdict(&diff, SND_DIFF_FUNCTIONS, "g"), "same");
    CHECK(sum(&diff, SND_DIFF_LINES, SND_BEFORE) == 1500.0 * MS &&
          sum(&diff, SND_DIFF_LINES, SND_AFTER) == 2400.0 * MS);
    CHECK(sum(&diff, SND_DIFF_FUNCTIONS, SND_AFTER) == 2400.0 * MS);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
the_program_is_the_program_whatever_it_is_called(void)
{
    snd_profile *before = new_profile("/app/old.py"), *after = new_profile("/app/new.py");

    add_sampled(before, add_main(before), "f", "/app/old.py", 2, 1, 300);
    add_sampled(after, add_main(after), "f", "/app/new.py", 2, 1, 310);
    snd_diff diff = compare(before, after, 0);
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "f"), "within noise");
    CHECK_TEXT(verdict(&diff, SND_DIFF_FUNCTIONS, "f"), "within noise");
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

/* A line that was there and was never met is not new. */
static void
a_line_that_is_in_both_sources_is_slower_not_new(void)
{
    static const char text[] = "one()\ntwo()\n";
    snd_profile *before = new_profile("/app/prog.py"), *after = new_profile("/app/prog.py");
    uint32_t root = add_main(before);

    add_sampled(before, root, "m", "/app/prog.py", 1, 1, 500);
    add_text(before, "/app/prog.py", text);
    root = add_main(after);
    add_sampled(after, root, "m", "/app/prog.py", 1, 1, 500);
    add_sampled(after, root, "m", "/app/prog.py", 2, 1, 200);
    add_text(after, "/app/prog.py", text);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_LINES);
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "two()"), "slower");
    CHECK(isnan(snd_diff_percent(find(&diff, SND_DIFF_LINES, "two()"))));
    snd_diff_free(&diff);
    diff = compare(after, before, 1u << SND_DIFF_LINES);
    CHECK_TEXT(verdict(&diff, SND_DIFF_LINES, "two()"), "faster");
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

/* Durations of 1 and 3 ms by turns, on average 2. */
static uint32_t
add_uneven(snd_profile *profile, uint32_t parent, const char *name, uint64_t count)
{
    uint32_t node = add_region(profile, parent, name, count, 2 * MS, 0);

    set_real(profile, node, SND_METRIC_SQUARE, (double)count * 5.0 * MS * MS);
    return node;
}

static void
regions_are_their_path_on_all_threads(void)
{
    snd_profile *before = new_profile("/app/prog.py"), *after = new_profile("/app/prog.py");
    uint32_t root = add_main(before);
    uint32_t worker = add_root(before, add_track(before, "w1", 101, 0, 9), 9, 9);
    add_uneven(before, add_uneven(before, root, "load", 10), "parse", 40);
    add_uneven(before, worker, "parse", 30);
    add_uneven(before, root, "old", 2);
    root = add_main(after);
    worker = add_root(after, add_track(after, "w9", 109, 0, 9), 9, 9);
    add_uneven(after, add_uneven(after, worker, "load", 10), "parse", 40);
    add_uneven(after, root, "parse", 90);
    add_uneven(after, root, "fresh", 1);

    snd_diff diff = compare(before, after, 0);
    CHECK_TEXT(verdict(&diff, SND_DIFF_REGIONS, "load / parse"), "same");
    CHECK_TEXT(verdict(&diff, SND_DIFF_REGIONS, "parse"), "slower");
    CHECK(find(&diff, SND_DIFF_REGIONS, "parse")->sides[SND_BEFORE].count == 30);
    CHECK(find(&diff, SND_DIFF_REGIONS, "parse")->difference == 120.0 * MS);
    CHECK_TEXT(verdict(&diff, SND_DIFF_REGIONS, "old"), "gone");
    CHECK_TEXT(verdict(&diff, SND_DIFF_REGIONS, "fresh"), "new");
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
what_regions_waited_for_a_processor_is_noise(void)
{
    snd_profile *before = new_profile("/app/prog.py"), *after = new_profile("/app/prog.py");
    uint32_t region = add_region(before, add_main(before), "step", 10, 10 * MS, 0);

    set_whole(before, add_sampled(before, region, "f", "/app/prog.py", 1, 1, 100), SND_METRIC_WAIT_CPU, 0);
    region = add_region(after, add_main(after), "step", 10, 20 * MS, 0);
    set_whole(after, add_sampled(after, region, "f", "/app/prog.py", 1, 1, 100), SND_METRIC_WAIT_CPU, 100 * MS);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_REGIONS | 1u << SND_DIFF_FUNCTIONS);
    CHECK(diff.busy[SND_BEFORE] == 0 && fabs(diff.busy[SND_AFTER] - 0.5) < 1e-9);
    CHECK_TEXT(verdict(&diff, SND_DIFF_REGIONS, "step"), "within noise");
    CHECK_TEXT(verdict(&diff, SND_DIFF_FUNCTIONS, "f"), "same");
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
time_outside_of_all_frames_is_not_judged(void)
{
    snd_profile *before = new_profile("/app/prog.py"), *after = new_profile("/app/prog.py");

    set_whole(before, add_main(before), SND_METRIC_WAIT_IO, MS);
    set_whole(after, add_main(after), SND_METRIC_WAIT_IO, 100 * MS);
    add_sampled(before, 0, "f", "/app/prog.py", 1, 1, 100);
    add_sampled(after, 0, "f", "/app/prog.py", 1, 1, 100);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS);
    const snd_diff_row *row = find(&diff, SND_DIFF_FUNCTIONS, "[no frame]");
    CHECK(row->difference == 99.0 * MS && !snd_diff_is_over(&diff, row, 10));
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
operators_are_their_name_and_their_inputs_when_asked(void)
{
    static const snd_view_options by_shape = {.by_shape = 1};
    snd_profile *before = new_profile("/app/prog.py"), *after = new_profile("/app/prog.py");
    snd_diff_options options = {.view = &usual, .run_share = 0.01};
    snd_diff diff;
    uint32_t root = add_main(before);
    add_op(before, root, "numpy.dot", "float64[10]", 3, 100, MS, 100 * MS);
    add_op(before, root, "numpy.dot", "float64[99]", 3, 100, MS, 100 * MS);
    root = add_main(after);
    add_op(after, root, "numpy.dot", "float64[10]", 9, 100, MS, 100 * MS);
    add_op(after, root, "numpy.dot", "float64[99]", 9, 100, 3 * MS, 300 * MS);

    REQUIRE(snd_diff_make(before, after, &options, &diff) == SND_OK);
    CHECK(find(&diff, SND_DIFF_OPS, "numpy.dot")->difference == 200.0 * MS);
    CHECK_TEXT(verdict(&diff, SND_DIFF_OPS, "numpy.dot"), "slower");
    snd_diff_free(&diff);
    options.view = &by_shape;
    REQUIRE(snd_diff_make(before, after, &options, &diff) == SND_OK);
    CHECK_TEXT(find(&diff, SND_DIFF_OPS, "numpy.dot")->place, "float64[99]"); /* the largest difference */
    CHECK(diff.beyond == 1);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static snd_profile *
traced(uint32_t line, uint64_t calls, uint64_t ns)
{
    snd_profile *profile = new_profile("/app/run.py");
    uint32_t root = add_main(profile);

    add_call(profile, root, add_call_site(profile, SND_SITE_FUNCTION, "f", line, ""), calls, ns, ns);
    add_call(profile, root, add_call_site(profile, SND_SITE_BUILTIN, "len", 0, ""), 10, 5 * MS, 5 * MS);
    return profile;
}

static void
numbers_of_calls_are_exact_and_their_times_are_not(void)
{
    snd_profile *before = traced(3, 100, 100 * MS), *after = traced(7, 101, 500 * MS);
    snd_diff diff = compare(before, after, 0);
    const snd_diff_row *counts = find(&diff, SND_DIFF_COUNTS, "f"), *calls = find(&diff, SND_DIFF_CALLS, "f");

    REQUIRE(counts != NULL && calls != NULL);
    CHECK(counts->noise == 0 && counts->difference == 1 && counts->unit == SND_UNIT_COUNT);
    CHECK_TEXT(snd_diff_verdict_text(counts), "more");
    CHECK(calls->sides[SND_AFTER].estimate.source == SND_NOISE_UNKNOWN && calls->difference == 400.0 * MS);
    CHECK_TEXT(snd_diff_verdict_text(calls), "noise unknown");
    CHECK(!snd_diff_is_over(&diff, calls, 1));
    CHECK(snd_diff_is_over(&diff, counts, 0.5) && !snd_diff_is_over(&diff, counts, 1));
    snd_diff_free(&diff);
    diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS); /* none were sampled: the traced ones are meant */
    CHECK(find(&diff, SND_DIFF_CALLS, "f") != NULL && find(&diff, SND_DIFF_COUNTS, "f") == NULL);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
memory_has_the_error_of_its_blocks(void)
{
    snd_profile *before = memory_profile(), *after = memory_profile();
    uint32_t most = 0;

    for (uint32_t i = 0; i < after->node_count; i++)
        if (snd_profile_whole(after, i, SND_METRIC_LIVE_PEAK) > snd_profile_whole(after, most, SND_METRIC_LIVE_PEAK))
            most = i;
    set_whole(after, most, SND_METRIC_LIVE_PEAK, 384 * MIB); /* was 256 MiB */
    set_real(after, most, SND_METRIC_PEAK_VARIANCE, 0);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_MEMORY);
    const snd_diff_row *row = &diff.rows[0];
    for (uint32_t i = 0; i < diff.count && row->kind != SND_DIFF_MEMORY; i++)
        row = &diff.rows[i];
    CHECK_TEXT(row->place, "prog.py:10");
    CHECK(row->difference == (double)(128 * MIB) && row->unit == SND_UNIT_BYTES);
    CHECK_TEXT(snd_diff_verdict_text(row), "more");
    snd_diff_free(&diff);
    set_real(after, most, SND_METRIC_PEAK_VARIANCE, (double)(100 * MIB) * (double)(100 * MIB));
    diff = compare(before, after, 1u << SND_DIFF_MEMORY);
    CHECK(diff.beyond == 0);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
memory_has_totals_too(void)
{
    static const char *const names[] = {"memory, peak", "resident memory, peak", "memory allocated", "memory copied"};
    static const char *const facts[] = {"peak_bytes", "rss_peak_bytes", "alloc_bytes", "copied_bytes"};
    snd_profile *before = memory_profile(), *after = memory_profile();

    for (size_t i = 0; i < 4; i++) {
        set_info(before, facts[i], "1000000");
        set_info(after, facts[i], "3000000");
    }
    snd_diff diff = compare(before, after, 1u << SND_DIFF_TOTALS);
    for (size_t i = 0; i < 4; i++) {
        const snd_diff_row *row = find(&diff, SND_DIFF_TOTALS, names[i]);
        REQUIRE(row != NULL);
        CHECK(row->difference == 2e6 && row->unit == SND_UNIT_BYTES);
    }
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

/* ---- what a difference is worth ---- */

static snd_profile *
sampled(uint64_t f, uint64_t g)
{
    snd_profile *profile = new_profile("/app/prog.py");
    uint32_t root = add_main(profile);

    add_sampled(profile, root, "f", "/app/prog.py", 2, 1, f);
    add_sampled(profile, root, "g", "/app/prog.py", 9, 8, g);
    return profile;
}

static void
check_f(uint64_t before_f, uint64_t after_f, const char *wanted)
{
    snd_profile *before = sampled(before_f, 1000), *after = sampled(after_f, 1000);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS);

    CHECK_TEXT(verdict(&diff, SND_DIFF_FUNCTIONS, "f"), wanted);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
samples_that_are_few_say_little(void)
{
    check_f(10, 20, "within noise");
    check_f(100, 130, "within noise");
    check_f(1000, 1300, "slower");
    check_f(1300, 1000, "faster");
    check_f(3, 0, "within noise");
    check_f(0, 300, "new");
}

static void
only_growth_beyond_the_noise_of_what_matters_fails(void)
{
    snd_profile *before = sampled(1000, 20), *after = sampled(1500, 200);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS);
    const snd_diff_row *f = find(&diff, SND_DIFF_FUNCTIONS, "f"), *wall = find(&diff, SND_DIFF_TOTALS, "wall time");

    CHECK(snd_diff_is_over(&diff, f, 10) && snd_diff_is_over(&diff, f, 49.9) && !snd_diff_is_over(&diff, f, 50));
    CHECK(!snd_diff_is_over(&diff, wall, 0));
    diff.wholes[SND_DIFF_FUNCTIONS] *= 200; /* now it is less than a hundredth */
    CHECK(!snd_diff_is_over(&diff, f, 10));
    snd_diff_free(&diff);
    diff = compare(after, before, 1u << SND_DIFF_FUNCTIONS);
    CHECK(!snd_diff_is_over(&diff, find(&diff, SND_DIFF_FUNCTIONS, "f"), 0));
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
the_length_is_a_total_that_can_fail(void)
{
    snd_profile *before = sampled(1000, 10), *after = sampled(1000, 10);

    set_info(after, "length_ns", "1200000000");
    snd_diff diff = compare(before, after, 0);
    CHECK_TEXT(verdict(&diff, SND_DIFF_TOTALS, "wall time"), "slower");
    CHECK(snd_diff_is_over(&diff, find(&diff, SND_DIFF_TOTALS, "wall time"), 10));
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
rows_come_by_the_amount_of_their_difference(void)
{
    snd_profile *before = sampled(1000, 3000), *after = sampled(1200, 2000);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS);
    double last = INFINITY;

    for (uint32_t i = 0; i < diff.count; i++)
        if (diff.rows[i].kind == SND_DIFF_FUNCTIONS) {
            CHECK(fabs(diff.rows[i].difference) <= last);
            last = fabs(diff.rows[i].difference);
        }
    CHECK(last == 200.0 * MS);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

/* ---- tables and failure ---- */

static void
a_table_has_exact_numbers_and_their_unit(void)
{
    snd_profile *before = sampled(1000, 10), *after = sampled(1500, 10);
    snd_diff diff = compare(before, after, 1u << SND_DIFF_FUNCTIONS);
    snd_table *table, *totals, *selected;

    REQUIRE(snd_diff_table(&diff, SND_DIFF_TOTALS, &totals) == SND_OK);
    REQUIRE(snd_diff_table(&diff, SND_DIFF_FUNCTIONS, &table) == SND_OK);
    uint32_t rows = totals->row_count;
    REQUIRE(snd_diff_append(totals, table) == SND_OK && snd_diff_select(totals, &selected) == SND_OK);
    CHECK(selected->row_count == rows + 2);
    const snd_cell *f = selected->rows[rows].cells;
    CHECK_TEXT(f[snd_table_find(selected, "name")].text, "f");
    CHECK_TEXT(f[snd_table_find(selected, "unit")].text, "ns");
    CHECK(f[snd_table_find(selected, "before")].whole == 1000 * (int64_t)MS);
    CHECK(f[snd_table_find(selected, "difference")].whole == 500 * (int64_t)MS);
    CHECK(f[snd_table_find(selected, "percent")].real == 50);
    CHECK(snd_table_find(selected, "before_text") < 0);
    snd_table_free(table);
    snd_table_free(totals);
    snd_table_free(selected);
    snd_diff_free(&diff);
    snd_profile_free(before);
    snd_profile_free(after);
}

static void
profiles_of_different_kinds_have_nothing_to_compare(void)
{
    snd_profile *regions = small_profile(), *calls = traced(1, 1, 1), *samples = samples_profile();
    snd_diff_options options = {.view = &usual};
    snd_diff diff;

    CHECK(snd_diff_make(regions, calls, &options, &diff) == SND_NO_DATA);
    CHECK(snd_diff_make(calls, samples, &options, &diff) == SND_NO_DATA);
    options.kinds = 1u << SND_DIFF_OPS;
    CHECK(snd_diff_make(samples, samples, &options, &diff) == SND_NO_DATA);
    snd_profile_free(regions);
    snd_profile_free(calls);
    snd_profile_free(samples);
}

typedef struct attempt {
    const snd_profile *before, *after;
} attempt;

static snd_status
try_diff(void *context)
{
    attempt *self = context;
    const snd_diff_options options = {.view = &usual, .run_share = 0.01};
    snd_diff diff;
    snd_status status = snd_diff_make(self->before, self->after, &options, &diff);

    for (int kind = 0; kind < SND_DIFF_COUNT && status == SND_OK; kind++) {
        snd_table *table = NULL;
        status = snd_diff_table(&diff, (snd_diff_kind)kind, &table);
        if (status != SND_OK)
            snd_diff_free(&diff);
        snd_table_free(table);
    }
    if (status == SND_OK)
        snd_diff_free(&diff);
    return status;
}

static void
running_out_of_memory_is_said(void)
{
    snd_profile *profiles[] = {samples_profile(), traced(1, 1, 1), ops_profile(), memory_profile()};

    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        CHECK(fail_each_allocation(try_diff, &(attempt){profiles[i], profiles[i]}) > 10);
        snd_profile_free(profiles[i]);
    }
}

int
main(void)
{
    RUN(a_profile_is_the_same_as_itself);
    RUN(lines_are_found_again_in_an_edited_file_in_another_folder);
    RUN(the_program_is_the_program_whatever_it_is_called);
    RUN(a_line_that_is_in_both_sources_is_slower_not_new);
    RUN(regions_are_their_path_on_all_threads);
    RUN(what_regions_waited_for_a_processor_is_noise);
    RUN(time_outside_of_all_frames_is_not_judged);
    RUN(operators_are_their_name_and_their_inputs_when_asked);
    RUN(numbers_of_calls_are_exact_and_their_times_are_not);
    RUN(memory_has_the_error_of_its_blocks);
    RUN(memory_has_totals_too);
    RUN(samples_that_are_few_say_little);
    RUN(only_growth_beyond_the_noise_of_what_matters_fails);
    RUN(the_length_is_a_total_that_can_fail);
    RUN(rows_come_by_the_amount_of_their_difference);
    RUN(a_table_has_exact_numbers_and_their_unit);
    RUN(profiles_of_different_kinds_have_nothing_to_compare);
    RUN(running_out_of_memory_is_said);
    return check_report();
}
