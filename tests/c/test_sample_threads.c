/* The sampler where threads and code come and go, and others pause it. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/region/region.h"
#include "probe/sample/sample.h"
#include "probe/sample/sample_tree.h"

#include <pthread.h>
#include <string.h>

#define THREADS 3
#define SHORT_THREADS 3000
#define REGION_THREADS 360 /* more than there are tracks */
#define AT_ONCE 10
#define MANY 150

static fake_thread threads[THREADS];

static void
start(uint32_t rate_hz, int no_signals)
{
    snd_sample_options options = {.rate_hz = rate_hz, .no_signals = no_signals, .timeline = 1};

    snd_sample_clear();
    REQUIRE(snd_sample_start(&options, &fake_python, snd_clock_monotonic_ns()) == SND_OK);
}

/* Sum of all columns against the clock of the process. */
static void
check_sum(const snd_profile *profile)
{
    uint64_t got = sampled_cpu(profile, SND_NONE), wanted = sampled_fact("cpu_ns");
    uint64_t distance = got > wanted ? got - wanted : wanted - got;

    CHECK(distance <= wanted / 50 + 5000000);
}

/* ---- code that dies ---- */

/* A function is run and freed, and another comes to its address. Every thread has addresses of its own. */
static void
run_and_replace(fake_thread *self)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned code = self->code * 8 + i;
        fake_push(code);
        spin_us(60);
        fake_pop();
        fake_replace(code);
    }
}

static void
wait_and_replace(fake_thread *self)
{
    for (unsigned i = 0; i < 4; i++) {
        unsigned code = self->code * 8 + i;
        fake_push(code);
        nanosleep(&(struct timespec){0, 100000}, NULL); /* sleeps: its work */
        fake_pop();
        fake_replace(code);
    }
}

static void
check_code_that_dies(void (*work)(fake_thread *self))
{
    start(20000, 0);
    for (unsigned i = 0; i < THREADS; i++)
        fake_start(&threads[i], work, i + 1);
    sleep_ms(900); /* sleeps: for some looks */
    for (unsigned i = 0; i < THREADS; i++)
        fake_halt(&threads[i]);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    unsigned wrong = 0, right = 0;
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (site->kind == SND_SITE_LINE && snd_profile_whole(profile, i, SND_METRIC_SAMPLES) != 0)
            *(site->line == FAKE_WRONG_LINE ? &wrong : &right) += 1;
    }
    CHECK_NUMBER(wrong, 0);
    CHECK(right > 3);
    check_sum(profile);
    snd_profile_free(profile);
    for (unsigned i = 0; i < THREADS; i++)
        fake_end(&threads[i]);
}

static void
code_that_dies_while_it_runs_never_lends_its_name(void)
{
    check_code_that_dies(run_and_replace);
}

static void
code_that_dies_after_a_wait_never_lends_its_name(void)
{
    check_code_that_dies(wait_and_replace);
}

/* ---- threads that come and go ---- */

static void *
live_shortly(void *context)
{
    fake_attach();
    fake_push(1);
    spin_us(30);
    fake_pop();
    fake_detach();
    return context;
}

static void *
live_shortly_with_a_region(void *context)
{
    snd_track *track = snd_track_get();
    snd_span *span = snd_region_enter(track, region_site("short"));
    (void)live_shortly(context);
    snd_region_leave(track, span);
    return context;
}

static void
run_short_threads(void *(*function)(void *), unsigned count)
{
    pthread_t some[AT_ONCE];

    for (unsigned i = 0; i < count; i += AT_ONCE) {
        for (unsigned k = 0; k < AT_ONCE; k++)
            REQUIRE(pthread_create(&some[k], NULL, function, NULL) == 0);
        for (unsigned k = 0; k < AT_ONCE; k++)
            pthread_join(some[k], NULL);
    }
}

static void
thousands_of_short_threads_are_bounded_and_all_their_time_is_there(void)
{
    uint64_t lived = 0;

    start(1000, 0);
    run_short_threads(live_shortly, SHORT_THREADS);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    CHECK(profile->track_count <= SND_SAMPLE_ROW_LIMIT + 2 * AT_ONCE);
    check_sum(profile);
    for (uint32_t i = 0; i < profile->track_count; i++)
        lived += profile->tracks[i].thread_count;
    CHECK(find_node(profile, "short threads", "[short threads]") != SND_NONE); /* those that nobody saw */
    CHECK(sampled_cpu(profile, find_track(profile, "short threads")) > 0);
    CHECK(lived >= 3 && lived <= SHORT_THREADS + 4);
    snd_profile_free(profile);
}

static uint64_t
entries_of(const snd_profile *profile, const char *region)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (strcmp(profile->sites[profile->nodes[i].site].name, region) == 0)
            count += snd_profile_whole(profile, i, SND_METRIC_COUNT);
    return count;
}

static void
short_threads_with_regions_have_all_their_time(void)
{
    snd_track_reset_all();
    SND_SET(snd_region_mode, SND_REGION_ON);
    start(1000, 0);
    run_short_threads(live_shortly_with_a_region, REGION_THREADS);
    snd_sample_stop();
    SND_SET(snd_region_mode, 0);
    snd_profile *profile = sampled_profile();
    check_sum(profile);
    CHECK_NUMBER(entries_of(profile, "short"), REGION_THREADS);
    snd_profile_free(profile);
}

/* ---- many threads, and somebody who pauses ---- */

static _Atomic int may_end;

static void *
wait_for_end(void *context)
{
    fake_attach();
    fake_push(2);
    while (!atomic_load(&may_end))
        sleep_ms(1);
    fake_pop();
    fake_detach();
    return context;
}

static void *
pause_and_go_on(void *context)
{
    while (atomic_load(&may_end) < 2) {
        snd_sample_set_paused(1);
        snd_sample_set_paused(0);
    }
    return context;
}

static void
threads_that_end_during_pauses_end_once(void)
{
    static pthread_t many[MANY];
    pthread_t pauser;

    start(5000, 0);
    atomic_store(&may_end, 0);
    REQUIRE(pthread_create(&pauser, NULL, pause_and_go_on, NULL) == 0);
    for (int round = 0; round < 5; round++) {
        atomic_store(&may_end, 0);
        for (int i = 0; i < MANY; i++)
            REQUIRE(pthread_create(&many[i], NULL, wait_for_end, NULL) == 0);
        sleep_ms(20); /* sleeps: for some looks */
        atomic_store(&may_end, 1);
        for (int i = 0; i < MANY; i++)
            pthread_join(many[i], NULL);
    }
    atomic_store(&may_end, 2);
    pthread_join(pauser, NULL);
    snd_sample_set_paused(0);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    check_sum(profile);
    snd_profile_free(profile);
}

/* ---- threads of the surroundings ---- */

typedef struct quiet_thread {
    _Atomic uint32_t id;
    int works;
} quiet_thread;

static void *
work_or_wait(void *context)
{
    quiet_thread *self = context;

    atomic_store(&self->id, snd_thread_id());
    while (!atomic_load(&may_end)) {
        if (self->works)
            spin_us(3000);
        sleep_ms(self->works ? 5 : 100); /* sleeps: to wake up costs something, too */
    }
    return NULL;
}

static uint64_t
waited_on(const snd_profile *profile, uint32_t track)
{
    uint64_t ns = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        for (unsigned state = 0; state < SND_SAMPLE_STATES && profile->nodes[i].track == track; state++)
            if (!SND_SAMPLE_IS_CPU(state))
                ns += snd_profile_whole(profile, i, SND_SAMPLE_METRIC(state));
    return ns;
}

static void
a_quiet_thread_is_there_once_it_works_and_never_waits(void)
{
    quiet_thread others[2] = {{.works = 0}, {.works = 1}};
    pthread_t handles[2];
    uint32_t ids[2];

    atomic_store(&may_end, 0);
    for (unsigned i = 0; i < 2; i++) {
        REQUIRE(pthread_create(&handles[i], NULL, work_or_wait, &others[i]) == 0);
        while (atomic_load(&others[i].id) == 0)
            sleep_ms(1);
        ids[i] = atomic_load(&others[i].id);
    }
    snd_sample_set_quiet(ids, 2);
    start(1000, 0);
    for (unsigned i = 0; i < 2; i++)
        snd_sample_name_thread(ids[i], "quiet");
    let_run(ids[1], 80);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    CHECK(sampled_track(profile, ids[0]) == SND_NONE);
    uint32_t busy = sampled_track(profile, ids[1]);
    REQUIRE(busy != SND_NONE);
    CHECK(sampled_cpu(profile, busy) > 10000000);
    CHECK_NUMBER(waited_on(profile, busy), 0);
    check_sum(profile);
    snd_profile_free(profile);
    atomic_store(&may_end, 1);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(handles[i], NULL);
    snd_sample_set_quiet(NULL, 0);
}

/* ---- several readers ---- */

static void *
read_all_the_time(void *context)
{
    while (!atomic_load(&may_end)) {
        snd_profile_free(sampled_profile());
        snd_sample_name_thread(snd_thread_id(), "reader");
        snd_sample_be_silent(1);
        snd_sample_be_silent(0);
    }
    return context;
}

static void
reports_are_made_while_it_runs(void)
{
    pthread_t reader;

    atomic_store(&may_end, 0);
    start(20000, 0);
    for (unsigned i = 0; i < THREADS; i++)
        fake_start(&threads[i], run_and_replace, i + 1);
    REQUIRE(pthread_create(&reader, NULL, read_all_the_time, NULL) == 0);
    sleep_ms(200); /* sleeps: for some reports */
    for (int i = 0; i < 20; i++) {
        snd_sample_reset();
        snd_sample_stop();
        start(20000, 0);
        sleep_ms(2); /* sleeps: for some reports */
    }
    atomic_store(&may_end, 1);
    pthread_join(reader, NULL);
    snd_sample_stop();
    for (unsigned i = 0; i < THREADS; i++)
        fake_end(&threads[i]);
}

/* ---- memory ---- */

static void
without_memory_it_goes_on_and_time_stands_somewhere(void)
{
    start(2000, 0);
    snd_alloc_fail_after(0);
    for (unsigned i = 0; i < THREADS; i++)
        fake_start(&threads[i], run_and_replace, i + 1);
    for (unsigned i = 0; i < THREADS; i++)
        let_run(threads[i].thread_id, 30);
    snd_alloc_fail_after(-1);
    for (unsigned i = 0; i < THREADS; i++)
        let_run(threads[i].thread_id, 120);
    for (unsigned i = 0; i < THREADS; i++)
        fake_halt(&threads[i]);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    check_sum(profile);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(sampled_track(profile, threads[i].thread_id) != SND_NONE);
    snd_profile_free(profile);
    for (unsigned i = 0; i < THREADS; i++)
        fake_end(&threads[i]);
}

int
main(void)
{
    snd_clock_start(NULL);
    RUN(code_that_dies_while_it_runs_never_lends_its_name);
    RUN(code_that_dies_after_a_wait_never_lends_its_name);
    RUN(thousands_of_short_threads_are_bounded_and_all_their_time_is_there);
    RUN(short_threads_with_regions_have_all_their_time);
    RUN(threads_that_end_during_pauses_end_once);
    RUN(a_quiet_thread_is_there_once_it_works_and_never_waits);
    RUN(reports_are_made_while_it_runs);
    RUN(without_memory_it_goes_on_and_time_stands_somewhere);
    return check_report();
}
