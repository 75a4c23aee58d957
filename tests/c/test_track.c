/* Live tracks: names, nodes, limits, threads that end. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/core/track.h"
#include "probe/region/region.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static snd_profile *profile;

static void
a_thread_has_one_track_that_stays(void)
{
    snd_track *track = start_anew("main");

    CHECK(snd_track_get() == track);
    CHECK(snd_track_mine == track);
    CHECK_NUMBER(SND_GET(track->thread_id), snd_track_first() == NULL ? 0 : SND_GET(track->thread_id));
    CHECK_NUMBER(SND_GET(track->thread_count), 1);
}

static void
nodes_are_found_again_under_their_parent(void)
{
    snd_track *track = start_anew("main");
    uint32_t sites[40];
    snd_node *children[40];
    char name[16];

    for (unsigned i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "child %u", i);
        sites[i] = region_site(name);
        children[i] = snd_node_child(track, track->root, sites[i]);
        REQUIRE(children[i] != NULL);
        CHECK(children[i]->parent == track->root);
        CHECK(snd_node_get(track, children[i]->id) == children[i]);
    }
    for (unsigned i = 0; i < 40; i++) {
        CHECK(snd_node_child(track, track->root, sites[i]) == children[i]);
        CHECK(snd_node_child(track, children[0], sites[i]) != children[i]);
        CHECK(snd_node_here(track, children[i]) == children[i]);
    }
}

static snd_node *foreign;

static void
find_it_here(void)
{
    snd_track *track = snd_track_get();
    snd_node *here = snd_node_here(track, foreign);

    REQUIRE(here != NULL);
    CHECK(here != foreign && here->site == foreign->site);
    CHECK(here->parent->site == foreign->parent->site);
    CHECK(here->parent->parent == track->root);
    CHECK(snd_node_here(track, foreign->parent->parent) == track->root);
    snd_alloc_fail_after(0);
    CHECK(snd_node_here(track, foreign) == NULL);
    snd_alloc_fail_after(-1);
}

static void
a_node_of_another_track_has_one_at_the_same_path_here(void)
{
    snd_track *track = start_anew("main");
    snd_node *parent = snd_node_child(track, track->root, region_site("path"));

    foreign = snd_node_child(track, parent, region_site("end"));
    run_in_thread(find_it_here);
}

/* ---- limits ---- */

static snd_track *full_track;

static void
fill_with_nodes(void)
{
    snd_track *track = snd_track_get();
    uint32_t site = region_site("endless");
    snd_node *node = track->root;
    uint32_t made = SND_GET(track->node_count);

    snd_track_set_name(track, "full");
    for (snd_node *next; (next = snd_node_child(track, node, site)) != NULL; node = next)
        made++;
    CHECK_NUMBER(made, SND_NODE_LIMIT);
    CHECK_NUMBER(SND_GET(track->dropped), 1);
    for (int i = 0; i < 9; i++)
        CHECK(snd_region_enter_under(track, &track->stack, node, site, 0) == NULL);
    CHECK_NUMBER(SND_GET(track->dropped), 10);
    CHECK(snd_region_enter(track, site) != NULL); /* nodes that are there still count */
    full_track = track;
}

static void
entries_beyond_the_last_node_are_counted_as_dropped(void)
{
    start_anew("main");
    run_in_thread(fill_with_nodes);
    REQUIRE(full_track != NULL);
    CHECK_NUMBER(SND_GET(full_track->node_count), SND_NODE_LIMIT);
    CHECK_NUMBER(SND_GET(full_track->dropped), 10);
    CHECK(SND_GET(full_track->end) != 0);
}

static void
name_and_nothing_else(void)
{
    snd_track *track = snd_track_get();

    CHECK_TEXT(SND_GET(track->name), "by the namer");
    snd_track_set_name(track, "by itself");
    CHECK_TEXT(SND_GET(track->name), "by itself");
    snd_alloc_fail_after(0);
    snd_track_set_name(track, "without memory");
    snd_alloc_fail_after(-1);
    CHECK_TEXT(SND_GET(track->name), "by itself");
}

static int
namer(char *name, size_t size)
{
    snprintf(name, size, "by the namer");
    return 1;
}

static int
no_namer(char *name, size_t size)
{
    (void)name, (void)size;
    return 0;
}

static void
named_by_the_system(void)
{
    pthread_setname_np(pthread_self(), "by the system");
    CHECK_TEXT(SND_GET(snd_track_get()->name), "by the system");
}

static void
tracks_are_named_by_the_namer_the_system_or_themselves(void)
{
    snd_track_namer = namer;
    run_in_thread(name_and_nothing_else);
    snd_track_namer = no_namer;
    run_in_thread(named_by_the_system);
    snd_track_namer = NULL;
    run_in_thread(named_by_the_system);
}

static void
get_no_track(void)
{
    for (long n = 0; n < 3; n++) {
        snd_alloc_fail_after(n);
        CHECK(snd_track_get() == NULL);
        snd_alloc_fail_after(-1);
    }
    CHECK(snd_track_get() != NULL);
}

static void
a_thread_that_gets_no_memory_for_a_track_is_counted_as_lost(void)
{
    start_anew("main");
    CHECK_NUMBER(snd_track_lost(), 0);
    run_in_thread(get_no_track);
    CHECK_NUMBER(snd_track_lost(), 3);
    snd_track_reset_all();
    CHECK_NUMBER(snd_track_lost(), 0);
}

static void
end_inside_regions(void)
{
    snd_track *track = snd_track_get();

    snd_track_set_name(track, "ends inside");
    pass_time(1);
    REQUIRE(snd_region_enter(track, region_site("left open")) != NULL);
    pass_time(10);
    REQUIRE(snd_region_enter(track, region_site("inner")) != NULL);
    pass_time(100);
}

static void
a_thread_that_ends_inside_a_region_leaves_it(void)
{
    start_anew("main");
    run_in_thread(end_inside_regions);
    pass_time(1000);
    look_again(&profile);
    CHECK_NUMBER(node_whole(profile, "ends inside", "left open", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(profile, "ends inside", "left open", SND_METRIC_TOTAL), 110);
    CHECK_NUMBER(node_whole(profile, "ends inside", "left open", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(node_whole(profile, "ends inside", "left open/inner", SND_METRIC_TOTAL), 100);
    CHECK_NUMBER(node_whole(profile, "ends inside", "", SND_METRIC_TOTAL), 111);
    CHECK_NUMBER(self_sum(profile, find_track(profile, "ends inside")), 111);
}

/* ---- the timeline ---- */

static void
a_kept_timeline_has_every_entry(void)
{
    snd_track *track = start_anew("main");
    snd_event event = {0};

    snd_track_keep_timeline(1);
    pass_time(10);
    uint64_t start = test_clock();
    snd_span *span = snd_region_enter(track, region_site("on the line"));
    uint32_t node = span->node->id;
    pass_time(25);
    snd_region_leave(track, span);
    snd_ring *ring = snd_track_ring(track);
    REQUIRE(ring != NULL && snd_ring_pop(ring, &event));
    CHECK_NUMBER(event.start, start);
    CHECK_NUMBER(event.value, 25);
    CHECK_NUMBER(event.node, node);
    CHECK_NUMBER(event.task, 0);
    snd_track_keep_timeline(0);
    snd_region_leave(track, snd_region_enter(track, region_site("off the line")));
    CHECK(!snd_ring_pop(ring, &event));
    CHECK(snd_track_ring(track) == ring);
}

static void
a_reset_forgets_what_the_timeline_has_dropped(void)
{
    snd_track *track = start_anew("main");
    uint32_t site = region_site("too many");

    snd_track_keep_timeline(1);
    for (unsigned i = 0; i < SND_RING_SLOTS + 5; i++)
        snd_region_leave(track, snd_region_enter(track, site));
    snd_track_keep_timeline(0);
    look_again(&profile);
    CHECK_NUMBER(profile->tracks[find_track(profile, "main")].dropped_events, 5);
    CHECK_NUMBER(node_whole(profile, "main", "too many", SND_METRIC_COUNT), SND_RING_SLOTS + 5);
    snd_track_reset_all();
    (void)snd_track_get();
    look_again(&profile);
    CHECK_NUMBER(profile->tracks[find_track(profile, "main")].dropped_events, 0);
}

int
main(void)
{
    RUN(a_thread_has_one_track_that_stays);
    RUN(nodes_are_found_again_under_their_parent);
    RUN(a_node_of_another_track_has_one_at_the_same_path_here);
    RUN(entries_beyond_the_last_node_are_counted_as_dropped);
    RUN(tracks_are_named_by_the_namer_the_system_or_themselves);
    RUN(a_thread_that_gets_no_memory_for_a_track_is_counted_as_lost);
    RUN(a_thread_that_ends_inside_a_region_leaves_it);
    RUN(a_kept_timeline_has_every_entry);
    RUN(a_reset_forgets_what_the_timeline_has_dropped);
    snd_profile_free(profile);
    return check_report();
}
