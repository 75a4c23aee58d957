/* Room: the profile, the metrics and their rules, the roll-up, and how several profiles become one. */
/* The model: sites, tracks, nodes and their metrics, in memory. Built by the collector or by the reader. */
#ifndef SND_MODEL_PROFILE_H
#define SND_MODEL_PROFILE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/status.h"
#include "model/histogram.h"
#include "model/metric.h"

/* ---- what a profile knows of memory besides the metrics of its nodes ---- */

typedef struct snd_point {
    uint64_t at_ns; /* since the recording's start */
    double value;
} snd_point;

/* A number of the whole process over time, such as "heap" or "rss". */
typedef struct snd_series {
    const char *name, *unit; /* live as long as the profile */
    snd_point *points;       /* by time */
    uint32_t count;
} snd_series;

#define SND_SERIES_LIMIT 16u    /* series that a profile may have */
#define SND_SERIES_POINTS 2048u /* points that one may have */

/* A node at the end of a step of time; all steps are as long: the fact "history_step_ns". */
typedef struct snd_history_point {
    uint64_t live;  /* bytes */
    uint64_t taken; /* blocks looked at since the start, and those of them that were freed */
    uint64_t freed;
} snd_history_point;

#define SND_HISTORY_POINTS 32u

typedef struct snd_history {
    uint32_t count; /* points */
    snd_history_point points[SND_HISTORY_POINTS];
} snd_history;

/* Blocks of at least 2^i bytes and less than twice that, estimated. */
typedef struct snd_block_size {
    uint64_t python_blocks, python_bytes, native_blocks, native_bytes;
} snd_block_size;

#define SND_BLOCK_SIZES 64u

typedef struct snd_profile_memory {
    snd_series series[SND_SERIES_LIMIT];
    uint32_t series_count;
    snd_history **histories; /* per node; NULL: none */
    uint32_t history_count;  /* length of that list */
    snd_block_size *sizes;   /* SND_BLOCK_SIZES of them; NULL: not measured */
} snd_profile_memory;

#define SND_NONE UINT32_MAX

/* X(id, name in recordings). */
#define SND_SITE_KIND_MAP(X)            \
    X(THREAD, "thread")                 \
    X(REGION, "region")                 \
    X(COUNTER, "counter")               \
    X(FUNCTION, "function")             \
    X(BUILTIN, "builtin")               \
    X(LINE, "line")                     \
    X(NATIVE, "native")                 \
    X(OTHER, "other")                   \
    X(OP, "op")                         \
    X(GRAPH, "graph")                   \
    X(GRAPH_CLASS, "graph_class")       \
    X(GRAPH_OP, "graph_op")             \
    X(GRAPH_APPLY, "graph_apply")       \
    X(GRAPH_VARIABLE, "graph_variable") \
    X(GRAPH_PHASE, "graph_phase")       \
    X(GRAPH_REWRITER, "graph_rewriter") \
    X(GRAPH_MEMORY, "graph_memory")     \
    X(GC, "gc")                         \
    X(MARK, "mark")

typedef enum snd_site_kind {
#define SND_SITE_KIND_ENUM(id, name) SND_SITE_##id,
    SND_SITE_KIND_MAP(SND_SITE_KIND_ENUM)
#undef SND_SITE_KIND_ENUM
        SND_SITE_KIND_COUNT
} snd_site_kind;

const char *snd_site_kind_name(snd_site_kind kind);
snd_site_kind snd_site_kind_find(const char *name); /* SND_SITE_KIND_COUNT for an unknown one */

/* A place the cost belongs to. Texts live as long as the profile. */
typedef struct snd_profile_site {
    snd_site_kind kind;
    const char *name;
    const char *file; /* "" where unknown */
    uint32_t line;    /* 0 where unknown */
    const char
        *detail;   /* what sets it apart from others at its place: a call's signature, an operator's inputs; or "" */
    uint32_t twin; /* from 1 on for others with the same texts that are not the same; not kept in recordings */
    uint32_t first_line; /* of a line: where its function starts; else 0 */
} snd_profile_site;

/* Whether a site of this kind is something that is called. */
static inline int
snd_site_is_call(snd_site_kind kind)
{
    return kind == SND_SITE_FUNCTION || kind == SND_SITE_BUILTIN;
}

/* Whether a site of this kind is somewhere a sampled thread was found: a line of Python (its name is the function's), a
 * native symbol, or something that has no place, such as time that nobody saw. Samples stand below a track's root or a
 * region, caller above callee. */
static inline int
snd_site_is_sampled(snd_site_kind kind)
{
    return kind == SND_SITE_LINE || kind == SND_SITE_NATIVE || kind == SND_SITE_OTHER;
}

/* The site of kind OTHER that stands for the import of a module, whose name follows: all of its time, without the
 * interpreter's own lines. */
#define SND_SITE_IMPORT "import "

/* The site of kind OTHER below a line in which a garbage collection ran; below it stand the finalisers that it called.
 * Its time is not the line's. */
#define SND_SITE_COLLECTION "[garbage collection]"

/* Whether it stands for the import of a module. */
int snd_site_is_import(const snd_profile_site *site);

/* Whether it is a line of code that a program may have as its own: Python's, or that of a .pyx file. */
int snd_site_is_code(const snd_profile_site *site);

/* Whether a site of this kind is a part of a compiled graph: a function of it, and below that the classes, operators
 * and nodes it runs with their inputs and outputs, the phases of compiling it, its rewriters, its peaks of memory. No
 * thread enters these. */
static inline int
snd_site_is_graph(snd_site_kind kind)
{
    return kind >= SND_SITE_GRAPH && kind <= SND_SITE_GRAPH_MEMORY;
}

/* Whether a site of this kind is set apart by its place and detail too, not only by its name. */
static inline int
snd_site_is_placed(snd_site_kind kind)
{
    return snd_site_is_call(kind) || snd_site_is_sampled(kind) || kind == SND_SITE_OP || snd_site_is_graph(kind) ||
           kind == SND_SITE_GC || kind == SND_SITE_MARK;
}

/* Whether a node of this kind is entered and left on a thread's stack. Operators nest into regions and into each other;
 * views of regions show a region's operators as its own time. */
static inline int
snd_site_is_entered(snd_site_kind kind)
{
    return kind == SND_SITE_REGION || kind == SND_SITE_OP;
}

/* A line of time. */
typedef struct snd_profile_track {
    uint32_t process_id;
    uint32_t thread_id;
    uint32_t thread_count; /* more than 1: this line was handed on when a thread ended */
    const char *name;
    uint64_t start_ns; /* since the recording's start */
    uint64_t end_ns;
    uint64_t dropped_entries; /* not counted: no room for another node */
    uint64_t dropped_events;  /* missing from the timeline only */
    uint32_t process;         /* which of the profile's; SND_NONE: of several */
    uint32_t summed_on; /* 0: its nodes are its own; else 1 + the track that has them, summed with those of others */
} snd_profile_track;

/* A process that was measured. Texts live as long as the profile; "" where unknown. */
typedef struct snd_process {
    const char *host, *program;
    const char *arguments;          /* a JSON list */
    const char *probes;             /* as the fact of that name */
    uint32_t process_id, parent_id; /* 0: unknown */
    int has_rank, has_cpu, is_complete;
    uint64_t rank;
    uint64_t cpu_ns;
    uint64_t start_realtime_ns, start_monotonic_ns; /* 0: unknown */
    uint64_t length_ns;
    uint64_t offset_ns; /* from the recording's start to this one's */
} snd_process;

/* What one process had of the time of one node: of a region or a call `total_ns` and `self_ns`; of a sampled frame CPU
 * time and waiting in the frame itself, and `self_ns`, the CPU time alone. */
typedef struct snd_part_entry {
    uint32_t node;
    uint64_t total_ns, self_ns;
} snd_part_entry;

typedef struct snd_part {
    snd_part_entry *entries; /* nodes with neither are left out; a node may come more than once */
    uint32_t count, capacity;
} snd_part;

/* A site under a parent, on a track. A parent's id is smaller than its children's. */
typedef struct snd_profile_node {
    uint32_t parent; /* SND_NONE: the track's root */
    uint32_t track;
    uint32_t site;
    snd_metric_set present; /* those that have a value */
} snd_profile_node;

typedef struct snd_info {
    const char *key;
    char *value; /* its own: it changes with every checkpoint */
} snd_info;

/* A source file as it was when it was measured. */
typedef struct snd_source {
    const char *file; /* as in the sites */
    char *text;       /* its own; ended by NUL; NULL: only its size and its digest are known */
    size_t size;
    unsigned char sha256[SND_SHA256_SIZE]; /* only where there is no text */
    uint32_t revision;                     /* how often it was replaced */
} snd_source;

/* One event of the timeline: an entry, a sample, a mark or a counter's new value, as the kind of its node's site says.
 */
typedef struct snd_profile_event {
    uint64_t start_ns; /* since the recording's start */
    union {
        uint64_t duration_ns; /* of an entry or a sample; of a mark 0 */
        double value;         /* of a counter */
    };
    uint32_t node;
    union {
        uint32_t task;  /* of an entry; 0: the thread itself */
        uint32_t state; /* of a sample, see SND_SAMPLE_METRIC */
    };
    uint32_t track; /* on whose timeline it is: its node's, or one whose nodes are summed on that one */
} snd_profile_event;

/* Read freely; change with the functions below. Not thread-safe. */
typedef struct snd_profile {
    snd_profile_site *sites;
    snd_profile_track *tracks;
    snd_profile_node *nodes;
    snd_value *columns[SND_METRIC_COUNT_OF]; /* NULL: no node has this metric */
    uint64_t **histograms;                   /* per node; NULL: none */
    snd_info *infos;
    snd_source *sources;
    snd_profile_event *events; /* by start; only where somebody asked for them */
    uint64_t event_count;
    snd_process *processes;
    snd_part *parts; /* one for each process; only where somebody asked for them */
    snd_profile_memory memory;
    /* As snd_file_load of os/file.h, for sources that are known by their digest only; NULL: their text is not looked
     * for. */
    snd_status (*load_text)(const char *path, size_t limit, char **text, size_t *size);
    uint32_t source_count, source_capacity;
    uint32_t process_count, process_capacity; /* 0: the facts say which process it is */
    uint32_t site_count, track_count, node_count, info_count;
    uint32_t site_capacity, track_capacity, node_capacity, info_capacity;
    snd_intern *texts;
    snd_map info_places; /* by the hash of the key */
} snd_profile;

/* `node` must be below node_count. */
static inline snd_site_kind
snd_profile_kind(const snd_profile *self, uint32_t node)
{
    return self->sites[self->nodes[node].site].kind;
}

/* Whether any node is of a site of this kind; whether anything was sampled; whether memory was recorded. */
int snd_profile_has_kind(const snd_profile *self, snd_site_kind kind);
int snd_profile_has_samples(const snd_profile *self);
int snd_profile_has_memory(const snd_profile *self);

/* The caller owns it. NULL when memory runs out. */
snd_profile *snd_profile_new(void);
void snd_profile_free(snd_profile *self); /* NULL is allowed */

/* These copy their texts and give the new id. On failure the profile is as it was. */
SND_MUST_USE snd_status snd_profile_add_site(snd_profile *self, const snd_profile_site *site, uint32_t *id);
SND_MUST_USE snd_status snd_profile_add_track(snd_profile *self, const snd_profile_track *track, uint32_t *id);
SND_MUST_USE snd_status snd_profile_add_node(snd_profile *self, uint32_t parent, uint32_t track, uint32_t site,
                                             uint32_t *id);

/* Another detail for a site that is there. */
SND_MUST_USE snd_status snd_profile_set_detail(snd_profile *self, uint32_t site, const char *detail);

/* Replaces everything about a track that is there. */
SND_MUST_USE snd_status snd_profile_set_track(snd_profile *self, uint32_t id, const snd_profile_track *track);

SND_MUST_USE snd_status snd_profile_set(snd_profile *self, uint32_t node, snd_metric metric, snd_value value);
SND_MUST_USE snd_status snd_profile_set_histogram(snd_profile *self, uint32_t node, const uint64_t *counts);

/* 0 where the node has no such metric. */
uint64_t snd_profile_whole(const snd_profile *self, uint32_t node, snd_metric metric);
double snd_profile_real(const snd_profile *self, uint32_t node, snd_metric metric);

/* Entries, the open ones too. */
uint64_t snd_profile_entries(const snd_profile *self, uint32_t node);

/* Whether it has an entry; 1 for what is not entered, such as a counter. */
int snd_profile_was_entered(const snd_profile *self, uint32_t node);

static inline int
snd_profile_has(const snd_profile *self, uint32_t node, snd_metric metric)
{
    return (self->nodes[node].present >> metric & 1) != 0;
}

/* NULL: not there. Setting one copies the points and replaces what there was. */
const snd_series *snd_profile_series(const snd_profile *self, const char *name);
SND_MUST_USE snd_status snd_profile_set_series(snd_profile *self, const char *name, const char *unit,
                                               const snd_point *points, uint32_t count);

/* NULL: the node has none. Setting one copies it. */
const snd_history *snd_profile_history(const snd_profile *self, uint32_t node);
SND_MUST_USE snd_status snd_profile_set_history(snd_profile *self, uint32_t node, const snd_history *history);

/* Copies SND_BLOCK_SIZES elements. */
SND_MUST_USE snd_status snd_profile_set_sizes(snd_profile *self, const snd_block_size *sizes);

/* A text that lives as long as the profile. */
SND_MUST_USE snd_status snd_profile_keep_text(snd_profile *self, const char *text, const char **kept);

/* These copy the text; a second one for the same file replaces the first. */
SND_MUST_USE snd_status snd_profile_add_source(snd_profile *self, const char *file, const char *text, size_t size);
SND_MUST_USE snd_status snd_profile_copy_source(snd_profile *self, const snd_source *source);
const snd_source *snd_profile_source(const snd_profile *self, const char *file); /* NULL: not there */
int snd_source_equal(const snd_source *a, const snd_source *b);                  /* whatever the names of their files */

/* A fact about the run; a second one under the same key replaces the first. */
SND_MUST_USE snd_status snd_profile_set_info(snd_profile *self, const char *key, const char *value);
SND_MUST_USE snd_status snd_profile_set_info_number(snd_profile *self, const char *key, uint64_t value);
uint32_t snd_profile_info_place(const snd_profile *self, const char *key);  /* in `infos`; SND_NONE: not there */
const char *snd_profile_info(const snd_profile *self, const char *key);     /* NULL: not there */
uint64_t snd_profile_info_number(const snd_profile *self, const char *key); /* 0: not there, or no number */

/* Takes those away that the function wants gone. On failure some of the others are gone too. */
SND_MUST_USE snd_status snd_profile_drop_infos(snd_profile *self, int (*is_dropped)(const snd_info *info));

#endif
