/* Durations on a logarithmic scale. */
#include "base/varint.h"
#include "check.h"
#include "fixture.h"
#include "model/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_bucket(uint64_t ns)
{
    uint32_t bucket = snd_histogram_bucket(ns);

    CHECK(bucket < SND_HISTOGRAM_BUCKETS);
    CHECK(snd_histogram_low(bucket) <= ns);
    if (bucket + 1 < SND_HISTOGRAM_BUCKETS)
        CHECK(ns < snd_histogram_low(bucket + 1));
}

static void
every_number_lies_within_its_bucket(void)
{
    for (uint64_t ns = 0; ns < 100000; ns++)
        check_bucket(ns);
    for (unsigned bit = 3; bit < 64; bit++)
        for (uint64_t offset = 0; offset < 9; offset++)
            check_bucket((UINT64_C(1) << bit) - 4 + offset);
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        (void)draw(&state, 1);
        check_bucket(state >> (state >> 58));
    }
    check_bucket(UINT64_MAX);
}

static void
every_bucket_starts_at_its_lowest_number(void)
{
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++) {
        uint64_t low = snd_histogram_low(i);
        CHECK_NUMBER(snd_histogram_bucket(low), i);
        if (i > 0) {
            CHECK_NUMBER(snd_histogram_bucket(low - 1), i - 1);
            CHECK(low - snd_histogram_low(i - 1) <= (low < 16 ? 1 : low / 8));
        }
    }
}

static void
what_is_longer_stands_in_the_last_bucket(void)
{
    CHECK_NUMBER(snd_histogram_bucket((UINT64_C(1) << 43) - 1), SND_HISTOGRAM_BUCKETS - 1);
    CHECK_NUMBER(snd_histogram_bucket(UINT64_C(1) << 43), SND_HISTOGRAM_BUCKETS - 1);
    CHECK_NUMBER(snd_histogram_bucket(UINT64_MAX), SND_HISTOGRAM_BUCKETS - 1);
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The largest relative distance of a quantile from the truth, in per cent. */
static double
worst_error(uint64_t *values, size_t count)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    double worst = 0;

    qsort(values, count, sizeof *values, compare);
    for (size_t i = 0; i < count; i++)
        counts[snd_histogram_bucket(values[i])]++;
    for (int percent = 1; percent <= 100; percent++) {
        size_t index = (size_t)ceil((double)count * percent / 100) - 1;
        double truth = (double)values[index];
        double got = (double)snd_histogram_quantile(counts, percent / 100.0, values[0], values[count - 1]);
        double error = 100 * fabs(got - truth) / truth;
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void
quantiles_of_smooth_distributions_are_near_the_truth(void)
{
    uint64_t state = 42;
    enum { COUNT = 20000 };
    static uint64_t uniform[COUNT], exponential[COUNT], steep[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        uniform[i] = 1000 + (uint64_t)(draw_share(&state) * 9000000);
        exponential[i] = 100 + (uint64_t)(-log(draw_share(&state)) * 50000);
        steep[i] = (uint64_t)(1000 * pow(draw_share(&state), -1.5));
    }
    CHECK(worst_error(uniform, COUNT) < 6.25);
    CHECK(worst_error(exponential, COUNT) < 6.25);
    CHECK(worst_error(steep, COUNT) < 6.25);
}

static void
quantiles_of_equal_entries_are_that_entry(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};

    counts[snd_histogram_bucket(1234)] = 1000;
    CHECK_NUMBER(snd_histogram_quantile(counts, 0.01, 1234, 1234), 1234);
    CHECK_NUMBER(snd_histogram_quantile(counts, 0.50, 1234, 1234), 1234);
    CHECK_NUMBER(snd_histogram_quantile(counts, 0.99, 1234, 1234), 1234);
}

/* Entries of two lengths, each at the lower end of its bucket: the worst that can be made. */
static void
quantiles_of_two_lengths_are_near_the_truth(void)
{
    enum { COUNT = 1000 };
    static uint64_t values[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        values[i] = i == 0 ? 64 : i == COUNT - 1 ? UINT64_C(1) << 30 : 1024;
    CHECK(worst_error(values, COUNT) <= 6.25);
}

static void
quantiles_stay_between_the_extremes(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};

    counts[SND_HISTOGRAM_BUCKETS - 1] = 10;
    counts[0] = 1;
    for (int i = 0; i <= 10; i++) {
        uint64_t value = snd_histogram_quantile(counts, i / 10.0, 0, UINT64_C(1) << 50);
        CHECK(value <= UINT64_C(1) << 50);
    }
    CHECK_NUMBER(snd_histogram_quantile(counts, 1, 0, UINT64_C(1) << 50), UINT64_C(1) << 50);
    CHECK_NUMBER(snd_histogram_quantile(counts, 2, 5, 9), 9);
}

static void
an_empty_histogram_has_no_quantile(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    CHECK_NUMBER(snd_histogram_quantile(counts, 0.5, 10, 20), 0);
}

static void
check_round_trip(const uint64_t *counts)
{
    uint64_t decoded[SND_HISTOGRAM_BUCKETS];
    snd_buffer bytes = {0};

    memset(decoded, 0xff, sizeof decoded);
    snd_histogram_encode(counts, &bytes);
    CHECK(snd_histogram_decode(bytes.data, bytes.size, decoded) == SND_OK);
    CHECK(memcmp(counts, decoded, sizeof decoded) == 0);
    snd_buffer_free(&bytes);
}

static void
what_was_encoded_is_decoded(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};

    check_round_trip(counts);
    counts[0] = 1;
    check_round_trip(counts);
    counts[SND_HISTOGRAM_BUCKETS - 1] = UINT64_MAX;
    check_round_trip(counts);
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = i * i;
    check_round_trip(counts);
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = UINT64_MAX - i;
    check_round_trip(counts);
}

static void
check_damaged(const char *bytes, size_t size)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS];
    CHECK(snd_histogram_decode(bytes, size, counts) == SND_DAMAGED);
}

static void
bytes_that_encode_does_not_write_are_damage(void)
{
    check_damaged("\x01", 1);                 /* a count is missing */
    check_damaged("\x80", 1);                 /* a number is cut */
    check_damaged("\x01\x80", 2);             /* a count is cut */
    check_damaged("\x01\x00", 2);             /* a count of 0 */
    check_damaged("\xc8\x02\x01", 3);         /* bucket 328 */
    check_damaged("\xc7\x02\x01\x00\x01", 5); /* one more behind the last bucket */
    check_damaged("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 11);
}

static void
every_beginning_of_an_encoded_histogram_is_handled(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    uint64_t decoded[SND_HISTOGRAM_BUCKETS];
    snd_buffer bytes = {0};
    unsigned damaged = 0;

    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i += 3)
        counts[i] = UINT64_C(1) << (i % 64);
    snd_histogram_encode(counts, &bytes);
    for (size_t size = 0; size < bytes.size; size++)
        damaged += snd_histogram_decode(bytes.data, size, decoded) == SND_DAMAGED;
    CHECK(damaged > bytes.size / 2);
    snd_buffer_free(&bytes);
}

static snd_status
encode(void *context)
{
    snd_buffer bytes = {0};

    snd_histogram_encode(context, &bytes);
    snd_status status = snd_buffer_status(&bytes);
    snd_buffer_free(&bytes);
    return status;
}

static void
encoding_without_memory_fails_the_buffer(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS];

    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = UINT64_MAX;
    CHECK(fail_each_allocation(encode, counts) > 2);
}

int
main(void)
{
    RUN(every_number_lies_within_its_bucket);
    RUN(every_bucket_starts_at_its_lowest_number);
    RUN(what_is_longer_stands_in_the_last_bucket);
    RUN(quantiles_of_smooth_distributions_are_near_the_truth);
    RUN(quantiles_of_equal_entries_are_that_entry);
    RUN(quantiles_of_two_lengths_are_near_the_truth);
    RUN(quantiles_stay_between_the_extremes);
    RUN(an_empty_histogram_has_no_quantile);
    RUN(what_was_encoded_is_decoded);
    RUN(bytes_that_encode_does_not_write_are_damage);
    RUN(every_beginning_of_an_encoded_histogram_is_handled);
    RUN(encoding_without_memory_fails_the_buffer);
    return check_report();
}
