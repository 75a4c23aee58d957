/* The counter probe. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/counter/counter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static snd_profile *
updates_of(const char *name, const double *values, size_t count)
{
    snd_track *track = start_anew("main");

    for (size_t i = 0; i < count; i++)
        snd_counter_set(track, counter_site(name), values[i]);
    return profile_now();
}

static void
the_last_the_extremes_and_the_sum_are_kept(void)
{
    const double values[] = {3, -1.5, 7, 2};
    snd_profile *profile = updates_of("queue", values, 4);

    CHECK_NUMBER(node_whole(profile, "main", "queue", SND_METRIC_COUNT), 4);
    CHECK(node_real(profile, "main", "queue", SND_METRIC_VALUE_LAST) == 2);
    CHECK(node_real(profile, "main", "queue", SND_METRIC_VALUE_MIN) == -1.5);
    CHECK(node_real(profile, "main", "queue", SND_METRIC_VALUE_MAX) == 7);
    CHECK(node_real(profile, "main", "queue", SND_METRIC_VALUE_SUM) == 10.5);
    CHECK(!snd_profile_has(profile, find_node(profile, "main", "queue"), SND_METRIC_TOTAL));
    snd_profile_free(profile);
}

static void
adding_starts_from_zero(void)
{
    snd_track *track = start_anew("main");

    for (int i = 0; i < 3; i++)
        snd_counter_add(track, counter_site("bytes"), 100);
    snd_counter_add(track, counter_site("bytes"), -50);
    snd_profile *profile = profile_now();
    CHECK(node_real(profile, "main", "bytes", SND_METRIC_VALUE_LAST) == 250);
    CHECK(node_real(profile, "main", "bytes", SND_METRIC_VALUE_MIN) == 100);
    CHECK(node_real(profile, "main", "bytes", SND_METRIC_VALUE_MAX) == 300);
    snd_profile_free(profile);
}

static void
a_first_negative_value_is_the_maximum(void)
{
    const double values[] = {-5};
    snd_profile *profile = updates_of("negative", values, 1);

    CHECK(node_real(profile, "main", "negative", SND_METRIC_VALUE_MAX) == -5);
    CHECK(node_real(profile, "main", "negative", SND_METRIC_VALUE_MIN) == -5);
    snd_profile_free(profile);
}

static void
a_reset_forgets_the_values(void)
{
    snd_track *track = start_anew("main");

    snd_counter_set(track, counter_site("forgotten"), 9);
    snd_track_reset_all();
    track = snd_track_get();
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "forgotten", SND_METRIC_COUNT), 0);
    snd_profile_free(profile);
    snd_counter_add(track, counter_site("forgotten"), 1);
    profile = profile_now();
    CHECK(node_real(profile, "main", "forgotten", SND_METRIC_VALUE_LAST) == 1);
    CHECK(node_real(profile, "main", "forgotten", SND_METRIC_VALUE_MAX) == 1);
    CHECK(node_real(profile, "main", "forgotten", SND_METRIC_VALUE_SUM) == 1);
    snd_profile_free(profile);
}

/* A number that is none cannot be stored: the whole checkpoint would fail. */
static void
a_counter_without_an_update_has_no_value_that_is_not_a_number(void)
{
    snd_track *track = start_anew("main");

    snd_counter_set(track, counter_site("waiting"), 9);
    snd_track_reset_all();
    (void)snd_track_get();
    snd_profile *profile = profile_now();
    CHECK(!isnan(node_real(profile, "main", "waiting", SND_METRIC_VALUE_MAX)));
    CHECK(!isnan(node_real(profile, "main", "waiting", SND_METRIC_VALUE_MIN)));
    snd_profile_free(profile);
}

static void
counters_do_not_disturb_the_sum_of_self_times(void)
{
    snd_track *track = start_anew("main");

    pass_time(10);
    snd_counter_set(track, counter_site("quiet"), 1e300);
    pass_time(10);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(self_sum(profile, find_track(profile, "main")), 20);
    snd_profile_free(profile);
}

static void
updates_go_into_the_timeline(void)
{
    snd_track *track = start_anew("main");
    snd_event event = {0};
    double value;

    snd_track_keep_timeline(1);
    pass_time(11);
    uint64_t at = test_clock();
    snd_counter_set(track, counter_site("seen"), 2.25);
    snd_track_keep_timeline(0);
    snd_counter_set(track, counter_site("seen"), 3);
    CHECK(snd_ring_pop(snd_track_ring(track), &event));
    memcpy(&value, &event.value, sizeof value);
    CHECK(value == 2.25);
    CHECK_NUMBER(event.start, at);
    CHECK(!snd_ring_pop(snd_track_ring(track), &event));
}

static void
a_counter_without_memory_is_dropped_and_counted(void)
{
    snd_track *track = start_anew("main");
    uint64_t before = SND_GET(track->dropped);
    char name[] = "unlucky 00";
    unsigned made = 0;

    for (int i = 0; i < 100; i++) {
        name[8] = (char)('0' + i / 10);
        name[9] = (char)('0' + i % 10);
        uint32_t site = counter_site(name);
        uint32_t nodes = SND_GET(track->node_count);
        snd_alloc_fail_after(0);
        snd_counter_set(track, site, 1);
        snd_alloc_fail_after(-1);
        made += SND_GET(track->node_count) - nodes;
    }
    CHECK_NUMBER(made + SND_GET(track->dropped) - before, 100);
    CHECK(made < 100);
}

/* The value of the next event of the track; NaN: there is none. */
static double
next_value(const snd_track *track, uint64_t *at)
{
    snd_event event;
    double value;

    if (snd_track_ring(track) == NULL || !snd_ring_pop(snd_track_ring(track), &event))
        return NAN;
    memcpy(&value, &event.value, sizeof value);
    *at = event.start;
    return value;
}

static void
without_a_timeline_the_first_and_the_last_of_a_step_are_kept(void)
{
    snd_track *track = start_anew("main");
    uint32_t site = counter_site("often");
    uint64_t times[4], at = 0;
    snd_event waiting;

    snd_counter_set(track, site, 99); /* nobody takes it */
    CHECK(snd_track_ring(track) == NULL || isnan(next_value(track, &at)));
    snd_counter_keep_events(1);
    pass_time(10);
    times[0] = test_clock();
    for (int i = 0; i < 1000; i++) {
        times[1] = test_clock();
        snd_counter_set(track, site, i);
        pass_time(10);
    }
    CHECK(next_value(track, &at) == 0);
    CHECK_NUMBER(at, times[0]);
    CHECK(isnan(next_value(track, &at)));
    const snd_node *node = snd_node_child(track, track->root, site);
    CHECK(snd_counter_waiting(track, node, &waiting));
    CHECK_NUMBER(waiting.start, times[1]);
    pass_time(2 * SND_COUNTER_STEP_NS);
    times[2] = test_clock();
    snd_counter_set(track, site, -1);
    snd_counter_keep_events(0);
    CHECK(next_value(track, &at) == 999); /* the curve had this value until now */
    CHECK_NUMBER(at, times[1]);
    CHECK(next_value(track, &at) == -1);
    CHECK_NUMBER(at, times[2]);
    CHECK(!snd_counter_waiting(track, node, &waiting));
}

static void
a_mark_is_counted_and_stands_in_the_timeline(void)
{
    snd_track *track = start_anew("main");
    uint32_t first = snd_mark_site("deployed", "version=1"), second = snd_mark_site("deployed", "version=2");
    snd_event event;

    CHECK(first != second);
    CHECK_NUMBER(snd_mark_site("deployed", "version=1"), first);
    snd_mark(track, first); /* nobody takes it, but it counts */
    snd_counter_keep_events(1);
    pass_time(5);
    uint64_t at = test_clock();
    snd_mark(track, second);
    snd_mark(track, first);
    snd_counter_keep_events(0);
    CHECK(snd_ring_pop(snd_track_ring(track), &event));
    CHECK_NUMBER(event.start, at);
    CHECK_NUMBER(snd_node_get(track, event.node)->site, second);
    CHECK(snd_ring_pop(snd_track_ring(track), &event));
    CHECK(!snd_ring_pop(snd_track_ring(track), &event));
    snd_profile *profile = profile_now();
    uint64_t counts = 0;
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_kind(profile, i) == SND_SITE_MARK)
            counts += snd_profile_whole(profile, i, SND_METRIC_COUNT);
    CHECK_NUMBER(counts, 3);
    snd_profile_free(profile);
}

static void
too_many_different_details_are_not_kept(void)
{
    char detail[32];
    uint32_t site = SND_NONE, count;

    for (int i = 0; i < 10100; i++) {
        snprintf(detail, sizeof detail, "number=%d", i);
        site = snd_mark_site("request", detail);
    }
    CHECK_TEXT(snd_site_get(site).detail, "[over 10,000 different details]");
    CHECK_TEXT(snd_site_get(snd_mark_site("plain", "")).detail, "");
    count = snd_site_count();
    CHECK_NUMBER(snd_mark_site("request", "yet another"), site);
    CHECK_NUMBER(snd_site_count(), count);
}

static void
a_mark_without_memory_is_none(void)
{
    snd_track *track = start_anew("main");
    uint32_t before = SND_GET(track->node_count);

    snd_alloc_fail_after(0);
    CHECK_NUMBER(snd_mark_site("unlucky", "detail=1"), SND_NONE);
    snd_alloc_fail_after(-1);
    CHECK_NUMBER(SND_GET(track->node_count), before);
}

int
main(void)
{
    RUN(the_last_the_extremes_and_the_sum_are_kept);
    RUN(adding_starts_from_zero);
    RUN(a_first_negative_value_is_the_maximum);
    RUN(a_reset_forgets_the_values);
    RUN(a_counter_without_an_update_has_no_value_that_is_not_a_number);
    RUN(counters_do_not_disturb_the_sum_of_self_times);
    RUN(updates_go_into_the_timeline);
    RUN(a_counter_without_memory_is_dropped_and_counted);
    RUN(without_a_timeline_the_first_and_the_last_of_a_step_are_kept);
    RUN(a_mark_is_counted_and_stands_in_the_timeline);
    RUN(a_mark_without_memory_is_none);
    RUN(too_many_different_details_are_not_kept);
    return check_report();
}
