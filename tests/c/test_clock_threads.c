/* The clock is changed while other threads read it. */
#include "check.h"
#include "fixture.h"
#include "os/clock.h"

#include <pthread.h>

#define READERS 2

static _Atomic int may_end;

static void *
read_again_and_again(void *context)
{
    uint64_t *sum = context;

    while (!atomic_load(&may_end))
        *sum += snd_clock_ns(snd_clock_ticks());
    return NULL;
}

static void
a_reader_meets_one_clock_or_the_other(void)
{
    static uint64_t sums[READERS];
    pthread_t readers[READERS];

    snd_clock_start(NULL);
    for (int i = 0; i < READERS; i++)
        REQUIRE(pthread_create(&readers[i], NULL, read_again_and_again, &sums[i]) == 0);
    for (int i = 0; i < 200000; i++)
        snd_clock_start(i % 2 == 0 ? test_clock : NULL);
    atomic_store(&may_end, 1);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    CHECK(snd_clock_ticks() > 0);
}

int
main(void)
{
    RUN(a_reader_meets_one_clock_or_the_other);
    return check_report();
}
