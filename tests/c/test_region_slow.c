/* What regions do away from the hot path: coroutines, other threads, CPU time, failing memory, debug output. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/region/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static uint64_t
number(const char *path, snd_metric metric)
{
    return node_whole(profile, "main", path, metric);
}

static void
check_sum(const char *name)
{
    CHECK_NUMBER(self_sum(profile, find_track(profile, name)), node_whole(profile, name, "", SND_METRIC_TOTAL));
}

/* Two coroutines that take turns, each with a region open: neither nests into the other. */
static void
suspended_regions_do_not_nest_into_each_other(void)
{
    snd_stack first = {.task = 1}, second = {.task = 2};

    begin();
    snd_span *a = snd_region_enter_under(track, &first, track->root, region_site("a"), 0);
    pass_time(10);
    snd_region_suspend(track, &first);
    snd_span *b = snd_region_enter_under(track, &second, track->root, region_site("b"), 0);
    pass_time(100);
    snd_region_suspend(track, &second);
    pass_time(1000);
    snd_region_resume(track, &first);
    pass_time(10);
    snd_region_leave(track, a);
    snd_region_suspend(track, &first);
    snd_region_resume(track, &second);
    pass_time(100);
    snd_region_leave(track, b);
    look_again(&profile);
    CHECK_NUMBER(number("a", SND_METRIC_TOTAL), 1120);
    CHECK_NUMBER(number("a", SND_METRIC_SUSPENDED), 1100);
    CHECK_NUMBER(number("a", SND_METRIC_SELF), 20);
    CHECK_NUMBER(number("b", SND_METRIC_TOTAL), 1210);
    CHECK_NUMBER(number("b", SND_METRIC_SUSPENDED), 1010);
    CHECK_NUMBER(number("b", SND_METRIC_SELF), 200);
    CHECK_NUMBER(number("", SND_METRIC_SELF), 1000);
    check_sum("main");
}

static snd_span *handed_over;

static void
leave_here(void)
{
    snd_track *other = snd_track_get();
    REQUIRE(other != NULL);
    snd_track_set_name(other, "other");
    pass_time(5);
    snd_region_leave(other, handed_over);
    pass_time(7);
}

static void
a_region_left_on_another_thread_counts_there(void)
{
    begin();
    handed_over = enter("handed over");
    pass_time(10);
    run_in_thread(leave_here);
    look_again(&profile);
    CHECK_NUMBER(number("handed over", SND_METRIC_OPEN), 0);
    CHECK_NUMBER(number("handed over", SND_METRIC_COUNT), 0);
    CHECK_NUMBER(node_whole(profile, "other", "handed over", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(profile, "other", "handed over", SND_METRIC_TOTAL), 15);
}

static void
self_times_add_up_after_a_region_was_left_on_another_thread(void)
{
    begin();
    snd_span *outer = enter("stays");
    pass_time(3);
    handed_over = enter("goes");
    pass_time(10);
    run_in_thread(leave_here);
    pass_time(20);
    snd_region_leave(track, outer);
    pass_time(2);
    look_again(&profile);
    CHECK_NUMBER(number("stays", SND_METRIC_TOTAL), 45);
    check_sum("main");
    check_sum("other");
}

static void
cpu_time_is_kept_when_asked_for(void)
{
    begin();
    SND_SET(snd_region_mode, SND_REGION_ON | SND_REGION_CPU);
    snd_span *span = enter("works");
    uint64_t before = snd_clock_thread_cpu_ns();
    while (snd_clock_thread_cpu_ns() - before < 3000000)
        ;
    snd_region_leave(track, span);
    SND_SET(snd_region_mode, 0);
    span = enter("not asked");
    snd_region_leave(track, span);
    look_again(&profile);
    CHECK(number("works", SND_METRIC_CPU) >= 3000000);
    CHECK(number("works", SND_METRIC_CPU) < 3000000000);
    CHECK(!snd_profile_has(profile, find_node(profile, "main", "not asked"), SND_METRIC_CPU));
}

/* The CPU clock of an entry that began before anybody asked is not known. */
static void
cpu_time_of_a_region_that_was_open_before_is_not_invented(void)
{
    begin();
    snd_span *span = enter("open before");
    SND_SET(snd_region_mode, SND_REGION_ON | SND_REGION_CPU);
    uint64_t before = snd_clock_thread_cpu_ns();
    snd_region_leave(track, span);
    uint64_t spent = snd_clock_thread_cpu_ns() - before;
    SND_SET(snd_region_mode, 0);
    look_again(&profile);
    CHECK(number("open before", SND_METRIC_CPU) <= spent);
}

/* What passed before a reset counts neither as wall time nor as CPU time. */
static void
a_reset_forgets_the_cpu_time_of_open_regions_too(void)
{
    begin();
    SND_SET(snd_region_mode, SND_REGION_ON | SND_REGION_CPU);
    snd_span *span = enter("worked before");
    uint64_t before = snd_clock_thread_cpu_ns();
    while (snd_clock_thread_cpu_ns() - before < 20000000)
        ;
    pass_time(20000000);
    snd_track_reset_all();
    track = snd_track_get();
    snd_region_leave(track, span);
    SND_SET(snd_region_mode, 0);
    look_again(&profile);
    CHECK(number("worked before", SND_METRIC_CPU) < 20000000);
}

static void
an_entry_without_memory_is_dropped_and_counted(void)
{
    enum { DEEP = 200 };
    snd_span *spans[DEEP];
    uint64_t failed = 0;

    begin();
    uint32_t site = region_site("no memory");
    snd_alloc_fail_after(0);
    for (int i = 0; i < DEEP; i++) {
        spans[i] = snd_region_enter(track, site);
        failed += spans[i] == NULL;
        pass_time(1);
    }
    snd_alloc_fail_after(-1);
    for (int i = DEEP; i-- > 0;)
        if (spans[i] != NULL)
            snd_region_leave(track, spans[i]);
    look_again(&profile);
    CHECK(failed > 0);
    CHECK_NUMBER(profile->tracks[find_track(profile, "main")].dropped_entries, failed);
    check_sum("main");
    snd_span *span = enter("memory again");
    CHECK(span != NULL);
    snd_region_leave(track, span);
}

static void
a_histogram_without_memory_is_left_out(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        snd_span *span = enter("no histogram");
        pass_time(10);
        snd_alloc_fail_after(0);
        snd_region_leave(track, span);
        snd_alloc_fail_after(-1);
    }
    look_again(&profile);
    CHECK_NUMBER(number("no histogram", SND_METRIC_COUNT), 3);
    CHECK_NUMBER(number("no histogram", SND_METRIC_TOTAL), 30);
    uint32_t node = find_node(profile, "main", "no histogram");
    CHECK(profile->histograms == NULL || profile->histograms[node] == NULL);
}

static void
debug_output_says_what_is_entered_and_left(void)
{
    const char *path = temp_path("debug");
    fflush(stderr);
    int kept = dup(STDERR_FILENO);

    REQUIRE(freopen(path, "w", stderr) != NULL);
    begin();
    SND_SET(snd_region_mode, SND_REGION_ON | SND_REGION_DEBUG);
    pass_time(1500);
    snd_span *span = enter("loud");
    pass_time(31180000);
    snd_region_leave(track, span);
    SND_SET(snd_region_mode, 0);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    char *text = read_file(path, NULL);
    CHECK_TEXT(text, "sonde: entered loud at 1.500 us\nsonde: left loud at 31.18 ms after 31.18 ms\n");
    free(text);
}

static void
the_own_cost_is_measured_and_in_no_report(void)
{
    begin();
    snd_clock_start(NULL);
    uint64_t cost = snd_region_own_cost_ns();
    CHECK(cost > 0 && cost < 100000);
    look_again(&profile);
    CHECK(find_node(profile, "main", "sonde") == SND_NONE);
    snd_alloc_fail_after(0);
    CHECK(snd_region_own_cost_ns() > 0); /* it has what it needs */
    snd_alloc_fail_after(-1);
}

int
main(void)
{
    RUN(suspended_regions_do_not_nest_into_each_other);
    RUN(a_region_left_on_another_thread_counts_there);
    RUN(self_times_add_up_after_a_region_was_left_on_another_thread);
    RUN(cpu_time_is_kept_when_asked_for);
    RUN(cpu_time_of_a_region_that_was_open_before_is_not_invented);
    RUN(a_reset_forgets_the_cpu_time_of_open_regions_too);
    RUN(an_entry_without_memory_is_dropped_and_counted);
    RUN(a_histogram_without_memory_is_left_out);
    RUN(debug_output_says_what_is_entered_and_left);
    RUN(the_own_cost_is_measured_and_in_no_report);
    snd_profile_free(profile);
    return check_report();
}
