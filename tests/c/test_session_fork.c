/* Forks while other threads work, and while sessions come and go. Not for ThreadSanitizer, which knows no threads in a
 * child of a process that had some. */
#include "check.h"
#include "fixture.h"
#include "sonde.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS 3

static _Atomic int may_end;
static _Atomic int
    warm; /* workers that have all they need: AddressSanitizer's heap does not survive a fork within it */

static void *
work(void *context)
{
    (void)context;
    for (int is_first = 1; !atomic_load(&may_end); is_first = 0) {
        for (int i = 0; i < 50; i++) {
            SONDE_REGION("work");
            SONDE_COUNTER_SET("level", i);
            sonde_begin_named("inner");
            sonde_end();
        }
        atomic_fetch_add(&warm, is_first);
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
    while (atomic_load(&warm) < WORKERS)
        sched_yield();
}

static void
end_workers(pthread_t *workers)
{
    atomic_store(&may_end, 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}

static void
children_are_forked_while_threads_work(void)
{
    pthread_t workers[WORKERS];

    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("parent.sonde"), .timeline = 1}) == 0);
    start_workers(workers);
    for (int i = 0; i < 10; i++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            sonde_begin_named("in child");
            sonde_end();
            _exit(sonde_stop() == 0 ? 0 : 1);
        }
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK_NUMBER(status, 0);
    }
    end_workers(workers);
    sonde_stop();
}

static void *
come_and_go(void *context)
{
    while (!atomic_load(&may_end)) {
        if (sonde_start(&(sonde_options){.recording = context}) == 0)
            sonde_stop();
        sleep_ms(1); /* sleeps: a fork waits for the same lock */
    }
    return NULL;
}

static int
fork_while_sessions_come_and_go(void)
{
    pthread_t thread;
    char path[512];

    alarm(90); /* it must not hang either */
    snprintf(path, sizeof path, "%s", temp_path("coming.sonde"));
    atomic_store(&may_end, 0);
    REQUIRE(pthread_create(&thread, NULL, come_and_go, path) == 0);
    for (int i = 0; i < 100; i++) {
        int status = -1;
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            _exit(0);
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK_NUMBER(status, 0);
    }
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
    return check_child_status();
}

/* In a process of its own: a crash must not take the other tests with it. */
static void
children_are_forked_while_sessions_come_and_go(void)
{
    CHECK_NUMBER(run_in_child(fork_while_sessions_come_and_go), 0);
}

int
main(void)
{
    RUN(children_are_forked_while_threads_work);
    RUN(children_are_forked_while_sessions_come_and_go);
    return check_report();
}
