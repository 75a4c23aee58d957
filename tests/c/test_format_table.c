/* The table for people, as golden texts. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_table.h"
#include "format/table/format.h"
#include "view/core/view.h"

#include <string.h>

static snd_table *
shown_regions(const snd_profile *profile)
{
    snd_table *table = NULL, *shown = NULL;

    REQUIRE(snd_view_regions(profile, &(snd_view_options){0}, &table) == SND_OK);
    REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
    snd_table_free(table);
    return shown;
}

/* A table of one column of names and one of numbers. */
static snd_table *
named_table(const char *const *names, const uint32_t *depths, uint32_t count)
{
    static const snd_column columns[] = {
        {"name", "name", SND_UNIT_TEXT, 1},
        {"count", "count", SND_UNIT_COUNT, 1},
    };
    snd_table *table = snd_table_new("names", columns, 2);

    REQUIRE(table != NULL);
    table->is_tree = depths != NULL;
    for (uint32_t i = 0; i < count; i++) {
        snd_cell *cells;
        REQUIRE(snd_table_add_row(table, depths == NULL ? 0 : depths[i], &cells) == SND_OK);
        cells[0] = (snd_cell){.is_there = 1, .text = snd_table_text(table, names[i])};
        cells[1] = (snd_cell){.is_there = 1, .whole = i + 1};
    }
    return table;
}

static void
texts_stand_left_and_numbers_right(void)
{
    snd_profile *profile = small_profile();
    snd_table *table = shown_regions(profile);

    check_table(table, (snd_format_options){0},
                "name          total  % of total  count       min   average       max\n"
                "---------  --------  ----------  -----  --------  --------  --------\n"
                "<main>     10.00 ms     100.00%      1  10.00 ms  10.00 ms  10.00 ms\n"
                ". load     8.000 ms      80.00%      2  4.000 ms  4.000 ms  4.000 ms\n"
                ". . parse  1.000 ms      10.00%     10  100.0 us  100.0 us  100.0 us\n"
                ". write      500 us       5.00%      1    500 us    500 us    500 us\n"
                "<worker>   7.000 ms      70.00%      1  7.000 ms  7.000 ms  7.000 ms\n"
                ". parse    1.600 ms      16.00%      4  400.0 us  400.0 us  400.0 us\n"
                "17 entries, none dropped; profiler overhead <= 850 ns (0.01%)\n"
                "still open, counted so far: parse in thread worker\n");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
head_and_footer_can_be_left_off(void)
{
    const char *const names[] = {"a"};
    snd_table *table = named_table(names, NULL, 1);

    REQUIRE(snd_table_set_footer(table, "the end") == SND_OK);
    check_table(table, (snd_format_options){.no_head = 1}, "a         1\nthe end\n");
    check_table(table, (snd_format_options){.no_footer = 1}, "name  count\n----  -----\na         1\n");
    snd_table_free(table);
}

static void
rows_are_coloured_by_their_share(void)
{
    snd_profile *profile = small_profile();
    snd_table *table = shown_regions(profile);

    check_table(table, (snd_format_options){.colour = 1, .no_footer = 1},
                "\033[1mname          total  % of total  count       min   average       max\n\033[0m"
                "---------  --------  ----------  -----  --------  --------  --------\n"
                "<main>     10.00 ms     100.00%      1  10.00 ms  10.00 ms  10.00 ms\n"
                "\033[31m. load     8.000 ms      80.00%      2  4.000 ms  4.000 ms  4.000 ms\n\033[0m"
                "\033[33m. . parse  1.000 ms      10.00%     10  100.0 us  100.0 us  100.0 us\n\033[0m"
                "\033[33m. write      500 us       5.00%      1    500 us    500 us    500 us\n\033[0m"
                "<worker>   7.000 ms      70.00%      1  7.000 ms  7.000 ms  7.000 ms\n"
                "\033[33m. parse    1.600 ms      16.00%      4  400.0 us  400.0 us  400.0 us\n\033[0m");
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
names_cannot_move_the_cursor(void)
{
    const char *const names[] = {"two\nlines", "tab\there", "\033[2J", "\xc2\x9b", "\xe2\x80\xae", "bad \xff\xc3("};
    snd_table *table = named_table(names, NULL, 6);

    check_table(table, (snd_format_options){.no_head = 1},
                "two\\nlines         1\n"
                "tab\\there          2\n"
                "\\x1b[2J            3\n"
                "\\x9b               4\n"
                "\\u202e             5\n"
                "bad \\xff\\xc3(      6\n");
    snd_table_free(table);
}

static void
the_footer_cannot_move_the_cursor(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 100), 100, 60);
    snd_table *table = NULL;
    snd_buffer text = {0};

    set_whole(profile, add_region(profile, root, "\033[2J", 0, 0, 0), SND_METRIC_OPEN, 1);
    REQUIRE(snd_view_regions(profile, &(snd_view_options){0}, &table) == SND_OK);
    snd_format_table(table, &(snd_format_options){0}, &text);
    CHECK(strchr(snd_buffer_str(&text), '\033') == NULL);
    snd_buffer_free(&text);
    snd_table_free(table);
    snd_profile_free(profile);
}

static void
wide_characters_take_two_cells(void)
{
    const char *const names[] = {"\xe6\xb8\xac\xe5\xae\x9a", "caf\xc3\xa9", "plain"};
    snd_table *table = named_table(names, NULL, 3);

    check_table(table, (snd_format_options){0},
                "name   count\n"
                "-----  -----\n"
                "\xe6\xb8\xac\xe5\xae\x9a       1\n"
                "caf\xc3\xa9       2\n"
                "plain      3\n");
    snd_table_free(table);
}

static void
a_narrow_terminal_costs_the_names_their_ends(void)
{
    const char *const names[] = {"a name that is far too long for it",
                                 "\xe6\xb8\xac\xe5\xae\x9a"
                                 "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a"
                                 "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a"};
    snd_table *table = named_table(names, NULL, 2);

    check_table(table, (snd_format_options){.width = 24},
                "name               count\n"
                "-----------------  -----\n"
                "a name that is ..      1\n"
                "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac..       2\n");
    check_table(table, (snd_format_options){.width = 24, .unicode = 1, .no_head = 1},
                "a name that is f\xe2\x80\xa6      1\n"
                "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a"
                "\xe2\x80\xa6      2\n");
    check_table(table, (snd_format_options){.width = 3, .no_head = 1},
                "a name that is..      1\n"
                "\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac\xe5\xae\x9a\xe6\xb8\xac..      2\n");
    snd_table_free(table);
}

static void
deep_rows_say_their_depth(void)
{
    const char *const names[] = {"shallow", "deep", "deeper"};
    const uint32_t depths[] = {0, 32, 9999};
    snd_table *table = named_table(names, depths, 3);
    char dots[65] = "";

    for (int i = 0; i < 32; i++)
        strcat(dots, ". ");
    snd_buffer wanted = {0};
    snd_buffer_printf(&wanted, "shallow%*s1\n%sdeep%*s2\n%s(9999 deep) deeper      3\n", 81, "", dots, 20, "", dots);
    check_table(table, (snd_format_options){.no_head = 1}, snd_buffer_str(&wanted));
    snd_buffer_free(&wanted);
    snd_table_free(table);
}

static void
every_unit_has_its_form(void)
{
    static const snd_column columns[] = {
        {"t", "t", SND_UNIT_TEXT, 1},        {"l", "l", SND_UNIT_LABEL, 1}, {"c", "c", SND_UNIT_COUNT, 1},
        {"n", "n", SND_UNIT_NS, 1},          {"u", "u", SND_UNIT_US, 1},    {"p", "p", SND_UNIT_PERCENT, 1},
        {"r", "number", SND_UNIT_NUMBER, 1},
    };
    snd_table *table = snd_table_new("units", columns, 7);
    snd_cell *cells;

    REQUIRE(snd_table_add_row(table, 0, &cells) == SND_OK);
    for (int i = 0; i < 7; i++)
        cells[i] = (snd_cell){.is_there = 1, .whole = 12345, .real = 12.345, .text = "text"};
    REQUIRE(snd_table_add_row(table, 0, &cells) == SND_OK);
    check_table(table, (snd_format_options){0},
                "t        l      c         n      u       p  number\n"
                "----  ----  -----  --------  -----  ------  ------\n"
                "text  text  12345  12.35 us  12345  12.35%  12.345\n"
                "\n");
    snd_table_free(table);
}

static void
a_table_of_nothing_is_its_footer(void)
{
    snd_table *table = snd_table_new("none", NULL, 0);

    REQUIRE(table != NULL && snd_table_set_footer(table, "nothing") == SND_OK);
    check_table(table, (snd_format_options){0}, "nothing\n");
    snd_table_free(table);
}

static snd_status
format(void *context)
{
    snd_buffer text = {0};

    snd_format_table(context, &(snd_format_options){.width = 40, .colour = 1}, &text);
    snd_status status = snd_buffer_status(&text);
    snd_buffer_free(&text);
    return status;
}

static void
every_failing_allocation_fails_the_buffer(void)
{
    snd_profile *profile = small_profile();
    snd_table *table = shown_regions(profile);

    CHECK(fail_each_allocation(format, table) > 5);
    snd_table_free(table);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(texts_stand_left_and_numbers_right);
    RUN(head_and_footer_can_be_left_off);
    RUN(rows_are_coloured_by_their_share);
    RUN(names_cannot_move_the_cursor);
    RUN(the_footer_cannot_move_the_cursor);
    RUN(wide_characters_take_two_cells);
    RUN(a_narrow_terminal_costs_the_names_their_ends);
    RUN(deep_rows_say_their_depth);
    RUN(every_unit_has_its_form);
    RUN(a_table_of_nothing_is_its_footer);
    RUN(every_failing_allocation_fails_the_buffer);
    return check_report();
}
