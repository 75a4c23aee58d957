/* The memory probe: when it runs. */
#include "probe/memory.h"

#include "os/got.h"
#include "probe/memory_private.h"

static void
go_on(void)
{
    if (++snd_memory.last_serial == 0)
        snd_memory.last_serial = 1;
    snd_lock_take(&snd_sample_state.lock);
    (void)snd_clock_run(&snd_memory.clock); /* the first blocks may not ask it */
    snd_lock_leave(&snd_sample_state.lock);
    SND_SET(snd_memory_floor, snd_memory.options.exact ? INT64_MAX : 0);
    SND_SET(snd_memory.serial, snd_memory.last_serial);
}

static void
stand_still(void)
{
    SND_SET(snd_memory.serial, 0);
    SND_SET(snd_memory_floor, 0);
}

snd_status
snd_memory_probe_start(const snd_memory_options *options)
{
    if (SND_GET(snd_memory.is_running))
        return SND_OK;
    snd_lock_take(&snd_sample_state.lock);
    snd_memory.options = *options;
    if (snd_memory.options.interval == 0)
        snd_memory.options.interval = SND_MEMORY_INTERVAL;
    snd_memory_begin();
    if (snd_memory.options.exact)
        snd_memory_blocks_expect_all();
    snd_lock_leave(&snd_sample_state.lock);
    snd_status status = snd_memory_hooks_start();
    if (status != SND_OK && status != SND_ALREADY) /* a child has its parent's */
        return status;
    SND_SET(snd_memory.is_running, 1);
    go_on();
    return SND_OK;
}

void
snd_memory_probe_stop(void)
{
    if (!SND_GET(snd_memory.is_running))
        return;
    stand_still();
    snd_memory_hooks_stop();
    SND_SET(snd_memory.is_running, 0);
    snd_lock_take(&snd_sample_state.lock);
    snd_memory_blocks_free(&snd_memory.blocks); /* nobody will tell when they are freed */
    snd_memory_maps_free(&snd_memory.maps);
    snd_memory_settle();
    snd_lock_leave(&snd_sample_state.lock);
}

int
snd_memory_is_running(void)
{
    return SND_GET(snd_memory.is_running);
}

void
snd_memory_set_paused(int paused)
{
    if (!SND_GET(snd_memory.is_running) || paused == (SND_GET(snd_memory.serial) == 0))
        return;
    if (paused)
        stand_still();
    else
        go_on();
}

void
snd_memory_refresh(int has_loaded)
{
    if (SND_GET(snd_memory.is_running))
        snd_got_refresh(has_loaded);
}

/* Its parent's blocks are not its own to tell of, and nothing is measured in it until it is followed. */
void
snd_memory_in_child(void)
{
    stand_still();
    SND_SET(snd_memory.is_running, 0);
    snd_memory_clear();
}
