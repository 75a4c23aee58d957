/* Room: what the system counts: of a process, of an event of the processor, of a GPU. */
/* What a process used: the one list of what `sonde stat` counts. */
#ifndef SND_OS_USAGE_USAGE_H
#define SND_OS_USAGE_USAGE_H

#include "os/usage/perf.h"

#include "base/attr.h"
#include <sys/resource.h>
#include <sys/types.h>

/* What is counted. X(id, name, unit, meaning). */
#define SND_USED_MAP(X)                                                                         \
    X(WALL, "wall", "ns", "time from start to end")                                             \
    X(TASK_CLOCK, "task_clock", "ns", "CPU time, in the program and in the kernel")             \
    X(USER, "user", "ns", "part of it in the program")                                          \
    X(SYSTEM, "system", "ns", "part of it in the kernel")                                       \
    X(CONTEXT_SWITCHES, "context_switches", "count", "context switches")                        \
    X(VOLUNTARY, "voluntary_switches", "count", "because a thread waited for something")        \
    X(INVOLUNTARY, "involuntary_switches", "count", "because another thread had to run")        \
    X(MIGRATIONS, "migrations", "count", "moves of a thread to another processor")              \
    X(PAGE_FAULTS, "page_faults", "count", "page faults")                                       \
    X(MAJOR_FAULTS, "major_faults", "count", "page faults that read from a disk")               \
    X(PEAK_RSS, "peak_rss", "bytes", "most memory that one process used at once")               \
    X(READ, "read", "bytes", "data that system calls read, from anywhere")                      \
    X(WRITTEN, "written", "bytes", "data that system calls wrote, to anywhere")                 \
    X(DISK_READ, "disk_read", "bytes", "data read from a disk")                                 \
    X(DISK_WRITTEN, "disk_written", "bytes", "data to be written to a disk")                    \
    X(CYCLES, "cycles", "count", "processor cycles")                                            \
    X(INSTRUCTIONS, "instructions", "count", "instructions executed")                           \
    X(BRANCHES, "branches", "count", "branches executed")                                       \
    X(BRANCH_MISSES, "branch_misses", "count", "branches that the processor predicted wrongly") \
    X(CACHE_REFERENCES, "cache_references", "count", "accesses to the last-level cache")        \
    X(CACHE_MISSES, "cache_misses", "count", "last-level cache accesses that missed")

typedef enum snd_used {
#define SND_USED_ENUM(id, name, unit, meaning) SND_USED_##id,
    SND_USED_MAP(SND_USED_ENUM)
#undef SND_USED_ENUM
        SND_USED_COUNT_OF
} snd_used;

typedef struct snd_used_info {
    const char *name;
    const char *unit; /* "ns", "count" or "bytes" */
    const char *meaning;
} snd_used_info;

const snd_used_info *snd_used_get(snd_used which);

/* SND_USED_COUNT_OF for a name that is not in the list. */
snd_used snd_used_find(const char *name);

/* The counter that a perf event stands for. */
snd_used snd_used_of_perf(snd_perf which);

/* What one run used. */
typedef struct snd_usage {
    double values[SND_USED_COUNT_OF];
    const char *why[SND_USED_COUNT_OF]; /* a value is not known, in a few words; NULL: it is */
    double share[SND_USED_COUNT_OF];    /* of the run in which it was counted, the rest being an estimate; 0: all */
    unsigned char is_user_only[SND_USED_COUNT_OF];
    int is_first_thread_only; /* the migrations */
} snd_usage;

/* From getrusage: the time on processors, switches, faults, peak. */
void snd_usage_put_resources(snd_usage *self, const struct rusage *from);

/* What an event has counted, or why it has not. */
void snd_usage_put_event(snd_usage *self, snd_perf which, const snd_perf_event *event);

/* What /proc knows of a process that has ended and is not waited for yet: what it read and wrote, with those that it
 * waited for itself, and where no event counts them the migrations of its first thread. After the events. The file has
 * to be opened while it lives (-1 when it cannot be), since only root may do so later; the caller closes it. */
int snd_usage_open_process(pid_t process);
void snd_usage_put_process(snd_usage *self, pid_t process, int file);

/* What the calling process itself used from one to the other, without what it read and wrote: those are 0. The events
 * are opened at the first call; threads that lived before are not counted by them. Not for two threads at once. */
void snd_usage_begin(snd_usage *self);
void snd_usage_end(const snd_usage *before, snd_usage *self);

/* Bytes in main memory; 0 where the system does not say. Opens a file and closes it. */
uint64_t snd_footprint_rss(void);

#endif
