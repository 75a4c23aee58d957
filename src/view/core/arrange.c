/* Sorting, matching and limiting the rows of a table. */
#include "view/core/arrange.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX
#define KEY_COLUMNS 3u

/* What the rows are compared by. */
typedef struct order {
    uint32_t columns[KEY_COLUMNS];
    int ascends[KEY_COLUMNS];
    uint32_t count;
} order;

static const struct {
    const char *key;
    const char *columns;
    int ascends;
} keys[] = {
#define SORT_KEY(key, columns, ascends) {key, columns, ascends},
    SND_SORT_KEY_MAP(SORT_KEY)
#undef SORT_KEY
};

/* 0 when the table has no such column. */
static int
add_column(const snd_table *table, const char *name, size_t len, int ascends, order *by)
{
    char copy[64];

    if (len >= sizeof copy || by->count == KEY_COLUMNS)
        return 0;
    memcpy(copy, name, len);
    copy[len] = '\0';
    int column = snd_table_find(table, copy);
    if (column < 0)
        return 0;
    by->columns[by->count] = (uint32_t)column;
    by->ascends[by->count++] = ascends;
    return 1;
}

static int
use_key(const snd_table *table, const char *columns, int ascends, order *by)
{
    *by = (order){.count = 0};
    while (*columns != '\0') {
        size_t len = strcspn(columns, ",");
        if (!add_column(table, columns, len, ascends, by))
            return 0;
        columns += len + (columns[len] == ',');
    }
    return 1;
}

static int
find_order(const snd_table *table, const char *key, order *by)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i].key, key) == 0 && use_key(table, keys[i].columns, keys[i].ascends, by))
            return 1;
    int column = snd_table_find_typed(table, key);
    if (column < 0)
        return 0;
    *by = (order){{(uint32_t)column}, {snd_unit_is_text(table->columns[column].unit)}, 1};
    return 1;
}

int
snd_table_can_sort(const snd_table *self, const char *key)
{
    order by;
    return find_order(self, key, &by);
}

/* ---- sorting ---- */

typedef struct entry {
    uint32_t parent; /* NO_ROW: at the top */
    uint32_t row;
} entry;

typedef struct sorting {
    snd_table *table;
    const order *by;
} sorting;

static int
is_known(snd_unit unit, const snd_cell *cell)
{
    return cell->is_there && !(snd_unit_is_real(unit) && isnan(cell->real));
}

static int
compare_cells(snd_unit unit, const snd_cell *a, const snd_cell *b)
{
    if (snd_unit_is_text(unit))
        return strcmp(a->text, b->text);
    if (snd_unit_is_real(unit))
        return a->real < b->real ? -1 : a->real > b->real;
    return a->whole < b->whole ? -1 : a->whole > b->whole;
}

static int
compare_entries(const void *a, const void *b, void *context)
{
    const entry *x = a, *y = b;
    const sorting *self = context;
    const snd_table *table = self->table;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    for (uint32_t i = 0; i < self->by->count; i++) {
        uint32_t column = self->by->columns[i];
        snd_unit unit = table->columns[column].unit;
        const snd_cell *left = &table->rows[x->row].cells[column], *right = &table->rows[y->row].cells[column];
        int left_is_known = is_known(unit, left), right_is_known = is_known(unit, right);
        if (left_is_known != right_is_known)
            return left_is_known ? -1 : 1;
        int difference = left_is_known ? compare_cells(unit, left, right) : 0;
        if (difference != 0)
            return self->by->ascends[i] ? difference : -difference;
    }
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows that are part of the answer, each with the nearest one above that is less deep; `open` has room for every
 * row. Returns how many there are. */
static uint32_t
find_parents(const snd_table *table, uint32_t *open, entry *entries)
{
    uint32_t size = 0, count = 0;

    for (uint32_t r = 0; r < table->row_count; r++) {
        if (table->rows[r].is_extra)
            continue;
        while (size > 0 && table->rows[open[size - 1]].depth >= table->rows[r].depth)
            size--;
        entries[count++] = (entry){size == 0 ? NO_ROW : open[size - 1], r};
        open[size++] = r;
    }
    return count;
}

static uint32_t
push_children(const entry *entries, uint32_t first, uint32_t count, uint32_t *stack, uint32_t size)
{
    uint32_t end = first;

    while (end < count && entries[end].parent == entries[first].parent)
        end++;
    while (end > first)
        stack[size++] = entries[--end].row;
    return size;
}

/* The rows depth first. `firsts` says where each row's children start among the entries; they follow its parents. */
static void
walk(const entry *entries, uint32_t count, const uint32_t *firsts, uint32_t *stack, uint32_t *rows)
{
    uint32_t top = count, done = 0;

    while (top > 0 && entries[top - 1].parent == NO_ROW)
        top--;
    uint32_t size = push_children(entries, top, count, stack, 0);
    while (size > 0) {
        uint32_t row = stack[--size];
        rows[done++] = row;
        if (firsts[row] != NO_ROW)
            size = push_children(entries, firsts[row], count, stack, size);
    }
}

/* `firsts` has an element a row of the table, of which `count` are among the entries. */
static void
find_firsts(const entry *entries, uint32_t count, uint32_t row_count, uint32_t *firsts)
{
    memset(firsts, 0xff, row_count * sizeof *firsts);
    for (uint32_t i = count; i-- > 0;)
        if (entries[i].parent != NO_ROW)
            firsts[entries[i].parent] = i;
}

/* Puts the rows into the order of `rows`, `count` of them; the others are gone. */
static void
take_rows(snd_table *self, const uint32_t *rows, uint32_t count)
{
    snd_row *taken = snd_new(count, sizeof *taken);

    for (uint32_t i = 0; i < count; i++)
        taken[i] = self->rows[rows[i]];
    if (count != 0)
        memcpy(self->rows, taken, count * sizeof *taken);
    self->row_count = count;
}

/* What the headings said, the rows say themselves from now on. */
static void
forget_headings(snd_table *self)
{
    if (!self->has_headings)
        return;
    self->columns[self->heading_column].traits |= SND_COLUMN_SHOWN;
    self->is_grouped = self->has_headings = 0;
}

static void
sort_rows(void *context)
{
    sorting *how = context;
    snd_table *self = how->table;
    entry *entries = snd_new(self->row_count, sizeof *entries);
    uint32_t *stack = snd_new(self->row_count, sizeof *stack);
    uint32_t *firsts = snd_new(self->row_count, sizeof *firsts);
    uint32_t *rows = snd_new(self->row_count, sizeof *rows);

    uint32_t count = find_parents(self, stack, entries);
    qsort_r(entries, count, sizeof *entries, compare_entries, how);
    find_firsts(entries, count, self->row_count, firsts);
    walk(entries, count, firsts, stack, rows);
    take_rows(self, rows, count);
    forget_headings(self);
}

snd_status
snd_table_sort(snd_table *self, const char *key)
{
    order by;

    if (!find_order(self, key, &by))
        return SND_BAD_ARGUMENT;
    return snd_work_run(sort_rows, &(sorting){self, &by}, NULL);
}

/* ---- matching and limiting ---- */

static int
row_matches(const snd_table *self, uint32_t row, const regex_t *pattern)
{
    const snd_cell *cell = self->rows[row].cells;

    if (self->matches_groups && self->rows[row].depth != 0)
        return 0;
    if (self->rows[row].heading != NULL)
        return regexec(pattern, self->rows[row].heading, 0, NULL, 0) == 0;
    return snd_unit_is_text(self->columns[0].unit) && cell->is_there && regexec(pattern, cell->text, 0, NULL, 0) == 0;
}

/* What stands below a row that is kept whole is kept too. */
static void
mark_matches(const snd_table *self, const regex_t *pattern, unsigned char *kept)
{
    uint32_t above = UINT32_MAX; /* the depth of the row whose rows below are kept */

    for (uint32_t r = 0; r < self->row_count; r++) {
        if (above != UINT32_MAX && self->rows[r].depth <= above)
            above = UINT32_MAX;
        kept[r] = above != UINT32_MAX || row_matches(self, r, pattern);
        if (kept[r] && above == UINT32_MAX)
            above = self->rows[r].depth;
    }
}

/* From the end: a row is above a kept one when it is less deep than all rows that were kept since. */
static uint32_t
mark_above(const snd_table *self, unsigned char *kept, uint32_t *rows)
{
    uint32_t wanted = 0, count = 0; /* rows less deep than `wanted` stand above a kept one */

    for (uint32_t r = self->row_count; r-- > 0;) {
        if (kept[r] || self->rows[r].depth < wanted) {
            kept[r] = 1;
            wanted = self->rows[r].depth;
        }
    }
    for (uint32_t r = 0; r < self->row_count; r++)
        if (kept[r])
            rows[count++] = r;
    return count;
}

/* What is asked of a table. */
typedef struct question {
    snd_table *table;
    const regex_t *pattern;
    int (*is_kept)(const snd_table *self, uint32_t row);
    uint32_t column, limit;
} question;

static void
match_rows(void *context)
{
    const question *asked = context;
    unsigned char *kept = snd_new(asked->table->row_count, 1);
    uint32_t *rows = snd_new(asked->table->row_count, sizeof *rows);

    mark_matches(asked->table, asked->pattern, kept);
    take_rows(asked->table, rows, mark_above(asked->table, kept, rows));
}

snd_status
snd_table_match(snd_table *self, const char *pattern, char *why, size_t why_size)
{
    regex_t compiled;
    int error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
    if (error == REG_ESPACE)
        return SND_NO_MEMORY;
    if (error != 0) {
        regerror(error, &compiled, why, why_size);
        return SND_BAD_ARGUMENT;
    }
    snd_status status = self->column_count == 0
                            ? SND_OK
                            : snd_work_run(match_rows, &(question){.table = self, .pattern = &compiled}, NULL);
    regfree(&compiled);
    return status;
}

static void
keep_rows(void *context)
{
    const question *asked = context;
    uint32_t *rows = snd_new(asked->table->row_count, sizeof *rows);
    uint32_t count = 0;

    for (uint32_t r = 0; r < asked->table->row_count; r++)
        if (asked->is_kept(asked->table, r))
            rows[count++] = r;
    take_rows(asked->table, rows, count);
}

snd_status
snd_table_keep(snd_table *self, int (*is_kept)(const snd_table *self, uint32_t row))
{
    return snd_work_run(keep_rows, &(question){.table = self, .is_kept = is_kept}, NULL);
}

static int
compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x > y ? -1 : x < y;
}

/* The rows at or above the number that `limit` rows reach, the first ones of equal rows; rows above others come first.
 */
static uint32_t
list_largest(const snd_table *self, uint32_t column, uint32_t limit, int64_t *numbers, uint32_t *rows)
{
    uint32_t count = 0, above = 0;

    for (uint32_t r = 0; r < self->row_count; r++)
        numbers[r] = self->rows[r].cells[column].whole;
    qsort(numbers, self->row_count, sizeof *numbers, compare_numbers);
    int64_t least = numbers[limit - 1];
    while (above < limit && numbers[above] > least)
        above++;
    uint32_t equal = limit - above;
    for (uint32_t r = 0; r < self->row_count; r++) {
        int64_t number = self->rows[r].cells[column].whole;
        if (number > least || (number == least && equal > 0))
            rows[count++] = r;
        if (number == least && equal > 0)
            equal--;
    }
    return count;
}

static void
keep_largest(void *context)
{
    const question *asked = context;
    int64_t *numbers = snd_new(asked->table->row_count, sizeof *numbers);
    uint32_t *rows = snd_new(asked->table->row_count, sizeof *rows);

    take_rows(asked->table, rows, list_largest(asked->table, asked->column, asked->limit, numbers, rows));
}

snd_status
snd_table_keep_largest(snd_table *self, const char *column, uint32_t limit)
{
    int found = snd_table_find(self, column);

    if (found < 0 || limit == 0)
        return SND_BAD_ARGUMENT;
    if (self->row_count <= limit)
        return SND_OK;
    return snd_work_run(keep_largest, &(question){.table = self, .column = (uint32_t)found, .limit = limit}, NULL);
}

void
snd_table_limit(snd_table *self, uint32_t limit)
{
    uint32_t rows = 0, counted = 0;

    for (; rows < self->row_count; rows++) {
        counted += !self->is_grouped || self->rows[rows].depth == 0;
        if (counted > limit)
            break;
    }
    while (rows != 0 && rows < self->row_count && self->rows[rows - 1].heading != NULL)
        rows--; /* one that has nothing below it any more */
    self->row_count = rows;
}
