/* Threads that collect garbage, as the sampler sees them. */
#include "check.h"
#include "fixture.h"
#include "fixture_fake.h"
#include "probe/sample/sample.h"

#include <stdio.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__ /* which lets a signal wait for the next call */
#define LEAST_SHARE 300
#else
#define LEAST_SHARE 6
#endif
#define FINALISER 60u
#define LEAST_SAMPLES 60u /* half of them below a sixth: less than once in a million times */

static fake_thread thread;

static void
collect(fake_thread *self)
{
    fake_push(0);
    fake_push(self->code);
    fake_collect(1);
    spin_us(250);
    fake_push(FINALISER);
    spin_us(250);
    fake_pop();
    fake_collect(0);
    fake_pop();
    fake_pop();
}

static const char *
name_of(const snd_profile *profile, uint32_t node)
{
    return profile->sites[profile->nodes[node].site].name;
}

static uint64_t
cpu_of(const snd_profile *profile, uint32_t node)
{
    return snd_profile_whole(profile, node, SND_METRIC_PYTHON) + snd_profile_whole(profile, node, SND_METRIC_NATIVE) +
           snd_profile_whole(profile, node, SND_METRIC_SYSTEM);
}

/* Below the function that collected stands the collection, and below that what it called. */
static void
check_collection(const snd_profile *profile, uint32_t track)
{
    uint64_t collecting = 0, finalising = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (profile->nodes[i].track != track || parent == SND_NONE)
            continue;
        if (strcmp(name_of(profile, i), SND_SITE_COLLECTION) == 0) {
            CHECK_TEXT(name_of(profile, parent), "f1");
            collecting += cpu_of(profile, i);
        }
        if (strcmp(name_of(profile, parent), SND_SITE_COLLECTION) == 0) {
            CHECK_TEXT(name_of(profile, i), "f60");
            finalising += cpu_of(profile, i);
        }
    }
    CHECK(collecting > sampled_cpu(profile, track) / LEAST_SHARE);
    CHECK(finalising > sampled_cpu(profile, track) / LEAST_SHARE);
}

static void
look(snd_sample_options options)
{
    snd_sample_clear();
    REQUIRE(snd_sample_start(&options, &fake_python, snd_clock_monotonic_ns()) == SND_OK);
    fake_start(&thread, collect, 1);
    do {
        let_run(thread.thread_id, 300);
    } while (sampled_fact("samples_effective") < LEAST_SAMPLES); /* fewer come while the machine is busy */
    fake_halt(&thread);
    snd_sample_stop();
    snd_profile *profile = sampled_profile();
    check_collection(profile, sampled_track(profile, thread.thread_id));
    snd_profile_free(profile);
    fake_end(&thread);
}

static void
a_collection_stands_below_its_function(void)
{
    look((snd_sample_options){.rate_hz = 1000, .timeline = 1});
}

static void
without_signals_too(void)
{
    look((snd_sample_options){.rate_hz = 1000, .no_signals = 1});
}

int
main(void)
{
    RUN(a_collection_stands_below_its_function);
    RUN(without_signals_too);
    return check_report();
}
