/* Waiting beside CPU time: lists are in the order of CPU time, waiting has a list of its own, idle threads are one row,
 * and what the machine could not run is a sentence. */
#include "check.h"
#include "fixture.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "format/table/format.h"
#include "view/core/view.h"
#include "view/sampled/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000
#define PARKED 6u

static const snd_view_options with_waiting = {.with_waiting = 1};

/* main computes for 700 ms and waits for a lock for 100 ms; 300 ms it had no processor. Six threads are parked for
 * 1100 ms each; a worker computes for 60 ms and reads for 1040 ms (95% waiting exactly: not idle). */
static snd_profile *
parked_profile(void)
{
    static const char *const places[] = {"/app/a.py:getter:10:11", "/app/a.py:waiter:20:21", "/app/a.py:idle:30:31"};
    static const snd_metric reasons[] = {SND_METRIC_WAIT_LOCK, SND_METRIC_WAIT_LOCK, SND_METRIC_WAIT_IO};
    snd_profile *profile = snd_profile_new();
    char name[32];

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 1100 * MS), 0, 0);
    uint32_t work = add_walk_line(profile, root, "/app/a.py:work:1:2");
    add_cpu(profile, work, 700, 0, 0);
    add_time(profile, work, SND_METRIC_WAIT_CPU, 300);
    add_time(profile, add_walk_line(profile, root, "/app/a.py:join:5:6"), SND_METRIC_WAIT_LOCK, 100);
    for (uint32_t i = 0; i < PARKED; i++) {
        snprintf(name, sizeof name, "parked-%u", i);
        root = add_root(profile, add_track(profile, name, 101 + i, 0, 1100 * MS), 0, 0);
        uint32_t node = add_walk_line(profile, root, places[i % 3]);
        add_time(profile, node, reasons[i % 3], 1099 + (i % 3 == 0));
        add_cpu(profile, node, 1, 0, 0);
    }
    root = add_root(profile, add_track(profile, "worker", 120, 0, 1100 * MS), 0, 0);
    uint32_t fetch = add_walk_line(profile, root, "/app/a.py:fetch:40:41");
    add_cpu(profile, fetch, 60, 0, 0);
    add_time(profile, fetch, SND_METRIC_WAIT_IO, 1140);
    set_info(profile, "program", "a.py");
    set_info(profile, "program_path", "/app/a.py");
    set_info(profile, "length_ns", "1200000000");
    return profile;
}

static void
check_row(const snd_table *table, uint32_t row, const char *place, const char *reason, int64_t ms, int64_t threads)
{
    CHECK_TEXT(cell_of(table, row, "place")->text, place);
    CHECK_TEXT(cell_of(table, row, "reason")->text, reason);
    CHECK_NUMBER(cell_of(table, row, "wait_ns")->whole / MS, ms);
    CHECK_NUMBER(cell_of(table, row, "threads")->whole, threads);
}

static void
waiting_is_listed_by_line_and_reason(void)
{
    snd_profile *profile = parked_profile();
    snd_table *table = make_view(profile, "waiting", (snd_view_options){0});
    double percent = 0;
    int64_t sum = 0;

    CHECK_NUMBER(table->row_count, 4);
    check_row(table, 0, "a.py:41", "I/O", 1140, 1);
    check_row(table, 1, "a.py:6", "lock", 100, 1);
    check_row(table, 2, "6 idle threads", "lock", 6596, 6);
    CHECK_TEXT(cell_of(table, 2, "note")->text, "mostly at a.py:11");
    CHECK_TEXT(cell_of(table, 3, "kind")->text, "machine");
    CHECK_NUMBER(cell_of(table, 3, "wait_ns")->whole / MS, 300);
    for (uint32_t r = 0; r < table->row_count; r++) {
        percent += cell_of(table, r, "wait_percent")->real;
        sum += cell_of(table, r, "wait_ns")->whole;
    }
    CHECK_NEAR(percent, 100, 1e-6);
    CHECK_NUMBER(sum / MS, 300 + 100 + 1140 + 6596);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
idle_threads_can_be_seen_one_by_one(void)
{
    snd_profile *profile = parked_profile();
    snd_table *all = make_view(profile, "waiting", (snd_view_options){.show_all = 1});
    snd_table *one = make_view(profile, "waiting", (snd_view_options){.thread = "parked-2"});

    CHECK_NUMBER(all->row_count, 6);
    check_row(all, 2, "a.py:11", "lock", 2200, 2);
    check_row(all, 3, "a.py:21", "lock", 2198, 2);
    CHECK_NUMBER(one->row_count, 1);
    check_row(one, 0, "a.py:31", "I/O", 1099, 1);
    snd_table_free(all);
    snd_table_free(one);
    snd_profile_free(profile);
}

/* The main thread is never idle: of a program that does nothing but sleep, that is the answer. */
static void
a_program_that_only_waits_has_its_lines_in_the_list(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 500 * MS), 0, 0);
    add_time(profile, add_walk_line(profile, root, "/app/a.py:nap:1:2"), SND_METRIC_WAIT_SLEEP, 500);
    set_info(profile, "program_path", "/app/a.py");
    set_info(profile, "length_ns", "500000000");
    snd_table *table = make_view(profile, "waiting", (snd_view_options){0});
    CHECK_NUMBER(table->row_count, 1);
    check_row(table, 0, "a.py:2", "sleep", 500, 1);
    snd_buffer text = {0};
    CHECK(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    CHECK(strstr(snd_buffer_str(&text), "\nWaiting\n") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "a.py:2") != NULL);
    snd_buffer_free(&text);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
check_first(const char *view, const snd_view_options *options, const char *column, const char *text)
{
    snd_profile *profile = parked_profile();
    snd_table *table = make_view(profile, view, *options);
    uint32_t row = 0;

    while (row < table->row_count && !cell_of(table, row, column)->is_there)
        row++;
    CHECK_TEXT(cell_of(table, row, column)->text, text);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
lists_are_in_the_order_of_cpu_time(void)
{
    const snd_view_options usual = {0};

    check_first("functions", &usual, "function", "work");
    check_first("functions", &with_waiting, "function", "getter");
    check_first("functions", &(snd_view_options){.cpu_only = 1}, "function", "work");
    check_first("tree", &usual, "name", "thread main");
}

static void
shares_are_of_what_the_list_is_in_the_order_of(void)
{
    snd_profile *profile = parked_profile();
    snd_table *cpu = make_view(profile, "functions", (snd_view_options){0});
    snd_table *all = make_view(profile, "functions", with_waiting);
    double of_cpu = 0, parts = 0, of_waiting = 0, of_all = 0;

    CHECK_TEXT(cpu->columns[snd_table_find(cpu, "self_percent")].title, "% of CPU");
    CHECK_TEXT(all->columns[snd_table_find(all, "self_percent")].title, "% of time");
    for (uint32_t r = 0; r < cpu->row_count; r++) {
        of_cpu += cell_of(cpu, r, "self_percent")->real;
        parts += cell_of(cpu, r, "python_percent")->real + cell_of(cpu, r, "native_percent")->real +
                 cell_of(cpu, r, "system_percent")->real;
        of_waiting += cell_of(cpu, r, "waiting_percent")->real;
        of_all += cell_of(all, r, "self_percent")->real;
        CHECK_NUMBER(cell_of(cpu, r, "self")->whole,
                     cell_of(cpu, r, "self_cpu")->whole + cell_of(cpu, r, "waiting")->whole);
        CHECK_NUMBER(cell_of(cpu, r, "waited")->whole,
                     cell_of(cpu, r, "waiting")->whole - cell_of(cpu, r, "wait_cpu")->whole);
    }
    CHECK_NEAR(of_cpu, 100, 1e-6);
    CHECK_NEAR(parts, 100, 1e-6);
    CHECK_NEAR(of_waiting, 100, 1e-6);
    CHECK_NEAR(of_all, 100, 1e-6);
    CHECK_NEAR(cell_of(cpu, 0, "self_percent")->real, 100.0 * 700 / 766, 1e-6);
    snd_table_free(cpu);
    snd_table_free(all);
    snd_profile_free(profile);
}

static void
idle_threads_are_one_row_of_the_tree(void)
{
    snd_profile *profile = parked_profile();
    snd_table *tree = make_view(profile, "tree", (snd_view_options){0});
    uint32_t last = tree->row_count - 1;

    while (tree->rows[last].is_extra) /* how many rows were left out */
        last--;
    CHECK_TEXT(cell_of(tree, last, "name")->text, "[6 idle threads]");
    CHECK_NUMBER(cell_of(tree, last, "waited")->whole / MS, 6596);
    for (uint32_t r = 0; r < tree->row_count; r++) {
        CHECK(strcmp(cell_of(tree, r, "name")->text, "[waiting: processor]") != 0);
        CHECK(strncmp(cell_of(tree, r, "name")->text, "thread parked", 13) != 0);
    }
    snd_table_free(tree);
    snd_profile_free(profile);
}

static int
summary_has(const snd_profile *profile, const char *wanted)
{
    snd_buffer text = {0};

    REQUIRE(snd_summary_write(profile, &(snd_view_options){0}, &(snd_format_options){0}, &text) == SND_OK);
    int has = strstr(snd_buffer_str(&text), wanted) != NULL;
    snd_buffer_free(&text);
    return has;
}

static void
a_busy_machine_is_one_sentence(void)
{
    snd_profile *profile = parked_profile();

    CHECK(summary_has(profile, "the machine was busy: 28% of the time a runnable thread had no processor\n"));
    CHECK(summary_has(profile, "6 idle threads"));
    CHECK(!summary_has(profile, "[the machine]"));
    set_whole(profile, find_node(profile, "main", "work"), SND_METRIC_WAIT_CPU, 30 * MS); /* 4%: a quiet machine */
    CHECK(!summary_has(profile, "busy"));
    snd_profile_free(profile);
}

static snd_status
make_waiting(void *context)
{
    snd_table *table = NULL;
    snd_status status = snd_view_waiting(context, &(snd_view_options){0}, &table);

    snd_table_free(table);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = parked_profile();

    CHECK(fail_each_allocation(make_waiting, profile) > 20);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(waiting_is_listed_by_line_and_reason);
    RUN(idle_threads_can_be_seen_one_by_one);
    RUN(a_program_that_only_waits_has_its_lines_in_the_list);
    RUN(lists_are_in_the_order_of_cpu_time);
    RUN(shares_are_of_what_the_list_is_in_the_order_of);
    RUN(idle_threads_are_one_row_of_the_tree);
    RUN(a_busy_machine_is_one_sentence);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
