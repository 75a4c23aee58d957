/* The view of the timeline: a slice of a thread holds no more than its length, and all slices hold all there is. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "view/core/view.h"

#include <stdio.h>

#define NS_A_MS 1000000u
#define THREADS 3u
#define NODES 5u
#define STEPS 400u
#define ROUNDS 60u

static uint64_t random_state;

static void
add_whole(snd_profile *profile, uint32_t node, unsigned state, uint64_t ns)
{
    set_whole(profile, node, SND_SAMPLE_METRIC(state), snd_profile_whole(profile, node, SND_SAMPLE_METRIC(state)) + ns);
    set_whole(profile, node, SND_METRIC_SAMPLES, snd_profile_whole(profile, node, SND_METRIC_SAMPLES) + 1);
}

/* As a sampler notes it: what a thread ran and what it waited are kept until it is seen running or waiting, and are
 * then noted all at once, in an event that is as long as the time since the last one. Sometimes there is no room for
 * the event. */
static void
live(snd_profile *profile, uint32_t root, uint64_t start_ns)
{
    uint64_t now = start_ns, last = start_ns, ran = 0, waited = 0;
    uint32_t nodes[NODES];
    char place[64];

    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(place, sizeof place, "/app/a.py:f%u:%u:%u", i, 10 * i + 1, 10 * i + 2);
        nodes[i] = add_walk_line(profile, root, place);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t passed = (uint32_t)draw(&random_state, 3 * NS_A_MS) + 1,
                 busy = (uint32_t)draw(&random_state, passed + 1);
        int is_last = step + 1 == STEPS, has_event = (uint32_t)draw(&random_state, 20) != 0;
        uint32_t node = nodes[(uint32_t)draw(&random_state, NODES)];
        unsigned cpu = (uint32_t)draw(&random_state, 3),
                 wait = 3 + (uint32_t)draw(&random_state, SND_SAMPLE_STATES - 3);
        now += passed;
        ran += busy;
        waited += passed - busy;
        if ((uint32_t)draw(&random_state, 5) == 0 || is_last) { /* seen waiting */
            add_whole(profile, node, wait, waited);
            waited = 0;
            if (has_event)
                profile->events[profile->event_count++] =
                    (snd_profile_event){last, {now - last}, node, {wait}, profile->nodes[node].track};
            last = now;
        }
        if ((uint32_t)draw(&random_state, 3) == 0 || is_last) { /* seen running */
            add_whole(profile, node, cpu, ran);
            ran = 0;
            if (has_event && now > last)
                profile->events[profile->event_count++] =
                    (snd_profile_event){last, {now - last}, node, {cpu}, profile->nodes[node].track};
            last = now;
        }
    }
}

static snd_profile *
random_profile(uint64_t seed)
{
    static const char *const names[THREADS] = {"main", "one", "two"};
    snd_profile *profile = snd_profile_new();

    random_state = seed;
    REQUIRE(profile != NULL);
    profile->events = snd_calloc((size_t)THREADS * STEPS * 2, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint64_t start = (uint32_t)draw(&random_state, 100 * NS_A_MS);
        uint32_t root = add_root(profile, add_track(profile, names[i], 100 + i, start, start + 1), 0, 0);
        live(profile, root, start);
    }
    return profile;
}

static uint64_t
sum_of(const snd_profile *profile, uint32_t track, unsigned first, unsigned end)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        for (unsigned state = first; state < end; state++)
            sum += profile->nodes[i].track == track ? snd_profile_whole(profile, i, SND_SAMPLE_METRIC(state)) : 0;
    return sum;
}

static void
check_thread(const snd_profile *profile, uint32_t track)
{
    static const char *const names[] = {"python_ns", "native_ns", "system_ns", "waiting_ns"};
    snd_view_options options = {.thread = profile->tracks[track].name};
    uint64_t sums[4] = {0};
    snd_table *table = NULL;

    REQUIRE(snd_view_timeline(profile, &options, &table) == SND_OK);
    for (uint32_t r = 0; r < table->row_count; r++) {
        uint64_t slice = 0;
        for (unsigned i = 0; i < 4; i++) {
            slice += (uint64_t)cell_of(table, r, names[i])->whole;
            sums[i] += (uint64_t)cell_of(table, r, names[i])->whole;
        }
        CHECK(slice <= (uint64_t)cell_of(table, r, "length_ns")->whole);
        CHECK(cell_of(table, r, "cpu_percent")->real + cell_of(table, r, "waiting_percent")->real <= 100.000001);
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK_NUMBER(sums[i], sum_of(profile, track, i, i < 3 ? i + 1 : SND_SAMPLE_STATES));
    snd_table_free(table);
}

static void
no_thread_does_more_in_a_slice_than_fits(void)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        snd_profile *profile = random_profile(round);
        for (uint32_t track = 0; track < THREADS; track++)
            check_thread(profile, track);
        snd_profile_free(profile);
    }
}

/* Of 100 ms a thread ran 50, and waited 5, which were noted together in one event of 1 ms. */
static void
waiting_that_was_noted_late_stands_before_its_event(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100 * NS_A_MS), 0, 0);
    uint32_t node = add_walk_line(profile, root, "/app/a.py:f:1:2");
    add_whole(profile, node, 0, 50 * NS_A_MS);
    add_whole(profile, node, 3, 5 * NS_A_MS);
    profile->events = snd_calloc(3, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    profile->events[profile->event_count++] = (snd_profile_event){0, {50 * NS_A_MS}, node, {0}, 0};
    profile->events[profile->event_count++] = (snd_profile_event){50 * NS_A_MS, {NS_A_MS}, node, {3}, 0};
    profile->events[profile->event_count++] = (snd_profile_event){51 * NS_A_MS, {49 * NS_A_MS}, node, {0}, 0};
    check_thread(profile, 0);
    snd_table *table = NULL;
    REQUIRE(snd_view_timeline(profile, &(snd_view_options){0}, &table) == SND_OK);
    CHECK(cell_of(table, 10, "waiting_ns")->whole == 0);
    CHECK(cell_of(table, 18, "waiting_ns")->whole > 0);
    CHECK(cell_of(table, 20, "waiting_ns")->whole > 0);
    CHECK(cell_of(table, 21, "waiting_ns")->whole == 0);
    snd_table_free(table);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(no_thread_does_more_in_a_slice_than_fits);
    RUN(waiting_that_was_noted_late_stands_before_its_event);
    return check_report();
}
