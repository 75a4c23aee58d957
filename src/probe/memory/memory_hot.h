/* What every allocation and every copy passes: a count that goes down, and a look whether a block is known. */
#ifndef SND_PROBE_MEMORY_HOT_H
#define SND_PROBE_MEMORY_HOT_H

#include "base/attr.h"

#define SND_MEMORY_FILTER (1u << 16)

/* Of one thread. All zero: it has not met this measurement yet. */
typedef struct snd_memory_local {
    int64_t left;      /* bytes to allocate until the next block is sampled */
    int64_t copy_left; /* bytes to copy until the next copy is */
    int64_t copy_step; /* what that was when it was set */
    uint32_t serial;   /* of the measurement that the counts belong to */
    uint32_t busy;     /* our own code runs, maybe with its lock: nothing else may ask for that */
    uint32_t inside;   /* the real allocator is at work, with its locks: a signal handler must not ask for memory */
    uint32_t exempt;   /* a thread of our own */
    uint32_t python;   /* the interpreter's allocator is asking */
    uint32_t counted;  /* the interpreter counts this block itself */
    uint32_t quiet;    /* what it asks for is divided into blocks that are counted themselves */
    uint32_t row;      /* the sampler's row of this thread */
    uint64_t random;
} snd_memory_local;

extern _Thread_local snd_memory_local snd_memory_mine __attribute__((tls_model("initial-exec")));

/* The count of blocks runs out below this: 0, or so much that it does with every one. Copies are never all sampled.
 */
extern SND_PROTECTED _Atomic int64_t snd_memory_floor;

/* How many blocks that are sampled have this hash; 255: at least so many. */
extern SND_PROTECTED _Atomic unsigned char snd_memory_filter[SND_MEMORY_FILTER];

/* The count has run out. */
void snd_memory_take(void *block, size_t size, int is_python);

/* A mapping was made, or a piece of one is about to go; whether any of it was known. */
void snd_memory_take_map(void *block, size_t size);
int snd_memory_unmap(void *start, size_t size);
void snd_memory_take_copy(size_t size);

/* The block may be one that is sampled: it is freed now. */
void snd_memory_gone(void *block);

/* A block that is sampled, as it is known while it lives. */
typedef struct snd_memory_kept {
    size_t size;
    uint64_t weight, at_ns;
    uint32_t node; /* the sampler's */
    uint32_t flags;
} snd_memory_kept;

/* Takes a block out while it is moved; `node` is UINT32_MAX where nothing is known of it. */
void snd_memory_lift(void *block, snd_memory_kept *kept);
void snd_memory_put_back(void *block, const snd_memory_kept *kept); /* it was not moved */

static inline uint32_t
snd_memory_hash(const void *block)
{
    return (uint32_t)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 48) % SND_MEMORY_FILTER;
}

static inline int
snd_memory_may_know(const void *block)
{
    return SND_GET(snd_memory_filter[snd_memory_hash(block)]) != 0;
}

/* The same for a block that is about to be moved, before another thread may get its place; NULL is allowed. */
static inline void
snd_memory_lift_old(void *old, snd_memory_kept *kept)
{
    kept->node = UINT32_MAX;
    if (old != NULL && snd_memory_may_know(old))
        snd_memory_lift(old, kept);
}

static inline void
snd_memory_allocated(void *block, size_t size, int is_python)
{
    if (SND_UNLIKELY((snd_memory_mine.left -= (int64_t)size) < SND_GET(snd_memory_floor)))
        snd_memory_take(block, size, is_python);
}

static inline int
snd_memory_copy_runs_out(size_t size)
{
    return (snd_memory_mine.copy_left -= (int64_t)size) < 0;
}

static inline void
snd_memory_copied(size_t size)
{
    if (SND_UNLIKELY(snd_memory_copy_runs_out(size)))
        snd_memory_take_copy(size);
}

static inline void
snd_memory_freed(void *block)
{
    if (SND_UNLIKELY(snd_memory_may_know(block)))
        snd_memory_gone(block);
}

#endif
