/* More threads, one after another, than there are tracks. */
#include "check.h"
#include "fixture.h"
#include "probe/region/region.h"

#include <pthread.h>

#define THREADS (SND_TRACK_LIMIT + 200)

static snd_profile *profile;

static void
work(void)
{
    snd_track *track = snd_track_get();
    REQUIRE(track != NULL);
    pass_time(2);
    for (int i = 0; i < 3; i++) {
        snd_span *span = snd_region_enter(track, region_site("work"));
        REQUIRE(span != NULL);
        pass_time(10);
        snd_region_leave(track, span);
        pass_time(1);
    }
}

static uint64_t
sum_of(snd_metric metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            sum += snd_profile_whole(profile, i, metric);
    return sum;
}

static void
check_sums(void)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].parent == SND_NONE)
            CHECK_NUMBER(self_sum(profile, profile->nodes[i].track), snd_profile_whole(profile, i, SND_METRIC_TOTAL));
}

static void
threads_beyond_the_limit_take_over_tracks_and_lose_nothing(void)
{
    start_anew("main");
    for (unsigned i = 0; i < THREADS; i++) {
        run_in_thread(work);
        pass_time(7);
    }
    look_again(&profile);
    CHECK(profile->track_count <= SND_TRACK_LIMIT);
    CHECK_NUMBER(thread_count(profile), THREADS + 1);
    CHECK_NUMBER(sum_of(SND_METRIC_COUNT), 3 * THREADS);
    CHECK_NUMBER(sum_of(SND_METRIC_TOTAL), 30 * THREADS);
    CHECK_NUMBER(snd_track_lost(), 0);
}

/* Uses the tracks of the test before. */
static void
the_time_between_two_threads_of_a_track_belongs_to_neither(void)
{
    uint64_t life = 0;

    look_again(&profile);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].parent == SND_NONE && profile->nodes[i].track != find_track(profile, "main"))
            life += snd_profile_whole(profile, i, SND_METRIC_TOTAL);
    CHECK_NUMBER(life, 35 * THREADS);
}

static void
self_times_add_up_on_a_track_of_many_threads(void)
{
    look_again(&profile);
    check_sums();
}

static void
a_track_that_is_taken_over_after_a_reset_is_empty(void)
{
    start_anew("main");
    run_in_thread(work);
    look_again(&profile);
    CHECK_NUMBER(sum_of(SND_METRIC_COUNT), 3);
    CHECK_NUMBER(sum_of(SND_METRIC_TOTAL), 30);
    CHECK_NUMBER(thread_count(profile), 2);
    check_sums();
}

/* ---- all at once ---- */

static pthread_barrier_t all_are_here;

static void *
work_at_once(void *context)
{
    (void)context;
    snd_track *track = snd_track_get();
    pthread_barrier_wait(&all_are_here);
    snd_region_leave(track, snd_region_enter(track, region_site("at once")));
    pthread_barrier_wait(&all_are_here);
    return NULL;
}

static void
more_threads_at_once_than_the_limit_have_a_track_each(void)
{
    enum { AT_ONCE = SND_TRACK_LIMIT + 30 };
    static pthread_t threads[AT_ONCE];

    start_anew("main");
    pthread_barrier_init(&all_are_here, NULL, AT_ONCE + 1);
    for (int i = 0; i < AT_ONCE; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work_at_once, NULL) == 0);
    pthread_barrier_wait(&all_are_here);
    pthread_barrier_wait(&all_are_here);
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    look_again(&profile);
    CHECK_NUMBER(profile->track_count, AT_ONCE + 1);
    CHECK_NUMBER(sum_of(SND_METRIC_COUNT), AT_ONCE);
    pthread_barrier_destroy(&all_are_here);
}

int
main(void)
{
    RUN(threads_beyond_the_limit_take_over_tracks_and_lose_nothing);
    RUN(the_time_between_two_threads_of_a_track_belongs_to_neither);
    RUN(self_times_add_up_on_a_track_of_many_threads);
    RUN(a_track_that_is_taken_over_after_a_reset_is_empty);
    RUN(more_threads_at_once_than_the_limit_have_a_track_each);
    snd_profile_free(profile);
    return check_report();
}
