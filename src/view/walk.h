/* The nodes that were sampled, walked as stacks: every node is entered, and left when all below it were. */
#ifndef SND_VIEW_WALK_H
#define SND_VIEW_WALK_H

#include "view/samples.h"

typedef struct snd_walk_step {
    uint32_t node;
    int leaves;
} snd_walk_step;

/* Read freely. Trees may be very deep: the walk is a list, not a recursion. */
typedef struct snd_walk {
    snd_walk_step *steps; /* nodes with time in or below them only */
    uint32_t step_count;
    uint64_t *totals;     /* per node: CPU and waiting in it and below */
    uint64_t *cpu_totals; /* per node: CPU alone */
} snd_walk;

/* The caller owns what `*out` points to, on SND_OK only. */
SND_MUST_USE snd_status snd_walk_make(const snd_samples *samples, snd_walk *out);
void snd_walk_free(snd_walk *self);

#endif
