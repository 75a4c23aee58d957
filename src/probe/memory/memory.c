/* The memory probe: when it runs. */
#include "probe/memory/memory.h"

#include "base/alloc.h"
#include "os/native/got.h"
#include "probe/memory/memory_private.h"

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

/* The sampler's threads take nothing themselves. */
static void
before_tick(void)
{
    snd_memory_exempt();
    snd_memory_refresh(0);
}

static const snd_sample_listener listener = {
    .before_tick = before_tick,
    .on_tick = snd_memory_tick,
    .on_clear = snd_memory_clear,
    .on_code_gone = snd_memory_forget_stack,
};

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
    snd_sample_listen(&listener);
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

/* ---- the probe ---- */

static int has_measured; /* since the last clear */

static int
is_wanted(const snd_probe_wishes *wishes)
{
    return wishes->memory.on;
}

static snd_status
start(const snd_probe_wishes *wishes)
{
    has_measured = 1;
    snd_status status = snd_memory_probe_start(&wishes->memory);
    snd_memory_set_paused(wishes->sample.paused);
    return status;
}

static void
end(void)
{
    snd_memory_set_paused(1);
}

/* The numbers go with the sampler's tree. */
static void
clear(void)
{
    has_measured = 0;
}

static void
before_fork(void)
{
    snd_memory_hold(1); /* what others do before a fork may need memory */
}

/* A child's parent's blocks are not its own to tell of, and nothing is measured in it until it is followed. */
static void
after_fork(int in_child)
{
    if (in_child) {
        stand_still();
        SND_SET(snd_memory.is_running, 0);
        snd_memory_clear();
    }
    snd_memory_hold(0);
}

static snd_status
update(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin, uint64_t now)
{
    (void)origin, (void)now; /* blocks have the monotonic clock */
    snd_lock_take(&snd_sample_state.lock);
    snd_status status = snd_memory_put_all(snapshot, profile);
    snd_lock_leave(&snd_sample_state.lock);
    return status;
}

static int
has_memory(void)
{
    return has_measured;
}

const snd_probe snd_memory_probe = {
    .name = "memory",
    .is_wanted = is_wanted,
    .start = start,
    .stop = snd_memory_probe_stop,
    .pause = snd_memory_set_paused,
    .end = end,
    .reset = snd_memory_reset,
    .clear = clear,
    .before_fork = before_fork,
    .after_fork = after_fork,
    .snapshot = update,
    .describe = snd_memory_describe,
    .has_measured = has_memory,
};

/* ---- mappings ---- */

/* A piece of the mapping is gone. */
static void
give_back(const snd_memory_map *map, size_t size, uint64_t now_ns)
{
    snd_memory_kept piece = map->kept;

    piece.size = piece.weight = size;
    snd_memory_remove_block(&piece, now_ns);
}

int
snd_memory_maps_add(snd_memory_maps *self, uintptr_t start, const snd_memory_kept *kept)
{
    if (!snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        return 0;
    self->list[self->count++] = (snd_memory_map){start, start + kept->size, *kept};
    return 1;
}

/* Cuts [start, end) out of one mapping, of which up to two pieces are left. */
static void
cut(snd_memory_maps *self, uint32_t place, uintptr_t start, uintptr_t end, uint64_t now_ns)
{
    snd_memory_map *map = &self->list[place];
    uintptr_t from = start > map->start ? start : map->start, to = end < map->end ? end : map->end;
    snd_memory_map rest = {to, map->end, map->kept};

    give_back(map, to - from, now_ns);
    map->end = from;
    if (map->start == map->end)
        *map = self->list[--self->count];
    if (rest.start < rest.end && snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        self->list[self->count++] = rest;
}

int
snd_memory_maps_cut(snd_memory_maps *self, uintptr_t start, size_t size, uint64_t now_ns)
{
    int any = 0;

    for (uint32_t i = self->count; i-- > 0;)
        if (start < self->list[i].end && start + size > self->list[i].start) {
            cut(self, i, start, start + size, now_ns);
            any = 1;
        }
    return any;
}

void
snd_memory_maps_free(snd_memory_maps *self)
{
    snd_free(self->list);
    *self = (snd_memory_maps){0};
}
