/* Lines of an edited file are found again. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "view/compare/line_match.h"

#include <stdio.h>
#include <string.h>

static snd_source_lines
open_text(const char *text)
{
    snd_profile *profile = snd_profile_new();
    snd_source_lines lines;

    REQUIRE(profile != NULL && snd_profile_add_source(profile, "a.py", text, strlen(text)) == SND_OK);
    REQUIRE(snd_source_open(profile, "a.py", &lines) == SND_OK);
    lines.loaded = snd_strdup(text); /* outlives the profile */
    REQUIRE(lines.loaded != NULL);
    lines.text = lines.loaded;
    snd_profile_free(profile);
    return lines;
}

/* "1 2 0 3": where each line of the first text is in the second. */
static const char *
match(const char *before, const char *after)
{
    static char text[4096];
    snd_source_lines from = open_text(before), to = open_text(after);
    snd_line_match match;
    size_t used = 0;

    REQUIRE(snd_line_match_make(&from, &to, &match) == SND_OK);
    text[0] = '\0';
    for (uint32_t i = 1; i <= match.count && used < sizeof text - 16; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i == 1 ? "" : " ",
                                 snd_line_match_find(&match, i));
    snd_line_match_free(&match);
    snd_source_close(&from);
    snd_source_close(&to);
    return text;
}

static void
a_file_that_was_not_edited_is_itself(void)
{
    CHECK_TEXT(match("a\nb\nc\n", "a\nb\nc\n"), "1 2 3");
    CHECK_TEXT(match("", ""), "");
    CHECK_TEXT(match("a\n", ""), "0");
    CHECK_TEXT(match("", "a\n"), "");
}

static void
lines_move_with_what_is_put_in_or_taken_out_above(void)
{
    CHECK_TEXT(match("a\nb\nc\n", "new\nmore\na\nb\nc\n"), "3 4 5");
    CHECK_TEXT(match("a\nb\nc\nd\n", "a\nd\n"), "1 0 0 2");
    CHECK_TEXT(match("a\nb\nc\nd\ne\n", "x\na\nc\nd\ny\nz\ne\n"), "2 0 3 4 7");
}

static void
lines_that_were_rewritten_in_place_are_each_other(void)
{
    CHECK_TEXT(match("a\nfor i in range(3):\nb\n", "a\nfor i in range(9):\nb\n"), "1 2 3");
    CHECK_TEXT(match("a\nx\ny\nb\n", "new\na\np\nq\nb\n"), "2 3 4 5");
    CHECK_TEXT(match("a\nx\ny\nb\n", "a\np\nb\n"), "1 0 0 3");
    CHECK_TEXT(match("x\n", "y\n"), "1");
}

static void
spaces_at_either_end_do_not_count(void)
{
    CHECK_TEXT(match("a\nb\n", "a  \r\nb\t\n"), "1 2");
    CHECK_TEXT(match("a\nb", "new\na\nb\n"), "2 3");
    CHECK_TEXT(match("a\nx\n    b\n", "a\nb\n"), "1 0 2");
}

static void
what_is_not_known_stays_where_it_was(void)
{
    const snd_line_match nothing = {0};

    CHECK(snd_line_match_find(&nothing, 7) == 7 && snd_line_match_has(&nothing, 7));
}

static void
what_the_texts_do_not_have_stays_what_it_is(void)
{
    snd_source_lines from = open_text("a\nb\n"), to = open_text("a\nnew\nb\n");
    snd_line_match match;

    REQUIRE(snd_line_match_make(&from, &to, &match) == SND_OK);
    CHECK(snd_line_match_find(&match, 0) == 0 && snd_line_match_find(&match, 3) == 3);
    CHECK(snd_line_match_has(&match, 1) && !snd_line_match_has(&match, 2) && snd_line_match_has(&match, 3));
    CHECK(snd_line_match_has(&match, 0) && snd_line_match_has(&match, 4));
    snd_line_match_free(&match);
    snd_source_close(&from);
    snd_source_close(&to);
}

/* ---- against the plain way ---- */

static uint64_t seed = 1;

enum { LONGEST = 24 };

static void
draw_text(char *text, unsigned letters)
{
    unsigned count = (unsigned)draw(&seed, LONGEST);

    for (unsigned i = 0; i < count; i++) {
        *text++ = (char)('a' + (unsigned)draw(&seed, letters));
        *text++ = '\n';
    }
    *text = '\0';
}

/* The most lines that two texts of one letter a line have in common, in order. */
static unsigned
most_in_common(const char *a, const char *b)
{
    unsigned best[LONGEST + 1][LONGEST + 1] = {{0}};

    for (unsigned i = 0; a[2 * i] != '\0'; i++)
        for (unsigned j = 0; b[2 * j] != '\0'; j++) {
            unsigned above = best[i][j + 1], left = best[i + 1][j];
            best[i + 1][j + 1] = a[2 * i] == b[2 * j] ? best[i][j] + 1 : above > left ? above : left;
        }
    return best[strlen(a) / 2][strlen(b) / 2];
}

static void
as_many_lines_as_can_be_are_matched_in_order(void)
{
    char a[2 * LONGEST + 1], b[2 * LONGEST + 1];

    for (int round = 0; round < 3000; round++) {
        unsigned letters = 1 + (unsigned)draw(&seed, 8), equal = 0, last = 0;
        draw_text(a, letters);
        draw_text(b, letters);
        snd_source_lines from = open_text(a), to = open_text(b);
        snd_line_match match;
        REQUIRE(snd_line_match_make(&from, &to, &match) == SND_OK);
        for (uint32_t i = 1; i <= match.count; i++) {
            uint32_t found = snd_line_match_find(&match, i);
            if (found == 0)
                continue;
            REQUIRE(found > last && found <= strlen(b) / 2 && snd_line_match_has(&match, found));
            last = found;
            equal += a[2 * (i - 1)] == b[2 * (found - 1)];
        }
        REQUIRE(equal == most_in_common(a, b));
        snd_line_match_free(&match);
        snd_source_close(&from);
        snd_source_close(&to);
    }
}

static void
files_that_have_little_in_common_are_matched_at_their_ends(void)
{
    enum { LINES = 3000 };
    snd_buffer before = {0}, after = {0};

    for (int i = 0; i < LINES; i++) {
        snd_buffer_printf(&before, "%s %d\n", i < 2 || i > LINES - 3 ? "same" : "old", i);
        snd_buffer_printf(&after, "%s %d\n", i < 2 || i > LINES - 3 ? "same" : "new", i);
        if (i == LINES / 2)
            snd_buffer_text(&after, "one more\n");
    }
    snd_source_lines from = open_text(snd_buffer_str(&before)), to = open_text(snd_buffer_str(&after));
    snd_line_match match;
    REQUIRE(snd_line_match_make(&from, &to, &match) == SND_OK);
    CHECK(snd_line_match_find(&match, 2) == 2 && snd_line_match_find(&match, 3) == 0);
    CHECK(snd_line_match_find(&match, LINES) == LINES + 1 && snd_line_match_find(&match, LINES / 2) == 0);
    snd_line_match_free(&match);
    snd_source_close(&from);
    snd_source_close(&to);
    snd_buffer_free(&before);
    snd_buffer_free(&after);
}

/* ---- memory ---- */

typedef struct attempt {
    snd_source_lines from, to;
} attempt;

static snd_status
try_match(void *context)
{
    attempt *self = context;
    snd_line_match match;
    snd_status status = snd_line_match_make(&self->from, &self->to, &match);

    if (status == SND_OK)
        snd_line_match_free(&match);
    return status;
}

static void
running_out_of_memory_is_said(void)
{
    attempt self = {open_text("a\nb\nc\nd\n"), open_text("x\na\ny\nc\nz\n")};

    CHECK(fail_each_allocation(try_match, &self) > 3);
    snd_source_close(&self.from);
    snd_source_close(&self.to);
}

int
main(void)
{
    RUN(a_file_that_was_not_edited_is_itself);
    RUN(lines_move_with_what_is_put_in_or_taken_out_above);
    RUN(lines_that_were_rewritten_in_place_are_each_other);
    RUN(spaces_at_either_end_do_not_count);
    RUN(what_is_not_known_stays_where_it_was);
    RUN(what_the_texts_do_not_have_stays_what_it_is);
    RUN(as_many_lines_as_can_be_are_matched_in_order);
    RUN(files_that_have_little_in_common_are_matched_at_their_ends);
    RUN(running_out_of_memory_is_said);
    return check_report();
}
