/* The stacks of a profile as other programs draw them: frames by function or by line, caller above callee. */
#ifndef SND_FORMAT_STACKS_H
#define SND_FORMAT_STACKS_H

#include "base/map.h"
#include "model/profile.h"

/* A stack that is deeper counts as the one it is cut to: what a format writes grows with the square of the depth. */
#define SND_STACK_DEPTH 2000u

/* A function, a line of one, a native symbol, a region, or what a thread waits for. Texts of the profile, or static. */
typedef struct snd_stacks_frame {
    snd_site_kind kind;
    const char *name;
    const char *file; /* "" where unknown */
    uint32_t line;    /* 0 where unknown; of a function: where it starts */
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
    int without_regions; /* samples only, and regions are no frames of theirs */
    int by_name;         /* threads of one name are one */
    snd_stacks_frame *frames;
    snd_stacks_entry *stacks;
    uint32_t *of_track; /* the empty stack of each */
    uint32_t *of_site;  /* the frame of each; SND_NONE: not asked for yet */
    uint32_t *of_node;  /* the stack of each; SND_NONE: it is on none, such as a counter */
    uint32_t frame_count, stack_count, track_count, site_count, node_count;
    uint32_t frame_capacity, stack_capacity, track_capacity, site_capacity, node_capacity;
    snd_map frame_map, stack_map;
} snd_stacks;

void snd_stacks_free(snd_stacks *self);

/* Takes in what the profile has got since the last time. On failure the next call goes on. */
SND_MUST_USE snd_status snd_stacks_update(snd_stacks *self, const snd_profile *profile);

/* The stack of a sample: a thread that waits has one more frame, which says for what. SND_NONE: it is on none. */
SND_MUST_USE snd_status snd_stacks_find(snd_stacks *self, uint32_t node, uint32_t state, uint32_t *stack);

/* Nanoseconds of every stack's own, by its number: what was sampled, without waiting if `cpu_only`; where nothing was,
 * the self times of regions. The caller frees them. SND_NO_DATA when all are 0. */
SND_MUST_USE snd_status snd_stacks_sums(snd_stacks *self, const snd_profile *profile, int cpu_only, uint64_t **sums);

/* Whether the profile has samples; whether it has anything that snd_stacks_sums adds up. */
int snd_stacks_has_samples(const snd_profile *profile);
int snd_stacks_has_any(const snd_profile *profile);

#endif
