/* What the sampler has seen: a row a thread, a tree of places below it, and when each was seen. */
#ifndef SND_PROBE_SAMPLE_TREE_H
#define SND_PROBE_SAMPLE_TREE_H

#include "base/map.h"
#include "probe/core/track.h"

#define SND_SAMPLE_NODE_LIMIT (1u << 20)
#define SND_SAMPLE_ROW_LIMIT 256u /* from then on a new thread goes on with the row of one that ended */
#define SND_SAMPLE_NAME_SIZE 64

typedef struct snd_sample_node {
    uint32_t parent; /* SND_NONE: a row's root */
    uint32_t row;
    uint32_t site;          /* SND_NONE: a root or a region */
    int is_import;          /* the import of a module, which the interpreter's own frames are part of */
    int in_import;          /* that, or below it */
    uint32_t changed;       /* when it last was, in ticks of the sampler */
    const snd_node *region; /* NULL: none */
    uint64_t samples;
    uint64_t values[SND_SAMPLE_STATES]; /* ns */
    uint64_t gpu_ns;                    /* the GPU worked while the main thread was here */
    uint64_t gpu_seen_ns;               /* for how long that is known */
    double gpu_area;                    /* the bytes that it had there, times ns */
} snd_sample_node;

typedef struct snd_sample_row {
    uint32_t thread_id;
    uint32_t thread_count;
    uint32_t root;
    char name[SND_SAMPLE_NAME_SIZE];
    uint64_t start_ns, end_ns; /* monotonic; end 0: it lives */
    int is_python;             /* the interpreter knows it */
    const snd_track *track;    /* where its regions are; NULL: it has none */
    uint64_t event_end_ns;     /* up to where its events reach */
    uint64_t last_event;       /* number of its last event + 1; 0: none */
} snd_sample_row;

typedef struct snd_sample_event {
    uint64_t start_ns, duration_ns;
    uint32_t node;
    uint32_t state;
} snd_sample_event;

/* All zero: nothing seen. Under the sampler's lock. */
typedef struct snd_sample_tree {
    snd_sample_node *nodes;
    uint32_t node_count, node_capacity;
    snd_map children; /* (parent, what it is) to node */
    snd_sample_row *rows;
    uint32_t row_count, row_capacity;
    int keeps_events;
    int drops_imports; /* their time is known, and not told */
    snd_sample_event *events;
    uint64_t event_base; /* number of the first event that is still here */
    uint32_t event_count, event_capacity;
    uint64_t dropped_events;
    uint32_t tick; /* number of the current one */
    uint64_t samples;
} snd_sample_tree;

void snd_sample_tree_free(snd_sample_tree *self);

/* A row for a thread that was not there before; SND_NONE when memory runs out. With a track (NULL: none) it goes on
 * with the row that has it, whose thread must have ended. */
uint32_t snd_sample_tree_row(snd_sample_tree *self, uint32_t thread_id, const snd_track *track, uint64_t now_ns);

/* The row that has the track, whether its thread lives or not; SND_NONE: none. A track belongs to one row for ever. */
uint32_t snd_sample_tree_row_of(const snd_sample_tree *self, const snd_track *track);

/* The node of a site, or of a region, below another; `parent` itself when there is no room. */
uint32_t snd_sample_tree_child(snd_sample_tree *self, uint32_t parent, uint32_t site);
uint32_t snd_sample_tree_region(snd_sample_tree *self, uint32_t root, const snd_node *region);

/* The same for something without a place, such as "[sonde]". */
uint32_t snd_sample_tree_other(snd_sample_tree *self, uint32_t parent, const char *name);

/* The node of an import of the module below another. */
uint32_t snd_sample_tree_import(snd_sample_tree *self, uint32_t parent, const char *module);

/* The thread of the node was found there: `ns` more, in one of the states. */
void snd_sample_tree_add(snd_sample_tree *self, uint32_t node, unsigned state, uint64_t ns, uint64_t now_ns);

/* The events that are kept belong to the caller now. */
void snd_sample_tree_drained(snd_sample_tree *self);

#endif
