/* Bytes as an encoded histogram: what decodes is in order, encodes again to the same, and has quantiles in order. */
#include "base/alloc.h"
#include "fuzz.h"
#include "model/histogram.h"

#include <string.h>

static void
check_quantiles(const uint64_t *counts)
{
    uint64_t last = 0;

    for (int i = 0; i <= 20; i++) {
        uint64_t value = snd_histogram_quantile(counts, i / 20.0, 5, UINT64_C(1) << 44);
        MUST(value == 0 || (value >= 5 && value <= UINT64_C(1) << 44));
        MUST(value >= last);
        last = value;
    }
}

/* Sums beyond 64 bits come from files only, and quantiles of those need only stay in bounds. */
static int
sum_fits(const uint64_t *counts)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        if (__builtin_add_overflow(sum, counts[i], &sum))
            return 0;
    return 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS], again[SND_HISTOGRAM_BUCKETS];
    snd_buffer bytes = {0};

    if (snd_histogram_decode(data, size, counts) != SND_OK)
        return 0;
    snd_histogram_encode(counts, &bytes);
    MUST(snd_buffer_status(&bytes) == SND_OK && bytes.size <= size);
    MUST(snd_histogram_decode(bytes.data, bytes.size, again) == SND_OK);
    MUST(memcmp(counts, again, sizeof counts) == 0);
    if (sum_fits(counts))
        check_quantiles(counts);
    else
        (void)snd_histogram_quantile(counts, 0.5, 5, 10);
    snd_buffer_free(&bytes);
    return 0;
}
