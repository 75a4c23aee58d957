/* Numbers in 7-bit groups. */
#include "base/varint.h"
#include "check.h"

static int
get(const char *bytes, size_t size, uint64_t *value, size_t *used)
{
    const unsigned char *at = (const unsigned char *)bytes;
    int found = snd_varint_get(&at, (const unsigned char *)bytes + size, value);
    *used = (size_t)(at - (const unsigned char *)bytes);
    return found;
}

static void
check_round_trip(uint64_t number, size_t size)
{
    snd_buffer buffer = {0};
    uint64_t value = ~number;
    size_t used;

    snd_varint_put(&buffer, number);
    CHECK_NUMBER(buffer.size, size);
    CHECK(get(buffer.data, buffer.size, &value, &used));
    CHECK_NUMBER(value, number);
    CHECK_NUMBER(used, size);
    snd_buffer_free(&buffer);
}

static void
numbers_come_back_and_small_ones_take_one_byte(void)
{
    check_round_trip(0, 1);
    check_round_trip(1, 1);
    check_round_trip(127, 1);
    check_round_trip(128, 2);
    check_round_trip(16383, 2);
    check_round_trip(16384, 3);
    check_round_trip(UINT32_MAX, 5);
    check_round_trip(INT64_MAX, 9);
    check_round_trip((uint64_t)INT64_MAX + 1, 10);
    check_round_trip(UINT64_MAX, 10);
    for (unsigned bit = 0; bit < 64; bit++)
        check_round_trip(UINT64_C(1) << bit, bit / 7 + 1);
}

static void
input_that_ends_too_soon_is_refused(void)
{
    snd_buffer buffer = {0};
    uint64_t value = 77;
    size_t used;

    snd_varint_put(&buffer, UINT64_MAX);
    for (size_t size = 0; size < buffer.size; size++)
        CHECK(!get(buffer.data, size, &value, &used) && used == size);
    CHECK_NUMBER(value, 77);
    snd_buffer_free(&buffer);
}

static void
a_number_beyond_64_bits_is_refused(void)
{
    uint64_t value = 77;
    size_t used;

    CHECK(!get("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, &value, &used));
    CHECK(!get("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80", 10, &value, &used));
    CHECK(!get("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, &value, &used));
    CHECK_NUMBER(value, 77);
}

static void
a_longer_form_of_a_small_number_is_read(void)
{
    uint64_t value = 77;
    size_t used;

    CHECK(get("\x81\x00", 2, &value, &used));
    CHECK_NUMBER(value, 1);
    CHECK_NUMBER(used, 2);
    CHECK(get("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, &value, &used));
    CHECK_NUMBER(value, 0);
}

static void
reading_stops_behind_the_number(void)
{
    uint64_t value;
    size_t used;

    CHECK(get("\x05\x06", 2, &value, &used));
    CHECK_NUMBER(value, 5);
    CHECK_NUMBER(used, 1);
}

static void
signed_numbers_near_zero_stay_small(void)
{
    static const int64_t numbers[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN, INT64_MIN + 1};

    CHECK_NUMBER(snd_zigzag(0), 0);
    CHECK_NUMBER(snd_zigzag(-1), 1);
    CHECK_NUMBER(snd_zigzag(1), 2);
    CHECK_NUMBER(snd_zigzag(INT64_MIN), UINT64_MAX);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        CHECK(snd_unzigzag(snd_zigzag(numbers[i])) == numbers[i]);
}

int
main(void)
{
    RUN(numbers_come_back_and_small_ones_take_one_byte);
    RUN(input_that_ends_too_soon_is_refused);
    RUN(a_number_beyond_64_bits_is_refused);
    RUN(a_longer_form_of_a_small_number_is_read);
    RUN(reading_stops_behind_the_number);
    RUN(signed_numbers_near_zero_stay_small);
    return check_report();
}
