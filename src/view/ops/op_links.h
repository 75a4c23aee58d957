/* The inside of a list of events, and how its parts are linked: memory and kernels to operators, events in time. */
#ifndef SND_VIEW_OP_LINKS_H
#define SND_VIEW_OP_LINKS_H

#include "view/ops/op_events.h"

#include <math.h>

struct snd_op_events {
    snd_op_events_options options;
    snd_op_event *events;
    snd_op_memory *memory;
    uint32_t count, capacity, memory_count, memory_capacity;
    uint32_t *order; /* of all events: by start, longer ones first */
    snd_intern *texts;
    int has_links; /* some event is linked to an operator, or carries its device time */
};

/* A sum of floats that ends in the same last digit as Python's sum(). */
typedef struct snd_op_sum {
    double value, lost;
    int is_compensated;
} snd_op_sum;

static inline void
snd_op_sum_add(snd_op_sum *self, double value)
{
    double sum = self->value + value;

    if (self->is_compensated)
        self->lost += fabs(self->value) >= fabs(value) ? (self->value - sum) + value : (value - sum) + self->value;
    self->value = sum;
}

static inline double
snd_op_sum_value(const snd_op_sum *self)
{
    return self->lost != 0 && isfinite(self->lost) ? self->value + self->lost : self->value;
}

/* Microseconds, rounded where PyTorch rounds them. */
static inline double
snd_op_elapsed_us(const snd_op_event *event)
{
    return (double)event->end_ns / 1000.0 - (double)event->start_ns / 1000.0;
}

/* The following are parts of a work. Gives every CPU event the memory that was taken and given back while it ran; what
 * happened outside of all becomes an event of its own. */
void snd_op_link_memory(snd_op_events *self);

/* Gives every operator the time of the kernels that it launched, and what it called in the driver its thread. */
void snd_op_link_kernels(snd_op_events *self);

/* Makes the order. */
void snd_op_link_order(snd_op_events *self);

#endif
