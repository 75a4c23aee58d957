/* Typed columns and rows. */
#include "view/table.h"

#include "base/alloc.h"

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

snd_table *
snd_table_new(const char *view, const snd_column *columns, uint32_t count)
{
    snd_table *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->texts = snd_intern_new();
    if (self->texts == NULL || (self->view = snd_table_text(self, view)) == NULL ||
        !copy_columns(self, columns, count)) {
        snd_table_free(self);
        return NULL;
    }
    return self;
}

void
snd_table_free(snd_table *self)
{
    if (self == NULL)
        return;
    snd_free(self->columns);
    snd_free(self->depths);
    snd_free(self->rows);
    snd_free(self->cells);
    snd_free(self->footer);
    snd_free(self->note);
    snd_intern_free(self->texts);
    snd_free(self);
}

static snd_status
make_room(snd_table *self)
{
    if (self->row_count < self->row_capacity)
        return SND_OK;
    uint32_t capacity = self->row_capacity == 0 ? 16 : self->row_capacity * 2;
    uint32_t *depths = snd_realloc(self->depths, capacity * sizeof *depths);
    if (depths == NULL)
        return SND_NO_MEMORY;
    self->depths = depths;
    snd_row *rows = snd_realloc(self->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return SND_NO_MEMORY;
    self->rows = rows;
    snd_cell *cells = snd_realloc(self->cells, (size_t)capacity * (self->column_count + 1) * sizeof *cells);
    if (cells == NULL)
        return SND_NO_MEMORY;
    self->cells = cells;
    self->row_capacity = capacity;
    return SND_OK;
}

snd_status
snd_table_add_row(snd_table *self, uint32_t depth, snd_cell **cells)
{
    snd_status status = make_room(self);
    if (status != SND_OK)
        return status;
    *cells = self->cells + (size_t)self->row_count * self->column_count;
    memset(*cells, 0, self->column_count * sizeof **cells);
    self->rows[self->row_count] = (snd_row){0};
    self->depths[self->row_count++] = depth;
    return SND_OK;
}

snd_status
snd_table_add_heading(snd_table *self, uint32_t depth, const char *text)
{
    snd_cell *cells;
    const char *copy = snd_table_text(self, text);
    snd_status status = copy == NULL ? SND_NO_MEMORY : snd_table_add_row(self, depth, &cells);
    if (status == SND_OK)
        *snd_table_last(self) = (snd_row){.heading = copy, .is_extra = 1};
    return status;
}

snd_row *
snd_table_last(snd_table *self)
{
    return &self->rows[self->row_count - 1];
}

snd_look
snd_look_of_share(double share)
{
    return share >= 20 ? SND_LOOK_HOT : share >= 5 ? SND_LOOK_WARM : SND_LOOK_PLAIN;
}

const char *
snd_table_text(snd_table *self, const char *text)
{
    uint32_t id;
    if (snd_intern_add(self->texts, text, strlen(text), &id) != SND_OK)
        return NULL;
    return snd_intern_text(self->texts, id);
}

static snd_status
replace_text(char **place, const char *text)
{
    char *copy = snd_strdup(text);
    if (copy == NULL)
        return SND_NO_MEMORY;
    snd_free(*place);
    *place = copy;
    return SND_OK;
}

snd_status
snd_table_set_footer(snd_table *self, const char *text)
{
    return replace_text(&self->footer, text);
}

snd_status
snd_table_set_note(snd_table *self, const char *text)
{
    return replace_text(&self->note, text);
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
    chosen->from = (uint32_t)found;
    if (equals != NULL || chosen->in_us) {
        chosen->name = wanted;
        chosen->name_len = equals == NULL ? strlen(wanted) : (size_t)(equals - wanted);
    }
    return found >= 0;
}

static snd_status
copy_rows(const snd_table *self, const choice *choices, snd_table *into)
{
    for (uint32_t r = 0; r < self->row_count; r++) {
        snd_cell *cells;
        snd_status status = snd_table_add_row(into, self->depths[r], &cells);
        if (status != SND_OK)
            return status;
        *snd_table_last(into) = self->rows[r];
        if (self->rows[r].heading != NULL &&
            (snd_table_last(into)->heading = snd_table_text(into, self->rows[r].heading)) == NULL)
            return SND_NO_MEMORY;
        for (uint32_t c = 0; c < into->column_count; c++) {
            cells[c] = self->cells[(size_t)r * self->column_count + choices[c].from];
            if (choices[c].in_us)
                cells[c].whole /= 1000;
            if (cells[c].text != NULL && (cells[c].text = snd_table_text(into, cells[c].text)) == NULL)
                return SND_NO_MEMORY;
        }
    }
    return self->footer == NULL ? SND_OK : snd_table_set_footer(into, self->footer);
}

static int
rename_column(snd_table *self, uint32_t column, const choice *chosen)
{
    uint32_t id;
    if (chosen->name == NULL)
        return 1;
    if (snd_intern_add(self->texts, chosen->name, chosen->name_len, &id) != SND_OK)
        return 0;
    self->columns[column].name = self->columns[column].title = snd_intern_text(self->texts, id);
    return 1;
}

/* Columns that somebody asked for (`is_wanted`) stay whatever is in them. */
static snd_status
select_columns(const snd_table *self, const choice *choices, uint32_t count, int is_wanted, snd_table **out)
{
    snd_column *columns = snd_calloc(count == 0 ? 1 : count, sizeof *columns);
    if (columns == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = self->columns[choices[i].from];
        if (choices[i].in_us)
            columns[i].unit = SND_UNIT_US;
        if (is_wanted)
            columns[i].traits &= ~(SND_COLUMN_OPTIONAL | SND_COLUMN_LATE | SND_COLUMN_NO_EMPTY);
    }
    snd_table *table = snd_table_new(self->view, columns, count);
    snd_free(columns);
    if (table == NULL)
        return SND_NO_MEMORY;
    table->is_tree = self->is_tree;
    table->is_grouped = self->is_grouped;
    table->matches_groups = self->matches_groups;
    table->has_guides = self->has_guides;
    snd_status status = copy_rows(self, choices, table);
    for (uint32_t i = 0; i < count && status == SND_OK; i++)
        status = rename_column(table, i, &choices[i]) ? SND_OK : SND_NO_MEMORY;
    if (status != SND_OK) {
        snd_table_free(table);
        return status;
    }
    *out = table;
    return SND_OK;
}

snd_status
snd_table_select(const snd_table *self, const char *const *names, uint32_t count, uint32_t *unknown, snd_table **out)
{
    choice *choices = snd_calloc(count == 0 ? 1 : count, sizeof *choices);
    if (choices == NULL)
        return SND_NO_MEMORY;
    snd_status status = SND_OK;
    for (uint32_t i = 0; i < count && status == SND_OK; i++)
        if (!choose(self, names[i], &choices[i])) {
            *unknown = i;
            status = SND_BAD_ARGUMENT;
        }
    if (status == SND_OK)
        status = select_columns(self, choices, count, 1, out);
    snd_free(choices);
    return status;
}

snd_status
snd_table_select_shown(const snd_table *self, snd_table **out)
{
    choice *choices = snd_calloc(self->column_count == 0 ? 1 : self->column_count, sizeof *choices);
    if (choices == NULL)
        return SND_NO_MEMORY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->column_count; i++)
        if (self->columns[i].traits & SND_COLUMN_SHOWN)
            choices[count++].from = i;
    snd_status status = select_columns(self, choices, count, 0, out);
    snd_free(choices);
    return status;
}
