/* A probe as a session sees it: what it may be asked for, and how it starts, stops, forks and tells. */
#ifndef SND_PROBE_PROBE_H
#define SND_PROBE_PROBE_H

#include "probe/core/snapshot.h"

#define SND_SAMPLE_RATE 1000u /* ticks a second, when nothing is said */
#define SND_SAMPLE_RATE_MAX 20000u

/* All zero: no samples. */
typedef struct snd_sample_options {
    uint32_t rate_hz; /* 0: the sampler is off */
    int native;       /* native frames too */
    int cpu_only;     /* threads that wait are not sampled */
    int no_imports;   /* the time of importing modules is left out */
    int no_signals;   /* read every thread from outside */
    int safe_frames;  /* read Python's frames with the GIL held, as where the fast way cannot be trusted */
    int paused;       /* begin without samples */
    int timeline;     /* keep when each was taken */
    int resting;      /* no time is measured: the threads are listed for what else needs them */
} snd_sample_options;

#define SND_MEMORY_INTERVAL (128u << 10) /* bytes allocated from one sampled block to the next, on average */

/* All zero: memory is not measured. */
typedef struct snd_memory_options {
    int on;
    int exact;         /* every block; copies are sampled as ever */
    uint64_t interval; /* bytes; 0: the usual */
} snd_memory_options;

/* What a session asks of its probes. */
typedef struct snd_probe_wishes {
    int cpu;           /* CPU time of every entry */
    int debug;         /* print enter and leave */
    uint32_t counters; /* a set of probe/core/system_counter.h */
    int calls, ops, graphs;
    snd_sample_options sample;
    snd_memory_options memory;
    const struct snd_sample_interpreter *interpreter; /* NULL: there is none */
    uint64_t origin_ns;                               /* the session's start on the monotonic clock */
} snd_probe_wishes;

/* Any function but the first two may be NULL: there is nothing to do. */
typedef struct snd_probe {
    const char *name;

    /* Starts, or goes on as is wished now; what was measured before stays. */
    int (*is_wanted)(const snd_probe_wishes *wishes);
    snd_status (*start)(const snd_probe_wishes *wishes);
    void (*stop)(void);
    void (*release)(void); /* the recording is written: what was kept for it may go */

    /* For a while nothing is measured, where the user may ask for that; or to the session's end. */
    void (*pause)(int paused);
    void (*end)(void);

    void (*reset)(void); /* forgets what was measured */
    void (*clear)(void); /* the same before a new recording, while it does not run */

    /* Ends its own threads, before a fork or another program, and starts them again. */
    void (*suspend)(void);
    void (*resume)(void);

    /* Around fork, so that no child has a lock that nobody will release. In the child nothing is measured so far. */
    void (*before_fork)(void);
    void (*after_fork)(int in_child);

    /* Brings a profile up to date; times count from `origin` (ticks), what is open up to `now`. */
    snd_status (*snapshot)(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin, uint64_t now);

    /* What is to be said of it as a whole. */
    snd_status (*describe)(snd_profile *profile);
    const char *(*note)(void); /* what was asked for and does not work here, as a sentence; static; NULL: nothing */
    int (*has_measured)(void); /* since the last clear; NULL: it always does */
} snd_probe;

/* Defines a probe whose measurements stand on the tracks of the region probe, which tells them: that it was asked for
 * is all that is left to be known of it. `wish` is an expression of `wishes`, `description` a function or NULL. */
#define SND_PROBE_ON_TRACKS(id, its_name, wish, description)     \
    static _Atomic int id##_was_on;                              \
    static int id##_is_wanted(const snd_probe_wishes *wishes)    \
    {                                                            \
        return (wish) != 0;                                      \
    }                                                            \
    static snd_status id##_start(const snd_probe_wishes *wishes) \
    {                                                            \
        (void)wishes;                                            \
        id##_was_on = 1;                                         \
        return SND_OK;                                           \
    }                                                            \
    static void id##_clear(void)                                 \
    {                                                            \
        id##_was_on = 0;                                         \
    }                                                            \
    static int id##_has_measured(void)                           \
    {                                                            \
        return id##_was_on;                                      \
    }                                                            \
    const snd_probe id = {.name = (its_name),                    \
                          .is_wanted = id##_is_wanted,           \
                          .start = id##_start,                   \
                          .clear = id##_clear,                   \
                          .describe = (description),             \
                          .has_measured = id##_has_measured};

#endif
