/* Calls that a library timed by itself: which region they belong to, and whose time is whose. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "probe/op/op.h"
#include "probe/region/region.h"
#include "probe/region/timed_calls.h"

#include <pthread.h>

static snd_timed_call
a_call(const char *name, uint64_t start, uint64_t end, uint32_t above)
{
    return (snd_timed_call){.start = start, .end = end, .above = above, .site = operator_site(name)};
}

/* Enters a region after a while. */
static snd_span *
enter(snd_track *track, const char *name, uint64_t ticks)
{
    pass_time(ticks);
    return snd_region_enter(track, region_site(name));
}

static void
leave(snd_track *track, snd_span *span, uint64_t ticks)
{
    pass_time(ticks);
    snd_region_leave(track, span);
}

static void
join(snd_track *track, snd_timed_call *calls, uint32_t count, uint64_t slack)
{
    uint32_t change_count;
    snd_changes_keep(0);
    snd_change *changes = snd_changes_take(track, &change_count);

    snd_timed_calls_report(track, changes, change_count, calls, count, slack);
    snd_free(changes);
}

static snd_track *
start_kept(void)
{
    snd_track *track = start_anew("main");
    snd_reported_reset();
    snd_changes_keep(1);
    return track;
}

static void
check_sums(const snd_profile *profile)
{
    CHECK_NUMBER(self_sum(profile, find_track(profile, "main")), node_whole(profile, "main", "", SND_METRIC_TOTAL));
}

static void
calls_hang_below_the_region_that_ran(void)
{
    snd_track *track = start_kept();
    uint64_t start = test_ticks;

    snd_span *step = enter(track, "step", 10); /* from 10 */
    snd_span *load = enter(track, "load", 40); /* from 50 */
    leave(track, load, 20);                    /* to 70 */
    leave(track, step, 30);                    /* to 100 */
    pass_time(100);
    snd_timed_call calls[] = {
        a_call("aten::mm", start + 20, start + 40, SND_NONE),
        a_call("aten::copy", start + 52, start + 60, SND_NONE),
        a_call("aten::linear", start + 75, start + 95, SND_NONE),
        a_call("aten::addmm", start + 80, start + 90, 2),
        a_call("aten::mm", start + 120, start + 150, SND_NONE),
    };
    join(track, calls, 5, 0);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::mm", SND_METRIC_SELF), 20);
    CHECK_NUMBER(node_whole(profile, "main", "step/load/aten::copy", SND_METRIC_TOTAL), 8);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::linear", SND_METRIC_SELF), 10);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::linear/aten::addmm", SND_METRIC_SELF), 10);
    CHECK_NUMBER(node_whole(profile, "main", "aten::mm", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 70 - 20 - 20);
    CHECK_NUMBER(node_whole(profile, "main", "step/load", SND_METRIC_SELF), 20 - 8);
    check_sums(profile);
    snd_profile_free(profile);
}

static void
a_region_within_a_call_has_its_own_time(void)
{
    snd_track *track = start_kept();
    uint64_t start = test_ticks;

    snd_span *step = enter(track, "step", 0);
    snd_span *inner = enter(track, "inner", 30); /* from 30 */
    leave(track, inner, 40);                     /* to 70 */
    leave(track, step, 30);                      /* to 100 */
    snd_timed_call calls[] = {
        a_call("MyFunction", start + 10, start + 90, SND_NONE),
        a_call("aten::mul", start + 20, start + 25, 0),
        a_call("aten::mul", start + 40, start + 60, 0), /* made by the region */
    };
    join(track, calls, 3, 0);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step/MyFunction", SND_METRIC_TOTAL), 80);
    CHECK_NUMBER(node_whole(profile, "main", "step/MyFunction", SND_METRIC_SELF), 80 - 40 - 5);
    CHECK_NUMBER(node_whole(profile, "main", "step/MyFunction/aten::mul", SND_METRIC_SELF), 5);
    CHECK_NUMBER(node_whole(profile, "main", "step/inner/aten::mul", SND_METRIC_SELF), 20);
    CHECK_NUMBER(node_whole(profile, "main", "step/inner", SND_METRIC_SELF), 20);
    CHECK_NUMBER(node_whole(profile, "main", "step", SND_METRIC_SELF), 100 - 40 - 40);
    check_sums(profile);
    snd_profile_free(profile);
}

static void
clocks_that_are_a_little_apart_do_not_matter(void)
{
    snd_track *track = start_kept();
    uint64_t start = test_ticks;

    snd_span *step = enter(track, "step", 100);
    leave(track, step, 100);
    pass_time(100);
    snd_timed_call calls[] = {a_call("aten::mm", start + 98, start + 150, SND_NONE),
                              a_call("aten::tiny", start + 197, start + 199, SND_NONE)};
    join(track, calls, 2, 5);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::mm", SND_METRIC_TOTAL), 52);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::mm", SND_METRIC_SELF), 50);
    CHECK_NUMBER(node_whole(profile, "main", "step/aten::tiny", SND_METRIC_SELF), 2);
    check_sums(profile);
    snd_profile_free(profile);
}

static void
calls_that_do_not_keep_a_thread_busy_take_no_time_from_it(void)
{
    snd_track *track = start_kept();
    uint64_t start = test_ticks;

    pass_time(100);
    snd_timed_call calls[] = {a_call("send", start + 10, start + 90, SND_NONE),
                              a_call("aten::mm", start + 20, start + 40, SND_NONE)};
    calls[0].is_async = 1;
    calls[1].flops = 1000;
    join(track, calls, 2, 0);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "send", SND_METRIC_TOTAL), 80);
    CHECK_NUMBER(node_whole(profile, "main", "send", SND_METRIC_SELF), 0);
    CHECK_NUMBER(node_whole(profile, "main", "aten::mm", SND_METRIC_SELF), 20);
    CHECK(node_real(profile, "main", "aten::mm", SND_METRIC_OP_FLOPS) == 1000);
    check_sums(profile);
    snd_profile_free(profile);
}

static void
changes_are_kept_only_while_somebody_wants_them(void)
{
    snd_track *track = start_anew("main");
    uint32_t count;

    snd_span *before = enter(track, "step", 1);
    CHECK(snd_changes_take(track, &count) == NULL);
    snd_changes_keep(1);
    snd_span *inner = enter(track, "inner", 1);
    leave(track, inner, 1);
    snd_changes_keep(0);
    leave(track, before, 1);
    snd_change *changes = snd_changes_take(track, &count);
    CHECK_NUMBER(count, 3);
    CHECK_NUMBER(changes[0].node, before->node->id);
    CHECK_NUMBER(changes[2].node, before->node->id);
    snd_free(changes);
    CHECK(snd_changes_take(track, &count) == NULL);
}

static void
a_coroutine_that_waits_does_not_run(void)
{
    snd_track *track = start_kept();
    snd_stack stack = {.task = 1};
    uint64_t start = test_ticks;

    snd_span *span = snd_region_enter_under(track, &stack, track->root, region_site("task"), 0);
    pass_time(10);
    snd_region_suspend(track, &stack);
    pass_time(50);
    snd_region_resume(track, &stack);
    leave(track, span, 10);
    snd_timed_call calls[] = {a_call("aten::mm", start + 2, start + 8, SND_NONE),
                              a_call("aten::mm", start + 20, start + 40, SND_NONE),
                              a_call("aten::mm", start + 62, start + 66, SND_NONE)};
    join(track, calls, 3, 0);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "main", "task/aten::mm", SND_METRIC_SELF), 10);
    CHECK_NUMBER(node_whole(profile, "main", "aten::mm", SND_METRIC_SELF), 20);
    CHECK_NUMBER(node_whole(profile, "main", "task", SND_METRIC_SELF), 10);
    snd_profile_free(profile);
}

static void
a_thread_without_a_track_gets_one(void)
{
    snd_track *track = start_anew("main");

    CHECK(snd_track_of_thread(SND_GET(track->thread_id), 0, 10) == track);
    snd_track *other = snd_track_of_thread(4000000000u, test_ticks, test_ticks + 100);
    CHECK(other != NULL && other != track);
    CHECK(snd_track_of_thread(4000000000u, test_ticks, test_ticks + 100) == other);
    snd_timed_call calls[] = {a_call("aten::mm", test_ticks + 20, test_ticks + 40, SND_NONE)};
    snd_timed_calls_report(other, NULL, 0, calls, 1, 0);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(node_whole(profile, "thread 4000000000", "aten::mm", SND_METRIC_SELF), 20);
    CHECK_NUMBER(node_whole(profile, "thread 4000000000", "", SND_METRIC_SELF), 80);
    CHECK_NUMBER(node_whole(profile, "thread 4000000000", "", SND_METRIC_TOTAL), 100);
    snd_profile_free(profile);
}

static void *
enter_often(void *context)
{
    snd_track *track = snd_track_get();

    for (int i = 0; i < 20000; i++)
        snd_region_leave(track, snd_region_enter(track, region_site("often")));
    return context;
}

static void
changes_are_taken_while_their_thread_goes_on(void)
{
    pthread_t thread;
    uint32_t count, all = 0;

    (void)start_kept();
    CHECK(pthread_create(&thread, NULL, enter_often, NULL) == 0);
    for (int i = 0; i < 200; i++)
        for (snd_track *track = snd_track_first(); track != NULL; track = track->next) {
            snd_free(snd_changes_take(track, &count));
            all += count;
        }
    pthread_join(thread, NULL);
    snd_changes_keep(0);
    for (snd_track *track = snd_track_first(); track != NULL; track = track->next) {
        snd_free(snd_changes_take(track, &count));
        all += count;
    }
    CHECK(all >= 40000);
}

int
main(void)
{
    SND_SET(snd_region_mode, SND_REGION_ON);
    RUN(calls_hang_below_the_region_that_ran);
    RUN(a_region_within_a_call_has_its_own_time);
    RUN(clocks_that_are_a_little_apart_do_not_matter);
    RUN(calls_that_do_not_keep_a_thread_busy_take_no_time_from_it);
    RUN(changes_are_kept_only_while_somebody_wants_them);
    RUN(a_coroutine_that_waits_does_not_run);
    RUN(a_thread_without_a_track_gets_one);
    RUN(changes_are_taken_while_their_thread_goes_on);
    return check_report();
}
