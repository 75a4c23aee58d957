/* Room: stacks for other programs, and files of other profilers read. */
/* The stacks of a profile as other programs draw them: frames by function or by line, caller above callee. */
#ifndef SND_FORMAT_STACKS_H
#define SND_FORMAT_STACKS_H

#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "model/profile.h"

/* ---- what a recording has counted of its stacks, by the names that other programs have for it ---- */

#define SND_COST_BIT(metric) SND_METRIC_BIT(SND_METRIC_##metric)
#define SND_COST_CPU_BITS (SND_COST_BIT(PYTHON) | SND_COST_BIT(NATIVE) | SND_COST_BIT(SYSTEM))
#define SND_COST_WAIT_BITS ((SND_COST_BIT(WAIT_OTHER) << 1) - SND_COST_BIT(WAIT_CPU))

/* X(id, name, unit as pprof has it, the metrics that it adds up, meaning). */
#define SND_COST_MAP(X)                                                                                            \
    X(SAMPLES, "samples", "count", SND_COST_BIT(SAMPLES), "sampled: number of samples")                            \
    X(CPU, "cpu", "nanoseconds", SND_COST_CPU_BITS, "sampled: time a thread ran")                                  \
    X(WALL, "wall", "nanoseconds", SND_COST_CPU_BITS | SND_COST_WAIT_BITS, "sampled: time a thread ran or waited") \
    X(ENTRIES, "entries", "count", SND_COST_BIT(COUNT), "regions and operators: completed entries")                \
    X(TIME, "time", "nanoseconds", SND_COST_BIT(SELF), "regions, operators, calls: time inside them")              \
    X(ALLOC_OBJECTS, "alloc_objects", "count", SND_COST_BIT(ALLOC_BLOCKS), "blocks of memory allocated")           \
    X(ALLOC_SPACE, "alloc_space", "bytes", SND_COST_BIT(ALLOC_PYTHON) | SND_COST_BIT(ALLOC_NATIVE),                \
      "memory allocated")                                                                                          \
    X(INUSE_SPACE, "inuse_space", "bytes", SND_COST_BIT(LIVE), "memory not freed at the end")                      \
    X(PEAK_SPACE, "peak_space", "bytes", SND_COST_BIT(LIVE_PEAK), "memory at the program's peak")                  \
    X(TEMPORARY_SPACE, "temporary_space", "bytes", SND_COST_BIT(TEMPORARY), "memory freed within 10 ms")           \
    X(COPIED_SPACE, "copied_space", "bytes", SND_COST_BIT(COPIED), "memory copied")                                \
    X(GPU, "gpu", "nanoseconds", SND_COST_BIT(GPU), "time the GPU worked")

typedef enum snd_cost {
#define SND_COST_ENUM(id, name, unit, metrics, meaning) SND_COST_##id,
    SND_COST_MAP(SND_COST_ENUM)
#undef SND_COST_ENUM
        SND_COST_COUNT
} snd_cost;

typedef struct snd_cost_info {
    const char *name, *unit;
    snd_metric_set metrics; /* that are parts of it */
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

/* What a node of a profile, or a row of a roll-up, has: bits and columns are that one's. */
snd_cost_values snd_cost_read(snd_metric_set present, snd_value *const *columns, uint32_t at);

/* A stack that is deeper counts as the one it is cut to: what a format writes grows with the square of the depth. */
#define SND_STACK_DEPTH 2000u

/* Time of a thread that is on no stack, such as that outside of all regions, where it needs a frame. */
#define SND_STACKS_OUTSIDE "[outside]"

/* A function, a line of one, a native symbol, a region, an operator, or what a thread waits for. Texts of the profile,
 * or static. */
typedef struct snd_stacks_frame {
    snd_site_kind kind;
    const char *name;
    const char *file;    /* "" where unknown */
    uint32_t line;       /* 0 where unknown; of a function: where it starts */
    uint32_t first_line; /* of a line: where its function starts; else as `line` */
} snd_stacks_frame;

/* A frame below a stack. */
typedef struct snd_stacks_entry {
    uint32_t parent; /* a smaller number; SND_NONE: the empty stack of a track */
    uint32_t frame;  /* SND_NONE for an empty stack */
    uint32_t depth;  /* frames in it */
    uint32_t track;
} snd_stacks_entry;

/* Read freely. All zero is empty; set the choices before the first update. Not thread-safe. */
typedef struct snd_stacks {
    int by_line;         /* lines of a function apart */
    int without_regions; /* samples only, and regions and operators are no frames of theirs */
    int by_text; /* threads of one name are one, and frames that folded stacks write alike; that text is their name */
    snd_stacks_frame *frames;
    snd_stacks_entry *stacks;
    uint32_t *of_track; /* the empty stack of each */
    uint32_t *of_site;  /* the frame of each; SND_NONE: not asked for yet */
    uint32_t *of_node;  /* the stack of each; SND_NONE: it is on none, such as a counter */
    uint32_t frame_count, stack_count, track_count, site_count, node_count;
    uint32_t frame_capacity, stack_capacity, track_capacity, site_capacity, node_capacity;
    snd_map frame_map, stack_map;
    snd_intern *texts; /* of frames by their text */
} snd_stacks;

void snd_stacks_free(snd_stacks *self);

/* Takes in what the profile has got since the last time. On failure the next call goes on. */
SND_MUST_USE snd_status snd_stacks_update(snd_stacks *self, const snd_profile *profile);

/* Appends a name as folded stacks have it: it does not look like the end of a frame or of a line. */
void snd_stacks_put_name(snd_buffer *out, const char *name);

/* The name of the frame for what a thread waits for; NULL where it runs. */
const char *snd_stacks_state_name(uint32_t state);

/* The stack of a sample: a thread that waits has one more frame, which says for what. SND_NONE: it is on none. */
SND_MUST_USE snd_status snd_stacks_find(snd_stacks *self, uint32_t node, uint32_t state, uint32_t *stack);

/* The frame SND_STACKS_OUTSIDE, for formats that cannot do with an empty stack. */
SND_MUST_USE snd_status snd_stacks_outside(snd_stacks *self, uint32_t *frame);

/* What every stack has of its own, each metric by its rule: a profile whose nodes are the stacks by their numbers, and
 * whose sites are frames; it has no texts. What a thread waited for is on one more frame, and left out if `cpu_only`.
 * Time and entries are there only where something was entered. A thread has time outside of regions only: what threads
 * without any Python waited is no place's, and no view of places has it. Inside a work. */
void snd_stacks_tree(snd_stacks *self, const snd_profile *profile, int cpu_only, snd_profile *out);

/* One cost of every stack's own, by its number. Ends the work with SND_NO_DATA when all are 0, and for SND_COST_COUNT.
 */
uint64_t *snd_stacks_sums(snd_stacks *self, const snd_profile *profile, snd_cost cost);

/* The costs that any stack has: bit c for cost c. */
unsigned snd_stacks_known(const snd_profile *profile);

/* The cost that one looks at first: sampled time, time of regions, memory. SND_COST_COUNT: there is none. */
snd_cost snd_stacks_main_cost(const snd_profile *profile, int cpu_only);

/* The deepest stack that both are below, or are. They are of one track. */
uint32_t snd_stacks_common(const snd_stacks *self, uint32_t a, uint32_t b);

#endif
