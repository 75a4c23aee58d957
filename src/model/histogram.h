/* Durations on a logarithmic scale: eight buckets an octave, so that a percentile is within 6.25 %. */
#ifndef SND_MODEL_HISTOGRAM_H
#define SND_MODEL_HISTOGRAM_H

#include "base/buffer.h"

/* Up to 2^43 ns (2.4 hours); what is longer stands in the last bucket. */
#define SND_HISTOGRAM_BUCKETS 328u

/* Numbers below 8 have a bucket each. */
static inline uint32_t
snd_histogram_bucket(uint64_t ns)
{
    if (ns < 8)
        return (uint32_t)ns;
    uint32_t shift = 60u - (uint32_t)__builtin_clzll(ns); /* leaves 8 to 15 */
    uint32_t bucket = shift * 8 + (uint32_t)(ns >> shift);
    return bucket < SND_HISTOGRAM_BUCKETS ? bucket : SND_HISTOGRAM_BUCKETS - 1;
}

/* The smallest number that belongs to the bucket. */
uint64_t snd_histogram_low(uint32_t bucket);

/* The duration that the share `rank` (0 to 1) of all entries does not exceed: the middle of its bucket, as far as that
 * lies within [min, max]. `counts` has SND_HISTOGRAM_BUCKETS elements; 0 where all are 0. */
uint64_t snd_histogram_quantile(const uint64_t *counts, double rank, uint64_t min, uint64_t max);

/* Pairs of varints: buckets skipped since the last one, count. Ends with the last bucket that is not 0. */
void snd_histogram_encode(const uint64_t *counts, snd_buffer *out);

/* Fills `counts`. SND_DAMAGED when the bytes are not what encode writes. */
SND_MUST_USE snd_status snd_histogram_decode(const void *data, size_t size, uint64_t *counts);

#endif
