/* The answer of every view: typed columns, rows with a depth. */
#ifndef SND_VIEW_TABLE_H
#define SND_VIEW_TABLE_H

#include "base/buffer.h"
#include "base/intern.h"
#include "base/work.h"

typedef enum snd_unit {
    SND_UNIT_TEXT,
    SND_UNIT_LABEL,   /* a text that is aligned like a number */
    SND_UNIT_COUNT,   /* whole numbers */
    SND_UNIT_NS,      /* durations; tables print them with a unit of their own */
    SND_UNIT_US,      /* the same in whole microseconds, as some readers want them */
    SND_UNIT_PERCENT, /* real */
    SND_UNIT_NUMBER,  /* real, without a unit */
    SND_UNIT_BYTES,   /* whole; tables print them with a unit of their own */
    SND_UNIT_RATE,    /* whole bytes a second */
    SND_UNIT_BAR,     /* per cent; tables draw a bar */
    SND_UNIT_SPARK,   /* a text of digits from 0 to 8; tables draw a small curve */
} snd_unit;

static inline int
snd_unit_is_text(snd_unit unit)
{
    return unit == SND_UNIT_TEXT || unit == SND_UNIT_LABEL || unit == SND_UNIT_SPARK;
}

static inline int
snd_unit_is_real(snd_unit unit)
{
    return unit == SND_UNIT_PERCENT || unit == SND_UNIT_NUMBER || unit == SND_UNIT_BAR;
}

/* What a column is to people; programs get every column as it is. */
#define SND_COLUMN_SHOWN 1u    /* by default, in a terminal */
#define SND_COLUMN_MAIN 2u     /* says what a row is: indented in a tree, cut on a narrow terminal; else the first is */
#define SND_COLUMN_OPTIONAL 4u /* left out on a narrow terminal */
#define SND_COLUMN_LATE 32u    /* of those that are left out, after the others */
#define SND_COLUMN_NO_ZERO 8u  /* nothing in place of 0 */
#define SND_COLUMN_NO_EMPTY 16u /* left out where no row has anything in it */
#define SND_COLUMN_NOTABLE 128u /* highlighted where it is not 0; 64 is the page's own */

typedef struct snd_column {
    const char *name;  /* as a program says it: "total_ns" */
    const char *title; /* as a person reads it: "total" */
    snd_unit unit;
    unsigned traits; /* of SND_COLUMN_… */
} snd_column;

/* `is_there` 0: unknown, printed as nothing. The unit says which field counts. */
typedef struct snd_cell {
    int is_there;
    int is_quiet; /* for programs only: people see nothing */
    int64_t whole;
    double real;
    const char *text;
} snd_cell;

/* How a terminal with colours draws a row. */
typedef enum snd_row_colour {
    SND_COLOUR_BY_SHARE, /* by the first share that it has */
    SND_COLOUR_DIM,
    SND_COLOUR_PLAIN,
    SND_COLOUR_COOL,
    SND_COLOUR_WARM,
    SND_COLOUR_HOT,
} snd_row_colour;

typedef struct snd_row {
    snd_cell *cells; /* one a column */
    uint32_t depth;
    const char *heading; /* a text across the table in place of the cells; NULL: none */
    int is_extra;        /* for people only, such as a heading: not part of the answer, programs do not get it */
    snd_row_colour colour;
} snd_row;

/* Read freely; change with the functions below. Not thread-safe. */
typedef struct snd_table {
    const char *view;
    snd_column *columns;
    uint32_t column_count;
    uint32_t row_count;
    uint32_t row_capacity;
    snd_row *rows;
    snd_intern *texts;
    const char *footer; /* NULL: none */
    const char *note;   /* of the footer, what is said below every part of the table that is shown; NULL: nothing */
    int is_tree;        /* the depths mean something */
    int is_grouped;     /* a row at depth 0 is one thing with what belongs to it below: limits count these */
    int matches_groups; /* patterns are about the rows at depth 0 only */
    int has_guides;     /* a tree is drawn with lines */
    int has_headings;
    uint32_t heading_column; /* says what the headings say: shown when they are gone */
    snd_pool *pool;          /* of the table and all that is in it */
} snd_table;

/* Makes a table as one work: inside `make` no allocation fails, and snd_work_end says why there is none. The caller
 * owns it. */
typedef snd_table *snd_table_maker(const void *context);
SND_MUST_USE snd_status snd_table_make(snd_table_maker *make, const void *context, snd_table **out);

/* Copies the columns and their texts. The caller owns the table. NULL when memory runs out. */
snd_table *snd_table_new(const char *view, const snd_column *columns, uint32_t count);
void snd_table_free(snd_table *self); /* NULL is allowed */

/* A new row of unknown cells; `*cells` has column_count of them and is valid until the next row is added. */
SND_MUST_USE snd_status snd_table_add_row(snd_table *self, uint32_t depth, snd_cell **cells);

/* The same inside a work. */
snd_cell *snd_table_row(snd_table *self, uint32_t depth);

/* A row for people: a text across the table. */
SND_MUST_USE snd_status snd_table_add_heading(snd_table *self, uint32_t depth, const char *text);

/* The row that was added last, which may be changed; and one that is for people only. */
snd_row *snd_table_last(snd_table *self);
void snd_table_set_extra(snd_table *self, snd_row_colour colour);

/* The colour of a row with this share of the whole, in per cent. */
snd_row_colour snd_colour_of_share(double share);

/* Copies a text into the table. NULL when memory runs out. */
const char *snd_table_text(snd_table *self, const char *text);

/* Cells. A text that memory has run out for is NULL. */
void snd_set_whole(snd_cell *cell, uint64_t value);
void snd_set_share(snd_cell *cell, double value);
void snd_set_text(snd_table *table, snd_cell *cell, const char *text);
void snd_set_buffer(snd_table *table, snd_cell *cell, snd_buffer *text); /* uses the text up */

SND_MUST_USE snd_status snd_table_set_footer(snd_table *self, const char *text);
SND_MUST_USE snd_status snd_table_set_note(snd_table *self, const char *text);

/* -1 when there is none. Both forms are known: "total" and "total_ns", "peak" and "peak_bytes". */
int snd_table_find(const snd_table *self, const char *name);

/* The same for what a user typed, which may also be a column's title, as it is printed. */
int snd_table_find_typed(const snd_table *self, const char *typed);

/* A new table with the named columns only, in that order; "x_us" gives the column x_ns in microseconds, "y=x" the
 * column x under the name y. The caller owns it. SND_BAD_ARGUMENT: `*unknown` is the number of the name that no column
 * has. */
SND_MUST_USE snd_status snd_table_select(const snd_table *self, const char *const *names, uint32_t count,
                                         uint32_t *unknown, snd_table **out);

/* The columns that are shown by default. */
SND_MUST_USE snd_status snd_table_select_shown(const snd_table *self, snd_table **out);

#endif
