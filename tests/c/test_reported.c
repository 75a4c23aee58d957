/* Nodes that no thread enters: where they hang, whose time they take, and how they come into a profile. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/core/reported.h"
#include "probe/core/snapshot.h"
#include "probe/op/op.h"
#include "probe/region/region.h"

#include <pthread.h>
#include <stdio.h>

static void
add_call(uint32_t attached, uint64_t total, uint64_t self)
{
    snd_reported_value(attached, SND_METRIC_COUNT)->whole++;
    snd_reported_value(attached, SND_METRIC_TOTAL)->whole += total;
    snd_reported_value(attached, SND_METRIC_SELF)->whole += self;
}

/* A region of 100 ticks on the track, whose node is given. */
static uint32_t
run_region(snd_track *track, const char *name)
{
    snd_span *span = snd_region_enter(track, region_site(name));
    uint32_t node = span->node->id;

    pass_time(100);
    snd_region_leave(track, span);
    return node;
}

static void
attach_calls(const snd_track *track, uint32_t node)
{
    snd_reported_lock();
    uint32_t outer = snd_reported_to(track, node, operator_site("aten::linear"));
    add_call(outer, 60, 20);
    add_call(snd_reported_below(outer, operator_site("aten::addmm")), 40, 40);
    snd_reported_take_self(track, node, 60);
    snd_reported_unlock();
}

static void
what_is_attached_takes_its_time_from_the_region(void)
{
    snd_track *track = start_anew("main");

    attach_calls(track, run_region(track, "step"));
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_TOTAL), 100);
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 40);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::linear", SND_METRIC_TOTAL), 60);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::linear/aten::addmm", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(self_sum(profile, find_track(profile, "main")), node_whole(profile, "main", "", SND_METRIC_TOTAL));
    snd_profile_free(profile);
    snd_reported_reset();
}

static void
a_later_snapshot_has_the_same_nodes_with_later_numbers(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    snd_track *track = start_anew("main");
    uint32_t node = run_region(track, "step");

    attach_calls(track, node);
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    uint32_t count = profile->node_count, id = find_node(profile, "main", "step/aten::linear");
    snd_snapshot_written(&snapshot);
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    CHECK(!snapshot.changed[id]);
    CHECK_NUMBER(run_region(track, "step"), node);
    attach_calls(track, node);
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    CHECK(snapshot.changed[id]);
    CHECK_NUMBER(profile->node_count, count);
    CHECK_NUMBER(snd_profile_whole(profile, id, SND_METRIC_COUNT), 2);
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 80);
    snd_track_reset_all();
    snd_reported_reset();
    CHECK(snd_snapshot_update(&snapshot, profile, 0, snd_clock_ticks()) == SND_OK);
    CHECK_NUMBER(snd_profile_whole(profile, id, SND_METRIC_COUNT), 0);
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

static void
after_a_reset_a_new_profile_has_nothing_of_it(void)
{
    snd_track *track = start_anew("main");

    attach_calls(track, run_region(track, "step"));
    snd_reported_reset();
    snd_profile *profile = profile_now();
    CHECK(find_node(profile, "main", "step/aten::linear") == SND_NONE);
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 100);
    snd_profile_free(profile);
}

static void
a_reset_of_all_tracks_forgets_what_found_no_room(void)
{
    snd_track *track = start_anew("main");

    snd_reported_lock();
    CHECK(snd_reported_to(track, 0, SND_NONE) == SND_NONE);
    snd_reported_unlock();
    CHECK_NUMBER(snd_reported_lost(), 1);
    snd_track_reset_all();
    CHECK_NUMBER(snd_reported_lost(), 0);
}

static void
a_node_has_room_for_so_many_metrics(void)
{
    snd_track *track = start_anew("main");

    snd_reported_lock();
    uint32_t node = snd_reported_to(track, 0, operator_site("aten::many"));
    for (unsigned i = 0; i < SND_REPORTED_VALUES; i++)
        CHECK(snd_reported_value(node, (snd_metric)i) != NULL);
    CHECK(snd_reported_value(node, (snd_metric)SND_REPORTED_VALUES) == NULL);
    CHECK(snd_reported_value(node, (snd_metric)0) != NULL);
    CHECK_NUMBER(snd_reported_to(track, 0, operator_site("aten::many")), node);
    CHECK(snd_reported_to(track, 0, SND_NONE) == SND_NONE);
    CHECK_NUMBER(snd_reported_lost(), 1);
    snd_reported_unlock();
    snd_reported_reset();
}

static snd_status
update(void *context)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    snd_status status = profile == NULL ? SND_NO_MEMORY : snd_snapshot_update(&snapshot, profile, 0, 1000);

    (void)context;
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
    return status;
}

static void
without_memory_nothing_breaks(void)
{
    static uint32_t sites[1000]; /* more than there is room for */
    char name[32];
    snd_track *track = start_anew("main");
    uint32_t node = run_region(track, "step");

    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "aten::op%u", i);
        sites[i] = operator_site(name);
    }
    snd_reported_lock();
    snd_alloc_fail_after(0);
    for (unsigned i = 0; i < 1000; i++)
        (void)snd_reported_to(track, node, sites[i]);
    snd_alloc_fail_after(-1);
    CHECK(snd_reported_lost() != 0);
    snd_reported_unlock();
    attach_calls(track, node);
    CHECK(fail_each_allocation(update, NULL) > 0);
    snd_reported_reset();
}

static void *
attach_much(void *context)
{
    for (int i = 0; i < 2000; i++)
        attach_calls(context, 0);
    return NULL;
}

static void
a_snapshot_sees_all_of_an_update_or_nothing(void)
{
    snd_track *track = start_anew("main");
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, attach_much, track) == 0);
    for (int i = 0; i < 200; i++) {
        snd_profile *profile = profile_now();
        uint64_t outer = node_whole(profile, "main", "aten::linear", SND_METRIC_COUNT);
        CHECK_NUMBER(node_whole(profile, "main", "aten::linear/aten::addmm", SND_METRIC_COUNT), outer);
        snd_profile_free(profile);
    }
    pthread_join(thread, NULL);
    snd_reported_reset();
}

int
main(void)
{
    RUN(what_is_attached_takes_its_time_from_the_region);
    RUN(a_later_snapshot_has_the_same_nodes_with_later_numbers);
    RUN(after_a_reset_a_new_profile_has_nothing_of_it);
    RUN(a_reset_of_all_tracks_forgets_what_found_no_room);
    RUN(a_node_has_room_for_so_many_metrics);
    RUN(without_memory_nothing_breaks);
    RUN(a_snapshot_sees_all_of_an_update_or_nothing);
    return check_report();
}
