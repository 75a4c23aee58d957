/* What tables have for people: headings, extra rows, a main column, columns that are left out, guides, looks. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_table.h"
#include "format/table/format.h"
#include "view/core/arrange.h"

#include <string.h>

enum { FILE_NAME, LINE, TIME, PART, SOURCE, COLUMNS };

static void
add_row(snd_table *table, uint32_t depth, const char *file, uint32_t line, const char *source)
{
    snd_cell *cells;

    REQUIRE(snd_table_add_row(table, depth, &cells) == SND_OK);
    cells[FILE_NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, file)};
    cells[LINE] = (snd_cell){.is_there = 1, .whole = line};
    cells[TIME] = (snd_cell){.is_there = 1, .whole = line * 1000};
    cells[PART] = (snd_cell){.is_there = 1, .real = line == 7 ? 12.5 : 0};
    cells[SOURCE] = (snd_cell){.is_there = 1, .text = snd_table_text(table, source)};
}

/* Two files with a heading each; b.py has a row for people only. */
static snd_table *
lines_table(void)
{
    static const snd_column columns[] = {
        [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
        [LINE] = {"line", "line", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
        [TIME] = {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
        [PART] = {"part", "part", SND_UNIT_PERCENT, SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_OPTIONAL},
        [SOURCE] = {"source", "source", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    };
    snd_table *table = snd_table_new("lines", columns, COLUMNS);

    REQUIRE(table != NULL);
    table->is_grouped = table->has_headings = 1;
    table->heading_column = FILE_NAME;
    REQUIRE(snd_table_add_heading(table, 0, "a.py: 100%") == SND_OK);
    add_row(table, 1, "a.py", 7, "return the_sum_of_everything(numbers)");
    REQUIRE(snd_table_add_heading(table, 0, "b.py: 0%") == SND_OK);
    add_row(table, 1, "b.py", 2, "x");
    snd_table_last(table)->is_extra = 1;
    snd_table_last(table)->colour = SND_COLOUR_DIM;
    add_row(table, 1, "b.py", 11, "y");
    return table;
}

static void
headings_stand_across_the_table(void)
{
    snd_table *table = lines_table(), *chosen = shown_columns(table);

    check_table(chosen, (snd_format_options){0},
                "line      time    part  source\n"
                "----  --------  ------  -------------------------------------\n"
                "a.py: 100%\n"
                "   7  7.000 us  12.50%  return the_sum_of_everything(numbers)\n"
                "\n"
                "b.py: 0%\n"
                "   2  2.000 us          x\n"
                "  11  11.00 us          y\n");
    snd_table_free(chosen);
    snd_table_free(table);
}

static void
a_narrow_terminal_cuts_the_main_column_then_leaves_columns_out(void)
{
    snd_table *table = lines_table(), *chosen = shown_columns(table);
    snd_buffer text = {0};

    check_table(chosen, (snd_format_options){.width = 50, .no_head = 1},
                "a.py: 100%\n"
                "   7  7.000 us  12.50%  return the_sum_of_everyt..\n"
                "\n"
                "b.py: 0%\n"
                "   2  2.000 us          x\n"
                "  11  11.00 us          y\n");
    check_table(chosen, (snd_format_options){.width = 40, .no_head = 1, .unicode = 1},
                "a.py: 100%\n"
                "   7  7.000 µs  return the_sum_of_every…\n"
                "\n"
                "b.py: 0%\n"
                "   2  2.000 µs  x\n"
                "  11  11.00 µs  y\n");
    snd_format_table(chosen, &(snd_format_options){.width = 6, .unicode = 1}, &text);
    CHECK(strstr(snd_buffer_str(&text), "a.py:…\n") != NULL);
    snd_buffer_free(&text);
    snd_table_free(chosen);
    snd_table_free(table);
}

static void
parts_of_one_kind_go_together(void)
{
    static const snd_column columns[] = {
        {"name", "name", SND_UNIT_TEXT, SND_COLUMN_SHOWN},
        {"a", "aaaaaaaa", SND_UNIT_COUNT, SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL},
        {"b", "bbbbbbbb", SND_UNIT_COUNT, SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL},
        {"c", "cccccccc", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
        {"d", "dddddddd", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
        {"e", "eeeeeeee", SND_UNIT_COUNT, SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY},
    };
    snd_table *table = snd_table_new("parts", columns, 6);

    REQUIRE(table != NULL);
    check_table(table, (snd_format_options){.width = 44},
                "name  aaaaaaaa  bbbbbbbb  cccccccc  dddddddd\n"
                "----  --------  --------  --------  --------\n");
    check_table(table, (snd_format_options){.width = 43},
                "name  cccccccc  dddddddd\n"
                "----  --------  --------\n");
    check_table(table, (snd_format_options){.width = 23},
                "name  cccccccc\n"
                "----  --------\n");
    snd_table_free(table);
}

static void
columns_that_were_asked_for_stay(void)
{
    static const char *const names[] = {"source", "part"};
    snd_table *table = lines_table(), *chosen = NULL;
    uint32_t unknown;

    REQUIRE(snd_table_select(table, names, 2, &unknown, &chosen) == SND_OK);
    check_table(chosen, (snd_format_options){.width = 20, .no_head = 1},
                "a.py: 100%\n"
                "return the_sum..  12.50%\n"
                "\n"
                "b.py: 0%\n"
                "x\n"
                "y\n");
    snd_table_free(chosen);
    snd_table_free(table);
}

static void
programs_get_no_extra_rows(void)
{
    snd_table *table = lines_table();
    snd_buffer text = {0};

    snd_format_csv(table, &(snd_format_options){0}, &text);
    CHECK_TEXT(snd_buffer_str(&text), "file,line,time_ns,part,source\n"
                                      "a.py,7,7000,12.5,return the_sum_of_everything(numbers)\n"
                                      "b.py,11,11000,0,y\n");
    snd_buffer_clear(&text);
    snd_format_json(table, &(snd_format_options){0}, &text);
    CHECK_NUMBER(count_text(snd_buffer_str(&text), "\"line\": "), 2);
    CHECK(strstr(snd_buffer_str(&text), "100%") == NULL);
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
a_page_has_headings(void)
{
    snd_table *table = lines_table(), *chosen = shown_columns(table);
    snd_buffer text = {0};

    snd_format_html(chosen, &(snd_format_options){0}, &text);
    CHECK(strstr(snd_buffer_str(&text), "<td class=\"heading\" colspan=\"4\">a.py: 100%</td>") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "<td class=\"main\">y</td>") != NULL);
    snd_buffer_free(&text);
    snd_table_free(chosen);
    snd_table_free(table);
}

static void
sorted_rows_say_what_the_headings_said(void)
{
    snd_table *table = lines_table();

    REQUIRE(snd_table_sort(table, "time") == SND_OK);
    snd_table *chosen = shown_columns(table);
    check_table(chosen, (snd_format_options){0},
                "file  line      time    part  source\n"
                "----  ----  --------  ------  -------------------------------------\n"
                "b.py    11  11.00 us          y\n"
                "a.py     7  7.000 us  12.50%  return the_sum_of_everything(numbers)\n");
    snd_table_free(chosen);
    snd_table_limit(table, 1);
    CHECK_NUMBER(table->row_count, 1);
    snd_table_free(table);
}

static void
a_pattern_finds_headings(void)
{
    snd_table *table = lines_table();
    char why[64];

    REQUIRE(snd_table_match(table, "^b.py: ", why, sizeof why) == SND_OK);
    CHECK_NUMBER(table->row_count, 3);
    CHECK_TEXT(table->rows[0].heading, "b.py: 0%");
    snd_table_free(table);
}

static int
is_b(const snd_table *table, uint32_t row)
{
    const snd_cell *cell = table->rows[row].cells;
    return cell->is_there && strcmp(cell->text, "b.py") == 0;
}

static void
rows_can_be_kept_by_what_they_are(void)
{
    snd_table *table = lines_table();

    REQUIRE(snd_table_keep(table, is_b) == SND_OK);
    CHECK_NUMBER(table->row_count, 2);
    REQUIRE(snd_table_keep_largest(table, "line", 1) == SND_OK);
    CHECK_NUMBER(table->row_count, 1);
    CHECK_NUMBER(table->rows[0].cells[LINE].whole, 11);
    CHECK(snd_table_keep_largest(table, "nothing", 1) == SND_BAD_ARGUMENT);
    snd_table_free(table);
}

/* A tree of numbers: depth and number, row by row. */
static snd_table *
tree_table(const uint32_t (*rows)[2], uint32_t count)
{
    static const snd_column columns[] = {
        {"count", "count", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
        {"name", "name", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    };
    snd_table *table = snd_table_new("tree", columns, 2);

    REQUIRE(table != NULL);
    table->is_tree = table->has_guides = 1;
    for (uint32_t i = 0; i < count; i++) {
        snd_cell *cells;
        REQUIRE(snd_table_add_row(table, rows[i][0], &cells) == SND_OK);
        cells[0] = (snd_cell){.is_there = 1, .whole = rows[i][1]};
        cells[1] = (snd_cell){.is_there = 1, .text = snd_table_text(table, "f")};
    }
    return table;
}

static void
a_tree_is_drawn_with_lines(void)
{
    static const uint32_t rows[][2] = {{0, 9}, {1, 6}, {2, 4}, {2, 2}, {1, 3}, {2, 3}, {0, 1}};
    snd_table *table = tree_table(rows, 7);

    check_table(table, (snd_format_options){.unicode = 1, .no_head = 1},
                "    9  f\n"
                "    6  ├─ f\n"
                "    4  │  ├─ f\n"
                "    2  │  └─ f\n"
                "    3  └─ f\n"
                "    3     └─ f\n"
                "    1  f\n");
    check_table(table, (snd_format_options){.no_head = 1, .width = 10},
                "    9  f\n"
                "    6  |- f\n"
                "    4  | |- f\n"
                "    2  | `- f\n"
                "    3  `- f\n"
                "    3    `- f\n"
                "    1  f\n");
    snd_table_free(table);
}

static void
of_equal_rows_those_above_are_kept(void)
{
    static const uint32_t rows[][2] = {{0, 5}, {1, 5}, {2, 5}, {3, 5}, {0, 7}, {1, 2}};
    snd_table *table = tree_table(rows, 6);

    REQUIRE(snd_table_keep_largest(table, "count", 3) == SND_OK);
    CHECK_NUMBER(table->row_count, 3);
    CHECK_NUMBER(table->rows[0].depth, 0);
    CHECK_NUMBER(table->rows[1].depth, 1);
    CHECK_NUMBER(table->rows[2].cells[0].whole, 7);
    snd_table_free(table);
}

static void
very_deep_rows_say_their_depth(void)
{
    uint32_t rows[40][2];
    snd_buffer text = {0};

    for (uint32_t i = 0; i < 40; i++)
        rows[i][0] = rows[i][1] = i;
    snd_table *table = tree_table((const uint32_t (*)[2])rows, 40);
    snd_format_table(table, &(snd_format_options){.width = 60, .no_head = 1}, &text);
    CHECK(strstr(snd_buffer_str(&text), "\n   39  (39 deep) f\n") != NULL);
    CHECK(strstr(snd_buffer_str(&text), "\n   10           ` f\n") != NULL);
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
rows_are_coloured_as_they_look(void)
{
    snd_table *table = lines_table();

    snd_table_last(table)->colour = SND_COLOUR_HOT;
    check_table(table, (snd_format_options){.colour = 1, .no_head = 1},
                "\033[1ma.py: 100%\n\033[0m"
                "\033[33ma.py     7  7.000 us  12.50%  return the_sum_of_everything(numbers)\n\033[0m"
                "\033[1m\nb.py: 0%\n\033[0m"
                "\033[2mb.py     2  2.000 us          x\n\033[0m"
                "\033[31mb.py    11  11.00 us          y\n\033[0m");
    CHECK(snd_colour_of_share(4.9) == SND_COLOUR_PLAIN && snd_colour_of_share(5) == SND_COLOUR_WARM);
    CHECK(snd_colour_of_share(20) == SND_COLOUR_HOT);
    snd_table_free(table);
}

static void
what_is_notable_is_highlighted_within_its_row(void)
{
    snd_table *table = lines_table();
    snd_buffer page = {0};

    table->columns[PART].traits |= SND_COLUMN_NOTABLE;
    table->row_count = 2;
    check_table(table, (snd_format_options){.colour = 1, .no_head = 1},
                "\033[1ma.py: 100%\n\033[0m"
                "\033[33ma.py     7  7.000 us  \033[1;35m12.50%\033[0m\033[33m  return the_sum_of_everything(numbers)\n"
                "\033[0m");
    snd_format_html(table, &(snd_format_options){0}, &page);
    CHECK(strstr(snd_buffer_str(&page), "<td class=\"notable\">12.50%</td>") != NULL);
    snd_buffer_free(&page);
    snd_table_free(table);
}

static snd_status
arrange(void *context)
{
    snd_table *table = context, *chosen = NULL;
    snd_buffer text = {0};
    snd_status status = snd_table_keep(table, is_b);

    if (status == SND_OK)
        status = snd_table_keep_largest(table, "line", 1);
    if (status == SND_OK)
        status = snd_table_select_shown(table, &chosen);
    if (status == SND_OK) {
        chosen->is_tree = chosen->has_guides = 1;
        snd_format_table(chosen, &(snd_format_options){0}, &text);
        status = snd_buffer_status(&text);
    }
    snd_buffer_free(&text);
    snd_table_free(chosen);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_table *table = lines_table();

    CHECK(fail_each_allocation(arrange, table) > 10);
    snd_table_free(table);
}

int
main(void)
{
    RUN(headings_stand_across_the_table);
    RUN(a_narrow_terminal_cuts_the_main_column_then_leaves_columns_out);
    RUN(parts_of_one_kind_go_together);
    RUN(columns_that_were_asked_for_stay);
    RUN(programs_get_no_extra_rows);
    RUN(a_page_has_headings);
    RUN(sorted_rows_say_what_the_headings_said);
    RUN(a_pattern_finds_headings);
    RUN(rows_can_be_kept_by_what_they_are);
    RUN(a_tree_is_drawn_with_lines);
    RUN(of_equal_rows_those_above_are_kept);
    RUN(very_deep_rows_say_their_depth);
    RUN(rows_are_coloured_as_they_look);
    RUN(what_is_notable_is_highlighted_within_its_row);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
