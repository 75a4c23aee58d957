/* What is counted. One list: the recording, the views and the documentation all follow it. */
#ifndef SND_MODEL_METRIC_H
#define SND_MODEL_METRIC_H

#include "base/attr.h"

/* How the numbers of several nodes, or of several processes, become one. */
typedef enum snd_metric_rule {
    SND_RULE_SUM,
    SND_RULE_LEAST,   /* of those with an entry */
    SND_RULE_MOST,    /* also for what is the same in each of them */
    SND_RULE_LAST,    /* of the last node with an entry; of the track that ended last */
    SND_RULE_AVERAGE, /* over time: weighted by how long each was recorded, over the length of all */
    SND_RULE_EVERY,   /* 1 where it is 1 in each that has the node */
} snd_metric_rule;

/* X(id, name, unit, is it a real number, rule for several nodes of one process, rule for several processes, meaning).
 * The order is free: recordings store the name. */
#define SND_METRIC_MAP(X)                                                                                             \
    X(COUNT, "count", "entries", 0, SUM, SUM, "number of completed entries")                                          \
    X(TOTAL, "total", "ns", 0, SUM, SUM, "wall time from entry to exit, open entries so far")                         \
    X(SELF, "self", "ns", 0, SUM, SUM, "wall time while it was innermost")                                            \
    X(MIN, "min", "ns", 0, LEAST, LEAST, "shortest entry")                                                            \
    X(MAX, "max", "ns", 0, MOST, MOST, "longest entry")                                                               \
    X(SQUARE, "square", "ns2", 1, SUM, SUM, "sum of the squares of the entries' durations")                           \
    X(SUSPENDED, "suspended", "ns", 0, SUM, SUM, "its coroutine waited; part of a region's total, not of a call's")   \
    X(CPU, "cpu", "ns", 0, SUM, SUM, "CPU time of the thread from entry to exit")                                     \
    X(OPEN, "open", "entries", 0, SUM, SUM, "entries not left yet")                                                   \
    X(RECURSIVE, "recursive", "entries", 0, SUM, SUM, "entries inside another entry of the same site")                \
    X(RESUMES, "resumes", "times", 0, SUM, SUM, "how often a generator or coroutine resumed")                         \
    X(VALUE_LAST, "value_last", "", 1, LAST, LAST, "a counter's value at its last update")                            \
    X(VALUE_MIN, "value_min", "", 1, LEAST, LEAST, "a counter's smallest value")                                      \
    X(VALUE_MAX, "value_max", "", 1, MOST, MOST, "a counter's largest value")                                         \
    X(VALUE_SUM, "value_sum", "", 1, SUM, SUM, "sum of a counter's values over its updates")                          \
    X(SAMPLES, "samples", "samples", 0, SUM, SUM, "samples of a thread in which it was innermost")                    \
    X(PYTHON, "python", "ns", 0, SUM, SUM, "CPU time in Python code")                                                 \
    X(NATIVE, "native", "ns", 0, SUM, SUM, "CPU time in native code")                                                 \
    X(SYSTEM, "system", "ns", 0, SUM, SUM, "CPU time in the kernel")                                                  \
    X(WAIT_CPU, "wait_cpu", "ns", 0, SUM, SUM, "ready to run, but no processor was free")                             \
    X(WAIT_LOCK, "wait_lock", "ns", 0, SUM, SUM, "waited for a lock")                                                 \
    X(WAIT_GIL, "wait_gil", "ns", 0, SUM, SUM, "waited for the interpreter's lock")                                   \
    X(WAIT_IO, "wait_io", "ns", 0, SUM, SUM, "waited for a file, a socket or a pipe")                                 \
    X(WAIT_SLEEP, "wait_sleep", "ns", 0, SUM, SUM, "slept")                                                           \
    X(WAIT_OTHER, "wait_other", "ns", 0, SUM, SUM, "waited for something else")                                       \
    X(ALLOC_PYTHON, "alloc_python", "bytes", 0, SUM, SUM, "memory allocated by Python")                               \
    X(ALLOC_NATIVE, "alloc_native", "bytes", 0, SUM, SUM, "memory allocated by native code")                          \
    X(ALLOC_BLOCKS, "alloc_blocks", "blocks", 0, SUM, SUM, "pieces of memory allocated")                              \
    X(ALLOC_VARIANCE, "alloc_variance", "bytes2", 1, SUM, SUM, "square of the standard error of the bytes allocated") \
    X(TEMPORARY, "temporary", "bytes", 0, SUM, SUM, "memory freed within 10 ms after it was allocated")               \
    X(LIVE, "live", "bytes", 0, SUM, SUM, "memory allocated and not freed at the end")                                \
    X(LIVE_AVERAGE, "live_average", "bytes", 0, SUM, AVERAGE,                                                         \
      "memory allocated and not freed, on average over the recording")                                                \
    X(LIVE_PEAK, "live_peak", "bytes", 0, SUM, SUM, "memory allocated and not freed at the program's peak")           \
    X(PEAK_VARIANCE, "peak_variance", "bytes2", 1, SUM, SUM, "square of the standard error of live_peak")             \
    X(TAKEN, "taken", "blocks", 0, SUM, SUM, "blocks that were sampled")                                              \
    X(FREED, "freed", "blocks", 0, SUM, SUM, "sampled blocks that were freed")                                        \
    X(COPIED, "copied", "bytes", 0, SUM, SUM, "memory copied")                                                        \
    X(COPIES, "copies", "copies", 0, SUM, SUM, "how often memory was copied")                                         \
    X(COPY_VARIANCE, "copy_variance", "bytes2", 1, SUM, SUM, "square of the standard error of the bytes copied")      \
    X(GPU, "gpu", "ns", 0, SUM, SUM, "time the GPU worked for this process")                                          \
    X(GPU_MEMORY, "gpu_memory", "bytes", 0, MOST, SUM, "average GPU memory of this process while it was here")        \
    X(OP_READ, "op_read", "bytes", 0, SUM, SUM, "data that an operator read")                                         \
    X(OP_WRITTEN, "op_written", "bytes", 0, SUM, SUM, "data that an operator wrote")                                  \
    X(OP_FLOPS, "op_flops", "operations", 1, SUM, SUM, "floating-point operations, if a formula is known")            \
    X(OP_COPIES, "op_copies", "copies", 0, SUM, SUM, "arrays that an operator copied implicitly")                     \
    X(OP_CASTS, "op_casts", "casts", 0, SUM, SUM, "arrays that an operator converted to another type")                \
    X(OP_CPU, "op_cpu", "us", 1, SUM, SUM, "an operator's time, added up in floats as PyTorch does")                  \
    X(OP_CPU_SELF, "op_cpu_self", "us", 1, SUM, SUM, "op_cpu without the operators it called")                        \
    X(OP_DEVICE, "op_device", "us", 1, SUM, SUM, "time a device worked for an operator")                              \
    X(OP_DEVICE_SELF, "op_device_self", "us", 1, SUM, SUM, "op_device without the operators it called")               \
    X(OP_MEMORY, "op_memory", "bytes", 1, SUM, SUM, "memory allocated minus memory freed during an operator")         \
    X(OP_MEMORY_SELF, "op_memory_self", "bytes", 1, SUM, SUM, "op_memory without the operators it called")            \
    X(OP_DEVICE_MEMORY, "op_device_memory", "bytes", 1, SUM, SUM, "like op_memory, on a device")                      \
    X(OP_DEVICE_MEMORY_SELF, "op_device_memory_self", "bytes", 1, SUM, SUM,                                           \
      "op_device_memory without the operators it called")                                                             \
    X(GRAPH_VM, "graph_vm", "ns", 0, SUM, SUM, "part of a compiled function's total in its VM")                       \
    X(GRAPH_CREATED, "graph_created", "bytes", 0, SUM, MOST, "new memory for the outputs of one call of a node")      \
    X(GRAPH_INPLACE, "graph_inplace", "bytes", 0, SUM, MOST, "outputs of one call of a node that overwrite inputs")   \
    X(GRAPH_VIEW, "graph_view", "bytes", 0, SUM, MOST, "outputs of one call of a node that are views of inputs")      \
    X(GRAPH_PEAK, "graph_peak", "bytes", 0, MOST, MOST, "most memory that a compiled function's nodes use at once")   \
    X(GRAPH_BEFORE, "graph_before", "nodes", 0, SUM, SUM, "nodes of the graph before a rewriter")                     \
    X(GRAPH_AFTER, "graph_after", "nodes", 0, SUM, SUM, "nodes of the graph after a rewriter")                        \
    X(GRAPH_GONE, "graph_gone", "", 0, EVERY, EVERY,                                                                  \
      "1: a part of a graph that was reported earlier and no longer exists")                                          \
    X(GC_COLLECTED, "gc_collected", "objects", 0, SUM, SUM, "objects that garbage collection freed")                  \
    X(PAGE_FAULTS, "page_faults", "faults", 0, SUM, SUM, "page faults from entry to exit")                            \
    X(CONTEXT_SWITCHES, "context_switches", "switches", 0, SUM, SUM, "context switches of the thread meanwhile")      \
    X(MIGRATIONS, "migrations", "times", 0, SUM, SUM, "moves of the thread to another processor")                     \
    X(CYCLES, "cycles", "cycles", 0, SUM, SUM, "processor cycles from entry to exit")                                 \
    X(INSTRUCTIONS, "instructions", "instructions", 0, SUM, SUM, "instructions executed from entry to exit")          \
    X(BRANCHES, "branches", "branches", 0, SUM, SUM, "branches executed from entry to exit")                          \
    X(BRANCH_MISSES, "branch_misses", "branches", 0, SUM, SUM, "branches that the processor predicted wrongly")       \
    X(CACHE_REFERENCES, "cache_references", "times", 0, SUM, SUM, "accesses to the last-level cache")                 \
    X(CACHE_MISSES, "cache_misses", "times", 0, SUM, SUM, "last-level cache accesses that missed")

typedef enum snd_metric {
#define SND_METRIC_ENUM(id, name, unit, real, rule, merge_rule, meaning) SND_METRIC_##id,
    SND_METRIC_MAP(SND_METRIC_ENUM)
#undef SND_METRIC_ENUM
        SND_METRIC_COUNT_OF
} snd_metric;

/* Some of them: bit m for metric m. */
__extension__ typedef unsigned __int128 snd_metric_set;
_Static_assert(SND_METRIC_COUNT_OF <= 128, "a set has a bit for each metric");

#define SND_METRIC_BIT(metric) ((snd_metric_set)1 << (metric))
#define SND_METRIC_ALL (~(snd_metric_set)0)

/* The first one of a set that is not empty. */
static inline snd_metric
snd_metric_first(snd_metric_set set)
{
    uint64_t low = (uint64_t)set;
    return (snd_metric)(low != 0 ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(set >> 64)));
}

typedef struct snd_metric_info {
    const char *name;
    const char *unit;
    int is_real;
    snd_metric_rule rule;       /* within one process */
    snd_metric_rule merge_rule; /* between processes */
    const char *meaning;
} snd_metric_info;

/* `metric` must be one of the list. */
const snd_metric_info *snd_metric_get(snd_metric metric);

/* SND_METRIC_COUNT_OF for a name that is not in the list. */
snd_metric snd_metric_find(const char *name);

/* Where a sampled thread's time goes, in this order: CPU first, then waiting. The number of a state in this list is
 * what a timeline event of a sample has for its task. */
#define SND_SAMPLE_STATES (SND_METRIC_WAIT_OTHER - SND_METRIC_PYTHON + 1)
#define SND_SAMPLE_METRIC(state) ((snd_metric)((unsigned)SND_METRIC_PYTHON + (unsigned)(state)))
#define SND_SAMPLE_IS_CPU(state) ((unsigned)(state) <= SND_METRIC_SYSTEM - SND_METRIC_PYTHON)

/* A whole number or a real one, as the metric says. */
typedef union snd_value {
    uint64_t whole;
    double real;
} snd_value;

int snd_metric_is_less(snd_metric metric, snd_value a, snd_value b);

/* What `added` makes of `known` by this rule. An average counts as a sum: its weights are the caller's. */
snd_value snd_metric_combine(snd_metric metric, snd_metric_rule rule, snd_value known, snd_value added);

#endif
