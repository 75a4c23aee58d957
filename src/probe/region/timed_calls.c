/* Calls that a library timed by itself, put where sonde saw the same thread. */
#include "probe/region/timed_calls.h"

#include "base/alloc.h"
#include "probe/region/region.h"

#define CHANGE_LIMIT (1u << 22) /* changes of a thread; what comes later counts for the node that ran last */

static _Atomic int is_on;

static void
add(snd_track *track, uint64_t ticks, uint32_t node)
{
    snd_changes *self = &track->changes;

    if (self->count < CHANGE_LIMIT && snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        self->list[self->count++] = (snd_change){ticks, node};
}

void
snd_changes_note(snd_track *track, uint64_t now)
{
    const snd_node *running = SND_GET(track->running);

    snd_lock_take(&track->changes.lock);
    if (SND_GET(is_on))
        add(track, now, running->id);
    snd_lock_leave(&track->changes.lock);
}

/* What a thread runs when it begins, unless it has changed that already. */
static void
begin(snd_track *track, uint64_t now)
{
    snd_lock_take(&track->changes.lock);
    if (track->changes.count == 0)
        add(track, now, SND_GET(track->running)->id);
    snd_lock_leave(&track->changes.lock);
}

void
snd_changes_keep(int on)
{
    uint64_t now = snd_clock_ticks();

    SND_SET(is_on, on);
    if (!on) {
        atomic_fetch_and(&snd_region_mode, ~SND_REGION_CHANGES);
        return;
    }
    if (SND_GET(snd_region_mode) != 0) /* or they are kept from the session's start on */
        atomic_fetch_or(&snd_region_mode, SND_REGION_CHANGES);
    for (snd_track *track = snd_track_first(); track != NULL; track = track->next)
        begin(track, now);
}

int
snd_changes_are_kept(void)
{
    return SND_GET(is_on);
}

snd_change *
snd_changes_take(snd_track *track, uint32_t *count)
{
    snd_lock_take(&track->changes.lock);
    snd_change *list = track->changes.list;
    *count = track->changes.count;
    track->changes.list = NULL;
    track->changes.count = track->changes.capacity = 0;
    snd_lock_leave(&track->changes.lock);
    return list;
}

/* ---- the calls ---- */

/* One pass through time. */
typedef struct sweep {
    const snd_change *changes;
    uint32_t change_count;
    snd_timed_call *calls;
    uint32_t change;    /* the next one */
    uint32_t node;      /* what runs */
    uint32_t innermost; /* call that is open; SND_NONE: none */
    uint64_t now;
} sweep;

/* What ran at a moment. Before the first change: the root. */
static uint32_t
node_at(const snd_change *changes, uint32_t count, uint64_t ticks)
{
    uint32_t low = 0, high = count; /* those before `low` are not later, those from `high` on are */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (changes[middle].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : changes[low - 1].node;
}

static uint64_t
moment_of(const snd_timed_call *call, uint64_t slack)
{
    uint64_t half = call->end > call->start ? (call->end - call->start) / 2 : 0;
    return call->start + (half < slack ? half : slack);
}

/* The time up to `until` belongs to the innermost call, as long as that runs which ran when it began: else a region was
 * entered in it, and that is further inside. */
static void
pass(sweep *self, uint64_t until)
{
    while (self->now < until) {
        uint64_t end = until;
        if (self->change < self->change_count && self->changes[self->change].ticks < end)
            end = self->changes[self->change].ticks;
        if (self->innermost != SND_NONE && self->calls[self->innermost].node == self->node && end > self->now)
            self->calls[self->innermost].self += end - self->now;
        self->now = end > self->now ? end : self->now;
        if (self->change < self->change_count && self->changes[self->change].ticks <= self->now)
            self->node = self->changes[self->change++].node;
    }
}

static void
end_innermost(sweep *self)
{
    pass(self, self->calls[self->innermost].end);
    self->innermost = self->calls[self->innermost].above;
}

static void
find_self(sweep *self, uint32_t count)
{
    self->innermost = SND_NONE;
    for (uint32_t i = 0; i < count; i++) {
        snd_timed_call *call = &self->calls[i];
        call->self = 0;
        if (call->is_async)
            continue;
        while (self->innermost != SND_NONE && self->innermost != call->above)
            end_innermost(self);
        pass(self, call->start);
        self->innermost = i;
    }
    while (self->innermost != SND_NONE)
        end_innermost(self);
}

/* Below the call that made it, unless a region was entered between the two. */
static uint32_t
report(const snd_track *track, const snd_timed_call *calls, const snd_timed_call *call)
{
    const snd_timed_call *above = call->above == SND_NONE ? NULL : &calls[call->above];

    if (above != NULL && above->node == call->node)
        return above->reported == SND_NONE ? SND_NONE : snd_reported_below(above->reported, call->site);
    return snd_reported_to(track, call->node, call->site);
}

static void
count_call(const snd_track *track, const snd_timed_call *call)
{
    uint64_t total = snd_clock_ns(call->end > call->start ? call->end - call->start : 0);
    uint64_t self = snd_clock_ns(call->self);
    snd_value *count = snd_reported_value(call->reported, SND_METRIC_COUNT);
    snd_value *least = snd_reported_value(call->reported, SND_METRIC_MIN);
    snd_value *most = snd_reported_value(call->reported, SND_METRIC_MAX);

    if (count->whole++ == 0 || total < least->whole)
        least->whole = total;
    if (total > most->whole)
        most->whole = total;
    snd_reported_value(call->reported, SND_METRIC_TOTAL)->whole += total;
    snd_reported_value(call->reported, SND_METRIC_SELF)->whole += self;
    snd_reported_value(call->reported, SND_METRIC_SQUARE)->real += (double)total * (double)total;
    if (call->flops > 0)
        snd_reported_value(call->reported, SND_METRIC_OP_FLOPS)->real += call->flops;
    snd_reported_take_self(track, call->node, self);
}

void
snd_timed_calls_report(const snd_track *track, const snd_change *changes, uint32_t change_count, snd_timed_call *calls,
                       uint32_t call_count, uint64_t slack)
{
    sweep self = {.changes = changes, .change_count = change_count, .calls = calls};

    for (uint32_t i = 0; i < call_count; i++)
        calls[i].node = node_at(changes, change_count, moment_of(&calls[i], slack));
    find_self(&self, call_count);
    snd_reported_lock();
    for (uint32_t i = 0; i < call_count; i++) {
        calls[i].reported = report(track, calls, &calls[i]);
        if (calls[i].reported != SND_NONE)
            count_call(track, &calls[i]);
    }
    snd_reported_unlock();
}
