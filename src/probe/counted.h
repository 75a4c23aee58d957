/* What the system counts of a thread, for regions: page faults, switches, and events of the processor. */
#ifndef SND_PROBE_COUNTED_H
#define SND_PROBE_COUNTED_H

#include "base/buffer.h"
#include "model/profile.h"

/* X(id, name as users give it). Each is a metric of that id, in this order; behind the first two those of os/perf.h. */
#define SND_COUNTED_MAP(X)                  \
    X(PAGE_FAULTS, "page-faults")           \
    X(CONTEXT_SWITCHES, "context-switches") \
    X(MIGRATIONS, "migrations")             \
    X(CYCLES, "cycles")                     \
    X(INSTRUCTIONS, "instructions")         \
    X(BRANCHES, "branches")                 \
    X(BRANCH_MISSES, "branch-misses")       \
    X(CACHE_REFERENCES, "cache-references") \
    X(CACHE_MISSES, "cache-misses")

typedef enum snd_counted {
#define SND_COUNTED_ENUM(id, name) SND_COUNTED_##id,
    SND_COUNTED_MAP(SND_COUNTED_ENUM)
#undef SND_COUNTED_ENUM
        SND_COUNTED_COUNT_OF
} snd_counted;

/* A set of counters: a bit for each. */
typedef uint32_t snd_counted_set;

/* Values at one moment. */
typedef struct snd_counted_values {
    snd_counted_set known;
    uint32_t turn; /* values of two turns have nothing to do with each other */
    uint64_t values[SND_COUNTED_COUNT_OF];
} snd_counted_values;

/* What a node has counted. Its thread writes it, others read. */
typedef struct snd_counted_sums {
    _Atomic snd_counted_set known;
    _Atomic uint64_t values[SND_COUNTED_COUNT_OF];
} snd_counted_sums;

/* The name as users give it. */
const char *snd_counted_name(snd_counted which);

/* Names with commas between them; "" for none. SND_BAD_ARGUMENT: `message` names the one that is unknown. */
SND_MUST_USE snd_status snd_counted_parse(const char *names, snd_counted_set *out, snd_buffer *message);

/* From now on these are read. Returns those that this machine counts, as the calling thread finds out. One at a time.
 */
snd_counted_set snd_counted_choose(snd_counted_set wanted);

/* What was chosen: those that are counted, and why others are not, as in "cycles: …". Nothing is put for none. */
void snd_counted_describe(snd_buffer *counted, snd_buffer *missing);

/* The same as facts of a profile; where nothing was asked for, none. */
SND_MUST_USE snd_status snd_counted_add_info(snd_profile *profile);

/* The calling thread's. Some system calls. */
void snd_counted_read(snd_counted_values *out);

/* Closes what is open for the calling thread, which ends. */
void snd_counted_end_thread(void);

/* In the child of a fork: what is open is its parent's. */
void snd_counted_after_fork(void);

#endif
