/* Tables of views, and tables made by hand. */
#include "fixture_table.h"

#include "check.h"
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

snd_table *
make_view(const snd_profile *profile, const char *view, snd_view_options options)
{
    const snd_view *found = snd_view_find(view);
    snd_table *table = NULL;

    REQUIRE(found != NULL && found->make(profile, &options, &table) == SND_OK);
    return table;
}

typedef struct attempt {
    const snd_view *view;
    const snd_profile *profile;
    snd_view_options options;
} attempt;

static snd_status
try_view(void *context)
{
    const attempt *self = context;
    snd_table *table = NULL;
    snd_status status = self->view->make(self->profile, &self->options, &table);

    CHECK((status == SND_OK) == (table != NULL));
    snd_table_free(table);
    return status == SND_NO_DATA || status == SND_NO_TIMELINE ? SND_OK : status;
}

unsigned
fail_each_view(const snd_profile *profile, snd_view_options options)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < snd_view_count; i++)
        failed += fail_each_allocation(try_view, &(attempt){&snd_views[i], profile, options});
    return failed;
}

snd_table *
shown_columns(const snd_table *table)
{
    snd_table *shown = NULL;

    REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
    return shown;
}

/* ---- cells ---- */

const snd_cell *
cell_of(const snd_table *table, uint32_t row, const char *column)
{
    int found = snd_table_find(table, column);

    REQUIRE(found >= 0 && row < table->row_count);
    return &table->rows[row].cells[(uint32_t)found];
}

uint32_t
find_row(const snd_table *table, const char *column, const char *text)
{
    for (uint32_t r = 0; r < table->row_count; r++) {
        const snd_cell *cell = cell_of(table, r, column);
        if (cell->is_there && strcmp(cell->text, text) == 0)
            return r;
    }
    return SND_NONE;
}

uint32_t
row_of(const snd_table *table, const char *column, const char *text)
{
    uint32_t row = find_row(table, column, text);

    if (row == SND_NONE)
        fprintf(stderr, "no row has %s as its %s\n", text, column);
    REQUIRE(row != SND_NONE);
    return row;
}

uint64_t
whole_of(const snd_table *table, const char *by, const char *text, const char *column)
{
    return (uint64_t)cell_of(table, row_of(table, by, text), column)->whole;
}

void
check_table(const snd_table *table, snd_format_options options, const char *wanted)
{
    snd_buffer text = {0};

    snd_format_table(table, &options, &text);
    CHECK(snd_buffer_status(&text) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

/* ---- made by hand ---- */

snd_table *
full_table(void)
{
    static const snd_column columns[] = {
        {"text", "text", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
        {"label", "label", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
        {"count", "count", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
        {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
        {"time_us", "in us", SND_UNIT_US, SND_COLUMN_SHOWN},
        {"share", "share", SND_UNIT_PERCENT, SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO},
        {"number", "number", SND_UNIT_NUMBER, SND_COLUMN_SHOWN},
        {"size_bytes", "size", SND_UNIT_BYTES, SND_COLUMN_SHOWN},
        {"speed", "speed", SND_UNIT_RATE, SND_COLUMN_SHOWN},
        {"bar", "bar", SND_UNIT_BAR, SND_COLUMN_SHOWN},
        {"curve", "curve", SND_UNIT_SPARK, SND_COLUMN_SHOWN},
        {"empty", "empty", SND_UNIT_COUNT, SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY},
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0], SHARE = 5 };
    snd_table *table = snd_table_new("full", columns, COLUMNS);
    snd_cell *cells;

    REQUIRE(table != NULL);
    table->is_tree = table->has_headings = 1;
    for (uint32_t depth = 0; depth < 4; depth++) {
        if (depth == 2)
            REQUIRE(snd_table_add_heading(table, depth, "a heading") == SND_OK);
        REQUIRE(snd_table_add_row(table, depth, &cells) == SND_OK);
        for (uint32_t i = 0; i + 1 < COLUMNS && depth != 1; i++)
            cells[i] = (snd_cell){.is_there = 1,
                                  .whole = INT64_C(1234567890) * (depth + 1),
                                  .real = i == SHARE && depth == 3 ? 0 : 12.345 * (depth + 1),
                                  .text = columns[i].unit == SND_UNIT_SPARK ? "012345678" : columns[i].name};
        cells[3].is_quiet = depth == 2;
    }
    snd_table_last(table)->is_extra = 1;
    snd_table_last(table)->colour = SND_COLOUR_DIM;
    REQUIRE(snd_table_set_footer(table, "the footer\nof two lines") == SND_OK);
    return table;
}

snd_table *
hostile_table(void)
{
    static const snd_column columns[] = {
        {"name", "<name> & more", SND_UNIT_TEXT, SND_COLUMN_SHOWN},
        {"total_ns", "total", SND_UNIT_NS, SND_COLUMN_SHOWN},
        {"share, of \"all\"", "share, of \"all\"", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
        {"value", "value", SND_UNIT_NUMBER, SND_COLUMN_SHOWN},
    };
    static const char *const names[] = {
        "plain",
        "a \"quote\" and 'another'",
        "a, comma; and more",
        "two\nlines\r\nor three",
        "back\\slash\ttab",
        "bell \a \x7f \033[2J \xc2\x9b",
        "\xe6\xb8\xac\xe5\xae\x9a \xc3\xa9 \xe2\x80\xae \xf0\x9f\x90\x8d",
        "bad \xff\xc3( \xed\xa0\x80",
        "\xe2\x80\xa8",
        "</td></script><script>alert(1)</script> &amp; -->",
        "=1+1",
        "@sum",
        "-1",
        "",
    };
    snd_table *table = snd_table_new("hostile", columns, 4);

    REQUIRE(table != NULL);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snd_cell *cells;
        REQUIRE(snd_table_add_row(table, i % 2, &cells) == SND_OK);
        cells[0] = (snd_cell){.is_there = 1, .text = snd_table_text(table, names[i])};
        cells[1] = (snd_cell){.is_there = 1, .whole = INT64_C(123456789012) * i};
        if (i == 0)
            continue;
        cells[2] = (snd_cell){.is_there = 1, .real = 100.0 / 3 * i};
        cells[3] = (snd_cell){.is_there = 1, .real = i == 1 ? (double)NAN : i == 2 ? -(double)INFINITY : 1e-7 * i};
    }
    REQUIRE(snd_table_set_footer(table, "the <end>\n& \"really\"") == SND_OK);
    return table;
}
