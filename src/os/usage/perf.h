/* Events that the kernel and the processor count: perf_event_open. */
#ifndef SND_OS_USAGE_PERF_H
#define SND_OS_USAGE_PERF_H

#include "base/attr.h"

/* X(id, type, number in the kernel's list of that type). */
#define SND_PERF_MAP(X)                                \
    X(MIGRATIONS, SOFTWARE, SW_CPU_MIGRATIONS)         \
    X(CYCLES, HARDWARE, HW_CPU_CYCLES)                 \
    X(INSTRUCTIONS, HARDWARE, HW_INSTRUCTIONS)         \
    X(BRANCHES, HARDWARE, HW_BRANCH_INSTRUCTIONS)      \
    X(BRANCH_MISSES, HARDWARE, HW_BRANCH_MISSES)       \
    X(CACHE_REFERENCES, HARDWARE, HW_CACHE_REFERENCES) \
    X(CACHE_MISSES, HARDWARE, HW_CACHE_MISSES)

typedef enum snd_perf {
#define SND_PERF_ENUM(id, type, number) SND_PERF_##id,
    SND_PERF_MAP(SND_PERF_ENUM)
#undef SND_PERF_ENUM
        SND_PERF_COUNT_OF
} snd_perf;

enum {
    SND_PERF_INHERIT = 1, /* threads and processes that are started from now on count too */
    SND_PERF_ON_EXEC = 2, /* counts from the next exec on */
    SND_PERF_ALWAYS = 4,  /* never takes turns with others: it counts all the time, or not at all */
};

/* One event that is counted. */
typedef struct snd_perf_event {
    int file;          /* -1: not counted */
    int error;         /* why: an errno */
    int is_user_only;  /* what the kernel does for the program is not counted: the system does not let us */
    uint64_t identity; /* by which the kernel knows it */
} snd_perf_event;

/* Opens an event of a process or thread (0: the calling thread) beside those of `leader` (NULL: on its own). The file
 * has a high number and is closed by exec. */
snd_perf_event snd_perf_open(snd_perf which, int32_t thread, const snd_perf_event *leader, unsigned how);
void snd_perf_close(snd_perf_event *self);

/* What was counted so far. */
typedef struct snd_perf_reading {
    uint64_t value;
    uint64_t enabled_ns; /* how long it was to be counted */
    uint64_t running_ns; /* how long it was: less where events took turns */
} snd_perf_reading;

/* Only for an event without a leader. 0 when it cannot be read. */
int snd_perf_read(const snd_perf_event *self, snd_perf_reading *out);

/* Reads `count` events that were opened beside `leader`, itself the first, in that order. Makes sure first that the
 * file is still ours: a program may have closed it. 0 when it cannot be read. */
int snd_perf_read_all(const snd_perf_event *leader, uint64_t *values, uint32_t count);

/* Why an event is not counted, in a few words. Static storage. */
const char *snd_perf_why(snd_perf which, int error);

#endif
