/* Room: the call probe: who called whom, exactly. */
/* The call probe: who called whom, exactly. Its callers (the interpreter's hooks) hold one lock among them, the GIL;
 * only the collector reads meanwhile.
 *
 * A function is a node below the track's root; what it calls are nodes below it. So memory follows the number of
 * functions and of pairs of caller and callee, never the number or the depth of calls. A function with signatures has a
 * node for each of them and one for all of them. */
#ifndef SND_PROBE_CALL_H
#define SND_PROBE_CALL_H

#include "probe/core/probe.h"
#include "probe/core/track.h"

/* As a session sees it: calls on the process's tracks. */
extern const snd_probe snd_calls_probe;

/* An open call. */
typedef struct snd_call_frame {
    snd_node *cell;  /* the pair of caller and callee; without a caller the function itself */
    const void *key; /* what was entered: its end names it again */
    uint64_t start;
} snd_call_frame;

/* The open calls of one thread. */
typedef struct snd_call_thread {
    struct snd_call_thread *next;
    uint64_t owner; /* which of all threads that ever were has it: the system gives its numbers again */
    snd_track *track;
    snd_call_frame *frames;
    uint32_t depth;
    uint32_t capacity;
    int is_muted; /* our own work runs: it is not a call of the program */
} snd_call_thread;

/* What one profile of calls writes to. */
typedef struct snd_call_book {
    snd_call_thread *threads;
    uint64_t serial;         /* of this book among all that ever were: an old thread's pointer is recognised */
    uint64_t lost;           /* events on threads that found no memory; a shared book's are the process's */
    uint64_t (*clock)(void); /* gives nanoseconds; NULL: the machine's ticks */
    int is_private;          /* its tracks are its own; else they are the process's, with the regions */
    int is_flat;             /* no pairs: everything is counted as if nobody had called it */
} snd_call_book;

/* The caller owns it. NULL when memory runs out. */
snd_call_book *snd_call_book_new(int is_private);
void snd_call_book_free(snd_call_book *self); /* NULL is allowed */

/* Measuring begins, or goes on after a flush. */
void snd_call_book_start(snd_call_book *self);

/* Everything that is open ends now; of a shared book, on the calling thread. */
void snd_call_book_flush(snd_call_book *self);

/* Forgets all that a private book has counted; what is open counts from now. */
void snd_call_book_clear(snd_call_book *self);

/* In the child of a fork: the calling thread is the only one that goes on. */
void snd_call_book_after_fork(snd_call_book *self);

/* The calling thread's, and the book that it belongs to. */
extern _Thread_local snd_call_thread *snd_call_mine __attribute__((tls_model("initial-exec")));
extern _Thread_local uint64_t snd_call_mine_serial __attribute__((tls_model("initial-exec")));

/* Slow paths. NULL or 0 when memory runs out; what that costs is counted. */
SND_COLD snd_call_thread *snd_call_attach(snd_call_book *book);
SND_COLD int snd_call_grow(snd_call_thread *thread);
SND_COLD snd_node *snd_call_new_cell(snd_track *track, snd_node *caller, uint32_t site, uint32_t base);

/* Ends what lies above the frame of `key`. 0 when there is none. */
SND_COLD int snd_call_unwind(snd_call_thread *thread, const void *key, uint64_t now);

SND_HOT snd_call_thread *
snd_call_thread_get(snd_call_book *book)
{
    snd_call_thread *thread = snd_call_mine;
    if (SND_LIKELY(snd_call_mine_serial == book->serial && SND_GET(thread->track->epoch) == SND_GET(snd_track_epoch)))
        return thread;
    return snd_call_attach(book);
}

SND_HOT uint64_t
snd_call_now(const snd_call_book *book)
{
    return SND_UNLIKELY(book->clock != NULL) ? book->clock() : snd_clock_ticks();
}

/* The node that `caller` (NULL: nobody) has for what it calls. NULL when there is no room. */
SND_HOT snd_node *
snd_call_cell(snd_track *track, snd_node *caller, uint32_t site, uint32_t base)
{
    snd_node *above = caller == NULL ? track->root : caller;
    snd_node *cell = above->cache[site % SND_NODE_CACHE];
    if (SND_LIKELY(cell != NULL && cell->site == site))
        return cell;
    return snd_call_new_cell(track, caller, site, base);
}

/* One more open call of the node; the outermost starts its time. */
SND_HOT void
snd_call_open(snd_node *node, uint64_t now, uint64_t entries)
{
    uint64_t level = SND_GET(node->call.level);

    SND_SET(node->call.level, level + 1);
    if (SND_LIKELY(level == 0))
        SND_SET(node->call.start, now);
    else
        SND_ADD(node->call.recursive, entries);
}

/* Ends the innermost open call of the node. */
SND_HOT void
snd_call_close(snd_node *node, uint64_t now)
{
    uint64_t level = SND_GET(node->call.level) - 1;
    uint64_t start = SND_GET(node->call.start);

    SND_SET(node->call.level, level);
    if (SND_LIKELY(level == 0 && now > start))
        SND_ADD(node->call.total, now - start);
}

/* A function starts (`entries` is 1) or its generator goes on (0). `base` is its site without the signature: `site`
 * itself where it has none. */
SND_HOT void
snd_call_enter(snd_call_book *book, snd_call_thread *thread, uint32_t site, uint32_t base, const void *key,
               uint64_t entries)
{
    snd_track *track = thread->track;
    snd_node *caller =
        thread->depth == 0 || book->is_flat ? NULL : SND_GET(thread->frames[thread->depth - 1].cell->call.function);

    if (SND_UNLIKELY(thread->depth == thread->capacity) && !snd_call_grow(thread))
        return;
    snd_node *cell = snd_call_cell(track, caller, site, base);
    if (SND_UNLIKELY(cell == NULL))
        return;
    snd_node *function = SND_GET(cell->call.function);
    snd_node *whole = SND_GET(cell->call.base);
    uint64_t now = snd_call_now(book);
    thread->frames[thread->depth++] = (snd_call_frame){cell, key, now};
    snd_track_write_begin(track);
    snd_track_charge_call(track, now);
    SND_SET(track->call_running, cell);
    SND_ADD(cell->count, entries);
    snd_call_open(cell, now, entries);
    if (SND_LIKELY(function != cell))
        snd_call_open(function, now, entries);
    if (SND_UNLIKELY(whole != NULL))
        snd_call_open(whole, now, entries);
    snd_track_write_end(track);
}

/* Ends the innermost open call. */
SND_HOT void
snd_call_pop(snd_call_thread *thread, uint64_t now)
{
    snd_track *track = thread->track;
    snd_call_frame frame = thread->frames[--thread->depth];
    snd_node *cell = frame.cell;
    snd_node *function = SND_GET(cell->call.function);
    snd_node *whole = SND_GET(cell->call.base);

    snd_track_write_begin(track);
    snd_track_charge_call(track, now);
    SND_SET(track->call_running, thread->depth == 0 ? NULL : thread->frames[thread->depth - 1].cell);
    snd_call_close(cell, now);
    if (SND_LIKELY(function != cell))
        snd_call_close(function, now);
    if (SND_UNLIKELY(whole != NULL))
        snd_call_close(whole, now);
    snd_track_write_end(track);
    snd_ring *ring = atomic_load_explicit(&track->ring, memory_order_acquire);
    if (SND_UNLIKELY(ring != NULL))
        snd_ring_push(ring, (snd_event){frame.start, now > frame.start ? now - frame.start : 0, cell->id, 0});
}

/* A function ends or pauses. One whose start was not seen is passed over. */
SND_HOT void
snd_call_leave(snd_call_book *book, snd_call_thread *thread, const void *key)
{
    if (SND_UNLIKELY(thread->depth == 0))
        return;
    uint64_t now = snd_call_now(book);
    if (SND_LIKELY(thread->frames[thread->depth - 1].key == key) || snd_call_unwind(thread, key, now))
        snd_call_pop(thread, now);
}

/* What was entered last has gone on, not started, and was paused for so long. */
static inline void
snd_call_resumed(snd_call_thread *thread, uint64_t paused)
{
    if (thread->depth == 0)
        return;
    snd_node *cell = thread->frames[thread->depth - 1].cell;
    snd_track_write_begin(thread->track);
    SND_ADD(cell->call.resumes, 1);
    SND_ADD(cell->call.suspended, paused);
    snd_track_write_end(thread->track);
}

#endif
