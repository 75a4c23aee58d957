/* The nodes of a profile in printing order. */
#include "base/work.h"
#include "check.h"
#include "fixture.h"
#include "view/sampled/tree.h"

#include <string.h>

/* "0 main, 1 load, 2 parse": depth and name of every row. */
static void
check_tree(const snd_profile *profile, snd_site_kind kind, snd_metric metric, const char *wanted)
{
    snd_tree tree;
    snd_buffer text = {0};

    snd_tree_make(profile, kind, metric, &tree);
    for (uint32_t i = 0; i < tree.count; i++) {
        const snd_tree_row *row = &tree.rows[i];
        snd_buffer_printf(&text, "%s%u %s", i == 0 ? "" : ", ", row->depth,
                          profile->sites[profile->nodes[row->node].site].name);
        if (row->parent_row == SND_NONE)
            CHECK_NUMBER(row->depth, 0);
        else
            CHECK(tree.rows[row->parent_row].node == profile->nodes[row->node].parent &&
                  tree.rows[row->parent_row].depth + 1 == row->depth && row->parent_row < i);
    }
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

static void
siblings_come_in_the_order_of_the_metric(void)
{
    snd_profile *profile = small_profile();

    check_tree(profile, SND_SITE_REGION, SND_METRIC_TOTAL, "0 main, 1 load, 2 parse, 1 write, 0 worker, 1 parse");
    set_whole(profile, find_node(profile, "main", "write"), SND_METRIC_COUNT, 9);
    check_tree(profile, SND_SITE_REGION, SND_METRIC_COUNT, "0 main, 1 write, 1 load, 2 parse, 0 worker, 1 parse");
    snd_profile_free(profile);
}

static void
equal_siblings_come_as_they_were_first_met(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 0);

    add_region(profile, root, "b", 1, 10, 10);
    add_region(profile, root, "a", 1, 10, 10);
    add_region(profile, root, "c", 1, 10, 10);
    check_tree(profile, SND_SITE_REGION, SND_METRIC_TOTAL, "0 main, 1 b, 1 a, 1 c");
    snd_profile_free(profile);
}

static void
only_the_wanted_kind_and_the_roots_are_in_it(void)
{
    snd_profile *profile = small_profile();

    check_tree(profile, SND_SITE_COUNTER, SND_METRIC_COUNT, "0 main, 1 queue, 0 worker");
    check_tree(profile, SND_SITE_THREAD, SND_METRIC_TOTAL, "0 main, 0 worker");
    snd_profile_free(profile);
}

static void
nodes_without_entries_are_left_out_unless_one_below_has_some(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 0);
    uint32_t empty = add_region(profile, root, "empty", 0, 0, 0);

    add_region(profile, empty, "empty below", 0, 0, 0);
    uint32_t above = add_region(profile, root, "above", 0, 0, 0);
    add_region(profile, above, "used", 1, 5, 5);
    uint32_t open = add_region(profile, root, "open", 0, 0, 0);
    set_whole(profile, open, SND_METRIC_OPEN, 1);
    set_whole(profile, open, SND_METRIC_TOTAL, 3);
    check_tree(profile, SND_SITE_REGION, SND_METRIC_TOTAL, "0 main, 1 open, 1 above, 2 used");
    snd_profile_free(profile);
}

static void
the_main_thread_comes_first_then_the_one_that_started_first(void)
{
    snd_profile *profile = snd_profile_new();

    add_root(profile, add_track(profile, "late", 103, 50, 100), 50, 50);
    add_root(profile, add_track(profile, "early", 102, 20, 100), 80, 80);
    add_root(profile, add_track(profile, "main", 100, 70, 100), 30, 30);
    check_tree(profile, SND_SITE_REGION, SND_METRIC_TOTAL, "0 main, 0 early, 0 late");
    CHECK_NUMBER(snd_tree_main_track(profile), 2);
    CHECK_NUMBER(snd_tree_root(profile, 1), 1);
    CHECK(snd_tree_root(profile, 9) == SND_NONE);
    snd_profile_free(profile);
}

static void
without_a_main_thread_the_first_one_is_it(void)
{
    snd_profile *profile = snd_profile_new();

    CHECK(snd_tree_main_track(profile) == SND_NONE);
    check_tree(profile, SND_SITE_REGION, SND_METRIC_TOTAL, "");
    add_track(profile, "late", 103, 50, 100);
    add_track(profile, "early", 102, 20, 100);
    CHECK_NUMBER(snd_tree_main_track(profile), 1);
    snd_profile_free(profile);
}

static void
ten_thousand_levels_are_no_problem(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t node = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 0);
    snd_tree tree;

    for (int i = 0; i < 10000; i++)
        node = add_region(profile, node, "deeper", 1, 5, 5);
    snd_tree_make(profile, SND_SITE_REGION, SND_METRIC_TOTAL, &tree);
    CHECK_NUMBER(tree.count, 10001);
    CHECK_NUMBER(tree.rows[10000].depth, 10000);
    CHECK_NUMBER(tree.rows[10000].parent_row, 9999);
    snd_profile_free(profile);
}

static void
make_tree(void *context)
{
    snd_tree tree = {0};

    snd_tree_make(context, SND_SITE_REGION, SND_METRIC_TOTAL, &tree);
}

static snd_status
make(void *context)
{
    return snd_work_run(make_tree, context, NULL);
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = small_profile();
    CHECK(fail_each_allocation(make, profile) >= 4);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN_WORK(siblings_come_in_the_order_of_the_metric);
    RUN_WORK(equal_siblings_come_as_they_were_first_met);
    RUN_WORK(only_the_wanted_kind_and_the_roots_are_in_it);
    RUN_WORK(nodes_without_entries_are_left_out_unless_one_below_has_some);
    RUN_WORK(the_main_thread_comes_first_then_the_one_that_started_first);
    RUN_WORK(without_a_main_thread_the_first_one_is_it);
    RUN_WORK(ten_thousand_levels_are_no_problem);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
