/* What a profile knows of memory besides the metrics of its nodes: numbers of the process over time, the memory of
 * single nodes over time, and blocks by size. */
#ifndef SND_MODEL_MEMORY_H
#define SND_MODEL_MEMORY_H

#include "base/status.h"

typedef struct snd_point {
    uint64_t at_ns; /* since the recording's start */
    double value;
} snd_point;

/* A number of the whole process over time, such as "heap" or "rss". */
typedef struct snd_series {
    const char *name, *unit; /* live as long as the profile */
    snd_point *points;       /* by time */
    uint32_t count;
} snd_series;

#define SND_SERIES_LIMIT 16u    /* series that a profile may have */
#define SND_SERIES_POINTS 2048u /* points that one may have */

/* A node at the end of a step of time; all steps are as long: the fact "history_step_ns". */
typedef struct snd_history_point {
    uint64_t live;  /* bytes */
    uint64_t taken; /* blocks looked at since the start, and those of them that were freed */
    uint64_t freed;
} snd_history_point;

#define SND_HISTORY_POINTS 32u

typedef struct snd_history {
    uint32_t count; /* points */
    snd_history_point points[SND_HISTORY_POINTS];
} snd_history;

/* Blocks of at least 2^i bytes and less than twice that, estimated. */
typedef struct snd_block_size {
    uint64_t python_blocks, python_bytes, native_blocks, native_bytes;
} snd_block_size;

#define SND_BLOCK_SIZES 64u

typedef struct snd_profile_memory {
    snd_series series[SND_SERIES_LIMIT];
    uint32_t series_count;
    snd_history **histories; /* per node; NULL: none */
    uint32_t history_count;  /* length of that list */
    snd_block_size *sizes;   /* SND_BLOCK_SIZES of them; NULL: not measured */
} snd_profile_memory;

void snd_profile_memory_free(snd_profile_memory *self); /* what it has, not itself */

#endif
