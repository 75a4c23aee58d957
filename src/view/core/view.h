/* Room: questions asked of a profile, the table that answers them, and what all views share. */
/* Questions asked of a profile. Each stands in a file of its own and answers with a table. */
#ifndef SND_VIEW_VIEW_H
#define SND_VIEW_VIEW_H

#include "model/profile.h"
#include "view/core/table.h"

/* How long the lists about compiled functions are. */
typedef struct snd_graph_limits {
    uint32_t ops;     /* classes and operators */
    uint32_t applies; /* nodes */
    uint64_t memory;  /* nodes whose outputs have fewer bytes are not listed */
} snd_graph_limits;

#define SND_GRAPH_LIMITS ((snd_graph_limits){20, 20, 1024})

/* What may be asked of a view besides its name. All zero: the usual answer. */
typedef struct snd_view_options {
    int all_code;         /* lines of libraries too; else their time stands at the line of the program that led there */
    const char *include;  /* files that are the program's own: patterns as in *model*, with commas; NULL: the usual */
    const char *exclude;  /* files that are not */
    const char *region;   /* samples inside regions of this name only */
    const char *thread;   /* threads of this name only */
    int show_all;         /* frames of libraries in a tree as well; every line at which idle threads wait */
    const char *hide;     /* a regular expression: frames of a tree whose file or function is like it are folded */
    int flat;             /* the functions of a tree as a list */
    int by_time;          /* a tree in the order of time; needs the events */
    int cpu_only;         /* without time that was waited */
    int with_waiting;     /* lists in the order of CPU time and waiting together, and shares of both */
    int whole_files;      /* every line of a file that has some */
    int seconds;          /* seconds instead of shares where both are possible */
    int by_shape;         /* operators with other inputs are other rows */
    int by_line;          /* operators that other lines called are other rows */
    const char *function; /* compiled functions of this name only, and what is inside them */
    int total;            /* of compiled functions only their sum */
    int no_callees;       /* without the names of C functions, which are words of the source */
    const struct snd_graph_limits *limits; /* of the lists about compiled functions; NULL: the usual ones */
} snd_view_options;

/* X(name, what it shows). A view is one file with snd_view_NAME in it, and a line here. */
#define SND_VIEW_MAP(X)                                                                 \
    X(lines, "your lines: Python, native, system and waiting time")                     \
    X(tree, "the sampled call tree, libraries folded")                                  \
    X(waiting, "what threads waited for, by line and reason; idle threads as one row")  \
    X(memory, "memory at the peak by owner: lines, call tree, temporary blocks, sizes") \
    X(leaks, "lines whose memory keeps growing")                                        \
    X(copies, "lines that copy memory")                                                 \
    X(footprint, "heap and resident memory over time")                                  \
    X(owners, "memory at the peak as a call tree")                                      \
    X(sizes, "allocations by the size of their blocks")                                 \
    X(timeline, "what the program did, one time slice after another")                   \
    X(regions, "the region tree: time, count, minimum, maximum, percentiles")           \
    X(ops, "operators: time, bytes, GFLOP/s, copies; and regions")                      \
    X(graph, "functions compiled by Aesara and PyTensor, by class, op and node")        \
    X(functions, "functions: traced calls as in pstats, or sampled time")               \
    X(callers, "functions and their callers")                                           \
    X(callees, "functions and what they called")                                        \
    X(signatures, "functions, and the types and shapes of their arguments")             \
    X(threads, "the profiled threads")                                                  \
    X(counters, "values counted by your program")                                       \
    X(marks, "moments marked by your program")                                          \
    X(processes, "the profiled processes")                                              \
    X(ranks, "regions and functions across processes: minimum, median, maximum, outliers")

/* Their names with blanks, for shells. */
#define SND_VIEW_WORD(name, about) #name " "
#define SND_VIEW_WORDS SND_VIEW_MAP(SND_VIEW_WORD)

/* The caller owns the table. SND_NO_DATA when the profile has nothing that the view could show, SND_NO_TIMELINE when it
 * needs events and the profile has none, SND_BAD_ARGUMENT when a pattern is not valid. */
#define SND_VIEW_DECLARE(name, about)                                                                    \
    SND_MUST_USE snd_status snd_view_##name(const snd_profile *profile, const snd_view_options *options, \
                                            snd_table **out);
SND_VIEW_MAP(SND_VIEW_DECLARE)
#undef SND_VIEW_DECLARE

/* Defines snd_view_NAME, which asks `ask` as one work. */
typedef struct snd_view_question {
    const snd_profile *profile;
    const snd_view_options *options;
} snd_view_question;

#define SND_VIEW(name, ask)                                                                                  \
    static snd_table *make_##name(const void *context)                                                       \
    {                                                                                                        \
        const snd_view_question *asked = context;                                                            \
        snd_table *table = NULL;                                                                             \
        ask(asked->profile, asked->options, &table);                                                         \
        return table;                                                                                        \
    }                                                                                                        \
    snd_status snd_view_##name(const snd_profile *profile, const snd_view_options *options, snd_table **out) \
    {                                                                                                        \
        return snd_table_make(make_##name, &(snd_view_question){profile, options}, out);                     \
    }

typedef struct snd_view {
    const char *name;
    const char *about;
    snd_status (*make)(const snd_profile *profile, const snd_view_options *options, snd_table **out);
} snd_view;

extern const snd_view snd_views[];
extern const unsigned snd_view_count;

/* NULL for an unknown name. */
const snd_view *snd_view_find(const char *name);

/* Whether the profile must have its events for this: the reader loads them only where they are needed. */
int snd_view_needs_events(const snd_view *view, const snd_view_options *options);

/* Whether the profile must have its parts for this. */
int snd_view_needs_parts(const snd_view *view);

/* Whether it shows what only a recording of memory has. */
int snd_view_needs_memory(const snd_view *view);

/* The view when nothing is asked for: lines of samples, compiled functions where there is nothing else, operators,
 * memory, regions, or functions where there are calls and no regions. */
const snd_view *snd_view_default(const snd_profile *profile);

/* The view of regions without any row and with all columns that it may have, to check names against. NULL when memory
 * runs out. */
snd_table *snd_view_regions_empty(void);

/* The sentence under every table: entries, what was dropped, what is still open, our own cost. */
void snd_view_add_footer(const snd_profile *profile, snd_table *table);

#endif
