/* A lock that is taken often: one at a time, and no wait for oneself. */
#include "check.h"
#include "fixture.h"
#include "os/lock.h"

#include <errno.h>
#include <pthread.h>

#define THREADS 4
#define TURNS 20000

static snd_lock lock;
static uint64_t plain_count; /* no atomic: the lock guards it */

static void *
count_up(void *unused)
{
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        if (!snd_lock_take(&lock))
            return &plain_count;
        plain_count++;
        snd_lock_leave(&lock);
    }
    return NULL;
}

static void
only_one_thread_has_it(void)
{
    pthread_t threads[THREADS];
    void *failed;

    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(pthread_create(&threads[i], NULL, count_up, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK_NUMBER(plain_count, THREADS * TURNS);
    CHECK_NUMBER(lock.state, SND_LOCK_FREE);
}

static void
who_has_it_is_told_so(void)
{
    CHECK(snd_lock_take(&lock));
    CHECK(!snd_lock_take(&lock));
    snd_lock_leave(&lock);
    CHECK(snd_lock_take(&lock));
    snd_lock_leave(&lock);
}

static _Atomic int is_in;

static void *
come_in(void *unused)
{
    (void)unused;
    snd_lock_take(&lock);
    SND_SET(is_in, 1);
    snd_lock_leave(&lock);
    return NULL;
}

static void
who_waits_is_woken_and_errno_is_left_alone(void)
{
    pthread_t thread;

    snd_lock_take(&lock);
    CHECK_NUMBER(pthread_create(&thread, NULL, come_in, NULL), 0);
    while (lock.state != SND_LOCK_AWAITED)
        sleep_ms(1);
    CHECK_NUMBER(is_in, 0);
    errno = EDOM;
    snd_lock_leave(&lock);
    CHECK_NUMBER(errno, EDOM);
    pthread_join(thread, NULL);
    CHECK_NUMBER(is_in, 1);
}

int
main(void)
{
    RUN(only_one_thread_has_it);
    RUN(who_has_it_is_told_so);
    RUN(who_waits_is_woken_and_errno_is_left_alone);
    return check_report();
}
