/* Durations on a logarithmic scale. */
#include "model/histogram.h"

#include "base/varint.h"

#include <string.h>

uint64_t
snd_histogram_low(uint32_t bucket)
{
    if (bucket < 8)
        return bucket;
    return (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

static uint64_t
clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value < min ? min : value > max ? max : value;
}

uint64_t
snd_histogram_quantile(const uint64_t *counts, double rank, uint64_t min, uint64_t max)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        all += counts[i];
    if (all == 0)
        return 0;
    if (rank >= 1)
        return max;
    double wanted = rank * (double)all;
    double before = 0;
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++) {
        double here = (double)counts[i];
        if (counts[i] != 0 && before + here >= wanted) {
            uint64_t low = clamp(snd_histogram_low(i), min, max);
            uint64_t next = i + 1 < SND_HISTOGRAM_BUCKETS ? snd_histogram_low(i + 1) : max;
            return low + (clamp(next, min, max) - low) / 2;
        }
        before += here;
    }
    return max;
}

void
snd_histogram_encode(const uint64_t *counts, snd_buffer *out)
{
    uint32_t skipped = 0;

    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++) {
        if (counts[i] == 0) {
            skipped++;
            continue;
        }
        snd_varint_put(out, skipped);
        snd_varint_put(out, counts[i]);
        skipped = 0;
    }
}

snd_status
snd_histogram_decode(const void *data, size_t size, uint64_t *counts)
{
    const unsigned char *at = data;
    const unsigned char *end = size == 0 ? at : at + size;
    uint64_t bucket = 0;

    memset(counts, 0, SND_HISTOGRAM_BUCKETS * sizeof *counts);
    while (at != end) {
        uint64_t skipped, count;
        if (!snd_varint_get(&at, end, &skipped) || !snd_varint_get(&at, end, &count))
            return SND_DAMAGED;
        if (skipped >= SND_HISTOGRAM_BUCKETS - bucket || count == 0)
            return SND_DAMAGED;
        bucket += skipped;
        counts[bucket++] = count;
        if (bucket == SND_HISTOGRAM_BUCKETS && at != end)
            return SND_DAMAGED;
    }
    return SND_OK;
}
