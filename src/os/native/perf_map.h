/* Names of code that the program generates at run time, as it tells them to perf: /tmp/perf-PID.map. */
#ifndef SND_OS_PERF_MAP_H
#define SND_OS_PERF_MAP_H

#include "base/buffer.h"

/* All zero: nothing was read. Not thread-safe. */
typedef struct snd_perf_map {
    struct snd_perf_entry *entries; /* by start, and in the order of the file */
    uint32_t count, capacity;
    snd_buffer names;    /* of all entries, each ended by NUL */
    uint64_t file, done; /* which file it is, and up to where it was read */
    int is_broken;       /* too large, or not to be trusted: what is known stays, and no more is read */
} snd_perf_map;

typedef struct snd_perf_function {
    const char *name; /* good until the next question */
    uint64_t start, size;
} snd_perf_function;

/* The function at an address; 0: none is known. Reads what the program has written meanwhile. The file counts only if
 * it is a plain one of this user's that nobody else may write, and only its first 32 MB are read: whatever it says is
 * taken for names and nothing else. Lines that say nothing are left out, and so are the interpreter's own (`py::`),
 * which name frames that are known better. */
int snd_perf_map_find(snd_perf_map *self, uint64_t address, snd_perf_function *out);

void snd_perf_map_free(snd_perf_map *self);

#endif
