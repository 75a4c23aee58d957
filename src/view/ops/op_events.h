/* The events of a profiled PyTorch program: who called whom, what memory and which kernels belong to which operator. */
#ifndef SND_VIEW_OP_EVENTS_H
#define SND_VIEW_OP_EVENTS_H

#include "base/intern.h"
#include "view/ops/op_averages.h"

/* One run of an operator. Texts are numbers in the table of snd_op_events_texts; 0 is "". */
typedef struct snd_op_event {
    int64_t start_ns, end_ns; /* since the trace began */
    uint32_t name, overload, shapes;
    uint32_t stack; /* lines, the innermost first, with '\n' between them */
    uint64_t thread, forward_thread;
    int64_t sequence;    /* links a backward operator to its forward one */
    int64_t correlation; /* what the kernels that it launched are linked to */
    int64_t linked;      /* the correlation of the operator that launched it; 0: it is one itself */
    uint64_t flops;
    double legacy_us; /* device time that a CPU event carries itself; 0: none */
    int32_t device;   /* snd_op_device */
    int32_t scope;    /* 1: a backward function */
    uint8_t is_async, is_annotation, is_python;

    /* filled in by snd_op_events_arrange */
    uint8_t is_removed; /* the only child of one of its own name, which stands for both */
    uint32_t parent, first_child, last_child, next_child, child_count;
    int64_t cpu_bytes, device_bytes;
    double kernels_us, device_us;
} snd_op_event;

#define SND_OP_NO_EVENT UINT32_MAX
#define SND_OP_SCOPE_BACKWARD 1

/* An allocation (or, with negative bytes, its end), or a request for memory that failed. */
typedef struct snd_op_memory {
    int64_t start_ns, bytes;
    uint64_t thread;
    int32_t device;
    uint32_t name;
    int is_failure;
} snd_op_memory;

typedef struct snd_op_events_options {
    int has_device;     /* device times are wanted */
    int is_compensated; /* sums of floats are made as Python 3.12 and later make them */
} snd_op_events_options;

typedef struct snd_op_grouping {
    int by_shapes, by_overload;
    uint32_t stack_count; /* lines of the stack that tell rows apart */
} snd_op_grouping;

/* Not thread-safe. */
typedef struct snd_op_events snd_op_events;

/* The caller owns it. NULL when memory runs out. */
snd_op_events *snd_op_events_new(const snd_op_events_options *options);
void snd_op_events_free(snd_op_events *self); /* NULL is allowed */

snd_intern *snd_op_events_texts(snd_op_events *self);

/* A new event, all zero, valid until the next one is added. NULL when memory runs out. */
snd_op_event *snd_op_events_add(snd_op_events *self);
SND_MUST_USE snd_status snd_op_events_add_memory(snd_op_events *self, const snd_op_memory *memory);

/* All events, in the order in which they were added; after snd_op_events_arrange those of memory follow. */
uint32_t snd_op_events_count(const snd_op_events *self);
snd_op_event *snd_op_events_at(snd_op_events *self, uint32_t index);

/* The number of the event that is the `index`-th in the order of their start, longer ones first. After
 * snd_op_events_arrange. */
uint32_t snd_op_events_in_time(const snd_op_events *self, uint32_t index);

/* To be called once, when all are there. Only overload, shapes and stack may be set afterwards. */
SND_MUST_USE snd_status snd_op_events_arrange(snd_op_events *self);

/* To be called once, when the stacks are there: backward operators get the stack of their forward one. */
SND_MUST_USE snd_status snd_op_events_share_stacks(snd_op_events *self);

/* Adds all events to `out`. */
SND_MUST_USE snd_status snd_op_events_average(snd_op_events *self, const snd_op_grouping *grouping,
                                              snd_op_averages *out);

#endif
