/* What the files of the memory probe share. Everything here is guarded by the sampler's lock. */
#ifndef SND_PROBE_MEMORY_PRIVATE_H
#define SND_PROBE_MEMORY_PRIVATE_H

#include "model/profile.h"
#include "os/clock.h"
#include "probe/core/plot.h"
#include "probe/memory/memory.h"
#include "probe/memory/memory_hot.h"
#include "probe/sample/sample_private.h"

/* A block that is sampled. It stands for more than itself: `weight` bytes. */
typedef struct snd_memory_block {
    uintptr_t address; /* 0: a free place */
    snd_memory_kept kept;
} snd_memory_block;

enum { SND_BLOCK_PYTHON = 1, SND_BLOCK_MAP = 2 };

/* All zero: none. */
typedef struct snd_memory_blocks {
    snd_memory_block *places;
    uint32_t mask;
    uint32_t count;
} snd_memory_blocks;

/* 0 when memory runs out. */
int snd_memory_blocks_add(snd_memory_blocks *self, uintptr_t address, const snd_memory_kept *kept);
int snd_memory_blocks_remove(snd_memory_blocks *self, uintptr_t address, snd_memory_kept *kept); /* 0: not there */
void snd_memory_blocks_free(snd_memory_blocks *self);
void snd_memory_blocks_expect_all(void); /* every block is going to be in it: asking first is no use */

/* A mapping, which is always sampled. */
typedef struct snd_memory_map {
    uintptr_t start, end;
    snd_memory_kept kept;
} snd_memory_map;

/* All zero: none. */
typedef struct snd_memory_maps {
    snd_memory_map *list;
    uint32_t count, capacity;
} snd_memory_maps;

int snd_memory_maps_add(snd_memory_maps *self, uintptr_t start, const snd_memory_kept *kept);
int snd_memory_maps_cut(snd_memory_maps *self, uintptr_t start, size_t size, uint64_t now_ns); /* 0: none was known */
void snd_memory_maps_free(snd_memory_maps *self);

/* What one of the sampler's nodes did with memory. */
typedef struct snd_memory_values {
    uint32_t node;
    uint64_t python, native, temporary; /* bytes, as the others without a unit */
    double blocks, variance;
    uint64_t taken, freed; /* blocks that were sampled */
    uint64_t live;
    double live_variance;
    double area; /* live bytes times ns, up to `area_ns` */
    uint64_t area_ns;
    uint64_t peak; /* live when the program had most, if `peak_serial` is the current one; else `live` is it */
    double peak_variance;
    uint32_t peak_serial;
    uint64_t copied;
    double copies, copy_variance;
    snd_history history;
} snd_memory_values;

#define SND_MEMORY_STEPS 256u

/* A frame that was met below a node, and its own node. All zero: none. */
typedef struct snd_memory_step {
    uintptr_t code;
    int32_t offset;
    uint32_t parent, node;
} snd_memory_step;

/* Everything the probe has. */
typedef struct snd_memory_state {
    snd_memory_options options;
    _Atomic uint32_t serial; /* of this measurement; 0: none, or paused */
    uint32_t last_serial;
    _Atomic int is_running;
    snd_memory_blocks blocks;
    snd_memory_maps maps;
    snd_memory_values *values;
    uint32_t value_count, value_capacity;
    uint32_t *value_of; /* per node of the sampler: 1 + its number in `values`; 0: none */
    uint32_t value_of_count;

    snd_clock_runner clock;
    uint32_t clock_uses;
    uint64_t start_ns, end_ns; /* end 0: it goes on */
    uint64_t live, peak, peak_at_ns, allocated, copied;
    double live_variance, peak_variance, variance, copy_variance;
    uint64_t since_peak; /* the most since somebody asked for that to begin anew */
    double since_variance;
    uint32_t peak_serial;
    _Atomic uint64_t unseen; /* bytes allocated where nobody could look */
    double size_blocks[2][SND_BLOCK_SIZES], size_bytes[2][SND_BLOCK_SIZES]; /* native, Python */

    snd_plot heap, rss;
    uint64_t rss_start, rss_peak;
    uint32_t history_count;
    uint64_t history_step_ns, history_next_ns;

    snd_sample_stack stack; /* of the thread that has the lock */
    uint32_t last_count;    /* the stack before, outermost first, and the node of each frame */
    uint32_t last_base;
    snd_sample_frame last_frames[SND_SAMPLE_DEPTH];
    uint32_t last_nodes[SND_SAMPLE_DEPTH];
    snd_memory_step steps[SND_MEMORY_STEPS];
} snd_memory_state;

extern snd_memory_state snd_memory;

/* The values of a node, which are about to change; NULL when memory runs out. */
snd_memory_values *snd_memory_new_values(uint32_t node, uint64_t now_ns);

static inline snd_memory_values *
snd_memory_values_of(uint32_t node, uint64_t now_ns)
{
    if (SND_UNLIKELY(node >= snd_memory.value_of_count || snd_memory.value_of[node] == 0))
        return snd_memory_new_values(node, now_ns);
    snd_sample_state.tree.nodes[node].changed = snd_sample_state.tree.tick;
    return &snd_memory.values[snd_memory.value_of[node] - 1];
}

/* A block was allocated at the node, or one that was is freed. */
void snd_memory_add_block(uint32_t node, const snd_memory_kept *kept, uint64_t now_ns);
void snd_memory_remove_block(const snd_memory_kept *kept, uint64_t now_ns);
void snd_memory_return_block(const snd_memory_kept *kept, uint64_t now_ns); /* it was not, after all */

/* What a block of this size stands for, and how sure that is. */
uint64_t snd_memory_weight_of_some(size_t size, double *share);

static inline uint64_t
snd_memory_weight(size_t size, double *share)
{
    if (!snd_memory.options.exact)
        return snd_memory_weight_of_some(size, share);
    *share = 1;
    return size;
}

/* Points of time for the plots and the histories, when they are due. */
void snd_memory_tick(uint64_t now_ns);

/* The numbers of all nodes that changed since the snapshot before, which are in the profile already. */
SND_MUST_USE snd_status snd_memory_put_all(snd_snapshot *snapshot, snd_profile *profile);

/* A measurement begins: what was live in one before is not known any more. */
void snd_memory_begin(void);

/* All that changes while nothing happens is brought up to date. */
void snd_memory_settle(void);

/* The sampler forgets its tree; or a code object, by which a stack is remembered. */
void snd_memory_clear(void);
void snd_memory_forget_stack(void);

/* The sampler's own threads take nothing. Around fork the calling thread does not, either. */
void snd_memory_exempt(void);
void snd_memory_hold(int on);

/* The functions that lead here. */
SND_MUST_USE snd_status snd_memory_hooks_start(void);
void snd_memory_hooks_stop(void);

#endif
