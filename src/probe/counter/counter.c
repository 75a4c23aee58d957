/* Named values and marks. */
#include "probe/counter/counter.h"

#include <math.h>
#include <string.h>

/* More different details than this would be a log, and every one of them stays in memory. */
#define DETAIL_LIMIT 10000u
#define DETAIL_OVER "[over 10,000 different details]"

static _Atomic int keeps_events;
static _Atomic uint32_t details;

void
snd_counter_keep_events(int on)
{
    SND_SET(keeps_events, on);
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What has no room is counted by the ring. */
static snd_ring *
ring_of(snd_track *track)
{
    snd_ring *ring = snd_track_ring(track);
    return SND_LIKELY(ring != NULL) ? ring : snd_track_make_ring(track);
}

/* Without a timeline: of updates that follow one another quickly the first is kept, and the last, once another comes
 * or the collector looks. */
static void
update_curve(snd_ring *ring, snd_node *node, double value, uint64_t now)
{
    uint64_t shown = SND_GET(node->shown), waiting = SND_GET(node->waiting);

    if (shown != 0 && now >= shown && snd_clock_ns(now - shown) < SND_COUNTER_STEP_NS) {
        SND_SET(node->waiting, now);
        return;
    }
    if (waiting != 0)
        snd_ring_push(ring, (snd_event){waiting, bits_of(SND_GET(node->value_last)), node->id, 0});
    snd_ring_push(ring, (snd_event){now, bits_of(value), node->id, 0});
    SND_SET(node->waiting, 0);
    SND_SET(node->shown, now);
}

static void
update(snd_track *track, snd_node *node, double value)
{
    uint64_t count = SND_GET(node->count);
    snd_ring *ring = atomic_load_explicit(&track->ring, memory_order_acquire);
    snd_ring *curve = ring == NULL && SND_GET(keeps_events) ? ring_of(track) : NULL;
    uint64_t now = ring == NULL && curve == NULL ? 0 : snd_clock_ticks();

    if (isnan(value))
        return; /* it has no place among the others */
    snd_track_write_begin(track);
    if (curve != NULL)
        update_curve(curve, node, value, now);
    if (count == 0 || value < SND_GET(node->value_min))
        SND_SET(node->value_min, value);
    if (count == 0 || value > SND_GET(node->value_max))
        SND_SET(node->value_max, value);
    SND_SET(node->value_sum, SND_GET(node->value_sum) + value);
    SND_SET(node->value_last, value);
    SND_SET(node->count, count + 1);
    snd_track_write_end(track);
    if (ring != NULL)
        snd_ring_push(ring, (snd_event){now, bits_of(value), node->id, 0});
}

void
snd_counter_set(snd_track *track, uint32_t site, double value)
{
    snd_node *node = snd_node_child(track, track->root, site);
    if (node != NULL)
        update(track, node, value);
}

void
snd_counter_add(snd_track *track, uint32_t site, double delta)
{
    snd_node *node = snd_node_child(track, track->root, site);
    if (node != NULL)
        update(track, node, SND_GET(node->value_last) + delta);
}

int
snd_counter_waiting(const snd_track *track, const snd_node *node, snd_event *out)
{
    enum { TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        uint32_t before = atomic_load_explicit(&track->version, memory_order_acquire);
        *out = (snd_event){SND_GET(node->waiting), bits_of(SND_GET(node->value_last)), node->id, 0};
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && SND_GET(track->version) == before)
            return out->start != 0;
    }
    return 0; /* its thread counts without a pause: the next update is near */
}

uint32_t
snd_mark_site(const char *name, const char *detail)
{
    int is_over = *detail != '\0' && SND_GET(details) >= DETAIL_LIMIT;
    uint32_t before = snd_site_count();
    uint32_t site = snd_site_add_placed(
        &(snd_profile_site){.kind = SND_SITE_MARK, .name = name, .file = "", .detail = is_over ? DETAIL_OVER : detail});

    if (site != SND_NONE && site >= before && *detail != '\0')
        atomic_fetch_add_explicit(&details, 1, memory_order_relaxed);
    return site;
}

void
snd_mark(snd_track *track, uint32_t site)
{
    snd_node *node = snd_node_child(track, track->root, site);

    if (node == NULL)
        return; /* what has no room was counted as dropped */
    snd_track_write_begin(track);
    SND_ADD(node->count, 1);
    snd_track_write_end(track);
    snd_ring *ring = atomic_load_explicit(&track->ring, memory_order_acquire);
    if (ring == NULL && SND_GET(keeps_events))
        ring = ring_of(track);
    if (ring != NULL)
        snd_ring_push(ring, (snd_event){snd_clock_ticks(), 0, node->id, 0});
}

SND_PROBE_ON_TRACKS(snd_counter_probe, "counter", wishes->counters, snd_system_counter_add_info)
