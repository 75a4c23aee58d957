/* The views of samples: every sample is counted once, sums are what they should be, options choose. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_samples.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "format/table/format.h"
#include "view/core/view.h"
#include "view/sampled/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000

static int64_t
ms_of(const snd_table *table, const char *by, const char *text, const char *column)
{
    return cell_of(table, row_of(table, by, text), column)->whole / MS;
}

/* Of rows that are part of the answer, at most this deep. */
static int64_t
sum_ms(const snd_table *table, const char *column, uint32_t depth)
{
    int64_t sum = 0;

    for (uint32_t r = 0; r < table->row_count; r++)
        if (!table->rows[r].is_extra && table->rows[r].depth <= depth)
            sum += cell_of(table, r, column)->whole;
    return (sum + MS / 2) / MS; /* shares of events are whole nanoseconds */
}

static void
check_sums(const snd_table *table, uint32_t depth)
{
    CHECK_NUMBER(sum_ms(table, "python", depth), 1255);
    CHECK_NUMBER(sum_ms(table, "native", depth), 460);
    CHECK_NUMBER(sum_ms(table, "system", depth), 155);
    CHECK_NUMBER(sum_ms(table, "waiting", depth), 1310);
    CHECK_NUMBER(sum_ms(table, "wait_lock", depth), 570);
    CHECK_NUMBER(sum_ms(table, "wait_sleep", depth), 500);
}

static void
every_column_adds_up_in_every_view(void)
{
    static const snd_view_options all[] = {
        {0}, {.all_code = 1}, {.show_all = 1}, {.exclude = "*walk*"}, {.with_waiting = 1}};
    snd_profile *profile = walk_profile();

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snd_table *lines = make_view(profile, "lines", all[i]);
        snd_table *functions = make_view(profile, "functions", all[i]);
        snd_table *tree = make_view(profile, "tree", all[i]);
        check_sums(lines, 1);
        check_sums(functions, 0);
        check_sums(tree, 0);
        CHECK_NUMBER(sum_ms(lines, "time", 1), 3180);
        CHECK_NUMBER(sum_ms(functions, "self", 0), 3180);
        CHECK_NUMBER(sum_ms(tree, "time", 0), 3180);
        snd_table_free(lines);
        snd_table_free(functions);
        snd_table_free(tree);
    }
    snd_profile_free(profile);
}

static void
rows_of_a_tree_are_the_sum_of_those_below(void)
{
    snd_profile *profile = walk_profile();

    for (int by_time = 0; by_time < 2; by_time++) {
        snd_table *tree = make_view(profile, "tree", (snd_view_options){.show_all = 1, .by_time = by_time});
        for (uint32_t r = 0; r < tree->row_count; r++) {
            int64_t sum = 0;
            for (uint32_t i = r + 1; i < tree->row_count && tree->rows[i].depth > tree->rows[r].depth; i++)
                if (tree->rows[i].depth == tree->rows[r].depth + 1)
                    sum += cell_of(tree, i, "time")->whole;
            if (sum != 0)
                CHECK_NUMBER(sum, cell_of(tree, r, "time")->whole);
        }
        CHECK_NUMBER(sum_ms(tree, "time", 0), 3180);
        snd_table_free(tree);
    }
    snd_profile_free(profile);
}

static void
time_in_libraries_stands_at_the_line_that_led_there(void)
{
    snd_profile *profile = walk_profile();
    snd_table *lines = make_view(profile, "lines", (snd_view_options){0});
    snd_table *all = make_view(profile, "lines", (snd_view_options){.all_code = 1});

    CHECK_NUMBER(ms_of(lines, "place", "walk.py:25", "time"), 250);
    CHECK_NUMBER(ms_of(lines, "place", "walk.py:26", "native"), 150);
    CHECK_TEXT(cell_of(lines, row_of(lines, "place", "walk.py:25"), "function")->text, "load");
    CHECK_TEXT(cell_of(lines, row_of(lines, "place", "walk.py:25"), "file")->text, "/app/walk.py");
    CHECK_TEXT(cell_of(lines, row_of(lines, "place", "walk.py:13"), "source")->text, "        total += i * i");
    CHECK_NUMBER(ms_of(lines, "file", "(20 files below 1%)", "time"), 20);
    CHECK_NUMBER(ms_of(lines, "file", "(outside your own code)", "time"), 275);
    CHECK_NUMBER(ms_of(lines, "file", "[sonde]", "time"), 10);
    CHECK_NUMBER(ms_of(all, "place", "walk.py:25", "time"), 50);
    CHECK_NUMBER(ms_of(all, "place", "json/decoder.py:337", "time"), 150);
    CHECK_NUMBER(ms_of(all, "place", "numpy/core/fromnumeric.py:1017", "native"), 150);
    snd_table_free(lines);
    snd_table_free(all);
    snd_profile_free(profile);
}

static uint32_t
node_at(const snd_profile *profile, const char *file, uint32_t line)
{
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (site->line == line && strcmp(site->file, file) == 0)
            return i;
    }
    return SND_NONE;
}

static void
a_collection_is_not_the_time_of_its_line(void)
{
    snd_profile *profile = walk_profile();
    snd_table *before = make_view(profile, "lines", (snd_view_options){0});
    uint32_t line = node_at(profile, "/app/walk.py", 13);
    REQUIRE(line != SND_NONE);
    uint32_t collection = add_walk_symbol(profile, line, SND_SITE_OTHER, SND_SITE_COLLECTION, "");
    uint32_t library = add_walk_line(profile, collection, "/usr/lib/python3.11/weakref.py:finalize:5:6");
    add_cpu(profile, collection, 0, 40, 0);
    add_cpu(profile, library, 3, 0, 0);
    add_cpu(profile, add_walk_line(profile, library, "/app/walk.py:close:40:41"), 7, 0, 0);
    snd_table *lines = make_view(profile, "lines", (snd_view_options){0});
    snd_table *functions = make_view(profile, "functions", (snd_view_options){0});

    CHECK_NUMBER(ms_of(lines, "place", "walk.py:13", "time"), ms_of(before, "place", "walk.py:13", "time"));
    CHECK_NUMBER(ms_of(lines, "file", SND_SITE_COLLECTION, "time"), 40);
    CHECK_NUMBER(ms_of(lines, "place", "walk.py:41", "time"), 7);
    CHECK_NUMBER(ms_of(lines, "file", "(outside your own code)", "time"), 278);
    CHECK_NUMBER(ms_of(functions, "function", SND_SITE_COLLECTION, "self"), 40);
    CHECK_NUMBER(ms_of(functions, "function", SND_SITE_COLLECTION, "total"), 50);
    snd_table_free(before);
    snd_table_free(lines);
    snd_table_free(functions);
    snd_profile_free(profile);
}

static void
a_c_function_has_a_row_below_its_caller(void)
{
    snd_profile *profile = walk_profile();
    snd_table *before = make_view(profile, "lines", (snd_view_options){0});
    uint32_t line = node_at(profile, "/app/walk.py", 13);
    REQUIRE(line != SND_NONE);
    snd_profile_site site = profile->sites[profile->nodes[line].site];
    site.detail = "data.count";
    add_cpu(profile, add_frame(profile, profile->nodes[line].parent, &site), 0, 400, 0);
    snd_table *lines = make_view(profile, "lines", (snd_view_options){0});
    snd_table *tree = make_view(profile, "tree", (snd_view_options){0});
    snd_table *functions = make_view(profile, "functions", (snd_view_options){0});

    CHECK_NUMBER(ms_of(lines, "place", "walk.py:13", "time"), ms_of(before, "place", "walk.py:13", "time") + 400);
    CHECK_TEXT(cell_of(lines, row_of(lines, "place", "walk.py:13"), "c_functions")->text, "data.count() 18%");
    CHECK_NUMBER(ms_of(tree, "name", "[in data.count()]", "time"), 400);
    CHECK_TEXT(cell_of(functions, row_of(functions, "function", site.name), "c_functions")->text, "data.count() 18%");
    CHECK_NUMBER(sum_ms(functions, "self", 0), 3180 + 400);
    CHECK_NUMBER(sum_ms(tree, "time", 0), 3180 + 400);
    snd_table_free(before);
    snd_table_free(lines);
    snd_table_free(tree);
    snd_table_free(functions);
    snd_profile_free(profile);
}

static void
an_import_is_one_row_with_all_its_time(void)
{
    snd_profile *profile = walk_profile();
    snd_table *before = make_view(profile, "lines", (snd_view_options){0});
    uint32_t line = node_at(profile, "/app/walk.py", 13);
    REQUIRE(line != SND_NONE);
    uint32_t import = add_walk_symbol(profile, line, SND_SITE_OTHER, SND_SITE_IMPORT "big", "");
    uint32_t module = add_walk_line(profile, import, "/usr/lib/python3.11/big.py:<module>:1:2");
    uint32_t inner = add_walk_symbol(profile, module, SND_SITE_OTHER, SND_SITE_IMPORT "small", "");
    add_cpu(profile, import, 100, 0, 0);
    add_cpu(profile, module, 200, 0, 0);
    add_cpu(profile, inner, 100, 0, 0);
    snd_table *lines = make_view(profile, "lines", (snd_view_options){0});
    snd_table *tree = make_view(profile, "tree", (snd_view_options){0});
    snd_table *functions = make_view(profile, "functions", (snd_view_options){0});

    CHECK_NUMBER(ms_of(lines, "place", "walk.py:13", "time"), ms_of(before, "place", "walk.py:13", "time") + 400);
    CHECK_NUMBER(ms_of(tree, "name", "import big  [2 frames hidden]  big", "time"), 400);
    CHECK_NUMBER(ms_of(functions, "function", "import big", "total"), 400);
    CHECK_NUMBER(ms_of(functions, "function", "import small", "total"), 100);
    snd_table_free(before);
    snd_table_free(lines);
    snd_table_free(tree);
    snd_table_free(functions);
    snd_profile_free(profile);
}

static void
a_function_that_calls_itself_counts_once(void)
{
    snd_profile *profile = walk_profile();
    snd_table *functions = make_view(profile, "functions", (snd_view_options){0});

    CHECK_NUMBER(ms_of(functions, "function", "walk", "self"), 5);
    CHECK_NUMBER(ms_of(functions, "function", "walk", "total"), 805);
    CHECK_NUMBER(ms_of(functions, "function", "step", "total"), 800);
    CHECK_NUMBER(ms_of(functions, "function", "main", "total"), 1505);
    CHECK_TEXT(cell_of(functions, row_of(functions, "function", "Thread.join"), "code")->text, "library");
    CHECK_TEXT(cell_of(functions, row_of(functions, "function", "dgemm_kernel"), "code")->text, "native");
    CHECK_TEXT(cell_of(functions, row_of(functions, "function", "step"), "place")->text, "walk.py:10");
    snd_table_free(functions);
    add_time(profile, 0, SND_METRIC_WAIT_LOCK, 30);
    functions = make_view(profile, "functions", (snd_view_options){0});
    CHECK_NUMBER(ms_of(functions, "function", "[no frame]", "self"), 30);
    CHECK_NUMBER(ms_of(functions, "function", "[no frame]", "total"), 30);
    snd_table_free(functions);
    snd_profile_free(profile);
}

static void
libraries_are_folded_in_a_tree(void)
{
    snd_profile *profile = walk_profile();
    snd_table *tree = make_view(profile, "tree", (snd_view_options){0});
    snd_table *all = make_view(profile, "tree", (snd_view_options){.show_all = 1});
    snd_table *hidden = make_view(profile, "tree", (snd_view_options){.hide = "^load$|json"});

    CHECK_NUMBER(ms_of(tree, "name", "load  [2 frames hidden]  json", "time"), 200);
    CHECK_NUMBER(ms_of(tree, "name", "sort  [1 frame hidden]  _multiarray", "time"), 150);
    CHECK(find_row(tree, "name", "run_path") == SND_NONE);
    CHECK(find_row(all, "name", "run_path") != SND_NONE);
    CHECK(find_row(all, "name", "quicksort_double (native)") != SND_NONE);
    CHECK_NUMBER(ms_of(all, "name", "JSONDecoder.decode", "time"), 150);
    CHECK(find_row(tree, "name", "region load") != SND_NONE && find_row(hidden, "name", "load") == SND_NONE);
    CHECK_NUMBER(sum_ms(hidden, "time", 0), 3180);
    snd_table_free(tree);
    snd_table_free(all);
    snd_table_free(hidden);
    snd_profile_free(profile);
}

static void
small_rows_are_counted(void)
{
    snd_profile *profile = walk_profile();
    snd_table *tree = make_view(profile, "tree", (snd_view_options){.with_waiting = 1});
    snd_table *cpu = make_view(profile, "tree", (snd_view_options){.cpu_only = 1});

    CHECK_NUMBER(ms_of(tree, "name", "[23 more rows below 1%]", "time"), 60);
    CHECK(tree->rows[row_of(tree, "name", "[23 more rows below 1%]")].is_extra);
    CHECK_NUMBER(ms_of(tree, "name", "[1 row below 1%]", "time"), 10);
    CHECK_NUMBER(ms_of(cpu, "name", "[20 rows below 1%]", "time"), 20);
    CHECK_NUMBER(cpu->rows[row_of(cpu, "name", "[20 rows below 1%]")].depth, 2);
    snd_table_free(tree);
    snd_table_free(cpu);
    snd_profile_free(profile);
}

static void
waiting_goes_with_cpu_only(void)
{
    snd_profile *profile = walk_profile();
    snd_table *tree = make_view(profile, "tree", (snd_view_options){.cpu_only = 1});
    snd_table *lines = make_view(profile, "lines", (snd_view_options){.cpu_only = 1});

    CHECK_NUMBER(sum_ms(tree, "time", 0), 1870);
    CHECK_NUMBER(sum_ms(lines, "time", 1), 1870);
    for (uint32_t r = 0; r < tree->row_count; r++)
        CHECK(strncmp(cell_of(tree, r, "name")->text, "[waiting", 8) != 0);
    CHECK(!(lines->columns[snd_table_find(lines, "waiting_percent")].traits & SND_COLUMN_SHOWN));
    snd_table_free(tree);
    snd_table_free(lines);
    snd_profile_free(profile);
}

static void
a_region_or_a_thread_can_be_chosen(void)
{
    snd_profile *profile = walk_profile();
    snd_table *region = make_view(profile, "lines", (snd_view_options){.region = "load"});
    snd_table *thread = make_view(profile, "tree", (snd_view_options){.thread = "worker"});
    snd_table *none = NULL;

    CHECK_NUMBER(sum_ms(region, "time", 1), 400);
    CHECK(fabs(cell_of(region, row_of(region, "place", "walk.py:26"), "percent")->real - 100.0 * 150 / 360) < 1e-9);
    CHECK_NUMBER(sum_ms(thread, "time", 0), 1390);
    CHECK_TEXT(cell_of(thread, 0, "name")->text, "work");
    CHECK(snd_view_lines(profile, &(snd_view_options){.region = "nothing"}, &none) == SND_NO_DATA);
    CHECK(snd_view_tree(profile, &(snd_view_options){.thread = "nobody"}, &none) == SND_NO_DATA);
    CHECK(snd_view_lines(profile, &(snd_view_options){.thread = "worker", .region = "load"}, &none) == SND_NO_DATA);
    snd_table_free(region);
    snd_table_free(thread);
    snd_profile_free(profile);
}

static void
threads_have_all_their_waiting_and_a_sum(void)
{
    snd_profile *profile = walk_profile();
    snd_table *threads = make_view(profile, "threads", (snd_view_options){0});

    CHECK_TEXT(cell_of(threads, 0, "name")->text, "main");
    CHECK_NUMBER(ms_of(threads, "name", "blas", "wait_lock"), 550);
    CHECK_NUMBER(ms_of(threads, "name", "worker", "wait_gil"), 200);
    CHECK_NUMBER(ms_of(threads, "name", "[sonde]", "cpu"), 10);
    CHECK_NUMBER(ms_of(threads, "name", "all threads", "cpu"), 1870);
    CHECK_NUMBER(ms_of(threads, "name", "all threads", "waiting"), 1860);
    CHECK_NUMBER(sum_ms(threads, "cpu", 0), 1870);
    CHECK(threads->rows[threads->row_count - 1].is_extra);
    snd_table_free(threads);
    snd_profile_free(profile);
}

static void
the_timeline_has_all_time(void)
{
    snd_profile *profile = walk_profile();
    snd_table *timeline = make_view(profile, "timeline", (snd_view_options){0});
    snd_table *none = NULL;

    CHECK_NUMBER(timeline->row_count, 40);
    CHECK_NUMBER(sum_ms(timeline, "python", 0), 1255);
    CHECK_NUMBER(sum_ms(timeline, "native", 0), 460);
    CHECK_NUMBER(sum_ms(timeline, "system", 0), 155);
    CHECK_NUMBER(sum_ms(timeline, "waiting", 0), 1310);
    CHECK_TEXT(cell_of(timeline, 12, "function")->text, "step");
    CHECK_NUMBER(cell_of(timeline, 12, "threads")->whole, 2);
    profile->event_count = 0;
    CHECK(snd_view_timeline(profile, &(snd_view_options){0}, &none) == SND_NO_TIMELINE);
    CHECK(snd_view_tree(profile, &(snd_view_options){.by_time = 1}, &none) == SND_NO_TIMELINE);
    snd_table_free(timeline);
    snd_profile_free(profile);
}

static void
by_time_the_same_function_comes_again(void)
{
    snd_profile *profile = snd_profile_new();
    static const unsigned order[] = {0, 0, 1, 0, 1, 1};
    uint32_t nodes[2];

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 6 * MS), 6 * MS, 0);
    uint32_t top = add_walk_line(profile, root, "/app/a.py:main:1:2");
    nodes[0] = add_walk_line(profile, top, "/app/a.py:f:10:11");
    nodes[1] = add_walk_line(profile, top, "/app/a.py:g:20:21");
    add_cpu(profile, nodes[0], 3, 0, 0);
    add_cpu(profile, nodes[1], 3, 0, 0);
    profile->events = snd_calloc(6, sizeof *profile->events);
    for (; profile->event_count < 6; profile->event_count++)
        profile->events[profile->event_count] =
            (snd_profile_event){profile->event_count * MS, {MS}, nodes[order[profile->event_count]], {0}, 0};
    snd_table *tree = make_view(profile, "tree", (snd_view_options){.by_time = 1});
    CHECK_NUMBER(tree->row_count, 5);
    CHECK_TEXT(cell_of(tree, 1, "name")->text, "f");
    CHECK_NUMBER(cell_of(tree, 1, "time")->whole, 2 * MS);
    CHECK_TEXT(cell_of(tree, 3, "name")->text, "f");
    CHECK_NUMBER(cell_of(tree, 3, "start")->whole, 3 * MS);
    CHECK_TEXT(cell_of(tree, 4, "name")->text, "g");
    snd_table_free(tree);
    snd_profile_free(profile);
}

/* Events are as long as the time between two looks; how much of it was CPU time, the nodes know. */
static void
events_stand_for_what_their_nodes_have(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 80 * MS), 80 * MS, 0);
    uint32_t node = add_walk_line(profile, root, "/app/a.py:f:10:11");
    add_cpu(profile, node, 20, 0, 0);
    add_time(profile, node, SND_METRIC_WAIT_CPU, 40);
    add_time(profile, node, SND_METRIC_WAIT_SLEEP, 20);
    profile->events = snd_calloc(2, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    profile->events[profile->event_count++] = (snd_profile_event){0, {40 * MS}, node, {0}, 0};
    profile->events[profile->event_count++] =
        (snd_profile_event){40 * MS, {40 * MS}, node, {SND_METRIC_WAIT_SLEEP - SND_METRIC_PYTHON}, 0};
    snd_table *timeline = make_view(profile, "timeline", (snd_view_options){0});
    CHECK_NUMBER(sum_ms(timeline, "python", 0), 20);
    CHECK_NUMBER(sum_ms(timeline, "waiting", 0), 60);
    CHECK(fabs(cell_of(timeline, 1, "cpu_percent")->real - 50) < 0.001);
    CHECK(cell_of(timeline, 30, "cpu_percent")->real == 0);
    snd_table *tree = make_view(profile, "tree", (snd_view_options){.by_time = 1, .with_waiting = 1});
    CHECK_NUMBER(ms_of(tree, "name", "[waiting: processor]", "time"), 40);
    CHECK_NUMBER(ms_of(tree, "name", "[self]", "time"), 20);
    snd_table_free(timeline);
    snd_table_free(tree);
    snd_profile_free(profile);
}

static void
damaged_events_do_no_harm(void)
{
    snd_profile *profile = walk_profile();

    profile->events[0] = (snd_profile_event){0, {5}, UINT32_MAX - 1, {0}, 0};
    profile->events[1] = (snd_profile_event){0, {UINT64_MAX}, profile->events[2].node, {0}, 0};
    profile->events[3].state = 77;
    profile->events[4].start_ns = UINT64_MAX;
    snd_table_free(make_view(profile, "timeline", (snd_view_options){0}));
    snd_table_free(make_view(profile, "tree", (snd_view_options){.by_time = 1}));
    snd_profile_free(profile);
}

static void
views_say_when_they_need_events(void)
{
    CHECK(snd_view_needs_events(snd_view_find("timeline"), &(snd_view_options){0}));
    CHECK(snd_view_needs_events(snd_view_find("tree"), &(snd_view_options){.by_time = 1}));
    CHECK(!snd_view_needs_events(snd_view_find("tree"), &(snd_view_options){0}));
    CHECK(!snd_view_needs_events(snd_view_find("lines"), &(snd_view_options){.by_time = 1}));
}

static void
the_footer_has_what_is_known_of_the_cost(void)
{
    snd_profile *profile = walk_profile();
    snd_table *table = make_view(profile, "lines", (snd_view_options){0});

    CHECK_HAS(table->footer, "\nprofiler overhead: 10 ms CPU (0.53%), 1.2 µs per sample");
    snd_table_free(table);
    set_info(profile, "own_cpu_ns", "0");
    table = make_view(profile, "lines", (snd_view_options){0});
    CHECK_HAS(table->footer, "\nprofiler overhead: 1.2 µs per sample");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
a_bad_pattern_is_refused(void)
{
    snd_profile *profile = walk_profile();
    snd_table *table = NULL;

    CHECK(snd_view_tree(profile, &(snd_view_options){.hide = "a(b"}, &table) == SND_BAD_ARGUMENT);
    CHECK(table == NULL);
    snd_profile_free(profile);
}

static void
the_default_of_samples_is_their_lines(void)
{
    snd_profile *profile = walk_profile();

    CHECK_TEXT(snd_view_default(profile)->name, "lines");
    snd_profile_free(profile);
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = walk_profile();

    CHECK(fail_each_view(profile, (snd_view_options){0}) > 100);
    CHECK(fail_each_view(profile, (snd_view_options){.by_time = 1, .hide = "json"}) > 100);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(every_column_adds_up_in_every_view);
    RUN(rows_of_a_tree_are_the_sum_of_those_below);
    RUN(time_in_libraries_stands_at_the_line_that_led_there);
    RUN(a_collection_is_not_the_time_of_its_line);
    RUN(a_c_function_has_a_row_below_its_caller);
    RUN(an_import_is_one_row_with_all_its_time);
    RUN(a_function_that_calls_itself_counts_once);
    RUN(libraries_are_folded_in_a_tree);
    RUN(small_rows_are_counted);
    RUN(waiting_goes_with_cpu_only);
    RUN(a_region_or_a_thread_can_be_chosen);
    RUN(threads_have_all_their_waiting_and_a_sum);
    RUN(the_timeline_has_all_time);
    RUN(by_time_the_same_function_comes_again);
    RUN(events_stand_for_what_their_nodes_have);
    RUN(damaged_events_do_no_harm);
    RUN(views_say_when_they_need_events);
    RUN(the_footer_has_what_is_known_of_the_cost);
    RUN(a_bad_pattern_is_refused);
    RUN(the_default_of_samples_is_their_lines);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
