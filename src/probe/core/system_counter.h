/* What the system counts of a thread, for regions: page faults, switches, and events of the processor. */
#ifndef SND_PROBE_SYSTEM_COUNTER_H
#define SND_PROBE_SYSTEM_COUNTER_H

#include "base/buffer.h"
#include "model/profile.h"

/* X(id, name as users give it). Each is a metric of that id, in this order; behind the first two those of os/perf.h. */
#define SND_SYSTEM_COUNTER_MAP(X)           \
    X(PAGE_FAULTS, "page-faults")           \
    X(CONTEXT_SWITCHES, "context-switches") \
    X(MIGRATIONS, "migrations")             \
    X(CYCLES, "cycles")                     \
    X(INSTRUCTIONS, "instructions")         \
    X(BRANCHES, "branches")                 \
    X(BRANCH_MISSES, "branch-misses")       \
    X(CACHE_REFERENCES, "cache-references") \
    X(CACHE_MISSES, "cache-misses")

typedef enum snd_system_counter {
#define SND_SYSTEM_COUNTER_ENUM(id, name) SND_SYSTEM_COUNTER_##id,
    SND_SYSTEM_COUNTER_MAP(SND_SYSTEM_COUNTER_ENUM)
#undef SND_SYSTEM_COUNTER_ENUM
        SND_SYSTEM_COUNTER_COUNT_OF
} snd_system_counter;

/* A set of counters: a bit for each. */
typedef uint32_t snd_system_counter_set;

/* Values at one moment. */
typedef struct snd_system_counter_values {
    snd_system_counter_set known;
    uint32_t turn; /* values of two turns have nothing to do with each other */
    uint64_t values[SND_SYSTEM_COUNTER_COUNT_OF];
} snd_system_counter_values;

/* What a node has counted. Its thread writes it, others read. */
typedef struct snd_system_counter_sums {
    _Atomic snd_system_counter_set known;
    _Atomic uint64_t values[SND_SYSTEM_COUNTER_COUNT_OF];
} snd_system_counter_sums;

/* The name as users give it. */
const char *snd_system_counter_name(snd_system_counter which);

/* Names with commas between them; "" for none. SND_BAD_ARGUMENT: `message` names the one that is unknown. */
SND_MUST_USE snd_status snd_system_counter_parse(const char *names, snd_system_counter_set *out, snd_buffer *message);

/* From now on these are read. Returns those that this machine counts, as the calling thread finds out. One at a time.
 */
snd_system_counter_set snd_system_counter_choose(snd_system_counter_set wanted);

/* What was chosen: those that are counted, and why others are not, as in "cycles: …". Nothing is put for none. */
void snd_system_counter_describe(snd_buffer *counted, snd_buffer *missing);

/* The same as facts of a profile; where nothing was asked for, none. */
SND_MUST_USE snd_status snd_system_counter_add_info(snd_profile *profile);

/* The calling thread's. Some system calls. */
void snd_system_counter_read(snd_system_counter_values *out);

/* Closes what is open for the calling thread, which ends. */
void snd_system_counter_end_thread(void);

/* In the child of a fork: what is open is its parent's. */
void snd_system_counter_after_fork(void);

#endif
