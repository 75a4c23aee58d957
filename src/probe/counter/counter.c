/* Named values. */
#include "probe/counter/counter.h"

#include <math.h>
#include <string.h>

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void
update(snd_track *track, snd_node *node, double value)
{
    uint64_t count = SND_GET(node->count);

    if (isnan(value))
        return; /* it has no place among the others */
    snd_track_write_begin(track);
    if (count == 0 || value < SND_GET(node->value_min))
        SND_SET(node->value_min, value);
    if (count == 0 || value > SND_GET(node->value_max))
        SND_SET(node->value_max, value);
    SND_SET(node->value_sum, SND_GET(node->value_sum) + value);
    SND_SET(node->value_last, value);
    SND_SET(node->count, count + 1);
    snd_track_write_end(track);
    snd_ring *ring = atomic_load_explicit(&track->ring, memory_order_acquire);
    if (ring != NULL)
        snd_ring_push(ring, (snd_event){snd_clock_ticks(), bits_of(value), node->id, 0});
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

SND_PROBE_ON_TRACKS(snd_counter_probe, "counter", wishes->counters, snd_system_counter_add_info)
