/* Durations as people read them. */
#include "base/text.h"
#include "check.h"

#include <string.h>

static const char *
text_of(uint64_t ns)
{
    static char text[SND_DURATION_SIZE];
    snd_duration_text(ns, text);
    return text;
}

static void
durations_have_four_digits_and_a_unit(void)
{
    CHECK_TEXT(text_of(31180000), "31.18 ms");
    CHECK_TEXT(text_of(419), "419 ns");
    CHECK_TEXT(text_of(1143), "1.143 µs");
    CHECK_TEXT(text_of(8329000), "8.329 ms");
    CHECK_TEXT(text_of(925000000), "925 ms");
    CHECK_TEXT(text_of(12440000000), "12.44 s");
}

static void
digits_that_do_not_show_are_rounded(void)
{
    CHECK_TEXT(text_of(31184999), "31.18 ms");
    CHECK_TEXT(text_of(31186000), "31.19 ms");
    CHECK_TEXT(text_of(8329499), "8.329 ms");
    CHECK_TEXT(text_of(8329501), "8.330 ms");
}

static void
from_five_hundred_on_no_digit_stands_behind_the_point(void)
{
    CHECK_TEXT(text_of(499900), "499.9 µs");
    CHECK_TEXT(text_of(500000), "500 µs");
    CHECK_TEXT(text_of(500400), "500 µs");
    CHECK_TEXT(text_of(499900000), "499.9 ms");
    CHECK_TEXT(text_of(500000000), "500 ms");
    CHECK_TEXT(text_of(499900000000), "499.9 s");
    CHECK_TEXT(text_of(500000000000), "500 s");
}

static void
digits_change_at_ten_and_at_a_hundred(void)
{
    CHECK_TEXT(text_of(9999000), "9.999 ms");
    CHECK_TEXT(text_of(10000000), "10.00 ms");
    CHECK_TEXT(text_of(99990000), "99.99 ms");
    CHECK_TEXT(text_of(100000000), "100.0 ms");
}

static void
units_change_at_a_thousand(void)
{
    CHECK_TEXT(text_of(0), "0 ns");
    CHECK_TEXT(text_of(1), "1 ns");
    CHECK_TEXT(text_of(999), "999 ns");
    CHECK_TEXT(text_of(1000), "1.000 µs");
    CHECK_TEXT(text_of(999400), "999 µs");
    CHECK_TEXT(text_of(999999), "1.000 ms");
    CHECK_TEXT(text_of(1000000), "1.000 ms");
    CHECK_TEXT(text_of(999400000), "999 ms");
    CHECK_TEXT(text_of(999999999), "1.000 s");
    CHECK_TEXT(text_of(1000000000), "1.000 s");
}

static void
the_longest_duration_fits(void)
{
    CHECK_TEXT(text_of(UINT64_MAX), "18446744074 s");
    CHECK(strlen(text_of(UINT64_MAX)) < SND_DURATION_SIZE);
}

static const char *
short_of(uint64_t ns)
{
    static char text[SND_DURATION_SIZE];
    snd_duration_short(ns, text);
    return text;
}

static void
short_durations_have_two_or_three_digits(void)
{
    CHECK_TEXT(short_of(0), "0 ns");
    CHECK_TEXT(short_of(850), "850 ns");
    CHECK_TEXT(short_of(1163), "1.2 µs");
    CHECK_TEXT(short_of(9960), "10 µs");
    CHECK_TEXT(short_of(38080000), "38 ms");
    CHECK_TEXT(short_of(123400000), "123 ms");
    CHECK_TEXT(short_of(1040000000), "1.0 s");
}

static void
a_plain_duration_is_ascii(void)
{
    char text[SND_DURATION_SIZE];

    snd_duration_plain(1143, text);
    CHECK_TEXT(text, "1.143 us");
}

static void
what_sonde_writes_beyond_ascii_can_be_plain(void)
{
    snd_buffer text = {0};

    snd_text_plain(&text, 0);
    CHECK_TEXT(snd_buffer_str(&text), "");
    snd_buffer_text(&text, "µé");
    snd_text_plain(&text, 2);
    CHECK_TEXT(snd_buffer_str(&text), "µé");
    snd_text_plain(&text, 0);
    CHECK_TEXT(snd_buffer_str(&text), "ué");
    snd_buffer_clear(&text);
    snd_buffer_text(&text, "≤ 2 µs, ±1 at 1–20…\xc2");
    snd_text_plain(&text, 0);
    CHECK_TEXT(snd_buffer_str(&text), "<= 2 us, +-1 at 1-20...\xc2");
    snd_buffer_free(&text);
}

static void
check_wrapped(const char *text, size_t from, size_t width, const char *wanted)
{
    snd_buffer buffer = {0};

    snd_buffer_text(&buffer, text);
    snd_text_wrap(&buffer, from, width);
    CHECK_TEXT(snd_buffer_str(&buffer), wanted);
    snd_buffer_free(&buffer);
}

static void
sentences_are_broken_between_words(void)
{
    check_wrapped("", 0, 8, "");
    check_wrapped("one two three\n", 0, 0, "one two three\n");
    check_wrapped("one two three\nfour five\n", 0, 8, "one two\nthree\nfour\nfive\n");
    check_wrapped("one two three", 0, 7, "one two\nthree");
    check_wrapped("±µs ±µs ±µs", 0, 7, "±µs ±µs\n±µs");
    check_wrapped("muchtoolong is it\n", 0, 5, "muchtoolong\nis it\n");
    check_wrapped("as it was|one two", 10, 5, "as it was|one\ntwo");
}

int
main(void)
{
    RUN(sentences_are_broken_between_words);
    RUN(durations_have_four_digits_and_a_unit);
    RUN(digits_that_do_not_show_are_rounded);
    RUN(from_five_hundred_on_no_digit_stands_behind_the_point);
    RUN(digits_change_at_ten_and_at_a_hundred);
    RUN(units_change_at_a_thousand);
    RUN(the_longest_duration_fits);
    RUN(short_durations_have_two_or_three_digits);
    RUN(a_plain_duration_is_ascii);
    RUN(what_sonde_writes_beyond_ascii_can_be_plain);
    return check_report();
}
