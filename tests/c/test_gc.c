/* The gc probe: collections stand beside the regions, on the thread that ran them. */
#include "check.h"
#include "fixture.h"
#include "probe/counter/gc.h"
#include "probe/region/region.h"

#include <string.h>

static void
collect(unsigned generation, uint64_t ticks, uint64_t collected)
{
    snd_gc_begin(1, 0);
    pass_time(ticks);
    snd_gc_end(generation, collected);
}

static uint32_t
node_of(const snd_profile *profile, const char *generation)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_kind(profile, i) == SND_SITE_GC &&
            strcmp(profile->sites[profile->nodes[i].site].detail, generation) == 0)
            return i;
    return SND_NONE;
}

static void
count_total_and_extremes_are_kept_by_generation(void)
{
    (void)start_anew("main");
    REQUIRE(snd_gc_prepare());
    collect(0, 100, 5);
    collect(2, 4000, 70);
    collect(0, 300, 0);
    snd_profile *profile = profile_now();
    uint32_t young = node_of(profile, "generation 0"), old = node_of(profile, "generation 2");
    REQUIRE(young != SND_NONE && old != SND_NONE);
    CHECK_NUMBER(snd_profile_whole(profile, young, SND_METRIC_COUNT), 2);
    CHECK_NUMBER(snd_profile_whole(profile, young, SND_METRIC_TOTAL), 400);
    CHECK_NUMBER(snd_profile_whole(profile, young, SND_METRIC_MIN), 100);
    CHECK_NUMBER(snd_profile_whole(profile, young, SND_METRIC_MAX), 300);
    CHECK_NUMBER(snd_profile_whole(profile, young, SND_METRIC_GC_COLLECTED), 5);
    CHECK_NUMBER(snd_profile_whole(profile, old, SND_METRIC_GC_COLLECTED), 70);
    CHECK(node_of(profile, "generation 1") == SND_NONE);
    CHECK(!snd_profile_has(profile, young, SND_METRIC_SELF) && !snd_profile_has(profile, young, SND_METRIC_SUSPENDED));
    snd_profile_free(profile);
}

static void
a_collection_takes_no_time_from_the_region_around_it(void)
{
    snd_track *track = start_anew("main");
    snd_span *span = snd_region_enter(track, region_site("work"));

    REQUIRE(snd_gc_prepare() && span != NULL);
    pass_time(50);
    collect(1, 200, 0);
    snd_region_leave(track, span);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "work", SND_METRIC_SELF), 250);
    CHECK_NUMBER(self_sum(profile, find_track(profile, "main")), node_whole(profile, "main", "", SND_METRIC_TOTAL));
    snd_profile_free(profile);
}

static void
an_end_without_a_beginning_counts_nothing(void)
{
    (void)start_anew("main");
    REQUIRE(snd_gc_prepare());
    snd_gc_end(0, 1);
    snd_gc_begin(1, 0);
    snd_gc_begin(0, 0); /* paused meanwhile */
    snd_gc_end(0, 1);
    snd_gc_begin(1, 0);
    snd_gc_end(SND_GC_GENERATIONS, 1); /* a newer interpreter's */
    snd_profile *profile = profile_now();
    CHECK_NUMBER(snd_profile_whole(profile, node_of(profile, "generation 0"), SND_METRIC_COUNT), 0);
    snd_profile_free(profile);
}

static void
its_frame_is_known_while_it_runs(void)
{
    (void)start_anew("main");
    REQUIRE(snd_gc_prepare());
    snd_gc_begin(0, 77);
    CHECK_NUMBER(SND_GET(snd_gc_frame), 77);
    snd_gc_end(SND_GC_GENERATIONS, 0);
    CHECK_NUMBER(SND_GET(snd_gc_frame), 0);
}

static void
a_reset_sets_them_to_zero(void)
{
    (void)start_anew("main");
    REQUIRE(snd_gc_prepare());
    collect(0, 100, 5);
    snd_track_reset_all();
    (void)snd_track_get();
    snd_profile *profile = profile_now();
    CHECK_NUMBER(snd_profile_whole(profile, node_of(profile, "generation 0"), SND_METRIC_COUNT), 0);
    CHECK_NUMBER(snd_profile_whole(profile, node_of(profile, "generation 0"), SND_METRIC_GC_COLLECTED), 0);
    snd_profile_free(profile);
}

static void
events_wait_for_the_collector_and_a_full_list_counts_the_loss(void)
{
    const snd_track *track = start_anew("main");
    snd_gc_event event;
    uint32_t taken = 0;

    REQUIRE(snd_gc_prepare());
    collect(0, 1, 0);
    CHECK(!snd_gc_take_event(&event)); /* nobody asked for them */
    snd_gc_keep_events(1);
    for (uint32_t i = 0; i < SND_GC_SLOTS + 3; i++)
        collect(0, 7, 0);
    for (; snd_gc_take_event(&event); taken++)
        CHECK(event.track == track && event.ticks == 7);
    CHECK_NUMBER(taken, SND_GC_SLOTS);
    CHECK_NUMBER(snd_gc_take_dropped(), 3);
    CHECK_NUMBER(snd_gc_take_dropped(), 0);
    collect(0, 1, 0);
    snd_gc_keep_events(0);
    CHECK(!snd_gc_take_event(&event));
}

int
main(void)
{
    RUN(count_total_and_extremes_are_kept_by_generation);
    RUN(a_collection_takes_no_time_from_the_region_around_it);
    RUN(an_end_without_a_beginning_counts_nothing);
    RUN(its_frame_is_known_while_it_runs);
    RUN(a_reset_sets_them_to_zero);
    RUN(events_wait_for_the_collector_and_a_full_list_counts_the_loss);
    return check_report();
}
