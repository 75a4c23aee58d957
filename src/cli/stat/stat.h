/* Room: the command `sonde stat`. */
/* sonde stat: what was measured, and how it is told. */
#ifndef SND_CLI_STAT_H
#define SND_CLI_STAT_H

#include "base/buffer.h"
#include "base/statistics.h"
#include "format/table/format.h"
#include "os/usage/child.h"

/* One value of each counter: a run of a command, or a batch of loops of a statement, for one loop. */
typedef struct snd_stat_sample {
    uint32_t round; /* the run that it is of */
    snd_usage used;
} snd_stat_sample;

/* A run that did not end with status 0. */
typedef struct snd_stat_failure {
    uint32_t run; /* from 1 */
    snd_child_end end;
} snd_stat_failure;

/* What is measured: a command, or a statement of Python. */
typedef struct snd_stat_side {
    const char *text;         /* as people read it */
    const char *const *argv;  /* a command; ended by NULL */
    const char *statement;    /* NULL: it is a command */
    uint64_t loops;           /* of a statement in a batch; 0: not known yet */
    double empty_ns;          /* a loop without a statement; 0: not known */
    snd_stat_sample *samples; /* in the order of rounds */
    uint32_t sample_count, sample_capacity;
    uint32_t run_count;
    snd_stat_failure *failures;
    uint32_t failure_count, failure_capacity;
} snd_stat_side;

/* All that was measured. */
typedef struct snd_stat {
    snd_stat_side sides[2];
    unsigned side_count; /* 2: compared */
    uint32_t runs;       /* of each, that were asked for */
    uint32_t warmup;
    const char *setup; /* of statements; "": none */
    int keeps_gc;
    int output;         /* where a command's standard output goes */
    const char *python; /* for statements */
    int interrupted_by; /* a signal; 0: none */
} snd_stat;

void snd_stat_free(snd_stat *self);

SND_MUST_USE snd_status snd_stat_add_sample(snd_stat_side *self, uint32_t round, const snd_usage *used);
SND_MUST_USE snd_status snd_stat_add_failure(snd_stat_side *self, uint32_t run, snd_child_end end);

/* A counter over all samples that have it; its count is 0 when none has. The values are left in `values`, sorted, with
 * room for sample_count. */
snd_statistics snd_stat_of(const snd_stat_side *self, snd_used which, double *values);

/* The second side over the first, by rounds that both have. SND_NO_MEMORY or SND_OK. */
SND_MUST_USE snd_status snd_stat_ratio(const snd_stat *self, snd_used which, snd_ratio *out);

/* What an interval says of the second side. Static storage. */
const char *snd_stat_verdict(const snd_ratio *ratio);

/* Whether a counter is of interest: of a statement, which is short, fewer are. */
int snd_stat_is_asked(const snd_stat_side *self, snd_used which);

/* Why a counter is unknown; NULL when it is known, or no run was. */
const char *snd_stat_why(const snd_stat_side *self, snd_used which);

/* What is worth knowing of how it was counted; NULL: nothing. Static storage. */
const char *snd_stat_scope(const snd_stat_side *self, snd_used which);

/* What follows from two counters. */
#define SND_STAT_DERIVED_MAP(X)                                                     \
    X("cpus", TASK_CLOCK, WALL, 1, "processors used")                               \
    X("page_faults_per_second", PAGE_FAULTS, TASK_CLOCK, 1e9, "a second")           \
    X("context_switches_per_second", CONTEXT_SWITCHES, TASK_CLOCK, 1e9, "a second") \
    X("instructions_per_cycle", INSTRUCTIONS, CYCLES, 1, "a cycle")                 \
    X("cycles_per_nanosecond", CYCLES, TASK_CLOCK, 1, "GHz")                        \
    X("branch_miss_percent", BRANCH_MISSES, BRANCHES, 100, "% of branches")         \
    X("cache_miss_percent", CACHE_MISSES, CACHE_REFERENCES, 100, "% of cache references")

typedef struct snd_stat_derived {
    const char *name;
    snd_used above, below;
    double factor;
    const char *unit;
} snd_stat_derived;

extern const snd_stat_derived snd_stat_derived_list[];
extern const unsigned snd_stat_derived_count;

/* The ratio of the means; 0 when it is not known. */
int snd_stat_derive(const snd_stat_side *self, const snd_stat_derived *what, double *out);

/* A value as people read it. */
void snd_stat_value_text(snd_used which, double value, snd_buffer *out);

/* All of it, for people and for programs. */
SND_MUST_USE snd_status snd_stat_text(const snd_stat *self, const snd_format_options *look, snd_buffer *out);
SND_MUST_USE snd_status snd_stat_json(const snd_stat *self, snd_buffer *out);

/* Splits a command line as a shell does where it is words and quotes only; else it is handed to one: sh -c. The
 * caller frees the list, with which its texts go. NULL when memory runs out. */
const char **snd_stat_words(const char *line);

/* One run of a side, which is added to it; `counts` is 0 for a run that only warms up. 0 after printing one line, with
 * the exit status to end with. */
typedef int snd_stat_runner(snd_stat *self, unsigned side, uint32_t round, int counts, int *status);
snd_stat_runner snd_stat_run_command, snd_stat_run_statement;

#endif
