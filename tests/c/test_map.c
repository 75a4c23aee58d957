/* The hash map. */
#include "base/alloc.h"
#include "base/map.h"
#include "check.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
first_under(const snd_map *map, uint64_t key)
{
    uint32_t cursor = 0;
    return snd_map_next(map, key, &cursor);
}

static void
an_empty_map_has_nothing(void)
{
    snd_map map = {0};

    CHECK(first_under(&map, 0) == SND_MAP_NONE);
    CHECK(first_under(&map, 12345) == SND_MAP_NONE);
    snd_map_free(&map);
}

static void
a_thousand_keys_are_found_again(void)
{
    snd_map map = {0};

    for (uint32_t i = 0; i < 1000; i++)
        CHECK(snd_map_add(&map, (uint64_t)i * 0x100000001u, i) == SND_OK);
    CHECK_NUMBER(map.count, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_NUMBER(first_under(&map, (uint64_t)i * 0x100000001u), i);
    CHECK(first_under(&map, 1) == SND_MAP_NONE);
    snd_map_free(&map);
    CHECK(first_under(&map, 0) == SND_MAP_NONE);
}

static void
all_values_under_one_key_are_walked(void)
{
    snd_map map = {0};
    uint32_t cursor = 0;
    uint32_t value, seen = 0, sum = 0;

    for (uint32_t i = 0; i < 100; i++)
        CHECK(snd_map_add(&map, i % 2 == 0 ? 7 : i, i) == SND_OK);
    while ((value = snd_map_next(&map, 7, &cursor)) != SND_MAP_NONE) {
        seen++;
        sum += value;
    }
    /* the 50 even numbers, and 7 itself */
    CHECK_NUMBER(seen, 51);
    CHECK_NUMBER(sum, 2450 + 7);
    snd_map_free(&map);
}

static void
a_failed_add_leaves_the_map_as_it_was(void)
{
    snd_map map = {0};

    for (uint32_t i = 0; i < 12; i++)
        CHECK(snd_map_add(&map, i, i) == SND_OK);
    for (long n = 0; n < 2; n++) {
        snd_alloc_fail_after(n);
        CHECK(snd_map_add(&map, 99, 99) == SND_NO_MEMORY);
        snd_alloc_fail_after(-1);
        CHECK_NUMBER(map.count, 12);
        CHECK(first_under(&map, 99) == SND_MAP_NONE);
    }
    for (uint32_t i = 0; i < 12; i++)
        CHECK_NUMBER(first_under(&map, i), i);
    CHECK(snd_map_add(&map, 99, 99) == SND_OK);
    CHECK_NUMBER(first_under(&map, 99), 99);
    snd_map_free(&map);
}

static snd_status
fill(void *context)
{
    snd_map map = {0};
    snd_status status = SND_OK;

    (void)context;
    for (uint32_t i = 0; i < 200 && status == SND_OK; i++)
        status = snd_map_add(&map, i, i);
    snd_map_free(&map);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    CHECK(fail_each_allocation(fill, NULL) >= 4);
}

static void
the_hash_depends_on_every_byte_and_on_the_seed(void)
{
    CHECK(snd_hash("abc", 3, 0) == snd_hash("abc", 3, 0));
    CHECK(snd_hash("abc", 3, 0) != snd_hash("abd", 3, 0));
    CHECK(snd_hash("abc", 3, 0) != snd_hash("bac", 3, 0));
    CHECK(snd_hash("abc", 3, 0) != snd_hash("abc", 2, 0));
    CHECK(snd_hash("abc", 3, 0) != snd_hash("abc", 3, 1));
    CHECK(snd_hash("", 0, 0) != snd_hash("\0", 1, 0));
}

/* The block ends where the bytes do: reading on would be an error. */
static void
bytes_of_every_size_are_read_to_their_end_and_not_beyond(void)
{
    enum { LARGEST = 40 };
    uint64_t seen[LARGEST + 1];

    for (size_t size = 0; size <= LARGEST; size++) {
        unsigned char *bytes = malloc(size == 0 ? 1 : size);
        REQUIRE(bytes != NULL);
        memset(bytes, 0, size == 0 ? 1 : size);
        seen[size] = snd_hash(bytes, size, 0);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            CHECK(snd_hash(bytes, size, 0) != seen[size]);
            bytes[i] = 0;
        }
        for (size_t i = 0; i < size; i++)
            CHECK(seen[i] != seen[size]);
        free(bytes);
    }
}

static void
bytes_need_not_be_aligned(void)
{
    char text[48] = " a text that stands somewhere";

    for (size_t shift = 0; shift < 8; shift++) {
        memmove(text + shift, " a text that stands somewhere", 29);
        CHECK_NUMBER(snd_hash(text + shift, 29, 5), snd_hash(" a text that stands somewhere", 29, 5));
    }
}

/* Names that differ in their last digits only, in 256 boxes by the lowest and by the highest byte. */
static void
similar_texts_spread_over_all_values(void)
{
    enum { TEXTS = 25600, BOXES = 256 };
    static unsigned low[BOXES], high[BOXES];
    char text[32];

    for (unsigned i = 0; i < TEXTS; i++) {
        int size = snprintf(text, sizeof text, "module.py:function_%u", i);
        uint64_t hash = snd_hash(text, (size_t)size, 0);
        low[hash % BOXES]++;
        high[hash >> 56]++;
    }
    for (unsigned i = 0; i < BOXES; i++) { /* 100 each; the chance of 50 or 150 by accident is one in a million */
        CHECK(low[i] > 50 && low[i] < 150);
        CHECK(high[i] > 50 && high[i] < 150);
    }
}

int
main(void)
{
    RUN(an_empty_map_has_nothing);
    RUN(a_thousand_keys_are_found_again);
    RUN(all_values_under_one_key_are_walked);
    RUN(a_failed_add_leaves_the_map_as_it_was);
    RUN(every_failing_allocation_is_reported);
    RUN(the_hash_depends_on_every_byte_and_on_the_seed);
    RUN(bytes_of_every_size_are_read_to_their_end_and_not_beyond);
    RUN(bytes_need_not_be_aligned);
    RUN(similar_texts_spread_over_all_values);
    return check_report();
}
