/* Typed columns and rows. */
#include "view/core/table.h"

#include "base/alloc.h"

#include <ctype.h>
#include <string.h>

static int
copy_columns(snd_table *self, const snd_column *columns, uint32_t count)
{
    self->columns = snd_calloc(count == 0 ? 1 : count, sizeof *columns);
    if (self->columns == NULL)
        return 0;
    self->column_count = count;
    for (uint32_t i = 0; i < count; i++) {
        self->columns[i] = columns[i];
        self->columns[i].name = snd_table_text(self, columns[i].name);
        self->columns[i].title = snd_table_text(self, columns[i].title);
        if (self->columns[i].name == NULL || self->columns[i].title == NULL)
            return 0;
    }
    return 1;
}

static snd_table *
make_empty(snd_pool *pool, const char *view, const snd_column *columns, uint32_t count)
{
    snd_table *self = snd_calloc(1, sizeof *self);

    if (self == NULL)
        return NULL;
    self->pool = pool;
    self->texts = snd_intern_new();
    if (self->texts == NULL || (self->view = snd_table_text(self, view)) == NULL || !copy_columns(self, columns, count))
        return NULL;
    return self;
}

snd_table *
snd_table_new(const char *view, const snd_column *columns, uint32_t count)
{
    snd_pool *pool = snd_pool_new();
    if (pool == NULL)
        return NULL;
    snd_pool *before = snd_pool_use(pool);
    snd_table *self = make_empty(pool, view, columns, count);
    snd_pool_use(before);
    if (self == NULL)
        snd_pool_free(pool);
    return self;
}

void
snd_table_free(snd_table *self)
{
    if (self != NULL)
        snd_pool_free(self->pool);
}

typedef struct making {
    snd_table_maker *make;
    const void *context;
    snd_table *table;
} making;

static void
make_table(void *context)
{
    making *self = context;
    self->table = self->make(self->context);
    snd_pool_hand_over(self->table->pool);
}

snd_status
snd_table_make(snd_table_maker *make, const void *context, snd_table **out)
{
    making self = {make, context, NULL};
    snd_status status = snd_work_run(make_table, &self, NULL);
    if (status == SND_OK)
        *out = self.table;
    return status;
}

static snd_status
add_row(snd_table *self, uint32_t depth)
{
    snd_cell *cells = snd_calloc(self->column_count + 1, sizeof *cells);

    if (cells == NULL || !snd_make_room(&self->rows, self->row_count + 1, &self->row_capacity, sizeof *self->rows))
        return SND_NO_MEMORY;
    self->rows[self->row_count++] = (snd_row){.cells = cells, .depth = depth};
    return SND_OK;
}

snd_status
snd_table_add_row(snd_table *self, uint32_t depth, snd_cell **cells)
{
    snd_pool *before = snd_pool_use(self->pool);
    snd_status status = add_row(self, depth);

    snd_pool_use(before);
    if (status == SND_OK)
        *cells = snd_table_last(self)->cells;
    return status;
}

snd_cell *
snd_table_row(snd_table *self, uint32_t depth)
{
    snd_cell *cells = NULL;

    snd_work_need(snd_table_add_row(self, depth, &cells));
    return cells;
}

snd_status
snd_table_add_heading(snd_table *self, uint32_t depth, const char *text)
{
    snd_cell *cells;
    const char *copy = snd_table_text(self, text);
    snd_status status = copy == NULL ? SND_NO_MEMORY : snd_table_add_row(self, depth, &cells);
    if (status == SND_OK)
        snd_table_set_extra(self, SND_COLOUR_BY_SHARE);
    if (status == SND_OK)
        snd_table_last(self)->heading = copy;
    return status;
}

snd_row *
snd_table_last(snd_table *self)
{
    return &self->rows[self->row_count - 1];
}

void
snd_table_set_extra(snd_table *self, snd_row_colour colour)
{
    snd_table_last(self)->is_extra = 1;
    snd_table_last(self)->colour = colour;
}

snd_row_colour
snd_colour_of_share(double share)
{
    return share >= 20 ? SND_COLOUR_HOT : share >= 5 ? SND_COLOUR_WARM : SND_COLOUR_PLAIN;
}

const char *
snd_table_text(snd_table *self, const char *text)
{
    snd_pool *before = snd_pool_use(self->pool);
    uint32_t id;
    snd_status status = snd_intern_add(self->texts, text, strlen(text), &id);

    snd_pool_use(before);
    return status == SND_OK ? snd_intern_text(self->texts, id) : NULL;
}

void
snd_set_whole(snd_cell *cell, uint64_t value)
{
    *cell = (snd_cell){.is_there = 1, .whole = (int64_t)value};
}

void
snd_set_share(snd_cell *cell, double value)
{
    *cell = (snd_cell){.is_there = 1, .real = value};
}

void
snd_set_text(snd_table *table, snd_cell *cell, const char *text)
{
    *cell = (snd_cell){.is_there = 1, .text = snd_table_text(table, text)};
}

void
snd_set_buffer(snd_table *table, snd_cell *cell, snd_buffer *text)
{
    *cell = (snd_cell){.is_there = 1};
    if (snd_buffer_status(text) == SND_OK)
        cell->text = snd_table_text(table, snd_buffer_str(text));
    snd_buffer_free(text);
}

static snd_status
replace_text(snd_table *self, const char **place, const char *text)
{
    const char *copy = snd_table_text(self, text);
    if (copy == NULL)
        return SND_NO_MEMORY;
    *place = copy;
    return SND_OK;
}

snd_status
snd_table_set_footer(snd_table *self, const char *text)
{
    return replace_text(self, &self->footer, text);
}

snd_status
snd_table_set_note(snd_table *self, const char *text)
{
    return replace_text(self, &self->note, text);
}

/* Whether `name` is `column` with its unit left off or, of a time, replaced by `suffix`. */
static int
is_named(const char *column, const char *name, const char *suffix)
{
    static const char *const units[] = {"_ns", "_bytes"};
    size_t len = strlen(column);

    for (size_t i = 0; i < (*suffix == '\0' ? 2u : 1u); i++) {
        size_t unit = strlen(units[i]);
        if (len >= unit && strcmp(column + len - unit, units[i]) == 0)
            return strncmp(column, name, len - unit) == 0 && strcmp(name + len - unit, suffix) == 0;
    }
    return 0;
}

int
snd_table_find(const snd_table *self, const char *name)
{
    for (uint32_t i = 0; i < self->column_count; i++)
        if (strcmp(self->columns[i].name, name) == 0 || is_named(self->columns[i].name, name, ""))
            return (int)i;
    return -1;
}

/* Whether somebody types a title: in upper or lower case, with "_" for a blank, in ASCII. */
static int
is_title(const char *title, const char *typed)
{
    static const char plus_minus[] = "\302\261";

    for (; *title != '\0' && *typed != '\0'; title++, typed++) {
        if (strncmp(title, plus_minus, 2) == 0 && strncmp(typed, "+-", 2) == 0) {
            title++;
            typed++;
        }
        else if (tolower((unsigned char)*title) != tolower((unsigned char)*typed) && (*title != ' ' || *typed != '_'))
            return 0;
    }
    return *title == *typed;
}

int
snd_table_find_typed(const snd_table *self, const char *typed)
{
    int found = snd_table_find(self, typed);

    for (uint32_t i = 0; i < self->column_count && found < 0; i++)
        if (*typed != '\0' && is_title(self->columns[i].title, typed))
            found = (int)i;
    return found;
}

/* What a selected column is made of. */
typedef struct choice {
    uint32_t from;
    int in_us;
    const char *name; /* NULL: as it was */
    size_t name_len;
} choice;

static int
choose(const snd_table *self, const char *wanted, choice *chosen)
{
    const char *equals = strchr(wanted, '=');
    const char *name = equals == NULL ? wanted : equals + 1;
    int found = snd_table_find(self, name);

    *chosen = (choice){0};
    for (uint32_t i = 0; i < self->column_count && found < 0; i++)
        if (is_named(self->columns[i].name, name, "_us")) {
            found = (int)i;
            chosen->in_us = 1;
        }
    if (found < 0)
        found = snd_table_find_typed(self, name);
    chosen->from = (uint32_t)found;
    if (equals != NULL || chosen->in_us) {
        chosen->name = wanted;
        chosen->name_len = equals == NULL ? strlen(wanted) : (size_t)(equals - wanted);
    }
    return found >= 0;
}

static void
copy_row(const snd_row *row, const choice *choices, snd_table *into)
{
    snd_cell *cells = snd_table_row(into, row->depth);

    snd_table_last(into)->is_extra = row->is_extra;
    snd_table_last(into)->colour = row->colour;
    if (row->heading != NULL)
        snd_table_last(into)->heading = snd_table_text(into, row->heading);
    for (uint32_t c = 0; c < into->column_count; c++) {
        cells[c] = row->cells[choices[c].from];
        if (choices[c].in_us)
            cells[c].whole /= 1000;
        if (cells[c].text != NULL)
            cells[c].text = snd_table_text(into, cells[c].text);
    }
}

static void
rename_column(snd_table *self, uint32_t column, const choice *chosen)
{
    uint32_t id;
    if (chosen->name == NULL)
        return;
    snd_pool *before = snd_pool_use(self->pool);
    snd_work_need(snd_intern_add(self->texts, chosen->name, chosen->name_len, &id));
    snd_pool_use(before);
    self->columns[column].name = self->columns[column].title = snd_intern_text(self->texts, id);
}

/* Columns that somebody asked for (`is_wanted`) stay whatever is in them. */
static snd_table *
select_columns(const snd_table *self, const choice *choices, uint32_t count, int is_wanted)
{
    snd_column *columns = snd_new(count, sizeof *columns);

    for (uint32_t i = 0; i < count; i++) {
        columns[i] = self->columns[choices[i].from];
        if (choices[i].in_us)
            columns[i].unit = SND_UNIT_US;
        if (is_wanted)
            columns[i].traits &= ~(SND_COLUMN_OPTIONAL | SND_COLUMN_LATE | SND_COLUMN_NO_EMPTY);
    }
    snd_table *table = snd_table_new(self->view, columns, count);
    table->is_tree = self->is_tree;
    table->is_grouped = self->is_grouped;
    table->matches_groups = self->matches_groups;
    table->has_guides = self->has_guides;
    for (uint32_t r = 0; r < self->row_count; r++)
        copy_row(&self->rows[r], choices, table);
    if (self->footer != NULL)
        snd_work_need(snd_table_set_footer(table, self->footer));
    for (uint32_t i = 0; i < count; i++)
        rename_column(table, i, &choices[i]);
    return table;
}

typedef struct selection {
    const snd_table *from;
    const char *const *names;
    uint32_t count;
    uint32_t *unknown;
} selection;

static snd_table *
select_named(const void *context)
{
    const selection *asked = context;
    choice *choices = snd_new(asked->count, sizeof *choices);

    for (uint32_t i = 0; i < asked->count; i++)
        if (!choose(asked->from, asked->names[i], &choices[i])) {
            *asked->unknown = i;
            snd_work_end(SND_BAD_ARGUMENT);
        }
    return select_columns(asked->from, choices, asked->count, 1);
}

snd_status
snd_table_select(const snd_table *self, const char *const *names, uint32_t count, uint32_t *unknown, snd_table **out)
{
    return snd_table_make(select_named, &(selection){self, names, count, unknown}, out);
}

static snd_table *
select_shown(const void *context)
{
    const snd_table *self = context;
    choice *choices = snd_new(self->column_count, sizeof *choices);
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->column_count; i++)
        if (self->columns[i].traits & SND_COLUMN_SHOWN)
            choices[count++].from = i;
    return select_columns(self, choices, count, 0);
}

snd_status
snd_table_select_shown(const snd_table *self, snd_table **out)
{
    return snd_table_make(select_shown, self, out);
}
