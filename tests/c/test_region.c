/* The region probe, with a clock that the tests move: every number is exact. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/region/region.h"

static snd_track *track;
static snd_profile *profile;

static void
begin(void)
{
    track = start_anew("main");
}

static snd_span *
enter(const char *name)
{
    return snd_region_enter(track, region_site(name));
}

static snd_span *
enter_global(const char *name)
{
    return snd_region_enter_global(track, region_site(name));
}

static void
leave(snd_span *span)
{
    snd_region_leave(track, span);
}

static uint64_t
number(const char *path, snd_metric metric)
{
    return node_whole(profile, "main", path, metric);
}

/* Self times add up to the root's total, which is the track's life. */
static void
check_sum(void)
{
    uint32_t id = find_track(profile, "main");

    CHECK_NUMBER(self_sum(profile, id), number("", SND_METRIC_TOTAL));
    CHECK_NUMBER(profile->tracks[id].end_ns - profile->tracks[id].start_ns, number("", SND_METRIC_TOTAL));
}

static void
entries_are_counted_and_timed(void)
{
    begin();
    for (uint64_t i = 1; i <= 3; i++) {
        snd_span *span = enter("step");
        pass_time(i * 10);
        leave(span);
        pass_time(5);
    }
    look_again(&profile);
    CHECK_NUMBER(number("step", SND_METRIC_COUNT), 3);
    CHECK_NUMBER(number("step", SND_METRIC_TOTAL), 60);
    CHECK_NUMBER(number("step", SND_METRIC_SELF), 60);
    CHECK_NUMBER(number("step", SND_METRIC_MIN), 10);
    CHECK_NUMBER(number("step", SND_METRIC_MAX), 30);
    CHECK_NUMBER(number("step", SND_METRIC_OPEN), 0);
    CHECK(node_real(profile, "main", "step", SND_METRIC_SQUARE) == 100 + 400 + 900);
    CHECK_NUMBER(number("", SND_METRIC_TOTAL), 75);
    CHECK_NUMBER(number("", SND_METRIC_SELF), 15);
    check_sum();
}

static void
a_histogram_holds_every_entry(void)
{
    uint64_t entries = 0;

    begin();
    for (uint64_t i = 1; i <= 100; i++) {
        snd_span *span = enter("many");
        pass_time(i);
        leave(span);
    }
    look_again(&profile);
    uint32_t node = find_node(profile, "main", "many");
    REQUIRE(profile->histograms != NULL && profile->histograms[node] != NULL);
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        entries += profile->histograms[node][i];
    CHECK_NUMBER(entries, 100);
    CHECK_NUMBER(profile->histograms[node][snd_histogram_bucket(1)], 1);
    CHECK_NUMBER(profile->histograms[node][snd_histogram_bucket(64)], 8);
}

static void
self_time_of_nested_regions_adds_up(void)
{
    begin();
    pass_time(1);
    snd_span *outer = enter("outer");
    pass_time(10);
    for (int i = 0; i < 4; i++) {
        snd_span *inner = enter("inner");
        pass_time(100);
        snd_span *same = enter("outer"); /* the same site elsewhere is another node */
        pass_time(1000);
        leave(same);
        leave(inner);
        pass_time(10);
    }
    leave(outer);
    pass_time(2);
    look_again(&profile);
    CHECK_NUMBER(number("outer", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("outer", SND_METRIC_TOTAL), 4450);
    CHECK_NUMBER(number("outer", SND_METRIC_SELF), 50);
    CHECK_NUMBER(number("outer/inner", SND_METRIC_COUNT), 4);
    CHECK_NUMBER(number("outer/inner", SND_METRIC_SELF), 400);
    CHECK_NUMBER(number("outer/inner/outer", SND_METRIC_TOTAL), 4000);
    CHECK_NUMBER(number("", SND_METRIC_SELF), 3);
    check_sum();
}

static void
a_global_region_hangs_below_the_root_and_its_time_adds_up(void)
{
    begin();
    snd_span *outer = enter("caller");
    pass_time(10);
    snd_span *global = enter_global("everywhere");
    pass_time(100);
    snd_span *inner = enter("below");
    pass_time(1000);
    leave(inner);
    leave(global);
    pass_time(20);
    leave(outer);
    look_again(&profile);
    CHECK(find_node(profile, "main", "caller/everywhere") == SND_NONE);
    CHECK_NUMBER(number("everywhere", SND_METRIC_TOTAL), 1100);
    CHECK_NUMBER(number("everywhere", SND_METRIC_SELF), 100);
    CHECK_NUMBER(number("everywhere/below", SND_METRIC_SELF), 1000);
    CHECK_NUMBER(number("caller", SND_METRIC_TOTAL), 1130);
    CHECK_NUMBER(number("caller", SND_METRIC_SELF), 30);
    check_sum();
}

static void
a_global_region_inside_itself_counts_once(void)
{
    begin();
    snd_span *outer = enter_global("recursive");
    pass_time(10);
    snd_span *middle = enter("between");
    pass_time(5);
    snd_span *inner = enter_global("recursive");
    pass_time(100);
    leave(inner);
    leave(middle);
    pass_time(1);
    leave(outer);
    look_again(&profile);
    CHECK_NUMBER(number("recursive", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("recursive", SND_METRIC_TOTAL), 116);
    CHECK_NUMBER(number("recursive", SND_METRIC_SELF), 111);
    CHECK_NUMBER(number("recursive/between", SND_METRIC_TOTAL), 105);
    CHECK_NUMBER(number("recursive", SND_METRIC_OPEN), 0);
    check_sum();
}

static void
leaving_an_outer_region_closes_those_above_it(void)
{
    begin();
    snd_span *outer = enter("first");
    pass_time(1);
    (void)enter("second");
    pass_time(10);
    snd_span *top = enter("third");
    pass_time(100);
    leave(outer);
    CHECK(track->stack.top == NULL);
    CHECK(top->stack == NULL); /* given back: leaving it again is told from an open one */
    pass_time(7);
    look_again(&profile);
    CHECK_NUMBER(number("first", SND_METRIC_TOTAL), 111);
    CHECK_NUMBER(number("first/second", SND_METRIC_TOTAL), 110);
    CHECK_NUMBER(number("first/second/third", SND_METRIC_TOTAL), 100);
    CHECK_NUMBER(number("first/second/third", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("", SND_METRIC_SELF), 7);
    check_sum();
}

static void
open_regions_count_up_to_now(void)
{
    begin();
    snd_span *outer = enter("still");
    pass_time(10);
    snd_span *inner = enter("open");
    pass_time(30);
    look_again(&profile);
    CHECK_NUMBER(number("still", SND_METRIC_COUNT), 0);
    CHECK_NUMBER(number("still", SND_METRIC_OPEN), 1);
    CHECK_NUMBER(number("still", SND_METRIC_TOTAL), 40);
    CHECK_NUMBER(number("still", SND_METRIC_MAX), 40);
    CHECK_NUMBER(number("still/open", SND_METRIC_TOTAL), 30);
    CHECK_NUMBER(number("still/open", SND_METRIC_SELF), 30);
    check_sum();
    pass_time(5);
    leave(inner);
    leave(outer);
    look_again(&profile);
    CHECK_NUMBER(number("still", SND_METRIC_TOTAL), 45);
    CHECK_NUMBER(number("still", SND_METRIC_OPEN), 0);
    check_sum();
}

static void
a_reset_while_regions_are_open_counts_them_from_then(void)
{
    begin();
    snd_span *outer = enter("long");
    pass_time(100);
    snd_span *inner = enter("longer");
    pass_time(100);
    snd_track_reset_all();
    pass_time(3);
    track = snd_track_get();
    pass_time(4);
    leave(inner);
    pass_time(2);
    leave(outer);
    pass_time(1);
    look_again(&profile);
    CHECK_NUMBER(number("long", SND_METRIC_TOTAL), 9);
    CHECK_NUMBER(number("long", SND_METRIC_SELF), 2);
    CHECK_NUMBER(number("long", SND_METRIC_MIN), 9);
    CHECK_NUMBER(number("long/longer", SND_METRIC_TOTAL), 7);
    CHECK_NUMBER(number("long/longer", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(number("", SND_METRIC_TOTAL), 10);
    check_sum();
}

static void
a_cancelled_entry_does_not_count_but_its_time_is_not_lost(void)
{
    begin();
    snd_span *outer = enter("kept");
    pass_time(10);
    snd_span *span = enter("cancelled");
    pass_time(5);
    snd_region_cancel(track, span);
    leave(outer);
    look_again(&profile);
    CHECK_NUMBER(number("kept/cancelled", SND_METRIC_COUNT), 0);
    CHECK_NUMBER(number("kept/cancelled", SND_METRIC_TOTAL), 0);
    CHECK_NUMBER(number("kept", SND_METRIC_TOTAL), 15);
    check_sum();
}

static void
a_clock_that_steps_back_counts_nothing(void)
{
    begin();
    snd_span *span = enter("back in time");
    SND_ADD(test_ticks, (uint64_t)-50);
    leave(span);
    pass_time(100);
    span = enter("back in time");
    pass_time(5);
    leave(span);
    look_again(&profile);
    CHECK_NUMBER(number("back in time", SND_METRIC_COUNT), 2);
    CHECK_NUMBER(number("back in time", SND_METRIC_TOTAL), 5);
    CHECK_NUMBER(number("back in time", SND_METRIC_MIN), 0);
    check_sum();
}

static void
deep_recursion_makes_a_node_a_level(void)
{
    enum { DEPTH = 2000 };
    static snd_span *spans[DEPTH];

    begin();
    for (int i = 0; i < DEPTH; i++) {
        spans[i] = enter("deep");
        REQUIRE(spans[i] != NULL);
        pass_time(1);
    }
    for (int i = DEPTH; i-- > 0;)
        leave(spans[i]);
    look_again(&profile);
    CHECK_NUMBER(number("deep", SND_METRIC_TOTAL), DEPTH);
    CHECK_NUMBER(number("deep/deep/deep", SND_METRIC_TOTAL), DEPTH - 2);
    check_sum();
}

int
main(void)
{
    RUN(entries_are_counted_and_timed);
    RUN(a_histogram_holds_every_entry);
    RUN(self_time_of_nested_regions_adds_up);
    RUN(a_global_region_hangs_below_the_root_and_its_time_adds_up);
    RUN(a_global_region_inside_itself_counts_once);
    RUN(leaving_an_outer_region_closes_those_above_it);
    RUN(open_regions_count_up_to_now);
    RUN(a_reset_while_regions_are_open_counts_them_from_then);
    RUN(a_cancelled_entry_does_not_count_but_its_time_is_not_lost);
    RUN(a_clock_that_steps_back_counts_nothing);
    RUN(deep_recursion_makes_a_node_a_level);
    snd_profile_free(profile);
    return check_report();
}
