/* What a recording has counted of its stacks, by the names that other programs have for it. */
#ifndef SND_FORMAT_COSTS_H
#define SND_FORMAT_COSTS_H

#include "model/profile.h"

#define SND_COST_BIT(metric) (UINT64_C(1) << SND_METRIC_##metric)
#define SND_COST_CPU_BITS (SND_COST_BIT(PYTHON) | SND_COST_BIT(NATIVE) | SND_COST_BIT(SYSTEM))

/* X(id, name, unit as pprof has it, the metrics that it adds up, meaning). Waiting is no metric of a stack but one of
 * the frame that stands for it; see snd_stacks_costs. */
#define SND_COST_MAP(X)                                                                                  \
    X(SAMPLES, "samples", "count", SND_COST_BIT(SAMPLES), "sampled: number of samples")                  \
    X(CPU, "cpu", "nanoseconds", SND_COST_CPU_BITS, "sampled: time a thread ran")                        \
    X(WALL, "wall", "nanoseconds", SND_COST_CPU_BITS, "sampled: time a thread ran or waited")            \
    X(ENTRIES, "entries", "count", SND_COST_BIT(COUNT), "regions and operators: completed entries")      \
    X(TIME, "time", "nanoseconds", SND_COST_BIT(SELF), "regions, operators, calls: time inside them")    \
    X(ALLOC_OBJECTS, "alloc_objects", "count", SND_COST_BIT(ALLOC_BLOCKS), "blocks of memory allocated") \
    X(ALLOC_SPACE, "alloc_space", "bytes", SND_COST_BIT(ALLOC_PYTHON) | SND_COST_BIT(ALLOC_NATIVE),      \
      "memory allocated")                                                                                \
    X(INUSE_SPACE, "inuse_space", "bytes", SND_COST_BIT(LIVE), "memory not freed at the end")            \
    X(PEAK_SPACE, "peak_space", "bytes", SND_COST_BIT(LIVE_PEAK), "memory at the program's peak")        \
    X(TEMPORARY_SPACE, "temporary_space", "bytes", SND_COST_BIT(TEMPORARY), "memory freed within 10 ms") \
    X(COPIED_SPACE, "copied_space", "bytes", SND_COST_BIT(COPIED), "memory copied")                      \
    X(GPU, "gpu", "nanoseconds", SND_COST_BIT(GPU), "time the GPU worked")

typedef enum snd_cost {
#define SND_COST_ENUM(id, name, unit, metrics, meaning) SND_COST_##id,
    SND_COST_MAP(SND_COST_ENUM)
#undef SND_COST_ENUM
        SND_COST_COUNT
} snd_cost;

typedef struct snd_cost_info {
    const char *name, *unit;
    uint64_t metrics; /* bit m: metric m is a part of it */
    const char *meaning;
} snd_cost_info;

extern const snd_cost_info snd_costs[SND_COST_COUNT];

/* SND_COST_COUNT for a name that is not in the list. */
snd_cost snd_cost_find(const char *name);

/* A number for every cost. */
typedef struct snd_cost_values {
    uint64_t of[SND_COST_COUNT];
} snd_cost_values;

void snd_cost_add(snd_cost_values *sum, const snd_cost_values *more);
int snd_cost_is_any(const snd_cost_values *values);

/* What a node has of its own, waiting left out. A thread has time outside of regions only: what threads without any
 * Python waited is no place's, and no view of places has it. */
snd_cost_values snd_cost_read(const snd_profile *profile, uint32_t node);

#endif
