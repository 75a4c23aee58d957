/* Calls that a library timed by itself, joined with what sonde saw on the same thread. */
#include "probe/join.h"

/* One pass through time. */
typedef struct sweep {
    const snd_change *changes;
    uint32_t change_count;
    snd_joined_call *calls;
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
moment_of(const snd_joined_call *call, uint64_t slack)
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
        snd_joined_call *call = &self->calls[i];
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
attach(const snd_track *track, const snd_joined_call *calls, const snd_joined_call *call)
{
    const snd_joined_call *above = call->above == SND_NONE ? NULL : &calls[call->above];

    if (above != NULL && above->node == call->node)
        return above->attached == SND_NONE ? SND_NONE : snd_attach_below(above->attached, call->site);
    return snd_attach_to(track, call->node, call->site);
}

static void
count_call(const snd_track *track, const snd_joined_call *call)
{
    uint64_t total = snd_clock_ns(call->end > call->start ? call->end - call->start : 0);
    uint64_t self = snd_clock_ns(call->self);
    snd_value *count = snd_attach_value(call->attached, SND_METRIC_COUNT);
    snd_value *least = snd_attach_value(call->attached, SND_METRIC_MIN);
    snd_value *most = snd_attach_value(call->attached, SND_METRIC_MAX);

    if (count->whole++ == 0 || total < least->whole)
        least->whole = total;
    if (total > most->whole)
        most->whole = total;
    snd_attach_value(call->attached, SND_METRIC_TOTAL)->whole += total;
    snd_attach_value(call->attached, SND_METRIC_SELF)->whole += self;
    snd_attach_value(call->attached, SND_METRIC_SQUARE)->real += (double)total * (double)total;
    if (call->flops > 0)
        snd_attach_value(call->attached, SND_METRIC_OP_FLOPS)->real += call->flops;
    snd_attach_take_self(track, call->node, self);
}

void
snd_join(const snd_track *track, const snd_change *changes, uint32_t change_count, snd_joined_call *calls,
         uint32_t call_count, uint64_t slack)
{
    sweep self = {.changes = changes, .change_count = change_count, .calls = calls};

    for (uint32_t i = 0; i < call_count; i++)
        calls[i].node = node_at(changes, change_count, moment_of(&calls[i], slack));
    find_self(&self, call_count);
    snd_attach_lock();
    for (uint32_t i = 0; i < call_count; i++) {
        calls[i].attached = attach(track, calls, &calls[i]);
        if (calls[i].attached != SND_NONE)
            count_call(track, &calls[i]);
    }
    snd_attach_unlock();
}
