/* Generators and coroutines that wait: since when, and under which signature they started. */
#include "python/call.h"

#include "base/alloc.h"

/* A hash by address. Guarded by the GIL. */
static snd_pause *pauses;
static uint32_t mask;
static uint32_t count;

static snd_pause *
slot_of(snd_pause *table, uint32_t table_mask, const void *generator)
{
    uint32_t slot = (uint32_t)((uint64_t)(uintptr_t)generator * 0x9E3779B97F4A7C15u >> 32) & table_mask;
    while (table[slot].generator != NULL && table[slot].generator != generator)
        slot = (slot + 1) & table_mask;
    return &table[slot];
}

static int
grow(void)
{
    uint32_t slots = pauses == NULL ? 64 : (mask + 1) * 2;
    snd_pause *table = snd_calloc(slots, sizeof *table);
    if (table == NULL)
        return 0;
    for (uint32_t i = 0; pauses != NULL && i <= mask; i++)
        if (pauses[i].generator != NULL)
            *slot_of(table, slots - 1, pauses[i].generator) = pauses[i];
    snd_free(pauses);
    pauses = table;
    mask = slots - 1;
    return 1;
}

void
snd_pause_begin(const void *generator, uint64_t now, uint32_t site)
{
    if ((pauses == NULL || count > mask / 2) && !grow())
        return; /* its wait stays unknown */
    snd_pause *pause = slot_of(pauses, mask, generator);
    count += pause->generator == NULL;
    *pause = (snd_pause){generator, now, site};
}

snd_pause
snd_pause_end(const void *generator)
{
    snd_pause none = {NULL, 0, SND_NONE};
    if (pauses == NULL)
        return none;
    snd_pause *pause = slot_of(pauses, mask, generator);
    snd_pause found = pause->generator == NULL ? none : *pause;
    pause->site = SND_NONE;
    return found;
}

void
snd_pause_forget_all(void)
{
    snd_free(pauses);
    pauses = NULL;
    mask = count = 0;
}
