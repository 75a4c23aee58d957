/* What PyTorch's collection tells of a program, and the profile that it becomes. */
#ifndef SND_PROBE_TORCH_PROFILE_H
#define SND_PROBE_TORCH_PROFILE_H

#include "model/operator.h"
#include "model/profile.h"

typedef enum snd_torch_kind {
    SND_TORCH_OPERATOR,
    SND_TORCH_ANNOTATION, /* of the program: record_function */
    SND_TORCH_PYTHON,     /* a function of Python */
    SND_TORCH_MEMORY,     /* memory that was taken or, with negative bytes, given back */
    SND_TORCH_FAILURE,    /* a request for memory that failed */
} snd_torch_kind;

/* One event. Texts are numbers in `texts`; 0 is "". */
typedef struct snd_torch_event {
    int64_t start_ns, end_ns; /* since the collection began */
    uint32_t name, overload, shapes;
    uint32_t stack; /* lines, the innermost first, with '\n' between them */
    uint64_t thread, forward_thread;
    int64_t sequence;    /* links a backward operator to its forward one */
    int64_t correlation; /* what the kernels that it launched are linked to */
    int64_t linked;      /* the correlation of the operator that launched it; 0: it is one itself; -1: neither */
    int64_t bytes;       /* of memory; of a copy what it moved, -1: that is not known */
    uint64_t flops;
    double legacy_us;   /* device time that a CPU event carries itself; 0: none */
    int32_t device;     /* snd_op_device, or any other of PyTorch's numbers */
    int32_t scope;      /* SND_TORCH_BACKWARD, or any other of PyTorch's numbers */
    uint32_t thread_id; /* as the system counts threads */
    uint8_t kind;       /* snd_torch_kind */
    uint8_t is_async;
    uint8_t is_copy; /* it moves data; only where somebody wants to know */
} snd_torch_event;

#define SND_TORCH_BACKWARD 1

/* All that was collected. Fill it freely. Not thread-safe. */
typedef struct snd_torch_events {
    snd_torch_event *list;
    uint32_t count, capacity;
    snd_intern *texts;  /* with "" as its first */
    int has_device;     /* device times are wanted */
    int is_compensated; /* sums of floats are made as Python 3.12 and later make them */
    int has_shapes;     /* were read; so were the stacks */
    int has_stacks;
    int has_times; /* the timeline is wanted, for which the threads' ids were read */
    int by_place;  /* a node for each place is wanted, with nanoseconds, as recordings have them */
} snd_torch_events;

/* What a failed one leaves is freed as any other. */
SND_MUST_USE snd_status snd_torch_events_start(snd_torch_events *self);
void snd_torch_events_free(snd_torch_events *self);

/* A new event, all zero, valid until the next one is added. NULL when memory runs out. */
snd_torch_event *snd_torch_events_add(snd_torch_events *self);

/* A node for each call, in the order of time, and not one for each place unless that is wanted: PyTorch adds up floats
 * in that order, and only so the last digit of a sum is the same. A call stands below the one that made it, a kernel,
 * on its device's track, below the operator that launched it. The caller owns the profile, on SND_OK only. */
SND_MUST_USE snd_status snd_torch_profile(const snd_torch_events *events, snd_profile **out);

#endif
