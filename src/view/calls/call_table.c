/* The views of calls: functions, their callers and their callees. */
#include "view/calls/calls.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "view/core/arrange.h"
#include "view/core/footer.h"
#include "view/core/view.h"
#include "view/sampled/sample_table.h"

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

/* A table in the making. */
typedef struct call_table {
    const snd_profile *profile;
    snd_calls calls;
    snd_table *table;
    uint64_t all_self_ns; /* of all functions: the whole of which rows are a share */
    uint32_t above;       /* the last row of the table at depth 0 */
} call_table;

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
set_function(snd_table *table, snd_cell *cell, const snd_profile_site *site, int has_place)
{
    snd_buffer text = {0};

    if (has_place || site->detail[0] == '\0')
        snd_call_text(site, &text);
    else
        snd_buffer_text(&text, site->detail);
    snd_set_buffer(table, cell, &text);
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
    snd_set_buffer(table, cell, &text);
}

static void
set_numbers(call_table *self, const snd_calls_numbers *numbers, snd_cell *cells)
{
    set_ncalls(self->table, &cells[NCALLS], numbers);
    snd_set_whole(&cells[SELF], numbers->self_ns);
    if (numbers->count != 0)
        snd_set_whole(&cells[SELF_EACH], numbers->self_ns / numbers->count);
    snd_set_whole(&cells[TOTAL], numbers->total_ns);
    if (numbers->primitive != 0)
        snd_set_whole(&cells[TOTAL_EACH], numbers->total_ns / numbers->primitive);
    snd_set_whole(&cells[SUSPENDED], numbers->suspended_ns);
    if (numbers->suspended_ns != 0)
        self->table->columns[SUSPENDED].traits |= SND_COLUMN_SHOWN;
    if (self->all_self_ns != 0)
        cells[PERCENT] =
            (snd_cell){.is_there = 1, .real = 100.0 * (double)numbers->self_ns / (double)self->all_self_ns};
    snd_set_whole(&cells[CALLS], numbers->count);
    snd_set_whole(&cells[PRIMITIVE], numbers->primitive);
    snd_set_whole(&cells[OPEN], numbers->open);
    snd_set_whole(&cells[RESUMES], numbers->resumes);
}

static void
set_site(snd_table *table, const snd_profile_site *site, snd_cell *cells)
{
    snd_set_text(table, &cells[KIND], snd_site_kind_name(site->kind));
    snd_set_text(table, &cells[NAME], site->name);
    if (site->detail[0] != '\0')
        snd_set_text(table, &cells[SIGNATURE], site->detail);
    if (site->file[0] != '\0') {
        snd_set_text(table, &cells[FILE_NAME], site->file);
        snd_set_whole(&cells[LINE], site->line);
    }
}

/* ---- rows ---- */

/* SND_NO_DATA when the profile has no calls. Whatever it says, snd_call_table_finish comes last. */
static void
start(call_table *self, const snd_profile *profile, const char *view, int is_tree)
{
    *self = (call_table){.profile = profile};
    snd_work_need(snd_calls_make(profile, SND_PAIRS_OF_SIGNATURES, &self->calls));
    for (uint32_t i = 0; i < self->calls.row_count; i++)
        if (self->calls.rows[i].function == i)
            self->all_self_ns += self->calls.rows[i].numbers.self_ns;
    if (self->calls.row_count == 0)
        snd_work_end(SND_NO_DATA);
    self->table = snd_table_new(view, columns, is_tree ? TREE_COLUMN_COUNT : FLAT_COLUMN_COUNT);
    self->table->is_tree = self->table->is_grouped = is_tree;
}

static void
add_row(call_table *self, uint32_t depth, uint32_t row, const snd_calls_numbers *numbers, int has_place,
        snd_cell **cells)
{
    const snd_profile_site *site = &self->calls.rows[row].site;
    uint32_t id = self->table->row_count;
    *cells = snd_table_row(self->table, depth);
    set_function(self->table, &(*cells)[FUNCTION], site, has_place);
    set_numbers(self, numbers, *cells);
    set_site(self->table, site, *cells);
    if (self->table->is_tree)
        snd_set_whole(&(*cells)[ID], id);
}

static void
add_function(call_table *self, uint32_t row)
{
    snd_cell *cells;

    self->above = self->table->row_count;
    add_row(self, 0, row, &self->calls.rows[row].numbers, 1, &cells);
}

/* A row at depth 0 for `row` of the calls; below it (depth 1) one with numbers of its own and a text that may leave out
 * the place. */
static void
add_below(call_table *self, uint32_t row, const snd_calls_numbers *numbers, int has_place)
{
    snd_cell *cells;
    add_row(self, 1, row, numbers, has_place, &cells);
    const snd_cell *parent = self->table->rows[self->above].cells;
    cells[PARENT_ID] = parent[ID];
    cells[PARENT] = parent[FUNCTION];
}

/* A row for each function (or signature, where it has some) and below it the callees of its pairs. */
static void
add_pairs(call_table *self)
{
    const snd_calls *calls = &self->calls;
    uint32_t next = 0;

    for (uint32_t i = 0; i < calls->row_count; i++) {
        const snd_calls_row *row = &calls->rows[i];
        int has_pairs = next < calls->pair_count && calls->pairs[next].caller == i;
        if (has_pairs || (row->signature_count == 0 && snd_calls_is_used(&row->numbers)))
            add_function(self, i);
        for (; next < calls->pair_count && calls->pairs[next].caller == i; next++)
            if (snd_calls_is_used(&calls->pairs[next].numbers))
                add_below(self, calls->pairs[next].callee, &calls->pairs[next].numbers, 1);
    }
}

static void
add_open_calls(const snd_calls *calls, snd_buffer *text)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < calls->row_count; i++) {
        snd_buffer name = {0};
        if (calls->rows[i].function != i || calls->rows[i].numbers.open == 0)
            continue;
        if (open < SND_FOOTER_NAMED) {
            snd_buffer_text(text, open == 0 ? "\nstill open, counted so far: " : ", ");
            snd_call_text(&calls->rows[i].site, &name);
            text->failed |= name.failed;
            snd_utf8_clean(snd_buffer_str(&name), text);
            snd_buffer_free(&name);
        }
        open++;
    }
    if (open > SND_FOOTER_NAMED)
        snd_buffer_printf(text, " and %u more", open - SND_FOOTER_NAMED);
}

static void
add_footer(const snd_profile *profile, const snd_calls *calls, snd_table *table)
{
    uint64_t each_ns = snd_profile_info_number(profile, "own_call_cost_ns");
    snd_calls_numbers all = {0};
    snd_buffer text = {0};
    char spent[SND_DURATION_SIZE];

    for (uint32_t i = 0; i < calls->row_count; i++)
        if (calls->rows[i].function == i) {
            all.count += calls->rows[i].numbers.count;
            all.primitive += calls->rows[i].numbers.primitive;
            all.self_ns += calls->rows[i].numbers.self_ns;
        }
    snd_duration_text(all.self_ns, spent);
    snd_buffer_printf(&text, "%llu call%s", (unsigned long long)all.count, all.count == 1 ? "" : "s");
    if (all.primitive != all.count)
        snd_buffer_printf(&text, " (%llu primitive)", (unsigned long long)all.primitive);
    snd_buffer_printf(&text, " in %s, ", spent);
    snd_footer_add_dropped(profile, &text);
    if (each_ns != 0) /* 0: it was not measured */
        snd_footer_add_cost(profile, "≤", all.count * each_ns, &text);
    add_open_calls(calls, &text);
    snd_footer_set(profile, &text, table);
}

/* Sorts the rows by `key` and adds the footer, if `status` is SND_OK; hands over the table or frees it. */
static void
finish(call_table *self, const char *key, snd_table **out)
{
    if (self->table->row_count == 0)
        snd_work_end(SND_NO_DATA);
    snd_work_need(snd_table_sort(self->table, key));
    add_footer(self->profile, &self->calls, self->table);
    *out = self->table;
}

/* Rows of signatures as lists, one a function. */
typedef struct lists {
    uint32_t *first; /* per function; SND_NONE: none */
    uint32_t *next;  /* per signature */
} lists;

static void
make_lists(const snd_calls *calls, lists *out)
{
    size_t room = (size_t)calls->row_count + 1;

    out->first = snd_malloc(room * sizeof *out->first);
    out->next = snd_malloc(room * sizeof *out->next);
    for (uint32_t i = 0; i < calls->row_count; i++)
        out->first[i] = out->next[i] = SND_NONE;
    for (uint32_t i = calls->row_count; i-- > 0;) {
        uint32_t function = calls->rows[i].function;
        if (function == i)
            continue;
        out->next[i] = out->first[function];
        out->first[function] = i;
    }
}

static void
add_signatures(call_table *self, const lists *signatures, uint32_t function)
{
    const snd_calls_row *rows = self->calls.rows;
    add_function(self, function);

    for (uint32_t i = signatures->first[function]; i != SND_NONE; i = signatures->next[i])
        if (snd_calls_is_used(&rows[i].numbers))
            add_below(self, i, &rows[i].numbers, 0);
}

static void
ask_signatures(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    (void)options;
    call_table self;
    lists signatures = {0};
    start(&self, profile, "signatures", 1);

    make_lists(&self.calls, &signatures);
    for (uint32_t i = 0; i < self.calls.row_count; i++)
        if (self.calls.rows[i].function == i && snd_calls_is_used(&self.calls.rows[i].numbers))
            add_signatures(&self, &signatures, i);
    finish(&self, "self_ns", out);
}

SND_VIEW(signatures, ask_signatures)

/* ---- functions, callers, callees ---- */

/* Nodes may be left from an earlier measurement of the same process, without a call in this one. */
static int
has_calls(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_call(profile->sites[profile->nodes[i].site].kind) &&
            snd_profile_whole(profile, i, SND_METRIC_COUNT) != 0)
            return 1;
    return 0;
}

static void
ask_functions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    call_table self;

    if (snd_profile_has_samples(profile) && !has_calls(profile)) {
        snd_work_need(snd_view_sampled_functions(profile, options, out));
        return;
    }
    start(&self, profile, "functions", 0);
    for (uint32_t i = 0; i < self.calls.row_count; i++)
        if (self.calls.rows[i].function == i && snd_calls_is_used(&self.calls.rows[i].numbers))
            add_function(&self, i);
    finish(&self, "self_ns", out);
}

SND_VIEW(functions, ask_functions)

static void
ask_callers(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    call_table self;
    start(&self, profile, "callers", 1);

    (void)options;
    self.table->matches_groups = 1;
    snd_calls_turn_pairs(&self.calls);
    add_pairs(&self);
    finish(&self, "total_ns", out);
}

SND_VIEW(callers, ask_callers)

static void
ask_callees(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    call_table self;
    start(&self, profile, "callees", 1);

    (void)options;
    self.table->matches_groups = 1;
    add_pairs(&self);
    finish(&self, "total_ns", out);
}

SND_VIEW(callees, ask_callees)
