/* A hash map from 64-bit keys to 32-bit values, both chosen by the caller. */
#ifndef SND_BASE_MAP_H
#define SND_BASE_MAP_H

#include "base/status.h"

/* All zero is an empty map. Several entries may share a key; the caller tells them apart. Not thread-safe. */
typedef struct snd_map {
    uint64_t *keys;
    uint32_t *values; /* SND_MAP_NONE marks a free slot */
    uint32_t mask;
    uint32_t count;
} snd_map;

#define SND_MAP_NONE UINT32_MAX

void snd_map_free(snd_map *self);

/* Walks the values under `key`: start with *cursor = 0; SND_MAP_NONE at the end. */
uint32_t snd_map_next(const snd_map *self, uint64_t key, uint32_t *cursor);

/* Adds an entry beside those that are there. On failure the map is as it was. */
SND_MUST_USE snd_status snd_map_add(snd_map *self, uint64_t key, uint32_t value);

/* A good 64-bit hash of some bytes. */
uint64_t snd_hash(const void *data, size_t size, uint64_t seed);

#endif
