/* The probes of a session. */
#include "collect/probes.h"

#include "probe/call/call.h"
#include "probe/counter/counter.h"
#include "probe/graph/graph.h"
#include "probe/memory/memory.h"
#include "probe/op/op.h"
#include "probe/region/region.h"
#include "probe/sample/sample.h"

/* Each needs those before it: they are started and told in this order, and stopped in the other. */
static const snd_probe *const probes[] = {&snd_region_probe, &snd_counter_probe, &snd_calls_probe, &snd_sample_probe,
                                          &snd_memory_probe, &snd_op_probe,      &snd_graph_probe};

enum { COUNT = sizeof probes / sizeof probes[0] };

static void
stop(const snd_probe *probe)
{
    if (probe->stop != NULL)
        probe->stop();
}

snd_status
snd_probes_start(const snd_probe_wishes *wishes)
{
    snd_status status = SND_OK;

    for (unsigned i = COUNT; i-- > 0;)
        if (!probes[i]->is_wanted(wishes))
            stop(probes[i]);
    for (unsigned i = 0; i < COUNT && status == SND_OK; i++)
        if (probes[i]->is_wanted(wishes))
            status = probes[i]->start(wishes);
    return status;
}

void
snd_probes_stop_samples(void)
{
    for (unsigned i = COUNT; i-- > 0 && probes[i] != &snd_region_probe;)
        stop(probes[i]);
}

snd_status
snd_probes_snapshot(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin, uint64_t now)
{
    snd_status status = SND_OK;

    for (unsigned i = 0; i < COUNT && status == SND_OK; i++)
        if (probes[i]->snapshot != NULL)
            status = probes[i]->snapshot(snapshot, profile, origin, now);
    return status;
}

snd_status
snd_probes_describe(snd_profile *profile)
{
    snd_status status = SND_OK;

    for (unsigned i = 0; i < COUNT && status == SND_OK; i++)
        if (probes[i]->describe != NULL && (probes[i]->has_measured == NULL || probes[i]->has_measured()))
            status = probes[i]->describe(profile);
    return status;
}

const char *
snd_probes_note(void)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (probes[i]->note != NULL && probes[i]->note() != NULL)
            return probes[i]->note();
    return NULL;
}

void
snd_probes_list(snd_buffer *out)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (probes[i]->has_measured != NULL && probes[i]->has_measured())
            snd_buffer_printf(out, ", %s", probes[i]->name);
}

/* ---- one thing told to all ---- */

#define TELL_ALL(function, parameter, ...)        \
    void snd_probes_##function(parameter)         \
    {                                             \
        for (unsigned i = 0; i < COUNT; i++)      \
            if (probes[i]->function != NULL)      \
                probes[i]->function(__VA_ARGS__); \
    }
#define TELL_ALL_BACKWARDS(function)         \
    void snd_probes_##function(void)         \
    {                                        \
        for (unsigned i = COUNT; i-- > 0;)   \
            if (probes[i]->function != NULL) \
                probes[i]->function();       \
    }

TELL_ALL_BACKWARDS(stop)
TELL_ALL_BACKWARDS(end)
TELL_ALL_BACKWARDS(before_fork)
TELL_ALL(after_fork, int in_child, in_child)
TELL_ALL(pause, int paused, paused)
TELL_ALL(release, void)
TELL_ALL(reset, void)
TELL_ALL(clear, void)
TELL_ALL(suspend, void)
TELL_ALL(resume, void)
