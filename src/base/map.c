/* An open-addressing hash map. */
#include "base/map.h"

#include "base/alloc.h"

#include <string.h>

static uint32_t
home_of(const snd_map *self, uint64_t key)
{
    return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & self->mask;
}

static void
place(snd_map *self, uint64_t key, uint32_t value)
{
    uint32_t slot = home_of(self, key);
    while (self->values[slot] != SND_MAP_NONE)
        slot = (slot + 1) & self->mask;
    self->keys[slot] = key;
    self->values[slot] = value;
    self->count++;
}

static snd_status
grow(snd_map *self)
{
    size_t slots = self->keys == NULL ? 16 : ((size_t)self->mask + 1) * 2;
    if (slots > UINT32_MAX)
        return SND_NO_MEMORY;
    snd_map bigger = {
        .keys = snd_malloc(slots * sizeof(uint64_t)),
        .values = snd_malloc(slots * sizeof(uint32_t)),
        .mask = (uint32_t)(slots - 1),
    };
    if (bigger.keys == NULL || bigger.values == NULL) {
        snd_map_free(&bigger);
        return SND_NO_MEMORY;
    }
    memset(bigger.values, 0xff, slots * sizeof(uint32_t));
    for (size_t i = 0; self->keys != NULL && i <= self->mask; i++)
        if (self->values[i] != SND_MAP_NONE)
            place(&bigger, self->keys[i], self->values[i]);
    snd_map_free(self);
    *self = bigger;
    return SND_OK;
}

void
snd_map_free(snd_map *self)
{
    snd_free(self->keys);
    snd_free(self->values);
    *self = (snd_map){0};
}

uint32_t
snd_map_next(const snd_map *self, uint64_t key, uint32_t *cursor)
{
    if (self->keys == NULL)
        return SND_MAP_NONE;
    for (;;) {
        uint32_t slot = (home_of(self, key) + *cursor) & self->mask;
        if (self->values[slot] == SND_MAP_NONE)
            return SND_MAP_NONE;
        ++*cursor;
        if (self->keys[slot] == key)
            return self->values[slot];
    }
}

snd_status
snd_map_add(snd_map *self, uint64_t key, uint32_t value)
{
    if (self->keys == NULL || (uint64_t)self->count * 4 >= ((uint64_t)self->mask + 1) * 3) {
        snd_status status = grow(self);
        if (status != SND_OK)
            return status;
    }
    place(self, key, value);
    return SND_OK;
}

static uint64_t
mix(uint64_t word)
{
    word *= 0x9E3779B97F4A7C15u;
    return word ^ word >> 32;
}

uint64_t
snd_hash(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ (size * 0x9E3779B97F4A7C15u);
    uint64_t word;

    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return mix(mix(hash ^ word));
}
