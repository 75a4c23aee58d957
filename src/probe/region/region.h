/* Room: the region probe: entering and leaving marked parts of a program. */
/* The region probe: enter and leave, on the hot path. No lock, no system call, no failure. */
#ifndef SND_PROBE_REGION_H
#define SND_PROBE_REGION_H

#include "probe/core/probe.h"

/* What every entry looks at: a sum of these. 0: nothing is measured. */
enum {
    SND_REGION_ON = 1,
    SND_REGION_CPU = 2,      /* read the thread's CPU clock too: two system calls an entry */
    SND_REGION_DEBUG = 4,    /* print enter and leave on standard error */
    SND_REGION_CHANGES = 8,  /* note what runs from when on */
    SND_REGION_COUNTED = 16, /* read the counters that were chosen: some system calls an entry */
    SND_REGION_TELL = SND_REGION_DEBUG | SND_REGION_CHANGES,
    SND_REGION_MORE = SND_REGION_CPU | SND_REGION_COUNTED,
};

extern SND_PROTECTED _Atomic int snd_region_mode;

/* Regions, counters, operators and calls: all that threads write to their tracks. */
extern const snd_probe snd_region_probe;

/* The mode in which entries have CPU time, counters (which are chosen by this) and debug output, as wanted. */
int snd_region_mode_for(int cpu, snd_system_counter_set counters, int debug);

/* Measured cost of one empty enter + leave from C, in ns. Takes some 100 us. 0 when memory runs out. */
uint64_t snd_region_own_cost_ns(void);

/* For those who want to know of every entry. */
SND_COLD void snd_region_tell(snd_track *track, const snd_span *span, uint64_t now, int is_entered);

/* The CPU clock and the counters, at the start of an entry and at its end. */
SND_COLD void snd_region_start_more(snd_span *span, int mode);
SND_COLD void snd_region_add_more(const snd_span *span);

/* Leaving what is not on top, or on a track that is not the span's own. */
SND_COLD void snd_region_leave_elsewhere(snd_track *track, snd_span *span, uint64_t now);

/* Where the span starts to count. */
SND_HOT uint64_t
snd_span_start(const snd_span *span)
{
    uint64_t reset = SND_GET(span->track->reset);
    return SND_LIKELY(span->start >= reset) ? span->start : reset;
}

/* Opens a region under `parent` on `stack`. NULL when it was dropped; that is counted. `nested` is 1 for a global
 * region inside itself: its time is already counted. */
SND_HOT snd_span *
snd_region_enter_under(snd_track *track, snd_stack *stack, snd_node *parent, uint32_t site, int nested)
{
    int mode = SND_GET(snd_region_mode);
    snd_node *node = snd_node_child(track, parent, site);
    snd_span *span = node == NULL ? NULL : snd_span_take(track);
    if (SND_UNLIKELY(span == NULL))
        return NULL;
    span->node = node;
    span->track = track;
    span->stack = stack;
    span->below = stack->top;
    span->suspended = stack->suspended;
    span->is_nested = (unsigned char)nested;
    span->is_unpaired = 0;
    span->has_more = (mode & SND_REGION_MORE) != 0;
    stack->top = span;
    track->current = stack;
    if (SND_UNLIKELY(mode & SND_REGION_MORE))
        snd_region_start_more(span, mode);
    uint64_t now = snd_clock_ticks();
    span->start = now;
    snd_track_write_begin(track);
    snd_track_charge(track, now);
    SND_SET(track->running, node);
    if (SND_LIKELY(!nested)) {
        SND_ADD(node->open, 1);
        SND_ADD(node->open_start, now);
    }
    snd_track_write_end(track);
    if (SND_UNLIKELY(mode & SND_REGION_TELL))
        snd_region_tell(track, span, now, 1);
    return span;
}

/* The node under which the next region of this stack hangs. */
SND_HOT snd_node *
snd_region_parent(const snd_track *track, const snd_stack *stack)
{
    return stack->top == NULL ? track->root : stack->top->node;
}

/* Opens a region on the stack that the thread used last. */
SND_HOT snd_span *
snd_region_enter(snd_track *track, uint32_t site)
{
    snd_stack *stack = track->current;
    return snd_region_enter_under(track, stack, snd_region_parent(track, stack), site, 0);
}

/* A full bucket stays full: 4 billion entries say enough. */
SND_HOT void
snd_region_count_in(_Atomic uint32_t *histogram, uint64_t ns)
{
    _Atomic uint32_t *bucket = &histogram[snd_histogram_bucket(ns)];
    uint32_t entries = SND_GET(*bucket);
    if (SND_LIKELY(entries != UINT32_MAX))
        SND_SET(*bucket, entries + 1);
}

/* Adds one finished entry to the node's numbers. */
SND_HOT void
snd_region_count(snd_node *node, uint64_t ticks, uint64_t suspended)
{
    uint64_t count = SND_GET(node->count);
    _Atomic uint32_t *histogram = SND_GET(node->histogram);

    if (SND_UNLIKELY(histogram == NULL && count == 1))
        histogram = snd_node_make_histogram(node, snd_clock_ns(SND_GET(node->total)));
    if (SND_LIKELY(histogram != NULL))
        snd_region_count_in(histogram, snd_clock_ns(ticks));
    SND_SET(node->count, count + 1);
    SND_ADD(node->total, ticks);
    if (ticks < SND_GET(node->min))
        SND_SET(node->min, ticks);
    if (ticks > SND_GET(node->max))
        SND_SET(node->max, ticks);
    SND_ADD(node->square, (double)ticks * (double)ticks);
    if (SND_UNLIKELY(suspended != 0)) /* after a reset more may lie behind than counts */
        SND_ADD(node->suspended, suspended < ticks ? suspended : ticks);
}

/* Closes `span`, which must be the top of its stack. `counts` is 0 for an entry that shall not count. */
SND_HOT void
snd_region_close(snd_track *track, snd_span *span, uint64_t now, int counts)
{
    int mode = SND_GET(snd_region_mode);
    snd_node *node = span->node;
    snd_stack *stack = span->stack;
    uint64_t start = snd_span_start(span);
    uint64_t ticks = SND_LIKELY(now > start) ? now - start : 0;

    stack->top = span->below;
    snd_node *next = stack->top != NULL ? stack->top->node : stack->resumer != NULL ? stack->resumer : node->parent;
    snd_track_write_begin(track);
    if (SND_UNLIKELY(!counts))
        SND_SET(track->running, next); /* as if it had not been: its time is its parent's */
    snd_track_charge(track, now);
    SND_SET(track->running, next);
    if (SND_LIKELY(!span->is_nested)) {
        SND_ADD(node->open, UINT64_MAX);
        SND_ADD(node->open_start, -start);
        if (SND_LIKELY(counts))
            snd_region_count(node, ticks, stack->suspended - span->suspended);
        if (SND_UNLIKELY(span->has_more) && counts && start == span->start) /* not what passed before a reset */
            snd_region_add_more(span);
    }
    snd_track_write_end(track);
    if (SND_UNLIKELY(stack->top == NULL))
        track->current = &track->stack; /* a coroutine's stack may go away now */
    snd_ring *ring = atomic_load_explicit(&track->ring, memory_order_acquire);
    if (SND_UNLIKELY(ring != NULL) && counts)
        snd_ring_push(ring, (snd_event){start, ticks, node->id, stack->task});
    if (SND_UNLIKELY(mode & SND_REGION_TELL))
        snd_region_tell(track, span, now, 0);
    snd_span_give(track, span);
}

/* Closes `span` and whatever was left open above it. `track` is the calling thread's. */
SND_HOT void
snd_region_leave(snd_track *track, snd_span *span)
{
    uint64_t now = snd_clock_ticks();

    if (SND_LIKELY(span->track == track && span->stack->top == span))
        snd_region_close(track, span, now, 1);
    else
        snd_region_leave_elsewhere(track, span, now);
}

/* Takes back an entry as if it had not been. */
static inline void
snd_region_cancel(snd_track *track, snd_span *span)
{
    if (span->track == track && span->stack->top == span)
        snd_region_close(track, span, snd_clock_ticks(), 0);
    else
        snd_region_leave(track, span);
}

/* Opens a global region: it hangs below the root whatever is open, and counts once when inside itself. */
snd_span *snd_region_enter_global(snd_track *track, uint32_t site);

/* Whether one of the stack's open regions is this node. */
int snd_region_is_open(const snd_stack *stack, const snd_node *node);

/* A coroutine or generator stops or goes on running on this thread. */
void snd_region_suspend(snd_track *track, snd_stack *stack);
void snd_region_resume(snd_track *track, snd_stack *stack);

#endif
