/* The garbage collections of the interpreter. */
#include "probe/counter/gc.h"

#include "probe/region/region.h"

/* As base/ring.h, but one for all threads: the interpreter's lock makes them one writer. */
static struct {
    _Atomic uint32_t head, tail;
    _Atomic uint64_t dropped;
    _Atomic int is_on;
    snd_gc_event slots[SND_GC_SLOTS];
} ring;

_Atomic uintptr_t snd_gc_frame;
static uint32_t sites[SND_GC_GENERATIONS];
static _Thread_local uint64_t begun; /* ticks; 0: none runs on this thread */

int
snd_gc_prepare(void)
{
    static const char *const details[SND_GC_GENERATIONS] = {"generation 0", "generation 1", "generation 2"};
    int are_there = 1;

    for (unsigned i = 0; i < SND_GC_GENERATIONS; i++) {
        const snd_profile_site site = {.kind = SND_SITE_GC, .name = "gc", .file = "", .detail = details[i]};
        sites[i] = snd_site_add_placed(&site);
        are_there &= sites[i] != SND_NONE;
    }
    return are_there;
}

void
snd_gc_begin(int counts, uintptr_t frame)
{
    SND_SET(snd_gc_frame, frame);
    begun = counts ? snd_clock_ticks() : 0;
}

static void
push(snd_gc_event event)
{
    uint32_t tail = SND_GET(ring.tail);

    if (tail - atomic_load_explicit(&ring.head, memory_order_acquire) < SND_GC_SLOTS) {
        ring.slots[tail % SND_GC_SLOTS] = event;
        atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);
    }
    else {
        SND_ADD(ring.dropped, 1);
    }
}

void
snd_gc_end(unsigned generation, uint64_t collected)
{
    uint64_t start = begun, now = start == 0 ? 0 : snd_clock_ticks();
    snd_track *track = start == 0 || generation >= SND_GC_GENERATIONS ? NULL : snd_track_get();
    snd_node *node = track == NULL ? NULL : snd_node_child(track, track->root, sites[generation]);

    begun = 0;
    SND_SET(snd_gc_frame, 0);
    if (node == NULL)
        return; /* what has no room was counted as dropped */
    if (start < SND_GET(track->reset))
        start = SND_GET(track->reset);
    uint64_t ticks = now > start ? now - start : 0;
    snd_track_write_begin(track);
    snd_region_count(node, ticks, 0);
    SND_ADD(node->collected, collected);
    snd_track_write_end(track);
    if (SND_GET(ring.is_on))
        push((snd_gc_event){start, ticks, track, node->id});
}

void
snd_gc_keep_events(int on)
{
    snd_gc_event event;

    while (snd_gc_take_event(&event))
        ;
    SND_SET(ring.dropped, 0);
    SND_SET(ring.is_on, on);
}

int
snd_gc_take_event(snd_gc_event *out)
{
    uint32_t head = SND_GET(ring.head);

    if (head == atomic_load_explicit(&ring.tail, memory_order_acquire))
        return 0;
    *out = ring.slots[head % SND_GC_SLOTS];
    atomic_store_explicit(&ring.head, head + 1, memory_order_release);
    return 1;
}

uint64_t
snd_gc_take_dropped(void)
{
    return atomic_exchange_explicit(&ring.dropped, 0, memory_order_relaxed);
}
