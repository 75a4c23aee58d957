/* Generators and coroutines that wait: since when, and under which signature they started. */
#include "python/calls/call.h"

#include "base/alloc.h"
#include "base/map.h"

/* Guarded by the GIL. */
static snd_map by_address;
static snd_pause *pauses;
static uint32_t count;
static uint32_t capacity;

/* The entry of this address; NULL: there was never one. */
static snd_pause *
find(const void *generator)
{
    uint32_t cursor = 0;
    uint32_t at = snd_map_next(&by_address, (uint64_t)(uintptr_t)generator, &cursor);
    return at == SND_MAP_NONE ? NULL : &pauses[at];
}

static snd_pause *
add(const void *generator)
{
    if (!snd_make_room(&pauses, count + 1, &capacity, sizeof *pauses) ||
        snd_map_add(&by_address, (uint64_t)(uintptr_t)generator, count) != SND_OK)
        return NULL;
    return &pauses[count++];
}

void
snd_pause_begin(const void *generator, uint64_t now, uint32_t site)
{
    snd_pause *pause = find(generator);
    if (pause == NULL)
        pause = add(generator);
    if (pause != NULL) /* else its wait stays unknown */
        *pause = (snd_pause){now, site};
}

snd_pause
snd_pause_end(const void *generator)
{
    static const snd_pause none = {0, SND_NONE};
    snd_pause *pause = find(generator);
    snd_pause found = pause == NULL ? none : *pause;
    if (pause != NULL)
        *pause = none;
    return found;
}

void
snd_pause_forget_all(void)
{
    snd_map_free(&by_address);
    snd_free(pauses);
    pauses = NULL;
    count = capacity = 0;
}
