/* The views of regions, threads and counters of a small profile, all columns, as CSV: every number is checked. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "fixture_table.h"
#include "format/table/format.h"
#include "model/processes.h"
#include "view/core/view.h"

#include <string.h>

static void
check_view(const snd_profile *profile, const char *name, const char *wanted)
{
    const snd_view *view = snd_view_find(name);
    snd_table *table = NULL;
    snd_buffer text = {0};

    REQUIRE(view != NULL && view->make(profile, &(snd_view_options){0}, &table) == SND_OK);
    CHECK_TEXT(table->view, name);
    snd_format_csv(table, &(snd_format_options){0}, &text);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
check_place(const snd_profile *profile, const char *name, uint32_t row, const char *wanted)
{
    snd_table *table = NULL;

    REQUIRE(snd_view_find(name)->make(profile, &(snd_view_options){0}, &table) == SND_OK);
    const snd_cell *cells = table->rows[row].cells;
    CHECK_TEXT(cells[snd_table_find(table, "place")].text, wanted);
    snd_table_free(table);
}

static void
check_footer(const snd_profile *profile, const char *wanted)
{
    snd_table *table = NULL;

    REQUIRE(snd_view_regions(profile, &(snd_view_options){0}, &table) == SND_OK);
    CHECK_TEXT(table->footer, wanted);
    snd_table_free(table);
}

static void
the_regions_have_a_row_a_node(void)
{
    snd_profile *profile = small_profile();

    check_view(profile, "regions",
               "name,total_ns,percent_of_total,count,min_ns,average_ns,max_ns,self_ns,p50_ns,p90_ns,p99_ns,"
               "deviation_ns,suspended_ns,cpu_ns,open,thread,place,id,parent_id,parent_name\n"
               "<main>,10000000,100,1,10000000,10000000,10000000,1500000,10000000,10000000,10000000,0,0,,0,main,,0,,\n"
               "load,8000000,80,2,4000000,4000000,4000000,7000000,4000000,4000000,4000000,0,0,,0,main,work.c:12,1,0,"
               "<main>\n"
               "parse,1000000,10,10,100000,100000,100000,1000000,100000,100000,100000,0,0,,0,main,work.c:12,2,1,load\n"
               "write,500000,5,1,500000,500000,500000,500000,500000,500000,500000,0,0,,0,main,work.c:12,3,0,<main>\n"
               "<worker>,7000000,70,1,7000000,7000000,7000000,5400000,7000000,7000000,7000000,0,0,,0,worker,,4,,\n"
               "parse,1600000,16,4,400000,400000,400000,1600000,400000,400000,400000,,0,,1,worker,work.c:12,5,4,"
               "<worker>\n");
    snd_profile_free(profile);
}

static void
the_threads_have_a_row_a_track(void)
{
    snd_profile *profile = small_profile();

    profile->tracks[1].dropped_entries = 3;
    profile->tracks[1].dropped_events = 4;
    profile->tracks[1].thread_count = 2;
    check_view(profile, "threads",
               "name,life_ns,in_regions_ns,entries,threads,start_ns,thread_id,process_id,dropped\n"
               "main,10000000,8500000,13,1,0,100,100,0\n"
               "worker,7000000,1600000,4,2,2000000,107,100,7\n");
    snd_profile_free(profile);
}

static void
the_counters_have_a_row_each(void)
{
    snd_profile *profile = small_profile();

    check_view(profile, "counters",
               "name,last,min,average,max,updates,thread,place\n"
               "queue,2.5,-1,2.5,7,4,main,work.c:12\n");
    snd_profile_free(profile);
}

static void
a_counter_without_a_place_has_none(void)
{
    snd_profile *profile = small_profile();
    uint32_t site = profile->nodes[find_node(profile, "main", "queue")].site;

    profile->sites[site].file = "";
    profile->sites[site].line = 0;
    check_view(profile, "counters",
               "name,last,min,average,max,updates,thread,place\n"
               "queue,2.5,-1,2.5,7,4,main,\n");
    snd_profile_free(profile);
}

static void
places_are_relative_to_the_working_directory(void)
{
    snd_profile *profile = small_profile();

    set_info(profile, "working_directory", "/home/me/work");
    for (uint32_t i = 0; i < profile->site_count; i++)
        if (profile->sites[i].file[0] != '\0')
            profile->sites[i].file = "/home/me/work/src/work.c";
    check_place(profile, "regions", 1, "src/work.c:12");
    check_place(profile, "counters", 0, "src/work.c:12");
    set_info(profile, "working_directory", "/home/me/other");
    check_place(profile, "regions", 1, "/home/me/work/src/work.c:12");
    check_place(profile, "counters", 0, "/home/me/work/src/work.c:12");
    snd_profile_free(profile);
}

static void
an_empty_profile_has_nothing_to_show(void)
{
    snd_profile *profile = snd_profile_new();
    snd_table *table = NULL;

    for (unsigned i = 0; i < snd_view_count; i++)
        CHECK(snd_views[i].make(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 10);
    CHECK(snd_view_counters(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    CHECK(table == NULL);
    snd_profile_free(profile);
}

static snd_profile *
profile_of_processes(void)
{
    static const snd_process process = {.host = "left", .program = "job.py", .arguments = "[]", .probes = "sample"};
    snd_profile *profile = snd_profile_new();
    uint32_t id;

    REQUIRE(profile != NULL && snd_profile_add_process(profile, &process, &id) == SND_OK);
    profile->parts = snd_calloc(1, sizeof *profile->parts);
    REQUIRE(profile->parts != NULL);
    return profile;
}

/* UBSan sees whoever sorts or copies nothing through a NULL pointer. */
static void
processes_that_measured_nothing_have_no_ranks(void)
{
    snd_profile *profile = profile_of_processes();
    snd_table *table = NULL;

    CHECK(snd_view_ranks(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 10);
    CHECK(snd_view_ranks(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    CHECK(table == NULL);
    snd_profile_free(profile);
}

static void
a_thread_that_measured_nothing_harms_no_view(void)
{
    snd_profile *profile = profile_of_processes();

    add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 10);
    for (unsigned i = 0; i < snd_view_count; i++) {
        snd_table *table = NULL;
        snd_status status = snd_views[i].make(profile, &(snd_view_options){.show_all = 1}, &table);
        CHECK(status == (table == NULL ? SND_NO_DATA : SND_OK));
        snd_table_free(table);
    }
    snd_profile_free(profile);
}

static void
small_rows_of_ranks_are_counted(void)
{
    snd_profile *profile = ranks_profile();
    snd_table *table = NULL;

    profile->parts[3].entries[0].total_ns = UINT64_C(100000000000); /* the region of rank 3 lasts so much longer */
    REQUIRE(snd_view_ranks(profile, &(snd_view_options){0}, &table) == SND_OK);
    CHECK_NUMBER(table->row_count, 1);
    CHECK_HAS(table->footer, "\n3 rows below 1% of the longest hidden; show with --show-all");
    snd_table_free(table);
    REQUIRE(snd_view_ranks(profile, &(snd_view_options){.show_all = 1}, &table) == SND_OK);
    CHECK_NUMBER(table->row_count, 4);
    CHECK(strstr(table->footer, "--show-all") == NULL);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
what_unmeasured_children_used_has_a_row(void)
{
    snd_profile *profile = ranks_profile();
    snd_table *table = make_view(profile, "processes", (snd_view_options){0});
    uint64_t before = whole_of(table, "program", "all processes", "cpu");

    CHECK(find_row(table, "program", "[children, not measured]") == SND_NONE);
    snd_table_free(table);
    set_info(profile, "children_unmeasured_ns", "7000000");
    table = make_view(profile, "processes", (snd_view_options){0});
    CHECK_NUMBER(whole_of(table, "program", "[children, not measured]", "cpu"), 7000000);
    CHECK_NUMBER(whole_of(table, "program", "all processes", "cpu"), before + 7000000);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
counters_that_were_read_have_columns(void)
{
    static const struct {
        snd_metric metric;
        const char *title;
    } all[] = {
        {SND_METRIC_PAGE_FAULTS, "page faults"},     {SND_METRIC_CONTEXT_SWITCHES, "switches"},
        {SND_METRIC_MIGRATIONS, "migrations"},       {SND_METRIC_CYCLES, "cycles"},
        {SND_METRIC_INSTRUCTIONS, "instructions"},   {SND_METRIC_BRANCHES, "branches"},
        {SND_METRIC_BRANCH_MISSES, "branch misses"}, {SND_METRIC_CACHE_REFERENCES, "cache references"},
        {SND_METRIC_CACHE_MISSES, "cache misses"},
    };
    enum { COUNTERS = sizeof all / sizeof all[0] };
    snd_profile *profile = small_profile();
    snd_table *table = make_view(profile, "regions", (snd_view_options){0});
    uint32_t columns = table->column_count;

    snd_table_free(table);
    for (unsigned i = 0; i < COUNTERS; i++)
        set_whole(profile, find_node(profile, "main", "load"), all[i].metric, 100 + i);
    table = make_view(profile, "regions", (snd_view_options){0});
    REQUIRE(table->column_count == columns + COUNTERS);
    for (unsigned i = 0; i < COUNTERS; i++) {
        CHECK_TEXT(table->columns[columns + i].title, all[i].title);
        CHECK_NUMBER(whole_of(table, "name", "load", table->columns[columns + i].name), 100 + i);
    }
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
views_are_found_by_name(void)
{
    for (unsigned i = 0; i < snd_view_count; i++) {
        CHECK(snd_view_find(snd_views[i].name) == &snd_views[i]);
        CHECK(strlen(snd_views[i].about) > 0);
    }
    CHECK(snd_view_find("nothing") == NULL);
    CHECK(snd_view_find("") == NULL);
}

static void
cpu_time_is_shown_where_it_was_measured(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 60);
    snd_table *table = NULL;

    set_whole(profile, add_region(profile, root, "works", 4, 10, 40), SND_METRIC_CPU, 33);
    REQUIRE(snd_view_regions(profile, &(snd_view_options){0}, &table) == SND_OK);
    int cpu = snd_table_find(table, "cpu");
    REQUIRE(cpu >= 0);
    CHECK(!table->rows[0].cells[cpu].is_there);
    const snd_cell *cell = &table->rows[1].cells[(uint32_t)cpu];
    CHECK(cell->is_there && cell->whole == 33);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
a_track_that_was_handed_on_says_so(void)
{
    snd_profile *profile = snd_profile_new();
    snd_table *table = NULL;
    uint32_t track = add_track(profile, "pool", 100, 0, 100);

    add_root(profile, track, 100, 100);
    profile->tracks[track].thread_count = 7;
    REQUIRE(snd_view_regions(profile, &(snd_view_options){0}, &table) == SND_OK);
    CHECK_TEXT(table->rows[0].cells[0].text, "<pool> and 6 more");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
the_footer_counts_entries_losses_and_cost(void)
{
    snd_profile *profile = small_profile();

    check_footer(profile, "17 entries, none dropped; profiler overhead ≤ 850 ns (0.01%)\n"
                          "still open, counted so far: parse in thread worker");
    profile->tracks[0].dropped_entries = 2;
    set_info(profile, "lost_entries", "3");
    set_info(profile, "length_ns", "0");
    set_whole(profile, find_node(profile, "worker", "parse"), SND_METRIC_OPEN, 0);
    check_footer(profile, "16 entries, 5 entries dropped (out of room for nodes); profiler overhead ≤ 800 ns");
    profile->tracks[1].dropped_events = 7;
    check_footer(profile, "16 entries, 5 entries dropped (out of room for nodes), 7 events missing from the "
                          "timeline; profiler overhead ≤ 800 ns");
    snd_profile_free(profile);
}

static void
the_footer_names_a_few_open_regions(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 60);
    char name[] = "a";

    for (; name[0] < 'f'; name[0]++)
        set_whole(profile, add_region(profile, root, name, 0, 0, 0), SND_METRIC_OPEN, 1);
    check_footer(profile, "5 entries, none dropped; profiler overhead ≤ 0 ns\nstill open, counted so far: "
                          "a in thread main, b in thread main, c in thread main and 2 more");
    snd_profile_free(profile);
}

static void
events_that_the_collector_lost_are_in_the_footer(void)
{
    snd_profile *profile = small_profile();

    set_whole(profile, find_node(profile, "worker", "parse"), SND_METRIC_OPEN, 0);
    set_info(profile, "lost_events", "9");
    check_footer(profile, "16 entries, 9 events missing from the timeline; profiler overhead ≤ 800 ns (0.01%)");
    snd_profile_free(profile);
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = small_profile();
    CHECK(fail_each_view(profile, (snd_view_options){0}) > 50);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(the_regions_have_a_row_a_node);
    RUN(the_threads_have_a_row_a_track);
    RUN(the_counters_have_a_row_each);
    RUN(a_counter_without_a_place_has_none);
    RUN(places_are_relative_to_the_working_directory);
    RUN(an_empty_profile_has_nothing_to_show);
    RUN(processes_that_measured_nothing_have_no_ranks);
    RUN(a_thread_that_measured_nothing_harms_no_view);
    RUN(small_rows_of_ranks_are_counted);
    RUN(what_unmeasured_children_used_has_a_row);
    RUN(counters_that_were_read_have_columns);
    RUN(views_are_found_by_name);
    RUN(cpu_time_is_shown_where_it_was_measured);
    RUN(a_track_that_was_handed_on_says_so);
    RUN(the_footer_counts_entries_losses_and_cost);
    RUN(the_footer_names_a_few_open_regions);
    RUN(events_that_the_collector_lost_are_in_the_footer);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
