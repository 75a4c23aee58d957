/* The whole sampler on threads whose frames are known. */
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "os/process.h"
#include "os/task.h"
#include "probe/region/region.h"
#include "probe/sample/sample.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3
#ifdef __SANITIZE_THREAD__ /* which lets a signal wait for the next call */
#define LEAST_SHARE 100
#else
#define LEAST_SHARE 2
#endif

static fake_thread threads[THREADS];

static uint64_t
now_ns(void)
{
    return snd_clock_monotonic_ns();
}

static void
start_with(snd_sample_options options)
{
    snd_sample_clear();
    REQUIRE(snd_sample_start(&options, &fake_python, now_ns()) == SND_OK);
}

static void
start(void)
{
    start_with((snd_sample_options){.rate_hz = 1000, .timeline = 1});
}

static void
work(fake_thread *self)
{
    fake_push(0);
    fake_push(self->code);
    spin_us(500);
    fake_pop();
    fake_pop();
}

static void
rest(fake_thread *self)
{
    fake_push(0);
    fake_push(self->code);
    sleep_ms(5); /* sleeps: its work */
    fake_pop();
    fake_pop();
}

static void
start_threads(void (*function)(fake_thread *self))
{
    for (unsigned i = 0; i < THREADS; i++)
        fake_start(&threads[i], function, i + 1);
}

static void
halt_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        fake_halt(&threads[i]);
}

static void
end_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        fake_end(&threads[i]);
}

static uint64_t
clock_of(uint32_t thread_id)
{
    const snd_task task = snd_task_of(thread_id);
    uint64_t ns = 0;

    REQUIRE(snd_task_cpu_ns(&task, &ns));
    return ns;
}

static void
let_all_run(unsigned ms)
{
    for (unsigned i = 0; i < THREADS; i++)
        let_run(threads[i].thread_id, ms);
}

/* ---- what adds up ---- */

/* 2 %, and what passes between two looks at a clock. */
static void
is_between(uint64_t got, uint64_t least, uint64_t most)
{
    CHECK(got + least / 50 + 2000000 >= least);
    CHECK(got <= most + most / 50 + 2000000);
}

static void
is_close(uint64_t got, uint64_t wanted)
{
    is_between(got, wanted, wanted);
}

static void
cpu_time_adds_up_for_each_thread_and_for_the_process(void)
{
    uint64_t before[THREADS], after[THREADS]; /* the start, which takes its time */

    start_threads(work);
    uint64_t process_before = snd_process_cpu_ns();
    for (unsigned i = 0; i < THREADS; i++)
        before[i] = clock_of(threads[i].thread_id);
    start();
    for (unsigned i = 0; i < THREADS; i++)
        after[i] = clock_of(threads[i].thread_id);
    uint64_t process_after = snd_process_cpu_ns();
    let_all_run(250);
    halt_threads();
    uint64_t process_halted = snd_process_cpu_ns();
    snd_sample_stop();
    uint64_t process_end = snd_process_cpu_ns();
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t end = clock_of(threads[i].thread_id);
        is_between(sampled_cpu(profile, sampled_track(profile, threads[i].thread_id)), end - after[i], end - before[i]);
    }
    is_between(sampled_cpu(profile, SND_NONE), process_halted - process_after, process_end - process_before);
    is_close(sampled_fact("cpu_ns"), sampled_cpu(profile, SND_NONE));
    CHECK(sampled_fact("own_cpu_ns") < sampled_fact("cpu_ns") / 2);
    CHECK(sampled_fact("samples") >= 20 && sampled_fact("sample_rate_hz") == 1000);
    CHECK(sampled_fact("samples_effective") > 0 && sampled_fact("samples_effective") <= sampled_fact("samples"));
    snd_profile_free(profile);
    end_threads();
}

static void
cpu_and_waiting_add_up_to_a_life(void)
{
    start();
    uint64_t started = now_ns();
    start_threads(rest);
    sleep_ms(200); /* sleeps: for some looks */
    snd_sample_stop();
    uint64_t lived = now_ns() - started;
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < THREADS; i++) {
        uint32_t track = sampled_track(profile, threads[i].thread_id);
        uint64_t life = profile->tracks[track].end_ns - profile->tracks[track].start_ns;
        CHECK(life <= lived);
        is_close(sampled_cpu(profile, track) + sampled_wait(profile, track), life);
        CHECK(sampled_sum(profile, SND_METRIC_WAIT_SLEEP, track) > life / 4);
    }
    snd_profile_free(profile);
    end_threads();
}

/* As a daemon does when it begins: what threads wait for is known again soon. */
static void
a_program_may_close_all_files(void)
{
    start_threads(rest);
    start();
    sleep_ms(50); /* sleeps: for some looks */
    for (int file = 100; file < 1024; file++)
        syscall(SYS_close, file); /* not seen by ThreadSanitizer, for which this is a race */
    sleep_ms(400);                /* sleeps: for some looks */
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < THREADS; i++) {
        uint32_t track = sampled_track(profile, threads[i].thread_id);
        uint64_t life = profile->tracks[track].end_ns - profile->tracks[track].start_ns;
        is_close(sampled_cpu(profile, track) + sampled_wait(profile, track), life);
        CHECK(sampled_sum(profile, SND_METRIC_WAIT_SLEEP, track) > life / 2);
    }
    snd_profile_free(profile);
    end_threads();
}

/* ---- where it is found ---- */

/* Every node of a fake thread is one of its functions, or says that nothing was seen. */
static void
check_places(const snd_profile *profile, uint32_t track, unsigned code)
{
    char name[8];

    snprintf(name, sizeof name, "f%u", code);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (profile->nodes[i].track != track || profile->nodes[i].parent == SND_NONE)
            continue;
        const snd_profile_site *parent = &profile->sites[profile->nodes[profile->nodes[i].parent].site];
        if (strcmp(site->name, name) == 0)
            CHECK_TEXT(parent->name, "f0");
        else if (strcmp(site->name, "f0") == 0)
            CHECK(parent->kind == SND_SITE_THREAD || parent->kind == SND_SITE_REGION);
        else
            CHECK(site->kind != SND_SITE_LINE);
        CHECK(site->line != FAKE_WRONG_LINE);
    }
}

static uint64_t
cpu_at(const snd_profile *profile, uint32_t track, const char *leaf)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].track == track && strcmp(profile->sites[profile->nodes[i].site].name, leaf) == 0)
            sum += snd_profile_whole(profile, i, SND_METRIC_PYTHON) + snd_profile_whole(profile, i, SND_METRIC_NATIVE) +
                   snd_profile_whole(profile, i, SND_METRIC_SYSTEM);
    return sum;
}

static void
a_running_thread_is_found_in_its_functions(void)
{
    start();
    start_threads(work);
    let_all_run(200);
    halt_threads();
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < THREADS; i++) {
        uint32_t track = sampled_track(profile, threads[i].thread_id);
        char name[8];
        snprintf(name, sizeof name, "f%u", i + 1);
        check_places(profile, track, i + 1);
        CHECK(cpu_at(profile, track, name) > sampled_cpu(profile, track) / LEAST_SHARE);
    }
    snd_profile_free(profile);
    end_threads();
}

static void
without_signals_threads_are_read_from_outside(void)
{
    start_with((snd_sample_options){.rate_hz = 1000, .no_signals = 1});
    start_threads(work);
    let_all_run(100);
    halt_threads();
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(sampled_cpu(profile, sampled_track(profile, threads[i].thread_id)) > 0);
    CHECK_NUMBER(sampled_fact("signals"), 0);
    is_close(sampled_cpu(profile, SND_NONE), sampled_fact("cpu_ns"));
    snd_profile_free(profile);
    end_threads();
}

static void
ignore(int number)
{
    (void)number;
}

static void
set_real_time_signals(void (*handler)(int))
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, handler);
}

static void
without_a_free_signal_a_note_says_so(void)
{
    set_real_time_signals(ignore);
    start();
    CHECK_TEXT(snd_sample_note(), "no free signal: running threads are read from outside");
    snd_sample_stop();
    set_real_time_signals(SIG_DFL);
    start_with((snd_sample_options){.rate_hz = 1000, .no_signals = 1});
    CHECK(snd_sample_note() == NULL); /* nobody wanted one */
    snd_sample_stop();
    start();
    CHECK(snd_sample_note() == NULL);
    snd_sample_stop();
}

/* Beside this program there is no libsonde-native.so. */
static void
without_libdw_a_note_says_so(void)
{
    start_with((snd_sample_options){.rate_hz = 1000, .native = 1});
    CHECK_TEXT(snd_sample_note(), "no native callers: sonde was built without libdw (libsonde-native.so is missing)");
    snd_sample_stop();
}

static _Atomic int may_end;
static _Atomic uint32_t spinning_id;

static void *
spin_without_python(void *nothing)
{
    atomic_store(&spinning_id, snd_thread_id());
    while (!atomic_load(&may_end))
        spin_us(100);
    return nothing;
}

static void
time_of_a_thread_that_cannot_be_asked_has_a_row(void)
{
    pthread_t thread;

    start_with((snd_sample_options){.rate_hz = 1000, .no_signals = 1});
    REQUIRE(pthread_create(&thread, NULL, spin_without_python, NULL) == 0);
    while (atomic_load(&spinning_id) == 0)
        sleep_ms(1);
    let_run(spinning_id, 50);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    uint32_t track = sampled_track(profile, spinning_id);
    CHECK(sampled_cpu(profile, track) > 0);
    CHECK_NUMBER(cpu_at(profile, track, "[not seen]"), sampled_cpu(profile, track));
    snd_profile_free(profile);
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
}

static void
cpu_only_has_no_waiting(void)
{
    start_with((snd_sample_options){.rate_hz = 1000, .cpu_only = 1});
    start_threads(rest);
    sleep_ms(100); /* sleeps: for some looks */
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    CHECK_NUMBER(sampled_wait(profile, SND_NONE), 0);
    snd_profile_free(profile);
    end_threads();
}

/* ---- regions ---- */

static void
work_in_region(fake_thread *self)
{
    snd_track *track = snd_track_get();
    snd_span *span = snd_region_enter(track, region_site("load"));
    work(self);
    snd_region_leave(track, span);
}

static void
samples_stand_below_the_region_on_one_track(void)
{
    fake_thread one;

    snd_track_reset_all();
    SND_SET(snd_region_mode, SND_REGION_ON);
    start();
    fake_start(&one, work_in_region, 1);
    let_run(one.thread_id, 200);
    fake_halt(&one);
    snd_sample_stop();
    SND_SET(snd_region_mode, 0);
    snd_profile *profile = sampled_profile();
    uint32_t track = sampled_track(profile, one.thread_id), tracks = 0, below = 0;
    for (uint32_t i = 0; i < profile->track_count; i++)
        tracks += profile->tracks[i].thread_id == one.thread_id;
    CHECK_NUMBER(tracks, 1);
    check_places(profile, track, 1);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (profile->nodes[i].track == track && parent != SND_NONE &&
            profile->sites[profile->nodes[parent].site].kind == SND_SITE_REGION)
            below += strcmp(profile->sites[profile->nodes[i].site].name, "f0") == 0;
    }
    CHECK(below >= 1);
    CHECK(node_whole(profile, profile->tracks[track].name, "load", SND_METRIC_COUNT) > 10);
    CHECK(node_whole(profile, profile->tracks[track].name, "load/f0/f1", SND_METRIC_SAMPLES) > 0);
    snd_profile_free(profile);
    fake_end(&one);
}

/* ---- events ---- */

typedef struct drained {
    uint64_t count, end_ns, overlaps, length_ns;
    uint32_t track;
} drained;

static void
take_event(void *context, const snd_profile_event *event)
{
    drained *self = context;

    if (event->track != self->track)
        return;
    self->count++;
    self->overlaps += event->start_ns < self->end_ns || event->duration_ns == 0;
    self->end_ns = event->start_ns + event->duration_ns;
    self->length_ns += event->duration_ns;
    CHECK(event->state < SND_SAMPLE_STATES);
}

static void
events_follow_each_other_and_are_given_once(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    drained all = {0}, none = {0};

    start();
    uint64_t started = now_ns();
    start_threads(work);
    for (int i = 0; i < 10 || all.count <= 5; i++) {
        sleep_ms(20);
        REQUIRE(snd_sample_update(&snapshot, profile) == SND_OK);
        all.track = sampled_track(profile, threads[0].thread_id);
        snd_sample_drain(&snapshot, profile, take_event, &all);
    }
    snd_sample_stop();
    REQUIRE(snd_sample_update(&snapshot, profile) == SND_OK);
    snd_sample_drain(&snapshot, profile, take_event, &all);
    none.track = all.track;
    snd_sample_drain(&snapshot, profile, take_event, &none);
    CHECK(all.count > 5);
    CHECK_NUMBER(all.overlaps, 0);
    CHECK(all.length_ns <= now_ns() - started);
    CHECK_NUMBER(none.count, 0);
    end_threads();
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

static void
a_pause_is_in_no_event(void)
{
    snd_snapshot snapshot = {0};
    snd_profile *profile = snd_profile_new();
    drained all = {0};

    start_threads(rest); /* in one place all the time */
    start();
    sleep_ms(60); /* sleeps: for some looks */
    snd_sample_set_paused(1);
    uint64_t paused = now_ns();
    sleep_ms(300); /* sleeps: the pause */
    uint64_t left = now_ns() - paused;
    snd_sample_set_paused(0);
    sleep_ms(60); /* sleeps: for some looks */
    snd_sample_stop();
    REQUIRE(snd_sample_update(&snapshot, profile) == SND_OK);
    all.track = sampled_track(profile, threads[0].thread_id);
    snd_sample_drain(&snapshot, profile, take_event, &all);
    uint64_t life = profile->tracks[all.track].end_ns - profile->tracks[all.track].start_ns;
    CHECK(all.length_ns <= life - left);
    end_threads();
    snd_snapshot_free(&snapshot);
    snd_profile_free(profile);
}

/* ---- pauses and resets ---- */

static void
nothing_is_counted_in_a_pause(void)
{
    start_with((snd_sample_options){.rate_hz = 1000, .paused = 1});
    start_threads(work);
    sleep_ms(50); /* sleeps: the pause */
    snd_profile *first = sampled_profile();
    CHECK_NUMBER(sampled_cpu(first, SND_NONE) + sampled_wait(first, SND_NONE), 0);
    snd_sample_set_paused(0);
    let_all_run(500); /* a pause does not wait for a last look: what is missing is to be little beside this */
    snd_sample_set_paused(1);
    snd_profile *second = sampled_profile(), *third = NULL;
    uint64_t fact = sampled_fact("cpu_ns");
    for (unsigned ms = 530; ms < 2000; ms += 30) { /* a look that had begun may end within the first */
        let_all_run(ms);
        snd_profile_free(third);
        third = sampled_profile();
        if (sampled_cpu(third, SND_NONE) == sampled_cpu(second, SND_NONE) &&
            sampled_wait(third, SND_NONE) == sampled_wait(second, SND_NONE))
            break;
        snd_profile_free(second);
        second = sampled_profile();
        fact = sampled_fact("cpu_ns");
    }
    CHECK(sampled_cpu(second, SND_NONE) > 0);
    CHECK_NUMBER(sampled_cpu(third, SND_NONE), sampled_cpu(second, SND_NONE));
    CHECK_NUMBER(sampled_wait(third, SND_NONE), sampled_wait(second, SND_NONE));
    CHECK_NUMBER(sampled_fact("cpu_ns"), fact);
    snd_sample_stop();
    snd_profile *last = sampled_profile();
    is_close(sampled_cpu(last, SND_NONE), fact);
    snd_profile_free(last);
    snd_profile_free(first);
    snd_profile_free(second);
    snd_profile_free(third);
    end_threads();
}

static void
a_reset_forgets_what_was_seen(void)
{
    start_threads(work);
    start();
    uint64_t started = snd_process_cpu_ns();
    let_all_run(150);
    uint64_t before = snd_process_cpu_ns();
    snd_sample_reset();
    sleep_ms(50); /* sleeps: for some looks */
    halt_threads();
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    uint64_t end = snd_process_cpu_ns();
    is_between(sampled_cpu(profile, SND_NONE), sampled_fact("cpu_ns"), end - started - (before - started) / 2);
    snd_profile_free(profile);
    end_threads();
}

static unsigned
count_entries(const char *path)
{
    DIR *folder = opendir(path);
    unsigned count = 0;

    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void
a_hundred_starts_and_stops_leave_no_file_and_no_thread(void)
{
    start_threads(work);
    start();
    snd_sample_stop();
    unsigned files = count_entries("/proc/self/fd");
    uint64_t tasks = snd_tasks_count();
    for (int i = 0; i < 100; i++) {
        start_with((snd_sample_options){.rate_hz = i % 2 ? 20000 : 1000, .timeline = i % 3 == 0, .paused = i % 5 == 0});
        CHECK(snd_sample_is_running());
        spin_us(200);
        snd_sample_set_paused(i % 5 != 0);
        snd_sample_set_paused(0);
        if (i % 7 == 0)
            snd_sample_reset();
        snd_sample_suspend();
        snd_sample_resume();
        snd_profile_free(sampled_profile());
        snd_sample_stop();
        snd_sample_stop();
    }
    CHECK_NUMBER(count_entries("/proc/self/fd"), files);
    CHECK_NUMBER(snd_tasks_count(), tasks);
    end_threads();
}

static void
a_second_start_goes_on_with_what_was_seen(void)
{
    start_threads(work);
    start();
    let_all_run(50);
    snd_sample_stop();
    snd_profile *first = sampled_profile();
    REQUIRE(snd_sample_start(&(snd_sample_options){.rate_hz = 1000}, &fake_python, now_ns()) == SND_OK);
    let_all_run(100);
    snd_sample_stop();
    snd_profile *second = sampled_profile();
    CHECK(sampled_cpu(second, SND_NONE) > sampled_cpu(first, SND_NONE));
    is_close(sampled_fact("cpu_ns"), sampled_cpu(second, SND_NONE));
    snd_profile_free(first);
    snd_profile_free(second);
    end_threads();
}

static int
is_seen(uint32_t thread_id)
{
    snd_profile *profile = sampled_profile();
    uint32_t track = sampled_track(profile, thread_id);

    snd_profile_free(profile);
    return track != SND_NONE;
}

static void
a_thread_has_the_name_that_it_was_given(void)
{
    fake_thread one;
    char longer[200];

    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    start();
    fake_start(&one, rest, 1);
    snd_sample_name_thread(one.thread_id, longer);
    snd_sample_name_thread(one.thread_id, "worker");
    while (!is_seen(one.thread_id))
        sleep_ms(5);
    snd_sample_stop();
    snd_sample_name_thread(one.thread_id, "too late, but harmless");
    snd_profile *profile = sampled_profile();
    uint32_t track = sampled_track(profile, one.thread_id);
    REQUIRE(track != SND_NONE);
    CHECK_TEXT(profile->tracks[track].name, "worker");
    CHECK_TEXT(profile->tracks[sampled_track(profile, snd_process_id())].name, "main");
    snd_profile_free(profile);
    fake_end(&one);
}

int
main(void)
{
    snd_clock_start(NULL);
    RUN(cpu_time_adds_up_for_each_thread_and_for_the_process);
    RUN(cpu_and_waiting_add_up_to_a_life);
    RUN(a_program_may_close_all_files);
    RUN(a_running_thread_is_found_in_its_functions);
    RUN(without_signals_threads_are_read_from_outside);
    RUN(without_a_free_signal_a_note_says_so);
    RUN(without_libdw_a_note_says_so);
    RUN(time_of_a_thread_that_cannot_be_asked_has_a_row);
    RUN(cpu_only_has_no_waiting);
    RUN(samples_stand_below_the_region_on_one_track);
    RUN(events_follow_each_other_and_are_given_once);
    RUN(a_pause_is_in_no_event);
    RUN(nothing_is_counted_in_a_pause);
    RUN(a_reset_forgets_what_was_seen);
    RUN(a_hundred_starts_and_stops_leave_no_file_and_no_thread);
    RUN(a_second_start_goes_on_with_what_was_seen);
    RUN(a_thread_has_the_name_that_it_was_given);
    return check_report();
}
