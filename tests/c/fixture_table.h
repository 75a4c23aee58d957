/* Tables: how a view's is made, what tests ask of its cells, and two that are hard to write. */
#ifndef SND_TEST_FIXTURE_TABLE_H
#define SND_TEST_FIXTURE_TABLE_H

#include "format/table/format.h"
#include "view/core/view.h"

/* The caller owns the table. Ends the program when there is no such view or it does not say SND_OK. */
snd_table *make_view(const snd_profile *profile, const char *view, snd_view_options options);

/* fail_each_allocation() of every view of the profile, one after the other: what one view allocates is not made again
 * for each allocation of the next. A view without data or events is passed over. Returns how many attempts failed. */
unsigned fail_each_view(const snd_profile *profile, snd_view_options options);

/* The same table with the columns that people see by default; the caller owns it. */
snd_table *shown_columns(const snd_table *table);

/* Ends the program when the table has no such row or column. */
const snd_cell *cell_of(const snd_table *table, uint32_t row, const char *column);

/* The first row with this text in a column; SND_NONE: there is none. */
uint32_t find_row(const snd_table *table, const char *column, const char *text);

/* The same; a row that is missing ends the program. */
uint32_t row_of(const snd_table *table, const char *column, const char *text);

/* The whole number in `column` of row_of(table, by, text). */
uint64_t whole_of(const snd_table *table, const char *by, const char *text, const char *column);

/* What the table for people is like. */
void check_table(const snd_table *table, snd_format_options options, const char *wanted);

/* A tree with a row of every unit, one of nothing, a heading, an extra row, a quiet cell and a footer. */
snd_table *full_table(void);

/* Texts with all that is hard to write: quotes, commas, newlines, control characters, markup, formulas, bytes that are
 * not UTF-8; and numbers that are none. */
snd_table *hostile_table(void);

#endif
