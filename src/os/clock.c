/* Calibration of the time-stamp counter. */
#include "os/clock.h"

#include <pthread.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_NS 5000000u
#define ONE_TO_ONE (UINT64_C(1) << 32)

typedef struct pair {
    uint64_t counter;
    uint64_t ns;
} pair;

snd_clock snd_clock_now = {.source = SND_CLOCK_SYSTEM, .scale = ONE_TO_ONE};

static pair first;
static uint64_t counter_scale;
static const char *why_not;

/* Both clocks at one moment: of several tries the one with the least time between the counter reads. */
static pair
read_pair(void)
{
    pair best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = snd_clock_counter();
        uint64_t ns = snd_clock_monotonic_ns();
        uint64_t width = snd_clock_counter() - before;
        if (width < least) {
            least = width;
            best = (pair){before + width / 2, ns};
        }
    }
    return best;
}

/* At load time, so that some of the calibration time has passed before anybody waits for it. */
__attribute__((constructor)) static void
remember_load(void)
{
    first = read_pair();
}

static const char *
counter_fault(void)
{
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & (1u << 8)) == 0)
        return "the processor does not guarantee a constant rate (no invariant TSC)";
    return NULL;
#elif defined(__aarch64__)
    return NULL;
#else
    return "no time-stamp counter is known for this processor";
#endif
}

static void
calibrate(void)
{
    why_not = counter_fault();
    if (why_not != NULL)
        return;
    pair second = read_pair();
    while (second.ns - first.ns < CALIBRATION_NS)
        second = read_pair();
    if (second.counter <= first.counter) {
        why_not = "the counter ran backwards";
        return;
    }
    double scale = (double)(second.ns - first.ns) / (double)(second.counter - first.counter);
    if (scale < 1e-3 || scale > 1e3) {
        why_not = "the counter's rate is implausible";
        return;
    }
    counter_scale = (uint64_t)(scale * (double)ONE_TO_ONE + 0.5);
}

void
snd_clock_start(uint64_t (*function)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, calibrate);
    int uses_counter = function == NULL && why_not == NULL;
    if (function != NULL) /* an old one stays: another thread may be about to call it */
        SND_SET(snd_clock_now.function, function);
    SND_SET(snd_clock_now.scale, uses_counter ? counter_scale : ONE_TO_ONE);
    atomic_store_explicit(&snd_clock_now.source,
                          uses_counter       ? SND_CLOCK_COUNTER
                          : function != NULL ? SND_CLOCK_FUNCTION
                                             : SND_CLOCK_SYSTEM,
                          memory_order_release);
}

const char *
snd_clock_name(void)
{
    static const char *const names[] = {"counter", "system", "function"};
    return names[SND_GET(snd_clock_now.source)];
}

const char *
snd_clock_why_not_counter(void)
{
    return why_not;
}

uint64_t
snd_clock_counter_hz(void)
{
    return counter_scale == 0 ? 0 : (uint64_t)(1e9 * (double)ONE_TO_ONE / (double)counter_scale);
}

uint64_t
snd_clock_counter_ns(uint64_t readings)
{
    return counter_scale == 0 ? readings : (uint64_t)((double)readings * (double)counter_scale / (double)ONE_TO_ONE);
}

#define RUN_NS 5000000u

uint64_t
snd_clock_run(snd_clock_runner *self)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t counter = snd_clock_counter(), since = (uint64_t)((wide)(counter - self->counter) * counter_scale >> 32);

    if (counter_scale == 0 || self->ns == 0 || since >= RUN_NS) {
        self->counter = counter;
        self->ns = snd_clock_monotonic_ns();
        since = 0;
    }
    if (self->ns + since > self->last)
        self->last = self->ns + since;
    return self->last;
}

static uint64_t
read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
snd_clock_realtime_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t
snd_clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
