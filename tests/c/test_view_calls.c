/* The views of calls; what they look like stands in tests/golden. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_table.h"
#include "view/calls/calls.h"
#include "view/core/view.h"

#include <string.h>

static const char *const views[] = {"functions", "callers", "callees", "signatures"};
#define VIEWS (sizeof views / sizeof views[0])

static int
is_shown(const snd_table *table, const char *column)
{
    return table->columns[snd_table_find(table, column)].traits & SND_COLUMN_SHOWN;
}

static void
check_text_of(snd_profile_site site, const char *wanted)
{
    snd_buffer text = {0};

    snd_call_text(&site, &text);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

static void
functions_are_named_as_pstats_names_them(void)
{
    const snd_site_kind function = SND_SITE_FUNCTION, builtin = SND_SITE_BUILTIN;

    check_text_of((snd_profile_site){function, "Point.move", "/a/b/point.py", 7, "", 0, 0}, "point.py:7(Point.move)");
    check_text_of((snd_profile_site){function, "f", "run.py", 1, "f(a:int)", 0, 0}, "run.py:1(f(a:int))");
    check_text_of((snd_profile_site){function, "<module>", "<frozen zipimport>", 1, "", 0, 0},
                  "<frozen zipimport>:1(<module>)");
    check_text_of((snd_profile_site){function, "f", "/odd/", 1, "", 0, 0}, "/odd/:1(f)");
    check_text_of((snd_profile_site){function, "f", "", 0, "", 0, 0}, "f");
    check_text_of((snd_profile_site){builtin, "<built-in method builtins.len>", "", 0, "", 0, 0},
                  "{built-in method builtins.len}");
    check_text_of((snd_profile_site){builtin, "<", "", 0, "", 0, 0}, "<");
    check_text_of((snd_profile_site){builtin, "<>", "", 0, "", 0, 0}, "{}");
    check_text_of((snd_profile_site){builtin, "len", "", 0, "len(list)", 0, 0}, "len(list)");
    check_text_of((snd_profile_site){builtin, "", "", 0, "", 0, 0}, "");
}

static void
self_times_add_up_to_what_the_footer_says(void)
{
    snd_profile *profile = calls_profile();
    snd_table *table = make_view(profile, "functions", (snd_view_options){0});
    int64_t sum = 0;
    double percent = 0;

    for (uint32_t r = 0; r < table->row_count; r++) {
        sum += cell_of(table, r, "self")->whole;
        percent += cell_of(table, r, "percent_of_time")->real;
    }
    CHECK_NUMBER(sum, 11000000);
    CHECK(percent > 99.999 && percent < 100.001);
    CHECK_TEXT(table->footer, "21923 calls (33 primitive) in 11.00 ms, none dropped; profiler overhead ≤ 1.1 ms "
                              "(11%)\nstill open, counted so far: run.py:3(main)");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
the_footer_tells_losses_the_note_and_a_few_open_calls(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 0);

    for (char name[] = "a"; name[0] < 'f'; name[0]++) {
        uint32_t site = add_call_site(profile, SND_SITE_FUNCTION, name, 1, "");
        set_whole(profile, add_call(profile, root, site, 0, 5, 1), SND_METRIC_OPEN, 1);
    }
    profile->tracks[0].dropped_entries = 2;
    set_info(profile, "note", "something is off");
    snd_table *table = make_view(profile, "callers", (snd_view_options){0});
    CHECK_TEXT(table->footer, "5 calls in 5 ns, 2 entries dropped (out of room for nodes)\n"
                              "still open, counted so far: run.py:1(a), run.py:1(b), run.py:1(c) and 2 more\n"
                              "something is off");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
recursion_is_in_the_calls_and_in_the_time_for_each(void)
{
    snd_profile *profile = calls_profile();
    snd_table *table = make_view(profile, "functions", (snd_view_options){0});

    CHECK_TEXT(cell_of(table, 0, "ncalls")->text, "21891/1");
    CHECK_NUMBER(cell_of(table, 0, "calls")->whole, 21891);
    CHECK_NUMBER(cell_of(table, 0, "primitive_calls")->whole, 1);
    CHECK_NUMBER(cell_of(table, 0, "self_per_call")->whole, 6000000 / 21891);
    CHECK_NUMBER(cell_of(table, 0, "total_per_call")->whole, 6000000);
    CHECK_TEXT(cell_of(table, 1, "ncalls")->text, "15");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
waiting_is_shown_where_anything_waited(void)
{
    snd_profile *profile = calls_profile(), *other = signatures_profile();

    for (size_t i = 0; i < VIEWS; i++) {
        snd_table *table = make_view(profile, views[i], (snd_view_options){0}),
                  *without = make_view(other, views[i], (snd_view_options){0});
        CHECK(is_shown(table, "suspended"));
        CHECK(!is_shown(without, "suspended"));
        CHECK(is_shown(without, "ncalls") && !is_shown(without, "calls"));
        snd_table_free(table);
        snd_table_free(without);
    }
    snd_profile_free(profile);
    snd_profile_free(other);
}

static void
signatures_stand_below_their_function(void)
{
    snd_profile *profile = signatures_profile();
    snd_table *table = make_view(profile, "signatures", (snd_view_options){0}),
              *flat = make_view(profile, "functions", (snd_view_options){0});

    CHECK_NUMBER(flat->row_count, 3);
    CHECK_NUMBER(table->row_count, 6);
    CHECK_TEXT(cell_of(table, 0, "function")->text, "run.py:7(dot)");
    CHECK_TEXT(cell_of(table, 1, "function")->text, "dot(a:int, b:int)");
    CHECK_NUMBER(table->rows[1].depth, 1);
    CHECK_TEXT(cell_of(table, 1, "parent")->text, "run.py:7(dot)");
    CHECK_NUMBER(cell_of(table, 1, "parent_id")->whole, cell_of(table, 0, "id")->whole);
    CHECK(!cell_of(table, 0, "parent_id")->is_there);
    snd_table_free(table);
    snd_table_free(flat);
    snd_profile_free(profile);
}

static void
callers_and_callees_are_by_signature_where_there_are_some(void)
{
    snd_profile *profile = signatures_profile();
    snd_table *callers = make_view(profile, "callers", (snd_view_options){0}),
              *callees = make_view(profile, "callees", (snd_view_options){0});

    CHECK_NUMBER(callees->row_count, 7);
    CHECK_TEXT(cell_of(callees, 0, "function")->text, "run.py:3(main())");
    CHECK_TEXT(cell_of(callees, 1, "function")->text, "run.py:7(dot(a:int, b:int))");
    CHECK_NUMBER(callees->rows[1].depth, 1);
    CHECK_NUMBER(callers->row_count, 7);
    CHECK_TEXT(cell_of(callers, 0, "function")->text, "run.py:3(main())");
    CHECK_TEXT(cell_of(callers, 1, "function")->text, "run.py:7(dot(a:int, b:int))");
    CHECK_TEXT(cell_of(callers, 2, "function")->text, "run.py:3(main())");
    CHECK_NUMBER(callers->rows[2].depth, 1);
    CHECK_NUMBER(cell_of(callers, 2, "calls")->whole, 11);
    snd_table_free(callers);
    snd_table_free(callees);
    snd_profile_free(profile);
}

static void
functions_are_the_default_without_regions_only(void)
{
    snd_profile *calls = calls_profile(), *regions = small_profile(), *empty = snd_profile_new();

    CHECK_TEXT(snd_view_default(calls)->name, "functions");
    CHECK_TEXT(snd_view_default(regions)->name, "regions");
    CHECK_TEXT(snd_view_default(empty)->name, "regions");
    add_region(calls, 0, "region", 1, 5, 5);
    CHECK_TEXT(snd_view_default(calls)->name, "regions");
    snd_profile_free(calls);
    snd_profile_free(regions);
    snd_profile_free(empty);
}

static void
what_was_never_called_is_not_shown(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 10), 10, 0);
    uint32_t site = add_call_site(profile, SND_SITE_FUNCTION, "f", 1, "f()");
    snd_table *table = NULL;

    add_call(profile, add_call(profile, root, site, 0, 0, 0), site, 0, 0, 0);
    CHECK(snd_view_functions(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    CHECK(snd_view_signatures(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    snd_profile_free(profile);

    profile = small_profile();
    for (size_t i = 0; i < VIEWS; i++)
        CHECK(snd_view_find(views[i])->make(profile, &(snd_view_options){0}, &table) == SND_NO_DATA);
    CHECK(table == NULL);
    snd_profile_free(profile);
}

/* The largest numbers that a file can hold, and more than there are in all. */
static void
any_number_is_survived(void)
{
    snd_profile *profile = signatures_profile();

    for (uint32_t i = 0; i < profile->node_count; i++)
        for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++)
            set_whole(profile, i, (snd_metric)m, UINT64_MAX - (i % 3) * m);
    for (size_t i = 0; i < VIEWS; i++) {
        snd_table *table = make_view(profile, views[i], (snd_view_options){0});
        CHECK(table->row_count > 2);
        snd_table_free(table);
    }
    snd_profile_free(profile);
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *calls = calls_profile(), *signatures = signatures_profile();

    CHECK(fail_each_view(calls, (snd_view_options){0}) > 100);
    CHECK(fail_each_view(signatures, (snd_view_options){0}) > 100);
    snd_profile_free(calls);
    snd_profile_free(signatures);
}

int
main(void)
{
    RUN(functions_are_named_as_pstats_names_them);
    RUN(self_times_add_up_to_what_the_footer_says);
    RUN(the_footer_tells_losses_the_note_and_a_few_open_calls);
    RUN(recursion_is_in_the_calls_and_in_the_time_for_each);
    RUN(waiting_is_shown_where_anything_waited);
    RUN(signatures_stand_below_their_function);
    RUN(callers_and_callees_are_by_signature_where_there_are_some);
    RUN(functions_are_the_default_without_regions_only);
    RUN(what_was_never_called_is_not_shown);
    RUN(any_number_is_survived);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
