/* Room: views of compiled graphs: by class, operator and node. */
/* Compiled functions of a profile, each as a tree with sums, and all of them as one. */
#ifndef SND_VIEW_GRAPH_H
#define SND_VIEW_GRAPH_H

#include "model/rollup.h"
#include "view/core/view.h"

#include <string.h>

/* The implementation of a node: a part of a longer text. */
typedef struct snd_graph_word {
    const char *text; /* NULL: unknown */
    size_t len;
} snd_graph_word;

/* A site under a parent. What is the same in several functions is one in the sum of all; nodes of the graph are not.
 * Texts are the profile's. */
typedef struct snd_graph_node {
    const snd_profile_site *site;
    const char *function;   /* that it is in; of the sum: the first */
    uint32_t parent;        /* SND_NONE: the function itself, which is the first */
    uint32_t first, next;   /* below it, and with the same parent, in the profile's order; SND_NONE: none */
    uint32_t first_slow;    /* the first below it that took long to link; SND_NONE: none */
    uint32_t depth;         /* how many stand above it */
    uint32_t rewriters;     /* how many of those are rewriters */
    snd_metric_set present; /* those that are known */
    uint64_t count;
    uint64_t total_ns;
    uint64_t vm_ns;
    uint64_t created, inplace, view, peak; /* bytes */
    uint64_t before, after;                /* nodes */
    uint32_t applies;                      /* nodes of the graph in it */
    double flops;                          /* of those with a formula */
    uint64_t flops_ns;                     /* their time */
    snd_graph_word implementations[2];     /* of the nodes in it, in the order of the alphabet */
} snd_graph_node;

/* Read freely. The profile must live longer. */
typedef struct snd_graph {
    snd_graph_node *nodes; /* parents first; the function itself is the first */
    uint32_t count, capacity;
    uint32_t function_count; /* more than 1: the sum of so many */
    uint64_t thunks_ns;      /* in nodes of the graph */
    int is_timed;            /* the nodes' times are known */
} snd_graph;

/* A compiled function. */
typedef struct snd_graph_function {
    uint32_t node;  /* of the profile */
    uint32_t outer; /* the function that it is inside of, as a number of this list; SND_NONE: it is called itself */
    uint32_t apply; /* the node of the profile that runs it; SND_NONE */
    const char *name;
    uint64_t total_ns;
    uint32_t first, node_count; /* of the list's nodes */
} snd_graph_function;

typedef struct snd_graph_functions {
    snd_graph_function *rows; /* longest first, each with those inside it behind it */
    uint32_t count, capacity;
    uint32_t called_count; /* those that are not inside another one */
    uint32_t *nodes;       /* of the profile, those of one function one after the other, the function itself first */
    uint32_t *function_of; /* per node of the profile: a number of this list; SND_NONE: it is in none of it */
    snd_rollup apart;      /* the nodes of each function that are the same */
    snd_rollup together;   /* those of all functions that are not inside another one */
    uint32_t *node_of;     /* room for snd_graph_make, per row of these */
} snd_graph_functions;

int snd_graphs_exist(const snd_profile *profile);

/* Those that the options want, all of them or those of a name, with what is inside them. The caller owns the rows, on
 * SND_OK only. SND_NO_DATA when there are none. */
void snd_graph_functions_make(const snd_profile *profile, const snd_view_options *options, snd_graph_functions *out);

/* One function without those inside it; for SND_NONE the sum of all that are not inside another one, whose time is in
 * theirs already. The caller owns the nodes, on SND_OK only. Not in two threads at once with the same list. */
void snd_graph_make(const snd_graph_functions *functions, uint32_t number, snd_graph *out);

/* Rounded; the count must not be 0. */
static inline uint64_t
snd_graph_per_call(const snd_graph_node *node)
{
    return node->total_ns / node->count + (node->total_ns % node->count >= node->count - node->count / 2);
}

/* A class or an operator, whose numbers are the sums of its nodes; these or a node of the graph. */
static inline int
snd_graph_is_sum(const snd_graph_node *node)
{
    return node->site->kind == SND_SITE_GRAPH_CLASS || node->site->kind == SND_SITE_GRAPH_OP;
}

static inline int
snd_graph_is_run(const snd_graph_node *node)
{
    return snd_graph_is_sum(node) || node->site->kind == SND_SITE_GRAPH_APPLY;
}

/* A node of the graph that took long to link; it stands among the phases. */
static inline int
snd_graph_is_slow(const snd_graph_node *node)
{
    return node->site->kind == SND_SITE_GRAPH_PHASE && strcmp(node->site->detail, "node") == 0;
}

static inline int
snd_graph_has(const snd_graph_node *node, snd_metric metric)
{
    return (int)(node->present >> metric & 1);
}

/* How long lists are where nobody says it now: as was wanted when it was measured, or the usual. */
snd_graph_limits snd_graph_limits_of(const snd_profile *profile);

/* The number of a node of the graph, as its detail has it; -1: unknown. */
int64_t snd_graph_id(const snd_graph_node *node);

/* The inputs and outputs of a node of the graph, in order. The caller frees the list. NULL when memory runs out. */
uint32_t *snd_graph_variables(const snd_graph *self, uint32_t node, uint32_t *count);

/* "C", "C & Py"; "" where it is unknown. */
void snd_graph_implementation(const snd_graph_node *node, snd_buffer *out);

/* What people call it: a class by its full name. */
const char *snd_graph_name(const snd_graph_node *node);

/* The child of `node` that is of this kind and name; SND_NONE: there is none. */
uint32_t snd_graph_find(const snd_graph *self, uint32_t node, snd_site_kind kind, const char *name);

/* The node after this one, those below it first; SND_NONE: it is the last. */
uint32_t snd_graph_next(const snd_graph *self, uint32_t node);

/* Operations a nanosecond, which are 10^9 a second, with three digits; 0 where they are not known. */
double snd_graph_speed(const snd_graph_node *node);

/* ---- tables for people ---- */

/* Nodes of a kind (classes, operators or nodes of the graph), the longest `limit` of them and a row for the rest; a
 * table without rows where no node was timed. graph_tables.c */
void snd_graph_table(const snd_graph *self, snd_site_kind kind, uint32_t limit, snd_table **out);

/* Where the time of calling and of compiling went, and the functions that were called. graph_times.c */
void snd_graph_time_table(const snd_graph *self, snd_table **out);
void snd_graph_function_table(const snd_graph_functions *functions, snd_table **out);

/* Peaks, nodes of the graph by the size of their outputs, and rewriters that changed something: tables without rows
 * where nothing is known. graph_memory.c */
void snd_graph_peak_table(const snd_graph *self, snd_table **out);
void snd_graph_memory_table(const snd_graph *self, uint32_t limit, uint64_t least, snd_table **out);
void snd_graph_rewriter_table(const snd_graph *self, snd_table **out);

/* Whether it is a rewriter that changed nothing. */
int snd_graph_is_idle(const snd_graph *self, uint32_t node);

/* Time in validation below a rewriter, of its own. */
uint64_t snd_graph_validation(const snd_graph *self, uint32_t node);

/* The nodes of a kind, by `compare` (see qsort_r; the elements are numbers of nodes, the context is `self`). The caller
 * frees the list. NULL when memory runs out. */
uint32_t *snd_graph_sorted(const snd_graph *self, snd_site_kind kind,
                           int (*compare)(const void *a, const void *b, void *self), uint32_t *count);

/* The name of the row for those that have none: "remaining: 3 ops". */
void snd_graph_remaining(snd_site_kind kind, uint32_t count, snd_buffer *out);

#endif
