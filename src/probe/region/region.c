/* The region probe: what is not on the hot path. */
#include "probe/region/region.h"

#include "base/alloc.h"
#include "base/text.h"
#include "probe/region/timed_calls.h"

#include <stdio.h>

#define SPANS_AT_ONCE 64u

_Atomic int snd_region_mode;

int
snd_region_mode_for(int cpu, snd_system_counter_set counters, int debug)
{
    int is_counted = snd_system_counter_choose(counters) != 0;

    return SND_REGION_ON | (cpu ? SND_REGION_CPU : 0) | (is_counted ? SND_REGION_COUNTED : 0) |
           (debug ? SND_REGION_DEBUG : 0) | (snd_changes_are_kept() ? SND_REGION_CHANGES : 0);
}

/* ---- the probe ---- */

static int
is_wanted(const snd_probe_wishes *wishes)
{
    (void)wishes;
    return 1;
}

static snd_status
start(const snd_probe_wishes *wishes)
{
    SND_SET(snd_region_mode, snd_region_mode_for(wishes->cpu, wishes->counters, wishes->debug));
    return SND_OK;
}

static void
stop(void)
{
    SND_SET(snd_region_mode, 0);
}

static void
release(void)
{
    (void)snd_system_counter_choose(0);
}

static void
before_fork(void)
{
    snd_track_before_fork(); /* before the sites: a thread may ask for a site while it has the tracks */
    snd_site_before_fork();
}

static void
after_fork(int in_child)
{
    snd_site_after_fork();
    snd_track_after_fork(in_child);
}

const snd_probe snd_region_probe = {
    .name = "region",
    .is_wanted = is_wanted,
    .start = start,
    .stop = stop,
    .release = release,
    .end = stop,
    .reset = snd_track_reset_all,
    .clear = snd_track_reset_all,
    .before_fork = before_fork,
    .after_fork = after_fork,
    .snapshot = snd_snapshot_update,
};

/* ---- spans ---- */

/* Runs as the thread ends: what it left open ends with it. */
static void
close_all(snd_track *track)
{
    while (track->stack.top != NULL)
        snd_region_leave(track, track->stack.top);
}

snd_span *
snd_span_new(snd_track *track)
{
    snd_span *spans = snd_calloc(SPANS_AT_ONCE, sizeof *spans);
    if (spans == NULL) {
        SND_ADD(track->dropped, 1);
        return NULL;
    }
    snd_track_on_end = close_all;
    for (uint32_t i = 1; i < SPANS_AT_ONCE; i++)
        snd_span_give(track, &spans[i]);
    return &spans[0];
}

static uint64_t
since_start(const snd_span *span, uint64_t now)
{
    uint64_t start = SND_GET(span->track->start);
    return now > start ? snd_clock_ns(now - start) : 0;
}

static void
print_enter(const snd_span *span, uint64_t now)
{
    char at[SND_DURATION_SIZE];

    snd_duration_plain(since_start(span, now), at);
    fprintf(stderr, "sonde: entered %s at %s\n", snd_site_get(span->node->site).name, at);
}

static void
print_leave(const snd_span *span, uint64_t now)
{
    char at[SND_DURATION_SIZE], after[SND_DURATION_SIZE];

    snd_duration_plain(since_start(span, now), at);
    snd_duration_plain(now > span->start ? snd_clock_ns(now - span->start) : 0, after);
    fprintf(stderr, "sonde: left %s at %s after %s\n", snd_site_get(span->node->site).name, at, after);
}

static void
tell_change(snd_track *track, uint64_t now)
{
    if (SND_GET(snd_region_mode) & SND_REGION_CHANGES)
        snd_changes_note(track, now);
}

void
snd_region_tell(snd_track *track, const snd_span *span, uint64_t now, int is_entered)
{
    tell_change(track, now);
    if (SND_GET(snd_region_mode) & SND_REGION_DEBUG)
        (is_entered ? print_enter : print_leave)(span, now);
}

void
snd_region_start_more(snd_span *span, int mode)
{
    const snd_stack *stack = span->stack;

    span->has_cpu = (mode & SND_REGION_CPU) != 0;
    span->counted.known = 0;
    if ((mode & SND_REGION_COUNTED) != 0) {
        snd_system_counter_read(&span->counted);
        for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
            span->counted.values[i] -= stack->suspended_counted[i];
    }
    if (span->has_cpu)
        span->cpu_ns = snd_clock_thread_cpu_ns() - stack->suspended_cpu_ns;
}

/* What was counted since the start, less what was counted while its coroutine did not run. */
static void
add_counted(const snd_span *span)
{
    snd_system_counter_values now;

    snd_system_counter_read(&now);
    snd_system_counter_set known =
        now.turn == span->counted.turn ? now.known & span->counted.known & ~span->stack->counted_lost : 0;
    snd_system_counter_sums *sums = known == 0 ? NULL : snd_node_make_counted(span->track, span->node);
    if (sums == NULL)
        return;
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++)
        if ((known & 1u << i) != 0)
            SND_ADD(sums->values[i], now.values[i] - span->stack->suspended_counted[i] - span->counted.values[i]);
    SND_SET(sums->known, SND_GET(sums->known) | known);
}

void
snd_region_add_more(const snd_span *span)
{
    if (span->has_cpu)
        SND_ADD(span->node->cpu_ns, snd_clock_thread_cpu_ns() - span->stack->suspended_cpu_ns - span->cpu_ns);
    if (span->counted.known != 0)
        add_counted(span);
}

/* A thread's counts while a coroutine is suspended on it are not the coroutine's. The sums are of all threads that it
 * runs on: `sign` is -1 when it stops and 1 when it goes on. */
static void
count_suspended(snd_stack *stack, int sign)
{
    snd_system_counter_values now;

    snd_system_counter_read(&now);
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF; i++) {
        if ((now.known & 1u << i) == 0)
            stack->counted_lost |= 1u << i;
        else
            stack->suspended_counted[i] += sign < 0 ? -now.values[i] : now.values[i];
    }
}

/* Moves a span that was opened on another thread into this thread's tree, so that only its owner writes a tree. */
static void
move_here(snd_track *track, snd_span *span)
{
    snd_node *node = snd_node_here(track, span->node);
    if (node == NULL)
        return;
    if (!span->is_nested) {
        SND_ADD(span->node->open, UINT64_MAX);
        SND_ADD(span->node->open_start, -snd_span_start(span));
    }
    span->node = node;
    span->track = track;
    span->has_more = 0; /* two threads' clocks and counters have nothing to do with each other */
    if (!span->is_nested) {
        SND_ADD(node->open, 1);
        SND_ADD(node->open_start, snd_span_start(span));
    }
}

void
snd_region_leave_elsewhere(snd_track *track, snd_span *span, uint64_t now)
{
    snd_stack *stack = span->stack;
    snd_span *at = stack->top;

    while (at != NULL && at != span)
        at = at->below;
    if (at == NULL)
        return; /* it was closed with a region below it */
    snd_node *running = SND_GET(track->running);
    for (int done = 0; !done;) {
        snd_span *top = stack->top;
        done = top == span;
        if (top->track != track)
            move_here(track, top);
        snd_region_close(track, top, now, 1);
    }
    if (!snd_node_is_here(track, SND_GET(track->running))) /* never charge another thread's tree */
        SND_SET(track->running, running);
    tell_change(track, now);
}

int
snd_region_is_open(const snd_stack *stack, const snd_node *node)
{
    for (const snd_span *span = stack->top; span != NULL; span = span->below)
        if (span->node == node)
            return 1;
    return 0;
}

snd_span *
snd_region_enter_global(snd_track *track, uint32_t site)
{
    snd_stack *stack = track->current;
    snd_node *node = snd_node_child(track, track->root, site);
    if (node == NULL)
        return NULL;
    int nested =
        SND_GET(node->open) != 0 && (snd_region_is_open(stack, node) || snd_region_is_open(&track->stack, node));
    return snd_region_enter_under(track, stack, track->root, site, nested);
}

void
snd_region_suspend(snd_track *track, snd_stack *stack)
{
    uint64_t now = snd_clock_ticks();

    if (stack->suspended_since != 0)
        return;
    stack->suspended_since = now;
    if (SND_GET(snd_region_mode) & SND_REGION_CPU)
        stack->suspended_since_cpu_ns = snd_clock_thread_cpu_ns();
    if (SND_GET(snd_region_mode) & SND_REGION_COUNTED)
        count_suspended(stack, -1);
    snd_track_write_begin(track);
    snd_track_charge(track, now);
    SND_SET(track->running, stack->resumer != NULL ? stack->resumer : track->root);
    snd_track_write_end(track);
    tell_change(track, now);
    if (track->current == stack)
        track->current = &track->stack;
}

void
snd_region_resume(snd_track *track, snd_stack *stack)
{
    uint64_t now = snd_clock_ticks();

    if (stack->suspended_since == 0)
        return;
    stack->suspended += now > stack->suspended_since ? now - stack->suspended_since : 0;
    stack->suspended_since = 0;
    if (SND_GET(snd_region_mode) & SND_REGION_CPU)
        stack->suspended_cpu_ns += snd_clock_thread_cpu_ns() - stack->suspended_since_cpu_ns;
    if (SND_GET(snd_region_mode) & SND_REGION_COUNTED)
        count_suspended(stack, 1);
    if (stack->top == NULL)
        return;
    snd_track_write_begin(track);
    snd_track_charge(track, now);
    stack->resumer = SND_GET(track->running);
    if (stack->top->track == track)
        SND_SET(track->running, stack->top->node);
    snd_track_write_end(track);
    tell_change(track, now);
    track->current = stack;
}

uint64_t
snd_region_own_cost_ns(void)
{
    enum { BATCHES = 8, ENTRIES = 250 };
    uint64_t least = UINT64_MAX;
    snd_track *track = snd_track_scratch();
    uint32_t site = snd_site_add(SND_SITE_REGION, "sonde", 5, "", 0);

    if (track == NULL || site == SND_NONE)
        return 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t before = snd_clock_monotonic_ns();
        for (int i = 0; i < ENTRIES; i++) {
            snd_span *span = snd_region_enter(track, site);
            if (span != NULL)
                snd_region_leave(track, span);
        }
        uint64_t spent = snd_clock_monotonic_ns() - before;
        if (spent < least)
            least = spent;
    }
    return (least + ENTRIES / 2) / ENTRIES;
}
