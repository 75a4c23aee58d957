/* The functions of a profile and who called whom, for formats that know no stacks. */
#ifndef SND_FORMAT_CALLGRAPH_H
#define SND_FORMAT_CALLGRAPH_H

#include "base/intern.h"
#include "base/work.h"
#include "format/stacks/stacks.h"

/* What a function, or a pair of caller and callee, costs. Of calls the times are those of SND_COST_TIME. */
typedef struct snd_callgraph_numbers {
    uint64_t count;        /* calls; entries of regions; of what was sampled the samples that found it innermost */
    uint64_t primitive;    /* of these, those that were not inside another of the same */
    snd_cost_values self;  /* of its own */
    snd_cost_values total; /* with all below; recursion counts once */
} snd_callgraph_numbers;

/* A function, a builtin, a native symbol, a region, an operator, or what a thread waits for. */
typedef struct snd_callgraph_function {
    const char *name; /* live as long as the profile */
    const char *file; /* "" where unknown */
    uint32_t line;    /* where it starts; 0 where unknown */
    snd_callgraph_numbers numbers;
} snd_callgraph_function;

/* A callee as far as this caller called it, from this line; the line is 0 where it is unknown or was not asked for. */
typedef struct snd_callgraph_pair {
    uint32_t caller, callee, line;
    snd_callgraph_numbers numbers;
} snd_callgraph_pair;

/* What a line of a function costs. */
typedef struct snd_callgraph_line {
    uint32_t function, line;
    snd_cost_values self;
} snd_callgraph_line;

/* All zero: the usual. */
typedef struct snd_callgraph_options {
    int by_line;     /* pairs are apart by the caller's line */
    int cpu_only;    /* without time that was waited */
    int short_names; /* of Python's functions without the class or function they are in, as pstats has them */
} snd_callgraph_options;

/* Read freely. */
typedef struct snd_callgraph {
    snd_callgraph_options options;
    snd_callgraph_function *functions; /* as they were first met */
    snd_callgraph_pair *pairs;         /* by caller, then by callee, then by line */
    snd_callgraph_line *lines;         /* by function, then by line */
    uint32_t function_count, pair_count, line_count;
    uint32_t function_capacity, pair_capacity, line_capacity;
    int is_of_calls;     /* not of stacks: counts and times are exact */
    snd_cost_values all; /* the sum of all self costs */
    snd_intern *places;  /* of the functions, in their order */
} snd_callgraph;

/* The caller owns what `*out` points to, on SND_OK only. Calls, where the profile has some, else stacks. SND_NO_DATA
 * when there is neither. */
void snd_callgraph_make(const snd_profile *profile, const snd_callgraph_options *options, snd_callgraph *out);

/* Sorts the pairs by callee, then by caller: the callers of each function stand together. */
void snd_callgraph_turn(snd_callgraph *self);

/* Whether anything was counted. */
int snd_callgraph_is_used(const snd_callgraph_numbers *numbers);

#endif
