/* Decoding text that came from outside. */
#include "base/utf8.h"
#include "check.h"

#include <string.h>

static void
check_character(const char *bytes, uint32_t wanted, size_t wanted_used)
{
    const char *at = bytes;
    uint32_t character = snd_utf8_next(&at, bytes + strlen(bytes));

    CHECK_NUMBER(character, wanted);
    CHECK_NUMBER(at - bytes, wanted_used);
}

static void
characters_of_every_length_are_decoded(void)
{
    check_character("a", 'a', 1);
    check_character("\x7f", 0x7f, 1);
    check_character("\xc2\x80", 0x80, 2);
    check_character("\xc3\xa9", 0xe9, 2);
    check_character("\xdf\xbf", 0x7ff, 2);
    check_character("\xe0\xa0\x80", 0x800, 3);
    check_character("\xe4\xb8\xad", 0x4e2d, 3);
    check_character("\xed\x9f\xbf", 0xd7ff, 3);
    check_character("\xee\x80\x80", 0xe000, 3);
    check_character("\xf0\x90\x80\x80", 0x10000, 4);
    check_character("\xf4\x8f\xbf\xbf", 0x10ffff, 4);
}

static void
a_nul_within_the_text_is_a_character(void)
{
    const char bytes[] = "\0x";
    const char *at = bytes;

    CHECK_NUMBER(snd_utf8_next(&at, bytes + 2), 0);
    CHECK(at == bytes + 1);
}

static void
bytes_that_are_not_utf8_are_passed_one_by_one(void)
{
    check_character("\x80", SND_UTF8_BAD, 1);
    check_character("\xbf\xbf", SND_UTF8_BAD, 1);
    check_character("\xff", SND_UTF8_BAD, 1);
    check_character("\xfe", SND_UTF8_BAD, 1);
    check_character("\xc3(", SND_UTF8_BAD, 1);
    check_character("\xe4\xb8(", SND_UTF8_BAD, 1);
    check_character("\xf0\x90\x80(", SND_UTF8_BAD, 1);
}

static void
a_character_cut_at_the_end_is_bad(void)
{
    check_character("\xc3", SND_UTF8_BAD, 1);
    check_character("\xe4\xb8", SND_UTF8_BAD, 1);
    check_character("\xf0\x90\x80", SND_UTF8_BAD, 1);
}

static void
overlong_surrogate_and_too_large_forms_are_bad(void)
{
    check_character("\xc0\x80", SND_UTF8_BAD, 1);
    check_character("\xc1\xbf", SND_UTF8_BAD, 1);
    check_character("\xe0\x9f\xbf", SND_UTF8_BAD, 1);
    check_character("\xf0\x8f\xbf\xbf", SND_UTF8_BAD, 1);
    check_character("\xed\xa0\x80", SND_UTF8_BAD, 1);
    check_character("\xed\xbf\xbf", SND_UTF8_BAD, 1);
    check_character("\xf4\x90\x80\x80", SND_UTF8_BAD, 1);
    check_character("\xf5\x80\x80\x80", SND_UTF8_BAD, 1);
}

static void
width_counts_cells_of_the_terminal(void)
{
    CHECK_NUMBER(snd_utf8_width(""), 0);
    CHECK_NUMBER(snd_utf8_width("plain"), 5);
    CHECK_NUMBER(snd_utf8_width("caf\xc3\xa9"), 4);
    CHECK_NUMBER(snd_utf8_width("cafe\xcc\x81"), 4);             /* e and a combining accent */
    CHECK_NUMBER(snd_utf8_width("\xe6\xb8\xac\xe5\xae\x9a"), 4); /* two wide characters */
    CHECK_NUMBER(snd_utf8_width("\xf0\x9f\x9a\x80"), 2);         /* a rocket */
    CHECK_NUMBER(snd_utf8_width("a\xff\xfe"), 3);                /* each bad byte is a cell */
}

static void
what_would_move_the_cursor_is_a_control_character(void)
{
    CHECK(snd_utf8_is_control(0));
    CHECK(snd_utf8_is_control('\n'));
    CHECK(snd_utf8_is_control(0x1b));
    CHECK(snd_utf8_is_control(0x7f));
    CHECK(snd_utf8_is_control(0x9b));
    CHECK(snd_utf8_is_control(0x202e)); /* right-to-left override */
    CHECK(snd_utf8_is_control(0x2066));
    CHECK(!snd_utf8_is_control(' '));
    CHECK(!snd_utf8_is_control(0xa0));
    CHECK(!snd_utf8_is_control(0x4e2d));
}

int
main(void)
{
    RUN(characters_of_every_length_are_decoded);
    RUN(a_nul_within_the_text_is_a_character);
    RUN(bytes_that_are_not_utf8_are_passed_one_by_one);
    RUN(a_character_cut_at_the_end_is_bad);
    RUN(overlong_surrogate_and_too_large_forms_are_bad);
    RUN(width_counts_cells_of_the_terminal);
    RUN(what_would_move_the_cursor_is_a_control_character);
    return check_report();
}
