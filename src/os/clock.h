/* Time. The hot path reads ticks; ticks become nanoseconds when somebody looks. */
#ifndef SND_OS_CLOCK_H
#define SND_OS_CLOCK_H

#include "base/attr.h"

#include <time.h>

typedef enum snd_clock_source {
    SND_CLOCK_COUNTER,  /* the processor's time-stamp counter, where it runs at a constant rate */
    SND_CLOCK_SYSTEM,   /* CLOCK_MONOTONIC */
    SND_CLOCK_FUNCTION, /* given by the program; its ticks are nanoseconds */
} snd_clock_source;

/* Written by snd_clock_start only, before anything is measured. */
typedef struct snd_clock {
    _Atomic snd_clock_source source;
    _Atomic uint64_t scale; /* nanoseconds per tick, times 2^32 */
    uint64_t (*_Atomic function)(void);
} snd_clock;

extern SND_PROTECTED snd_clock snd_clock_now;

/* Calibrates against CLOCK_MONOTONIC (up to 5 ms, once a process) and chooses the source. `function` may be NULL. */
void snd_clock_start(uint64_t (*function)(void));

/* "counter", "system" or "function". */
const char *snd_clock_name(void);

/* Why the counter is not used; NULL when it is. */
const char *snd_clock_why_not_counter(void);

uint64_t snd_clock_counter_hz(void); /* 0 before calibration */

/* Readings of snd_clock_counter() as nanoseconds, whatever the source of ticks is. */
uint64_t snd_clock_counter_ns(uint64_t readings);

static inline uint64_t
snd_clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t snd_clock_realtime_ns(void);

static inline uint64_t
snd_clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return snd_clock_monotonic_ns();
#endif
}

static inline uint64_t
snd_clock_ticks(void)
{
    if (SND_LIKELY(SND_GET(snd_clock_now.source) == SND_CLOCK_COUNTER))
        return snd_clock_counter();
    snd_clock_source source = atomic_load_explicit(&snd_clock_now.source, memory_order_acquire);
    if (source == SND_CLOCK_FUNCTION)
        return SND_GET(snd_clock_now.function)();
    return source == SND_CLOCK_COUNTER ? snd_clock_counter() : snd_clock_monotonic_ns();
}

/* A duration in ticks as nanoseconds. */
static inline uint64_t
snd_clock_ns(uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)ticks * SND_GET(snd_clock_now.scale) >> 32);
}

/* CLOCK_MONOTONIC at a third of its cost: counted on from a real reading that is at most some milliseconds old.
 * All zero: none yet. Not for two threads at once. */
typedef struct snd_clock_runner {
    uint64_t counter, ns; /* the real reading */
    uint64_t last;        /* no time is before it */
} snd_clock_runner;

uint64_t snd_clock_run(snd_clock_runner *self);

/* CPU time of the calling thread. A system call: some 650 ns. */
uint64_t snd_clock_thread_cpu_ns(void);

#endif
