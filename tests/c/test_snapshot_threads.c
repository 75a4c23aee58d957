/* Reading tracks while their threads write. The clock counts its own reads, so that every entry takes exactly ENTRY
 * ticks of its thread and every torn value shows. */
#include "check.h"
#include "fixture.h"
#include "probe/core/snapshot.h"
#include "probe/counter/counter.h"
#include "probe/region/region.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define WRITERS 3
#define ENTRIES 100000u
#define STEP 10u

static _Thread_local uint64_t thread_ticks = 1000;

/* Every read is STEP later than the last one of the same thread. */
static uint64_t
step_clock(void)
{
    return thread_ticks += STEP;
}

static _Atomic int writers_left;
static uint32_t outer_site, inner_site, value_site;

static void *
write_entries(void *context)
{
    char name[16];
    snprintf(name, sizeof name, "writer %d", (int)(intptr_t)context);
    snd_track *track = snd_track_get();

    REQUIRE(track != NULL);
    snd_track_set_name(track, name);
    for (unsigned i = 0; i < ENTRIES; i++) {
        snd_span *outer = snd_region_enter(track, outer_site);
        snd_span *inner = snd_region_enter(track, inner_site);
        snd_region_leave(track, inner);
        snd_region_leave(track, outer);
        snd_counter_set(track, value_site, 4);
    }
    atomic_fetch_sub(&writers_left, 1);
    return NULL;
}

/* An entry of inner lasts one step, one of outer three; both are read as one of their states. */
static unsigned
torn_values(const snd_profile *profile, const char *writer)
{
    uint64_t inner = node_whole(profile, writer, "outer/inner", SND_METRIC_COUNT);
    uint64_t outer = node_whole(profile, writer, "outer", SND_METRIC_COUNT);
    unsigned torn = 0;

    if (find_node(profile, writer, "outer/inner") == SND_NONE)
        return 0;
    if (node_whole(profile, writer, "outer/inner", SND_METRIC_OPEN) == 0)
        torn += node_whole(profile, writer, "outer/inner", SND_METRIC_TOTAL) != inner * STEP;
    if (node_whole(profile, writer, "outer", SND_METRIC_OPEN) == 0)
        torn += node_whole(profile, writer, "outer", SND_METRIC_TOTAL) != outer * 3 * STEP;
    torn += node_whole(profile, writer, "outer", SND_METRIC_OPEN) > 1;
    torn += node_real(profile, writer, "outer/inner", SND_METRIC_SQUARE) != (double)inner * STEP * STEP;
    torn += node_real(profile, writer, "outer", SND_METRIC_SQUARE) != (double)outer * 9 * STEP * STEP;
    return torn;
}

static unsigned
torn_counters(const snd_profile *profile, const char *writer)
{
    uint64_t updates = node_whole(profile, writer, "value", SND_METRIC_COUNT);
    uint32_t node = find_node(profile, writer, "value");

    if (node == SND_NONE || updates == 0)
        return 0;
    return node_real(profile, writer, "value", SND_METRIC_VALUE_SUM) != 4 * (double)updates ||
           node_real(profile, writer, "value", SND_METRIC_VALUE_MAX) != 4;
}

static unsigned
absurd_times(const snd_profile *profile)
{
    unsigned absurd = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        absurd += snd_profile_whole(profile, i, SND_METRIC_SELF) > UINT64_C(1) << 40 ||
                  snd_profile_whole(profile, i, SND_METRIC_TOTAL) > UINT64_C(1) << 40;
    return absurd;
}

/* Looks again and again until all writers have ended; adds up what `judge` finds. */
static unsigned
look_while_they_write(unsigned (*judge)(const snd_profile *profile, const char *writer))
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    unsigned found = 0;
    char name[16];

    for (int is_last = 0; !is_last;) {
        is_last = atomic_load(&writers_left) == 0;
        REQUIRE(snd_snapshot_update(&snapshot, profile, 0, UINT64_C(1) << 30) == SND_OK);
        for (int i = 0; i < WRITERS; i++) {
            snprintf(name, sizeof name, "writer %d", i);
            found += judge(profile, name);
        }
        found += absurd_times(profile);
    }
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
    return found;
}

static unsigned
run_writers(unsigned (*judge)(const snd_profile *profile, const char *writer))
{
    pthread_t threads[WRITERS];

    snd_clock_start(step_clock);
    snd_track_reset_all();
    outer_site = region_site("outer");
    inner_site = region_site("inner");
    value_site = counter_site("value");
    atomic_store(&writers_left, WRITERS);
    for (int i = 0; i < WRITERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, write_entries, (void *)(intptr_t)i) == 0);
    unsigned found = look_while_they_write(judge);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    return found;
}

static void
regions_are_never_read_torn(void)
{
    CHECK_NUMBER(run_writers(torn_values), 0);
}

static void
counters_are_never_read_torn(void)
{
    CHECK_NUMBER(run_writers(torn_counters), 0);
}

static uint64_t
sum_of(const snd_profile *profile, const char *name, snd_metric metric)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (strcmp(profile->sites[profile->nodes[i].site].name, name) == 0)
            sum += snd_profile_whole(profile, i, metric);
    return sum;
}

static void
every_thread_has_its_own_tree_and_nothing_is_lost(void)
{
    (void)run_writers(torn_values);
    snd_profile *profile = profile_now();
    CHECK_NUMBER(sum_of(profile, "inner", SND_METRIC_COUNT), WRITERS * ENTRIES);
    CHECK_NUMBER(sum_of(profile, "outer", SND_METRIC_COUNT), WRITERS * ENTRIES);
    CHECK_NUMBER(sum_of(profile, "outer", SND_METRIC_TOTAL), WRITERS * ENTRIES * 3 * STEP);
    CHECK_NUMBER(sum_of(profile, "value", SND_METRIC_COUNT), WRITERS * ENTRIES);
    for (uint32_t i = 0; i < profile->track_count; i++)
        CHECK_NUMBER(profile->tracks[i].dropped_entries, 0);
    snd_profile_free(profile);
}

/* ---- names ---- */

static void *
rename_again_and_again(void *context)
{
    char name[32];
    snd_track *track = snd_track_get();

    (void)context;
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "a name of number %08u", i);
        snd_track_set_name(track, name);
    }
    atomic_fetch_sub(&writers_left, 1);
    return NULL;
}

static void
a_name_is_read_whole_while_it_changes(void)
{
    pthread_t thread;
    unsigned wrong = 0;

    snd_clock_start(NULL);
    atomic_store(&writers_left, 1);
    REQUIRE(pthread_create(&thread, NULL, rename_again_and_again, NULL) == 0);
    while (atomic_load(&writers_left) != 0) {
        snd_profile *profile = profile_now();
        for (uint32_t i = 0; i < profile->track_count; i++)
            wrong += strncmp(profile->tracks[i].name, "a name of", 9) == 0 && strlen(profile->tracks[i].name) != 25;
        snd_profile_free(profile);
    }
    pthread_join(thread, NULL);
    CHECK_NUMBER(wrong, 0);
}

/* ---- the self time of the running region ---- */

static void *
write_slowly(void *context)
{
    snd_track *track = snd_track_get();

    (void)context;
    snd_track_set_name(track, "slow");
    for (unsigned i = 0; i < 100000; i++) {
        snd_span *span = snd_region_enter(track, outer_site);
        for (volatile int j = 0; j < 60; j++)
            ;
        snd_region_leave(track, span);
    }
    atomic_fetch_sub(&writers_left, 1);
    return NULL;
}

static void
self_time_is_never_longer_than_the_life_of_its_thread(void)
{
    pthread_t thread;
    unsigned absurd = 0;

    snd_clock_start(NULL);
    snd_track_reset_all();
    atomic_store(&writers_left, 1);
    REQUIRE(pthread_create(&thread, NULL, write_slowly, NULL) == 0);
    while (atomic_load(&writers_left) != 0) {
        snd_profile *profile = profile_now();
        for (uint32_t i = 0; i < profile->node_count; i++)
            absurd += snd_profile_whole(profile, i, SND_METRIC_SELF) > UINT64_C(3600) * 1000000000;
        snd_profile_free(profile);
    }
    pthread_join(thread, NULL);
    CHECK_NUMBER(absurd, 0);
}

int
main(void)
{
    RUN(regions_are_never_read_torn);
    RUN(counters_are_never_read_torn);
    RUN(every_thread_has_its_own_tree_and_nothing_is_lost);
    RUN(a_name_is_read_whole_while_it_changes);
    RUN(self_time_is_never_longer_than_the_life_of_its_thread);
    return check_report();
}
