/* Sessions that come and go while other threads work. */
#include "check.h"
#include "collect/session.h"
#include "fixture.h"
#include "sonde.h"

#include <pthread.h>
#include <sched.h>

#define WORKERS 3

static _Atomic int may_end;

static void *
work(void *context)
{
    (void)context;
    while (!atomic_load(&may_end)) {
        for (int i = 0; i < 50; i++) {
            SONDE_REGION("work");
            SONDE_COUNTER_SET("level", i);
            sonde_begin_named("inner");
            sonde_end();
        }
        sonde_thread_name("worker");
        sched_yield();
    }
    return NULL;
}

static void
start_workers(pthread_t *workers)
{
    atomic_store(&may_end, 0);
    for (int i = 0; i < WORKERS; i++)
        REQUIRE(pthread_create(&workers[i], NULL, work, NULL) == 0);
}

static void
end_workers(pthread_t *workers)
{
    atomic_store(&may_end, 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}

static void
run_session(unsigned i, const char *recording, const char *trace)
{
    snd_profile *profile = NULL;
    sonde_options options = {
        .recording = i % 3 == 0 ? NULL : recording,
        .chrome_trace = i % 4 == 0 ? trace : NULL,
        .timeline = i % 2 == 0,
        .cpu = i % 5 == 0,
    };

    REQUIRE(sonde_start(&options) == 0);
    sleep_ms(10); /* sleeps: some entries */
    CHECK(snd_session_profile(&profile) == SND_OK);
    snd_profile_free(profile);
    snd_session_reset();
    sleep_ms(2); /* sleeps: some entries */
    sonde_stop();
    CHECK(!snd_session_is_running());
}

static void
sessions_come_and_go_while_threads_work(void)
{
    pthread_t workers[WORKERS];
    const char *recording = temp_path("again.sonde"), *trace = temp_path("again.json");

    start_workers(workers);
    for (unsigned i = 0; i < 20; i++)
        run_session(i, recording, trace);
    end_workers(workers);
}

static void
threads_come_and_go_while_a_session_runs(void)
{
    pthread_t workers[WORKERS];

    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("one.sonde"), .timeline = 1}) == 0);
    for (int i = 0; i < 10; i++) {
        start_workers(workers);
        sleep_ms(5); /* sleeps: some entries */
        end_workers(workers);
    }
    sonde_stop();
}

int
main(void)
{
    RUN(sessions_come_and_go_while_threads_work);
    RUN(threads_come_and_go_while_a_session_runs);
    return check_report();
}
