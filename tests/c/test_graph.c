/* Compiled functions in the running measurement. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_graph.h"
#include "probe/core/reported.h"
#include "probe/core/snapshot.h"
#include "probe/graph/graph.h"
#include "probe/region/region.h"
#include "view/graph/graph_tree.h"

#include <pthread.h>
#include <string.h>

static const char *const add_texts[] = {"tensor.Elemwise", "Elemwise{add}", "Elemwise{add}(x, y)", "#0 C"};
static const char add_path[] = "f/Elemwise/Elemwise{add}/Elemwise{add}(x, y)";

/* A function with a node that was called so often, and an input of this shape. */
static snd_profile *
told(uint64_t count, const char *shape)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "rows", 1, 0, 0), 0, 0);
    uint32_t function = add_graph(profile, root, SND_SITE_GRAPH, "f", "");

    set_whole(profile, function, SND_METRIC_COUNT, count);
    uint32_t node = add_apply(profile, function, add_texts, count, 10 * count);
    set_real(profile, node, SND_METRIC_OP_FLOPS, 0.5 * (double)count);
    add_graph(profile, node, SND_SITE_GRAPH_VARIABLE, "input 0", shape);
    return profile;
}

static void
tell(uint64_t count, const char *shape)
{
    snd_profile *profile = told(count, shape);

    CHECK(snd_graph_attach(profile) == SND_OK);
    snd_profile_free(profile);
}

static uint32_t
count_sites(const snd_profile *profile, const char *detail)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        count += strcmp(profile->sites[profile->nodes[i].site].detail, detail) == 0 &&
                 snd_profile_whole(profile, i, SND_METRIC_GRAPH_GONE) == 0;
    return count;
}

static void
later_numbers_take_the_place_of_earlier_ones(void)
{
    start_anew("main");
    tell(3, "(2,)");
    tell(7, "(2,)");
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "f", SND_METRIC_COUNT), 7);
    CHECK_NUMBER(node_whole(profile, "main", add_path, SND_METRIC_TOTAL), 70);
    CHECK(node_real(profile, "main", add_path, SND_METRIC_OP_FLOPS) == 3.5);
    CHECK_NUMBER(count_sites(profile, "(2,)"), 1);
    snd_profile_free(profile);
    snd_reported_reset();
}

static void
no_region_loses_time_to_them(void)
{
    snd_track *track = start_anew("main");
    snd_span *span = snd_region_enter(track, region_site("step"));

    tell(3, "(2,)");
    pass_time(100);
    snd_region_leave(track, span);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 100);
    CHECK(find_node(profile, "main", "f") != SND_NONE); /* below the root, not below the region */
    CHECK_NUMBER(node_whole(profile, "main", "", SND_METRIC_SELF) + 100,
                 node_whole(profile, "main", "", SND_METRIC_TOTAL));
    snd_profile_free(profile);
    snd_reported_reset();
}

static void
what_is_not_told_again_is_gone_until_it_is(void)
{
    start_anew("main");
    tell(3, "(2,)");
    tell(4, "(5,)");
    snd_profile *profile = profile_now();
    CHECK_NUMBER(count_sites(profile, "(2,)"), 0);
    CHECK_NUMBER(count_sites(profile, "(5,)"), 1);
    snd_profile_free(profile);
    tell(5, "(2,)");
    profile = profile_now();
    CHECK_NUMBER(count_sites(profile, "(2,)"), 1);
    CHECK_NUMBER(count_sites(profile, "(5,)"), 0);
    snd_profile_free(profile);
    profile = snd_profile_new();
    CHECK(snd_graph_attach(profile) == SND_OK);
    snd_profile_free(profile);
    profile = profile_now();
    CHECK(!snd_graphs_exist(profile));
    CHECK_NUMBER(node_whole(profile, "main", "f", SND_METRIC_COUNT), 0);
    snd_profile_free(profile);
    snd_reported_reset();
}

static void
tell_more(void)
{
    tell(9, "(2,)");
}

static void
every_thread_tells_of_the_same_place(void)
{
    start_anew("main");
    tell(3, "(2,)");
    uint32_t tracks = 0, before = 0;
    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next)
        before++;
    run_in_thread(tell_more);
    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next)
        tracks++;
    CHECK_NUMBER(tracks, before); /* and gets no track for that */
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "f", SND_METRIC_COUNT), 9);
    CHECK_NUMBER(count_sites(profile, "#0 C"), 1);
    snd_profile_free(profile);
    snd_reported_reset();
}

static void
after_a_reset_the_place_is_that_of_a_thread_that_measures(void)
{
    start_anew("main");
    run_in_thread(tell_more);
    snd_track_reset_all();
    start_anew("main");
    tell(4, "(2,)");
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "f", SND_METRIC_COUNT), 4);
    snd_profile_free(profile);
    snd_reported_reset();
}

static int
tell_in_child(void)
{
    start_anew("child");
    tell(2, "(2,)");
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "child", "f", SND_METRIC_COUNT), 2);
    snd_profile_free(profile);
    return check_child_status();
}

static void
a_child_has_its_own(void)
{
    start_anew("main");
    tell(3, "(2,)");
    CHECK_NUMBER(run_in_child(tell_in_child), 0);
    snd_reported_reset();
}

static snd_status
attach(void *profile)
{
    return snd_graph_attach(profile);
}

static void
without_memory_nothing_breaks(void)
{
    snd_profile *profile = told(3, "(a shape that was never told of,)");

    start_anew("main");
    CHECK(fail_each_allocation(attach, profile) > 1);
    snd_profile_free(profile);
    snd_reported_reset();
}

static void *
tell_much(void *nothing)
{
    for (uint64_t i = 1; i <= 500; i++)
        tell(i, i % 2 == 0 ? "(2,)" : "(5,)");
    return nothing;
}

static void
a_snapshot_sees_all_or_nothing(void)
{
    pthread_t thread;

    start_anew("main");
    tell(1, "(5,)");
    CHECK(pthread_create(&thread, NULL, tell_much, NULL) == 0);
    for (int i = 0; i < 100; i++) {
        snd_profile *profile = profile_now();
        CHECK_NUMBER(node_whole(profile, "main", add_path, SND_METRIC_COUNT),
                     node_whole(profile, "main", "f", SND_METRIC_COUNT));
        CHECK_NUMBER(count_sites(profile, "(2,)") + count_sites(profile, "(5,)"), 1);
        snd_profile_free(profile);
    }
    pthread_join(thread, NULL);
    snd_reported_reset();
}

int
main(void)
{
    RUN(later_numbers_take_the_place_of_earlier_ones);
    RUN(no_region_loses_time_to_them);
    RUN(what_is_not_told_again_is_gone_until_it_is);
    RUN(every_thread_tells_of_the_same_place);
    RUN(after_a_reset_the_place_is_that_of_a_thread_that_measures);
    RUN(a_child_has_its_own);
    RUN(without_memory_nothing_breaks);
    RUN(a_snapshot_sees_all_or_nothing);
    return check_report();
}
