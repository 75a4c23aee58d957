/* What the GPUs do for this process. Arguments: nvml_library.c as the library of a new driver, and of an old one. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "os/clock.h"
#include "os/process.h"
#include "probe/sample/gpu.h"
#include "probe/sample/sample.h"

#include <dlfcn.h>
#include <stdlib.h>

#define MEMORY (UINT64_C(3) << 30)
#define LOOK_NS UINT64_C(100000000)

/* As in nvml_library.c. */
typedef struct stand_in {
    unsigned gpus, busy, whole;
    unsigned long long memory;
    unsigned inits, shutdowns;
    int is_failing, is_silent;
} stand_in;

static const char *new_driver, *old_driver;
static uint64_t now; /* of the tests without a clock */

/* It stays loaded for ever, so that what is set stays. */
static stand_in *
use_library(const char *path, stand_in wanted)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    stand_in *self = handle == NULL ? NULL : dlsym(handle, "stand_in");

    REQUIRE(self != NULL);
    *self = wanted;
    self->inits = self->shutdowns = 1;
    setenv("SONDE_NVML", path, 1);
    return self;
}

static stand_in *
use(unsigned gpus, unsigned busy)
{
    return use_library(new_driver, (stand_in){.gpus = gpus, .busy = busy, .memory = MEMORY});
}

static void
start(void)
{
    snd_gpu_clear();
    REQUIRE(snd_gpu_start());
    now = snd_clock_monotonic_ns();
    snd_gpu_rebase(now);
}

static snd_gpu_reading
look(void)
{
    snd_gpu_reading reading = {0};

    now += LOOK_NS;
    CHECK(snd_gpu_read(now, &reading));
    CHECK_NUMBER(reading.elapsed_ns, LOOK_NS);
    return reading;
}

/* ---- what a look tells ---- */

static void
without_the_library_there_is_no_gpu(void)
{
    snd_gpu_reading reading;
    snd_profile *profile = snd_profile_new();

    setenv("SONDE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    CHECK(!snd_gpu_start());
    CHECK(!snd_gpu_read(snd_clock_monotonic_ns() + LOOK_NS, &reading));
    CHECK(snd_gpu_describe(profile, 0) == SND_OK);
    CHECK(snd_profile_series(profile, "gpu") == NULL);
    CHECK(snd_profile_series(profile, "gpu_memory") == NULL);
    snd_gpu_stop();
    snd_profile_free(profile);
}

static void
a_library_without_gpus_or_functions_is_none(void)
{
    stand_in *driver = use(0, 40);

    CHECK(!snd_gpu_start());
    CHECK_NUMBER(driver->inits, driver->shutdowns);
    setenv("SONDE_NVML", "libm.so.6", 1);
    CHECK(!snd_gpu_start());
    snd_gpu_stop();
}

static void
the_share_of_this_process_is_time(void)
{
    use(1, 40);
    start();
    snd_gpu_reading reading = look();
    CHECK_NUMBER(reading.busy_ns, LOOK_NS * 40 / 100);
    CHECK_NUMBER(reading.memory, MEMORY);
    snd_gpu_stop();
}

static void
it_is_asked_ten_times_a_second(void)
{
    snd_gpu_reading reading;
    unsigned looks = 0;

    use(1, 40);
    start();
    for (unsigned i = 1; i <= 1000; i++)
        looks += (unsigned)snd_gpu_read(now + i * UINT64_C(1000000), &reading);
    CHECK_NUMBER(looks, 10);
    snd_gpu_stop();
}

static void
several_gpus_add_up(void)
{
    use(3, 100);
    start();
    snd_gpu_reading reading = look();
    CHECK_NUMBER(reading.busy_ns, 3 * LOOK_NS);
    CHECK_NUMBER(reading.memory, 3 * MEMORY);
    snd_gpu_stop();
}

static void
a_share_over_all_is_all(void)
{
    use(1, 250);
    start();
    CHECK_NUMBER(look().busy_ns, LOOK_NS);
    snd_gpu_stop();
}

static void
a_gpu_that_does_not_tell_processes_apart_tells_of_all(void)
{
    stand_in *driver = use(1, 40);

    driver->whole = 70;
    start();
    CHECK_NUMBER(look().busy_ns, LOOK_NS * 70 / 100);
    snd_gpu_stop();
}

static void
an_old_driver_tells_the_memory_too(void)
{
    use_library(old_driver, (stand_in){.gpus = 2, .busy = 10, .memory = MEMORY});
    start();
    CHECK_NUMBER(look().memory, 2 * MEMORY);
    snd_gpu_stop();
}

static void
an_answer_holds_until_the_next_but_not_for_ever(void)
{
    stand_in *driver = use(1, 40);

    start();
    (void)look();
    driver->is_silent = 1;
    CHECK_NUMBER(look().busy_ns, LOOK_NS * 40 / 100);
    for (unsigned i = 0; i < 12; i++)
        (void)look();
    CHECK_NUMBER(look().busy_ns, 0);
    driver->is_silent = 0;
    driver->is_failing = 1;
    snd_gpu_reading reading = look();
    CHECK(reading.busy_ns == 0 && reading.memory == 0);
    snd_gpu_stop();
}

static void
a_thousand_starts_are_a_thousand_ends(void)
{
    stand_in *driver = use(1, 40);

    for (unsigned i = 0; i < 1000; i++) {
        REQUIRE(snd_gpu_start());
        REQUIRE(snd_gpu_start());
        snd_gpu_stop();
    }
    CHECK_NUMBER(driver->inits, 1001);
    CHECK_NUMBER(driver->shutdowns, 1001);
}

static void
without_memory_there_is_no_gpu(void)
{
    use(1, 40);
    snd_alloc_fail_after(0);
    CHECK(!snd_gpu_start());
    snd_alloc_fail_after(-1);
    start();
    (void)look();
    snd_profile *profile = snd_profile_new();
    snd_alloc_fail_after(0);
    CHECK(snd_gpu_describe(profile, 0) == SND_NO_MEMORY);
    snd_alloc_fail_after(-1);
    CHECK(snd_gpu_describe(profile, 0) == SND_OK);
    snd_profile_free(profile);
    snd_gpu_stop();
}

/* ---- over time ---- */

static void
a_long_series_is_thinned_out(void)
{
    snd_profile *profile = snd_profile_new();
    stand_in *driver = use(1, 40);

    start();
    uint64_t origin = now;
    for (unsigned i = 0; i < 5000; i++) {
        driver->busy = i % 2 == 0 ? 20 : 60; /* a point is the average since the one before */
        (void)look();
    }
    REQUIRE(snd_gpu_describe(profile, origin) == SND_OK);
    const snd_series *busy = snd_profile_series(profile, "gpu"), *memory = snd_profile_series(profile, "gpu_memory");
    REQUIRE(busy != NULL && memory != NULL);
    CHECK_TEXT(busy->unit, "%");
    CHECK_TEXT(memory->unit, "bytes");
    CHECK(busy->count > 400 && busy->count <= SND_SERIES_POINTS && memory->count == busy->count);
    for (uint32_t i = 1; i < busy->count; i++) {
        CHECK(busy->points[i].at_ns > busy->points[i - 1].at_ns);
        CHECK(busy->points[i].value >= 19.9 && busy->points[i].value <= 60.1);
    }
    CHECK(busy->points[busy->count - 1].value > 35 && busy->points[busy->count - 1].value < 45);
    CHECK(busy->points[busy->count - 1].at_ns > 4980 * LOOK_NS);
    CHECK(memory->points[7].value > (double)MEMORY - 1 && memory->points[7].value < (double)MEMORY + 1);
    snd_profile_free(profile);
    snd_gpu_stop();
}

/* ---- in the sampler ---- */

static uint64_t
sample_for(unsigned ms)
{
    uint64_t started = snd_clock_monotonic_ns();

    snd_sample_clear();
    REQUIRE(snd_sample_start(&(snd_sample_options){.rate_hz = 1000}, &fake_python, started) == SND_OK);
    sleep_ms(ms); /* sleeps: for some looks */
    snd_sample_stop();
    return snd_clock_monotonic_ns() - started;
}

/* How often the GPUs were looked at so far. */
static uint32_t
looks(void)
{
    snd_profile *profile = sampled_profile();

    REQUIRE(snd_sample_describe(profile) == SND_OK);
    const snd_series *series = snd_profile_series(profile, "gpu");
    uint32_t count = series == NULL ? 0 : series->count;
    snd_profile_free(profile);
    return count;
}

static void
the_main_thread_is_charged(void)
{
    use(1, 50);
    uint64_t started = snd_clock_monotonic_ns();
    snd_sample_clear();
    REQUIRE(snd_sample_start(&(snd_sample_options){.rate_hz = 1000}, &fake_python, started) == SND_OK);
    while (looks() < 5)
        sleep_ms(10);
    snd_sample_stop();
    uint64_t length = snd_clock_monotonic_ns() - started;
    snd_profile *profile = sampled_profile();
    uint32_t track = sampled_track(profile, snd_process_id());
    uint64_t busy = sampled_sum(profile, SND_METRIC_GPU, SND_NONE);
    unsigned places = 0;

    CHECK(busy <= length / 2);
    CHECK_NUMBER(sampled_sum(profile, SND_METRIC_GPU, track), busy);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_profile_has(profile, i, SND_METRIC_GPU)) {
            CHECK_NUMBER(snd_profile_whole(profile, i, SND_METRIC_GPU_MEMORY), MEMORY);
            places++;
        }
    CHECK(places >= 1);
    REQUIRE(snd_sample_describe(profile) == SND_OK);
    const snd_series *series = snd_profile_series(profile, "gpu");
    REQUIRE(series != NULL);
    REQUIRE(series->count >= 2);
    uint64_t first = series->points[0].at_ns, last = series->points[series->count - 1].at_ns;
    CHECK(last <= length && busy >= (last - first) / 2);
    snd_profile_free(profile);
}

static void
without_a_gpu_there_is_no_column(void)
{
    setenv("SONDE_NVML", "/nowhere", 1);
    (void)sample_for(250);
    snd_profile *profile = sampled_profile();
    for (uint32_t i = 0; i < profile->node_count; i++)
        CHECK(!snd_profile_has(profile, i, SND_METRIC_GPU) && !snd_profile_has(profile, i, SND_METRIC_GPU_MEMORY));
    CHECK(snd_sample_describe(profile) == SND_OK);
    CHECK(snd_profile_series(profile, "gpu") == NULL);
    snd_profile_free(profile);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    new_driver = argv[1];
    old_driver = argv[2];
    snd_clock_start(NULL);
    RUN(without_the_library_there_is_no_gpu);
    RUN(a_library_without_gpus_or_functions_is_none);
    RUN(the_share_of_this_process_is_time);
    RUN(it_is_asked_ten_times_a_second);
    RUN(several_gpus_add_up);
    RUN(a_share_over_all_is_all);
    RUN(a_gpu_that_does_not_tell_processes_apart_tells_of_all);
    RUN(an_old_driver_tells_the_memory_too);
    RUN(an_answer_holds_until_the_next_but_not_for_ever);
    RUN(a_thousand_starts_are_a_thousand_ends);
    RUN(without_memory_there_is_no_gpu);
    RUN(a_long_series_is_thinned_out);
    RUN(the_main_thread_is_charged);
    RUN(without_a_gpu_there_is_no_column);
    return check_report();
}
