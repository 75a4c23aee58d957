/* The blocks that are sampled, by address. */
#include "probe/memory/memory_private.h"

#include "base/alloc.h"

#define MANY 255 /* in a place of the filter */

_Atomic unsigned char snd_memory_filter[SND_MEMORY_FILTER];

static void
count_in_filter(uintptr_t address, int by)
{
    _Atomic unsigned char *place = &snd_memory_filter[snd_memory_hash((const void *)address)];
    unsigned char count = SND_GET(*place);

    if (count != MANY) /* nobody knows any more how many there are */
        SND_SET(*place, (unsigned char)(count + by));
}

/* Blocks that lie together stand together, as they are allocated and freed; half a kilobyte of them, so that no run of
 * places gets long. */
static uint32_t
place_of(const snd_memory_blocks *self, uintptr_t address)
{
    return (uint32_t)(((address >> 9) * 0x9E3779B97F4A7C15u >> 32) + (address >> 4 & 31)) & self->mask;
}

static int
grow(snd_memory_blocks *self)
{
    uint32_t size = self->places == NULL ? 1024 : (self->mask + 1) * 2;
    snd_memory_blocks grown = {snd_calloc(size, sizeof *grown.places), size - 1, self->count};

    if (grown.places == NULL)
        return 0;
    for (uint32_t i = 0; self->places != NULL && i <= self->mask; i++) {
        if (self->places[i].address == 0)
            continue;
        uint32_t at = place_of(&grown, self->places[i].address);
        while (grown.places[at].address != 0)
            at = (at + 1) & grown.mask;
        grown.places[at] = self->places[i];
    }
    snd_free(self->places);
    *self = grown;
    return 1;
}

int
snd_memory_blocks_add(snd_memory_blocks *self, uintptr_t address, const snd_memory_kept *kept)
{
    if ((self->places == NULL || self->count > self->mask / 2) && !grow(self))
        return 0;
    uint32_t at = place_of(self, address);
    while (self->places[at].address != 0)
        at = (at + 1) & self->mask;
    self->places[at] = (snd_memory_block){address, *kept};
    self->count++;
    count_in_filter(address, 1);
    return 1;
}

/* Later blocks of the same run move up, so that no gap hides them. */
static void
close_gap(snd_memory_blocks *self, uint32_t gap)
{
    for (uint32_t at = (gap + 1) & self->mask; self->places[at].address != 0; at = (at + 1) & self->mask) {
        uint32_t wanted = place_of(self, self->places[at].address);
        if (((at - wanted) & self->mask) >= ((at - gap) & self->mask)) {
            self->places[gap] = self->places[at];
            gap = at;
        }
    }
    self->places[gap].address = 0;
}

int
snd_memory_blocks_remove(snd_memory_blocks *self, uintptr_t address, snd_memory_kept *kept)
{
    if (self->places == NULL || address == 0)
        return 0;
    uint32_t at = place_of(self, address);
    while (self->places[at].address != address) {
        if (self->places[at].address == 0)
            return 0;
        at = (at + 1) & self->mask;
    }
    *kept = self->places[at].kept;
    close_gap(self, at);
    self->count--;
    count_in_filter(address, -1);
    return 1;
}

static void
fill_filter(unsigned char count)
{
    for (uint32_t i = 0; i < SND_MEMORY_FILTER; i++)
        SND_SET(snd_memory_filter[i], count);
}

void
snd_memory_blocks_expect_all(void)
{
    fill_filter(MANY);
}

void
snd_memory_blocks_free(snd_memory_blocks *self)
{
    snd_free(self->places);
    *self = (snd_memory_blocks){0};
    fill_filter(0);
}
