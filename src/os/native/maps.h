/* What is mapped into this process: the code, and the files it came from. */
#ifndef SND_OS_MAPS_H
#define SND_OS_MAPS_H

#include "base/buffer.h"

typedef struct snd_mapping {
    uint64_t start, end; /* addresses; `end` is behind the last byte */
    uint64_t offset;     /* of `start` in the file */
    uint64_t file;       /* the file's inode; 0: no file */
    const char *path;    /* of the file, or "[vdso]"; "" where there is none. Owned by the list */
    int is_code;         /* executable */
    int is_readable;     /* code need not be */
    int is_deleted;      /* the file was removed; `path` is where it was */
} snd_mapping;

/* Mappings that are code or can be read and belong to a file, by address: not the hole that the loader leaves between
 * two segments of a file, to which the kernel ascribes bytes of the second one. All zero is an empty list. Not
 * thread-safe. */
typedef struct snd_maps {
    snd_mapping *items;
    uint32_t count, capacity;
    snd_buffer text; /* of the paths */
} snd_maps;

void snd_maps_free(snd_maps *self); /* the list is empty afterwards */

/* Reads /proc/self/maps anew: some 100 µs. On failure (SND_NO_MEMORY, SND_SYSTEM) the list is as it was. */
SND_MUST_USE snd_status snd_maps_read(snd_maps *self);

/* NULL where nothing that we list is mapped. Valid until the next reading. */
const snd_mapping *snd_maps_find(const snd_maps *self, uint64_t address);

/* Whether all code of `before` is still there, from the same files: what is known of its addresses stays true. */
int snd_maps_keep_code(const snd_maps *self, const snd_maps *before);

#endif
