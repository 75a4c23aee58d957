/* Room: what all probes share: tracks that threads write, sites, and the snapshot that reads them. */
/* Live tracks: what a thread writes while it runs, and what the collector reads meanwhile. */
#ifndef SND_PROBE_TRACK_H
#define SND_PROBE_TRACK_H

#include "base/ring.h"
#include "model/histogram.h"
#include "os/clock.h"
#include "os/lock.h"
#include "probe/core/site.h"
#include "probe/core/system_counter.h"

#define SND_NODE_CACHE 4u
#define SND_NODE_LIMIT (1u << 20) /* nodes a track; entries beyond it are counted as dropped */
#define SND_TRACK_LIMIT 256u      /* from then on a new thread takes over the track of one that ended */

/* One point of the calling-context tree. Its thread writes it, others read the atomics. Durations are in ticks. */
typedef struct snd_node {
    struct snd_node *cache[SND_NODE_CACHE]; /* children met lately, by site */
    struct snd_node *parent;
    uint32_t site;
    uint32_t id; /* dense within the track; the root is 0 */
    _Atomic uint64_t count;
    union {
        struct { /* a region */
            _Atomic uint64_t total, self, min, max, cpu_ns;
            union {
                _Atomic uint64_t suspended;
                _Atomic uint64_t collected; /* of garbage collections: objects that they took away */
            };
            _Atomic uint64_t open, open_start; /* entries not left yet, and the sum of their start times */
            _Atomic double square;
        };
        struct { /* a counter */
            _Atomic double value_last, value_min, value_max, value_sum;
            _Atomic uint64_t waiting; /* ticks of the last update, if it is in no ring; 0: it is */
            _Atomic uint64_t shown;   /* ticks of the last one that is; 0: none */
        };
        struct {                                     /* a call */
            _Atomic uint64_t total, self, suspended; /* of a pair, or of a function that nobody called */
            _Atomic uint64_t recursive;              /* entries inside another one of the same */
            _Atomic uint64_t resumes;                /* how often a generator went on */
            _Atomic uint64_t level;                  /* entries not left yet */
            _Atomic uint64_t start;                  /* of the outermost of them */
            _Atomic(struct snd_node *) function;     /* the callee's own node, below the root */
            _Atomic(struct snd_node *) base;         /* the same function whatever its signature; NULL: no signature */
        } call;
    };
    _Atomic(_Atomic uint32_t *) histogram; /* of nanoseconds; made at the second entry */
} snd_node;

typedef struct snd_span snd_span;

/* The open regions of a thread, or of one coroutine or generator. */
typedef struct snd_stack {
    snd_span *top;
    snd_node *resumer;        /* what ran on the thread before this coroutine did */
    uint64_t suspended;       /* ticks so far */
    uint64_t suspended_since; /* 0: running */
    uint64_t suspended_cpu_ns;
    uint64_t suspended_since_cpu_ns;
    uint32_t task;                                           /* 0: the thread itself */
    snd_system_counter_set counted_lost;                     /* could not be read when it was suspended or went on */
    uint64_t suspended_counted[SND_SYSTEM_COUNTER_COUNT_OF]; /* while it runs: what was counted while it did not */
} snd_stack;

/* One open region. Taken from the track's pool, never given back to the heap. */
struct snd_span {
    snd_span *below; /* within the same stack; also links the pool */
    snd_node *node;
    snd_stack *stack;
    struct snd_track *track;
    uint64_t start;
    uint64_t suspended;                /* the stack's at the start */
    uint64_t cpu_ns;                   /* the thread's at the start */
    uint32_t serial;                   /* changes when the span is given back: an old handle is recognised */
    unsigned char is_nested;           /* a global region inside itself: its time is already counted */
    unsigned char has_cpu;             /* cpu_ns is known */
    unsigned char has_more;            /* that, or the counters */
    unsigned char is_unpaired;         /* opened by a call that leaves the closing to another call */
    snd_system_counter_values counted; /* the thread's at the start; only with has_more */
};

/* From then on this node ran on the thread. */
typedef struct snd_change {
    uint64_t ticks;
    uint32_t node;
} snd_change;

typedef struct snd_changes {
    snd_lock lock;
    snd_change *list;
    uint32_t count, capacity;
} snd_changes;

typedef struct snd_track {
    /* what the hot path touches */
    _Atomic uint32_t version; /* odd while the thread writes */
    _Atomic uint32_t epoch;
    _Atomic(snd_node *) running; /* the node whose self time passes */
    _Atomic uint64_t last;       /* until when self time is accounted for */
    snd_stack stack;
    snd_stack *current; /* the stack entered last; never NULL */
    snd_span *pool;
    _Atomic(snd_ring *) ring;      /* NULL: no timeline */
    _Atomic(snd_ring *) kept_ring; /* the same, kept while the timeline is off */
    snd_node *root;
    _Atomic uint64_t reset; /* ticks: nothing before this counts */
    _Atomic uint64_t dropped;
    _Atomic(snd_node *) call_running; /* the innermost open call; NULL: none */
    _Atomic uint64_t call_last;       /* until when its self time is accounted for */

    /* nodes: block b holds 64 << b of them; a hash over (parent, site) finds them */
    snd_node *blocks[15];
    _Atomic uint32_t node_count;
    _Atomic(snd_system_counter_sums *) counted[15]; /* of the nodes of each block; NULL: nothing was counted there */
    snd_node **table;
    uint32_t table_mask;

    /* what the thread is */
    uint32_t id;
    int is_in_ns; /* its ticks are nanoseconds: somebody's own clock gives them */
    _Atomic uint32_t thread_id;
    _Atomic uint32_t thread_count; /* more than 1: handed on when its thread ended */
    _Atomic uint64_t start;
    _Atomic uint64_t end; /* 0: the thread lives */
    _Atomic(const char *) name;
    struct snd_track *next;
    snd_changes changes; /* only while they are kept: probe/region/timed_calls.h */
} snd_track;

/* Counts up with every reset; a track of an older epoch empties itself at its thread's next entry. */
extern SND_PROTECTED _Atomic uint32_t snd_track_epoch;

extern _Thread_local snd_track *snd_track_mine __attribute__((tls_model("initial-exec")));

/* Slow path: makes, takes over or empties the calling thread's track. NULL when memory runs out. */
SND_COLD snd_track *snd_track_attach(void);

/* The calling thread's track. NULL when memory runs out. */
SND_HOT snd_track *
snd_track_get(void)
{
    snd_track *track = snd_track_mine;
    if (SND_LIKELY(track != NULL && SND_GET(track->epoch) == SND_GET(snd_track_epoch)))
        return track;
    return snd_track_attach();
}

/* A track in no list, for a profile of its own, in which it has this id; it is named after the calling thread. The
 * caller frees it. NULL when memory runs out. */
snd_track *snd_track_private(uint32_t id, uint64_t now, int is_in_ns);
void snd_track_free(snd_track *self); /* NULL is allowed */

/* The track of a thread of this process, the calling one or another. One that has none gets one, which nobody will
 * enter, for the time from `start` to `end` (ticks). NULL when memory runs out. */
snd_track *snd_track_of_thread(uint32_t thread_id, uint64_t start, uint64_t end);

/* Sets all numbers to 0; what is open counts from `now`. By its owner, or while its owner cannot run. */
void snd_track_empty(snd_track *self, uint64_t now);

/* What a thread left open that is no more never ended. */
void snd_track_forget_open(snd_track *self);

/* The first of all tracks, linked by `next`. Tracks are never freed. */
snd_track *snd_track_first(void);

/* A track in no list, for measuring our own cost: what is entered there is in no report. NULL when memory runs out. */
snd_track *snd_track_scratch(void);

/* Entries of threads that got no track, and what could not be reported, since the last reset. */
uint64_t snd_track_lost(void);

/* Copies the name. Thread-safe. */
void snd_track_set_name(snd_track *self, const char *name);

/* How to name a new track; called on the new thread with room for `size` bytes; returns 0 to leave the name to the
 * system. One for the process. */
extern int (*_Atomic snd_track_namer)(char *name, size_t size);

/* Called on a thread that ends, to close what it has open. NULL: no region was ever entered. */
extern void (*_Atomic snd_track_on_end)(snd_track *track);

/* Called on a thread at its first entry ever, and after a reset or a fork. NULL: nobody wants to know. */
extern void (*_Atomic snd_track_on_attach)(void);

/* Forgets all that was counted so far. Open regions count from now. */
void snd_track_reset_all(void);

/* Around fork. In the child only the calling thread's track lives on, empty. */
void snd_track_before_fork(void);
void snd_track_after_fork(int in_child);

/* Whether new tracks get a ring; existing ones get theirs at once. */
void snd_track_keep_timeline(int on);

/* The ring of a track whose timeline is not kept, for the few events that are kept all the same; made when there is
 * none. Owner thread only. NULL when memory runs out. */
SND_COLD snd_ring *snd_track_make_ring(snd_track *self);

/* The ring to drain, also after the timeline was switched off; NULL: never had one. */
snd_ring *snd_track_ring(const snd_track *self);

/* Slow path of snd_node_child. NULL when memory or the limit runs out; that is counted. */
SND_COLD snd_node *snd_node_find(snd_track *track, snd_node *parent, uint32_t site);

/* The child of `parent` for `site`, made when new. Owner thread only. */
SND_HOT snd_node *
snd_node_child(snd_track *track, snd_node *parent, uint32_t site)
{
    snd_node *child = parent->cache[site % SND_NODE_CACHE];
    if (SND_LIKELY(child != NULL && child->site == site))
        return child;
    return snd_node_find(track, parent, site);
}

/* Whether the node is one of this track. */
int snd_node_is_here(const snd_track *track, const snd_node *node);

/* The node at the same path in this track's tree: `node` itself where it is this track's. Owner thread of `track`
 * only. NULL as above. */
snd_node *snd_node_here(snd_track *track, snd_node *node);

/* `id` must be below node_count. */
snd_node *snd_node_get(const snd_track *track, uint32_t id);

/* Makes the node's histogram with `first_ns` already in it. NULL when memory runs out. */
SND_COLD _Atomic uint32_t *snd_node_make_histogram(snd_node *node, uint64_t first_ns);

/* What was counted for a node. NULL: nothing. Any thread. */
snd_system_counter_sums *snd_node_counted(const snd_track *track, const snd_node *node);

/* The same, made when there is none. NULL when memory runs out. Owner thread only. */
SND_COLD snd_system_counter_sums *snd_node_make_counted(snd_track *track, const snd_node *node);

/* Slow path of snd_span_take, the region probe's. NULL when memory runs out; that is counted. */
SND_COLD snd_span *snd_span_new(snd_track *track);

SND_HOT snd_span *
snd_span_take(snd_track *track)
{
    snd_span *span = track->pool;
    if (SND_UNLIKELY(span == NULL))
        return snd_span_new(track);
    track->pool = span->below;
    return span;
}

SND_HOT void
snd_span_give(snd_track *track, snd_span *span)
{
    span->stack = NULL;
    span->serial++;
    span->below = track->pool;
    track->pool = span;
}

/* Around every change of what the collector reads. */
SND_HOT void
snd_track_write_begin(snd_track *track)
{
    SND_ADD(track->version, 1);
    atomic_thread_fence(memory_order_release);
}

SND_HOT void
snd_track_write_end(snd_track *track)
{
    atomic_store_explicit(&track->version, SND_GET(track->version) + 1, memory_order_release);
}

/* Time since the last change belongs to whatever was running. */
SND_HOT void
snd_track_charge(snd_track *track, uint64_t now)
{
    uint64_t last = SND_GET(track->last);
    snd_node *running = SND_GET(track->running);

    if (SND_LIKELY(now > last)) { /* counters of two cores may differ by a few ticks */
        SND_ADD(running->self, now - last);
        SND_SET(track->last, now);
    }
}

/* Time since the last change belongs to what was running. */
SND_HOT void
snd_track_charge_call(snd_track *track, uint64_t now)
{
    snd_node *running = SND_GET(track->call_running);

    if (SND_LIKELY(running != NULL && now > SND_GET(track->call_last)))
        SND_ADD(running->call.self, now - SND_GET(track->call_last));
    SND_SET(track->call_last, now);
}

#endif
