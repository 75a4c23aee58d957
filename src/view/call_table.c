/* What the views of calls share. */
#include "view/call_table.h"

#include "os/process.h"
#include "view/arrange.h"

#include <string.h>

enum {
    FUNCTION,
    NCALLS,
    SELF,
    SELF_EACH,
    TOTAL,
    TOTAL_EACH,
    SUSPENDED,
    PERCENT,
    CALLS,
    PRIMITIVE,
    OPEN,
    RESUMES,
    KIND,
    NAME,
    SIGNATURE,
    FILE_NAME,
    LINE,
    FLAT_COLUMN_COUNT,
    ID = FLAT_COLUMN_COUNT,
    PARENT_ID,
    PARENT,
    TREE_COLUMN_COUNT
};

static const snd_column columns[] = {
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, 1},
    [NCALLS] = {"ncalls", "ncalls", SND_UNIT_LABEL, 1},
    [SELF] = {"self_ns", "tottime", SND_UNIT_NS, 1},
    [SELF_EACH] = {"self_per_call_ns", "percall", SND_UNIT_NS, 1},
    [TOTAL] = {"total_ns", "cumtime", SND_UNIT_NS, 1},
    [TOTAL_EACH] = {"total_per_call_ns", "percall", SND_UNIT_NS, 1},
    [SUSPENDED] = {"suspended_ns", "suspended", SND_UNIT_NS, 0},
    [PERCENT] = {"percent_of_time", "% of time", SND_UNIT_PERCENT, 1},
    [CALLS] = {"calls", "calls", SND_UNIT_COUNT, 0},
    [PRIMITIVE] = {"primitive_calls", "primitive calls", SND_UNIT_COUNT, 0},
    [OPEN] = {"open", "open", SND_UNIT_COUNT, 0},
    [RESUMES] = {"resumes", "resumes", SND_UNIT_COUNT, 0},
    [KIND] = {"kind", "kind", SND_UNIT_TEXT, 0},
    [NAME] = {"name", "name", SND_UNIT_TEXT, 0},
    [SIGNATURE] = {"signature", "signature", SND_UNIT_TEXT, 0},
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, 0},
    [ID] = {"id", "id", SND_UNIT_COUNT, 0},
    [PARENT_ID] = {"parent_id", "parent id", SND_UNIT_COUNT, 0},
    [PARENT] = {"parent", "parent", SND_UNIT_TEXT, 0},
};

/* ---- the text of a function ---- */

void
snd_call_text(const snd_profile_site *site, snd_buffer *out)
{
    const char *name = site->detail[0] == '\0' ? site->name : site->detail;
    const char *file = snd_path_base(site->file);
    size_t len = strlen(name);

    if (site->kind == SND_SITE_FUNCTION && site->file[0] != '\0')
        snd_buffer_printf(out, "%s:%u(%s)", *file == '\0' ? site->file : file, site->line, name);
    else if (site->kind == SND_SITE_BUILTIN && len >= 2 && name[0] == '<' && name[len - 1] == '>')
        snd_buffer_printf(out, "{%.*s}", (int)(len - 2), name + 1);
    else
        snd_buffer_text(out, name);
}

/* ---- cells ---- */

static void
set_whole(snd_cell *cell, uint64_t value)
{
    *cell = (snd_cell){.is_there = 1, .whole = (int64_t)value};
}

/* A text that memory has run out for is NULL: the row is looked through at its end. */
static void
set_text(snd_table *table, snd_cell *cell, const char *text)
{
    *cell = (snd_cell){.is_there = 1, .text = snd_table_text(table, text)};
}

static void
set_buffer(snd_table *table, snd_cell *cell, snd_buffer *text)
{
    *cell = (snd_cell){.is_there = 1};
    if (snd_buffer_status(text) == SND_OK)
        cell->text = snd_table_text(table, snd_buffer_str(text));
    snd_buffer_free(text);
}

static void
set_function(snd_table *table, snd_cell *cell, const snd_profile_site *site, int has_place)
{
    snd_buffer text = {0};

    if (has_place || site->detail[0] == '\0')
        snd_call_text(site, &text);
    else
        snd_buffer_text(&text, site->detail);
    set_buffer(table, cell, &text);
}

/* "21891/1" where there is recursion: all calls and the primitive ones. */
static void
set_ncalls(snd_table *table, snd_cell *cell, const snd_calls_numbers *numbers)
{
    snd_buffer text = {0};

    snd_buffer_number(&text, numbers->count);
    if (numbers->count != numbers->primitive) {
        snd_buffer_char(&text, '/');
        snd_buffer_number(&text, numbers->primitive);
    }
    set_buffer(table, cell, &text);
}

static void
set_numbers(snd_call_table *self, const snd_calls_numbers *numbers, snd_cell *cells)
{
    set_ncalls(self->table, &cells[NCALLS], numbers);
    set_whole(&cells[SELF], numbers->self_ns);
    if (numbers->count != 0)
        set_whole(&cells[SELF_EACH], numbers->self_ns / numbers->count);
    set_whole(&cells[TOTAL], numbers->total_ns);
    if (numbers->primitive != 0)
        set_whole(&cells[TOTAL_EACH], numbers->total_ns / numbers->primitive);
    set_whole(&cells[SUSPENDED], numbers->suspended_ns);
    if (numbers->suspended_ns != 0)
        self->table->columns[SUSPENDED].traits |= SND_COLUMN_SHOWN;
    if (self->all_self_ns != 0)
        cells[PERCENT] =
            (snd_cell){.is_there = 1, .real = 100.0 * (double)numbers->self_ns / (double)self->all_self_ns};
    set_whole(&cells[CALLS], numbers->count);
    set_whole(&cells[PRIMITIVE], numbers->primitive);
    set_whole(&cells[OPEN], numbers->open);
    set_whole(&cells[RESUMES], numbers->resumes);
}

static void
set_site(snd_table *table, const snd_profile_site *site, snd_cell *cells)
{
    set_text(table, &cells[KIND], snd_site_kind_name(site->kind));
    set_text(table, &cells[NAME], site->name);
    if (site->detail[0] != '\0')
        set_text(table, &cells[SIGNATURE], site->detail);
    if (site->file[0] != '\0') {
        set_text(table, &cells[FILE_NAME], site->file);
        set_whole(&cells[LINE], site->line);
    }
}

static snd_status
check_texts(const snd_table *table, const snd_cell *cells)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        snd_unit unit = table->columns[i].unit;
        if ((unit == SND_UNIT_TEXT || unit == SND_UNIT_LABEL) && cells[i].is_there && cells[i].text == NULL)
            return SND_NO_MEMORY;
    }
    return SND_OK;
}

/* ---- rows ---- */

snd_status
snd_call_table_start(snd_call_table *self, const snd_profile *profile, const char *view, int is_tree)
{
    *self = (snd_call_table){.profile = profile};
    snd_status status = snd_calls_make(profile, &self->calls);
    if (status != SND_OK)
        return status;
    for (uint32_t i = 0; i < self->calls.row_count; i++)
        if (self->calls.rows[i].function == i)
            self->all_self_ns += self->calls.rows[i].numbers.self_ns;
    if (self->calls.row_count == 0)
        return SND_NO_DATA;
    self->table = snd_table_new(view, columns, is_tree ? TREE_COLUMN_COUNT : FLAT_COLUMN_COUNT);
    if (self->table == NULL)
        return SND_NO_MEMORY;
    self->table->is_tree = self->table->is_grouped = is_tree;
    return SND_OK;
}

static snd_status
add_row(snd_call_table *self, uint32_t depth, uint32_t row, const snd_calls_numbers *numbers, int has_place,
        snd_cell **cells)
{
    const snd_profile_site *site = &self->calls.rows[row].site;
    uint32_t id = self->table->row_count;
    snd_status status = snd_table_add_row(self->table, depth, cells);
    if (status != SND_OK)
        return status;
    set_function(self->table, &(*cells)[FUNCTION], site, has_place);
    set_numbers(self, numbers, *cells);
    set_site(self->table, site, *cells);
    if (self->table->is_tree)
        set_whole(&(*cells)[ID], id);
    return check_texts(self->table, *cells);
}

snd_status
snd_call_table_add(snd_call_table *self, uint32_t row)
{
    snd_cell *cells;

    self->above = self->table->row_count;
    return add_row(self, 0, row, &self->calls.rows[row].numbers, 1, &cells);
}

snd_status
snd_call_table_add_below(snd_call_table *self, uint32_t row, const snd_calls_numbers *numbers, int has_place)
{
    snd_cell *cells;
    snd_status status = add_row(self, 1, row, numbers, has_place, &cells);
    if (status != SND_OK)
        return status;
    const snd_cell *parent = &self->table->cells[(size_t)self->above * self->table->column_count];
    cells[PARENT_ID] = parent[ID];
    cells[PARENT] = parent[FUNCTION];
    return SND_OK;
}

snd_status
snd_call_table_add_pairs(snd_call_table *self)
{
    const snd_calls *calls = &self->calls;
    snd_status status = SND_OK;
    uint32_t next = 0;

    for (uint32_t i = 0; i < calls->row_count && status == SND_OK; i++) {
        const snd_calls_row *row = &calls->rows[i];
        int has_pairs = next < calls->pair_count && calls->pairs[next].caller == i;
        if (has_pairs || (row->signature_count == 0 && snd_calls_is_used(&row->numbers)))
            status = snd_call_table_add(self, i);
        for (; next < calls->pair_count && calls->pairs[next].caller == i && status == SND_OK; next++)
            if (snd_calls_is_used(&calls->pairs[next].numbers))
                status = snd_call_table_add_below(self, calls->pairs[next].callee, &calls->pairs[next].numbers, 1);
    }
    return status;
}

snd_status
snd_call_table_finish(snd_call_table *self, snd_status status, const char *key, snd_table **out)
{
    if (status == SND_OK && self->table->row_count == 0)
        status = SND_NO_DATA;
    if (status == SND_OK)
        status = snd_table_sort(self->table, key);
    if (status == SND_OK)
        status = snd_view_add_call_footer(self->profile, &self->calls, self->table);
    snd_calls_free(&self->calls);
    if (status == SND_OK)
        *out = self->table;
    else
        snd_table_free(self->table);
    return status;
}
