/* Ticks and nanoseconds. */
#include "check.h"
#include "fixture.h"
#include "os/clock.h"

#include <string.h>

static uint64_t
seven(void)
{
    return 7;
}

static void
ticks_never_go_back(void)
{
    snd_clock_start(NULL);
    uint64_t last = snd_clock_ticks();
    unsigned steps_back = 0;

    for (int i = 0; i < 100000; i++) {
        uint64_t now = snd_clock_ticks();
        steps_back += now < last;
        last = now;
    }
    CHECK_NUMBER(steps_back, 0);
}

static void
ticks_as_nanoseconds_agree_with_the_system_clock(void)
{
    snd_clock_start(NULL);
    uint64_t before = snd_clock_monotonic_ns();
    uint64_t ticks = snd_clock_ticks();
    uint64_t least = snd_clock_monotonic_ns();
    sleep_ms(50); /* sleeps: time to compare */
    least = snd_clock_monotonic_ns() - least;
    uint64_t by_ticks = snd_clock_ns(snd_clock_ticks() - ticks);
    uint64_t most = snd_clock_monotonic_ns() - before;

    CHECK(least >= 50000000);
    CHECK(by_ticks >= least - least / 100);
    CHECK(by_ticks <= most + most / 100);
}

static void
a_clock_that_is_counted_on_stays_at_the_system_clock(void)
{
    snd_clock_runner runner = {0};
    unsigned early = 0, late = 0, steps_back = 0;
    uint64_t last = 0;

    snd_clock_start(NULL);
    for (unsigned i = 0; i < 400; i++) {
        uint64_t before = snd_clock_monotonic_ns(), now = snd_clock_run(&runner), after = snd_clock_monotonic_ns();
        early += now + 20000 < before; /* 5 ms at a rate that is known to a thousandth, and more */
        late += now > after + 20000;
        steps_back += now < last;
        last = now;
        if (i % 20 == 0)
            sleep_ms(i / 20); /* sleeps: longer and longer */
    }
    CHECK_NUMBER(early, 0);
    CHECK_NUMBER(late, 0);
    CHECK_NUMBER(steps_back, 0);
}

static void
the_source_has_a_name_and_a_reason(void)
{
    snd_clock_start(NULL);
    if (snd_clock_why_not_counter() == NULL) {
        CHECK_TEXT(snd_clock_name(), "counter");
        CHECK(snd_clock_counter_hz() > 1000000);
    }
    else {
        CHECK_TEXT(snd_clock_name(), "system");
        CHECK(strlen(snd_clock_why_not_counter()) > 10);
    }
}

static void
a_clock_of_the_program_is_taken_as_nanoseconds(void)
{
    snd_clock_start(seven);
    CHECK_TEXT(snd_clock_name(), "function");
    CHECK_NUMBER(snd_clock_ticks(), 7);
    CHECK_NUMBER(snd_clock_ns(123456789), 123456789);
    CHECK_NUMBER(snd_clock_ns(UINT64_MAX), UINT64_MAX);
    snd_clock_start(NULL);
    CHECK(strcmp(snd_clock_name(), "function") != 0);
}

static void
conversion_of_long_times_does_not_overflow(void)
{
    snd_clock_start(NULL);
    uint64_t year = UINT64_C(365) * 86400 * 1000000000;
    double per_tick = (double)snd_clock_now.scale / 4294967296.0;
    uint64_t ticks = (uint64_t)((double)year / per_tick);

    CHECK(snd_clock_ns(ticks) > year - year / 1000000);
    CHECK(snd_clock_ns(ticks) < year + year / 1000000);
    CHECK_NUMBER(snd_clock_ns(0), 0);
}

static void
cpu_time_passes_only_while_the_thread_works(void)
{
    uint64_t before = snd_clock_thread_cpu_ns();
    sleep_ms(30); /* sleeps: its own */
    uint64_t asleep = snd_clock_thread_cpu_ns() - before;
    while (snd_clock_thread_cpu_ns() - before < asleep + 1000000)
        ;
    CHECK(asleep < 15000000);
}

static void
the_time_of_day_is_after_2020(void)
{
    CHECK(snd_clock_realtime_ns() > UINT64_C(1577836800) * 1000000000);
}

int
main(void)
{
    RUN(ticks_never_go_back);
    RUN(ticks_as_nanoseconds_agree_with_the_system_clock);
    RUN(a_clock_that_is_counted_on_stays_at_the_system_clock);
    RUN(the_source_has_a_name_and_a_reason);
    RUN(a_clock_of_the_program_is_taken_as_nanoseconds);
    RUN(conversion_of_long_times_does_not_overflow);
    RUN(cpu_time_passes_only_while_the_thread_works);
    RUN(the_time_of_day_is_after_2020);
    return check_report();
}
