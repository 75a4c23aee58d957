/* Typed columns and rows, and choosing among the columns. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "view/core/table.h"

#include <string.h>

enum { NAME, TOTAL, COUNT, SHARE, COLUMNS };

static const snd_column columns[] = {
    [NAME] = {"name", "name", SND_UNIT_TEXT, 1},
    [TOTAL] = {"total_ns", "total", SND_UNIT_NS, 1},
    [COUNT] = {"count", "count", SND_UNIT_COUNT, 0},
    [SHARE] = {"percent", "% of total", SND_UNIT_PERCENT, 1},
};

static snd_status
fill(snd_table *table)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < 40 && status == SND_OK; i++) {
        snd_cell *cells;
        status = snd_table_add_row(table, i % 4, &cells);
        if (status != SND_OK)
            break;
        const char *text = snd_table_text(table, i % 2 == 0 ? "even" : "odd");
        if (text == NULL)
            return SND_NO_MEMORY;
        cells[NAME] = (snd_cell){.is_there = 1, .text = text};
        cells[TOTAL] = (snd_cell){.is_there = 1, .whole = 1000 * i + 999};
        if (i != 3)
            cells[COUNT] = (snd_cell){.is_there = 1, .whole = i};
        cells[SHARE] = (snd_cell){.is_there = 1, .real = i / 2.0};
    }
    return status == SND_OK ? snd_table_set_footer(table, "that is all") : status;
}

static snd_table *
make_table(void)
{
    snd_table *table = snd_table_new("test", columns, COLUMNS);
    REQUIRE(table != NULL && fill(table) == SND_OK);
    return table;
}

static const snd_cell *
cell_at(const snd_table *table, uint32_t row, uint32_t column)
{
    return &table->rows[row].cells[column];
}

static void
rows_start_with_unknown_cells(void)
{
    snd_table *table = make_table();

    CHECK_TEXT(table->view, "test");
    CHECK_NUMBER(table->row_count, 40);
    CHECK(!cell_at(table, 3, COUNT)->is_there);
    CHECK(cell_at(table, 4, COUNT)->is_there);
    CHECK_NUMBER(table->rows[39].depth, 3);
    CHECK_TEXT(cell_at(table, 39, NAME)->text, "odd");
    CHECK_TEXT(table->footer, "that is all");
    snd_table_free(table);
    snd_table_free(NULL);
}

static void
columns_are_found_with_and_without_their_unit(void)
{
    snd_table *table = make_table();

    CHECK(snd_table_find(table, "total_ns") == TOTAL);
    CHECK(snd_table_find(table, "total") == TOTAL);
    CHECK(snd_table_find(table, "count") == COUNT);
    CHECK(snd_table_find(table, "count_ns") == -1);
    CHECK(snd_table_find(table, "tota") == -1);
    CHECK(snd_table_find(table, "total_") == -1);
    CHECK(snd_table_find(table, "") == -1);
    CHECK(snd_table_find(table, "% of total") == -1);
    snd_table_free(table);
}

static snd_table *
selected(const char *const *names, uint32_t count)
{
    snd_table *table = make_table(), *chosen = NULL;
    uint32_t unknown = 77;

    REQUIRE(snd_table_select(table, names, count, &unknown, &chosen) == SND_OK);
    CHECK_NUMBER(unknown, 77);
    snd_table_free(table); /* the choice stands on its own */
    return chosen;
}

static void
a_choice_has_the_columns_in_the_order_asked_for(void)
{
    const char *const names[] = {"count", "name", "count"};
    snd_table *chosen = selected(names, 3);

    CHECK_NUMBER(chosen->column_count, 3);
    CHECK_TEXT(chosen->columns[1].name, "name");
    CHECK_TEXT(cell_at(chosen, 5, 1)->text, "odd");
    CHECK(cell_at(chosen, 5, 0)->whole == 5 && cell_at(chosen, 5, 2)->whole == 5);
    CHECK(!cell_at(chosen, 3, 0)->is_there);
    CHECK_NUMBER(chosen->row_count, 40);
    CHECK_NUMBER(chosen->rows[39].depth, 3);
    CHECK_TEXT(chosen->footer, "that is all");
    snd_table_free(chosen);
}

static void
a_column_can_be_renamed(void)
{
    const char *const names[] = {"time spent=total", "n=count", "=name", "a=b=name"};
    uint32_t unknown;
    snd_table *chosen = selected(names, 3), *table = make_table();

    CHECK_TEXT(chosen->columns[0].name, "time spent");
    CHECK_TEXT(chosen->columns[0].title, "time spent");
    CHECK(chosen->columns[0].unit == SND_UNIT_NS);
    CHECK_TEXT(chosen->columns[1].name, "n");
    CHECK_TEXT(chosen->columns[2].name, "");
    snd_table_free(chosen);
    chosen = NULL;
    CHECK(snd_table_select(table, names, 4, &unknown, &chosen) == SND_BAD_ARGUMENT);
    CHECK_NUMBER(unknown, 3);
    snd_table_free(table);
}

static void
times_can_be_had_in_microseconds(void)
{
    const char *const names[] = {"total_us", "micro=total_us"};
    snd_table *chosen = selected(names, 2);

    CHECK_TEXT(chosen->columns[0].name, "total_us");
    CHECK(chosen->columns[0].unit == SND_UNIT_US);
    CHECK(cell_at(chosen, 7, 0)->whole == 7);
    CHECK_TEXT(chosen->columns[1].name, "micro");
    CHECK(cell_at(chosen, 7, 1)->whole == 7);
    snd_table_free(chosen);
}

static void
an_unknown_column_is_told_by_its_number(void)
{
    const char *const names[] = {"name", "count", "colour"};
    const char *const microseconds[] = {"count_us"};
    snd_table *table = make_table(), *chosen = NULL;
    uint32_t unknown = 77;

    CHECK(snd_table_select(table, names, 3, &unknown, &chosen) == SND_BAD_ARGUMENT);
    CHECK_NUMBER(unknown, 2);
    CHECK(snd_table_select(table, microseconds, 1, &unknown, &chosen) == SND_BAD_ARGUMENT);
    CHECK_NUMBER(unknown, 0);
    CHECK(chosen == NULL);
    snd_table_free(table);
}

static void
no_columns_at_all_are_a_table_too(void)
{
    snd_table *chosen = selected(NULL, 0);

    CHECK_NUMBER(chosen->column_count, 0);
    CHECK_NUMBER(chosen->row_count, 40);
    snd_table_free(chosen);
}

static void
the_columns_shown_by_default_can_be_chosen(void)
{
    snd_table *table = make_table(), *chosen = NULL;

    REQUIRE(snd_table_select_shown(table, &chosen) == SND_OK);
    CHECK_NUMBER(chosen->column_count, 3);
    CHECK_TEXT(chosen->columns[2].name, "percent");
    snd_table_free(table);
    snd_table_free(chosen);
}

static void
a_footer_can_be_replaced_and_a_failure_keeps_it(void)
{
    snd_table *table = make_table();

    CHECK(snd_table_set_footer(table, "another") == SND_OK);
    CHECK_TEXT(table->footer, "another");
    snd_alloc_fail_after(0);
    CHECK(snd_table_set_footer(table, "lost") == SND_NO_MEMORY);
    snd_alloc_fail_after(-1);
    CHECK_TEXT(table->footer, "another");
    snd_table_free(table);
}

static snd_status
make_and_select(void *context)
{
    const char *const names[] = {"n=count", "total_us", "name"};
    uint32_t unknown;
    snd_table *table = snd_table_new("test", columns, COLUMNS), *chosen = NULL, *shown = NULL;
    snd_status status = table == NULL ? SND_NO_MEMORY : fill(table);

    (void)context;
    if (status == SND_OK)
        status = snd_table_select(table, names, 3, &unknown, &chosen);
    CHECK((status == SND_OK) == (chosen != NULL));
    if (status == SND_OK)
        status = snd_table_select_shown(table, &shown);
    snd_table_free(table);
    snd_table_free(chosen);
    snd_table_free(shown);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    CHECK(fail_each_allocation(make_and_select, NULL) > 30);
}

int
main(void)
{
    RUN(rows_start_with_unknown_cells);
    RUN(columns_are_found_with_and_without_their_unit);
    RUN(a_choice_has_the_columns_in_the_order_asked_for);
    RUN(a_column_can_be_renamed);
    RUN(times_can_be_had_in_microseconds);
    RUN(an_unknown_column_is_told_by_its_number);
    RUN(no_columns_at_all_are_a_table_too);
    RUN(the_columns_shown_by_default_can_be_chosen);
    RUN(a_footer_can_be_replaced_and_a_failure_keeps_it);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
