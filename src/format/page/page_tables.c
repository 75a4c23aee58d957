/* The data of a page: the answers of all views that have one for the recording. */
#include "base/text.h"
#include "format/page/page_private.h"
#include "format/table/format.h"
#include "view/compare/diff.h"
#include "view/core/arrange.h"
#include "view/sampled/sample_table.h"

#include <math.h>
#include <string.h>

/* ---- the data of a page: numbers over time, of the process and of single nodes ---- */

/* ---- series ---- */

static void
put_head(snd_page_maker *self, const char *name, const char *unit, int is_first)
{
    snd_buffer *out = &self->pack.gzip.bytes;

    snd_buffer_text(out, is_first ? "{\"name\":" : ",\n{\"name\":");
    snd_json_string(out, name);
    snd_buffer_text(out, ",\"unit\":");
    snd_json_string(out, unit);
    snd_buffer_text(out, ",\"at_ns\":[");
}

static void
put_points(snd_page_maker *self, const snd_series *series)
{
    uint64_t previous = 0;

    for (uint32_t i = 0; i < series->count; i++) {
        snd_page_put_signed(&self->pack, (int64_t)(series->points[i].at_ns - previous), i == 0);
        previous = series->points[i].at_ns;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"value\":[");
    for (uint32_t i = 0; i < series->count; i++)
        snd_page_put_real(&self->pack, series->points[i].value, i == 0);
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
}

static int
is_of(const snd_profile *profile, const snd_profile_event *event, uint32_t node)
{
    return event->node == node && profile->sites[profile->nodes[node].site].kind == SND_SITE_COUNTER;
}

/* Takes every so many of a counter's values, so that there are not more than a series has. */
static void
put_counter(snd_page_maker *self, uint32_t node, uint64_t count)
{
    const snd_profile *profile = self->profile;
    uint64_t step = count / SND_SERIES_POINTS + 1, previous = 0, seen = 0;

    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!is_of(profile, event, node) || seen++ % step != 0)
            continue;
        snd_page_put_signed(&self->pack, (int64_t)(event->start_ns - previous), seen == 1);
        previous = event->start_ns;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"value\":[");
    seen = 0;
    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!is_of(profile, event, node) || seen++ % step != 0)
            continue;
        snd_page_put_real(&self->pack, event->value, seen == 1);
    }
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
    if (step > 1) {
        uint64_t kept = (count + step - 1) / step;
        self->pruned_events += count - kept;
        snd_page_say_pruned(self, "The timeline shows %llu of a counter's %llu values.", (unsigned long long)kept,
                            (unsigned long long)count);
    }
    snd_work_need(snd_page_pack_flush(&self->pack));
}

/* What the program counted, where it has a timeline. */
static void
put_counters(snd_page_maker *self, int is_first)
{
    const snd_profile *profile = self->profile;

    for (uint32_t node = 0; node < profile->node_count; node++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[node].site];
        uint64_t count = 0;
        if (site->kind != SND_SITE_COUNTER)
            continue;
        for (uint64_t i = 0; i < profile->event_count; i++)
            count += is_of(profile, &profile->events[i], node) ? 1 : 0;
        if (count == 0)
            continue;
        put_head(self, site->name, "", is_first);
        is_first = 0;
        put_counter(self, node, count);
    }
}

/* ---- histories ---- */

static void
put_histories(snd_page_maker *self)
{
    const snd_profile *profile = self->profile;
    uint32_t previous = 0;
    int is_first = 1;

    snd_buffer_printf(&self->pack.gzip.bytes, "\"histories\":{\"step_ns\":%llu,\"node\":[",
                      (unsigned long long)snd_profile_info_number(profile, "history_step_ns"));
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        if (snd_profile_history(profile, self->nodes.kept[i]) == NULL)
            continue;
        snd_page_put_whole(&self->pack, i - previous, is_first);
        previous = i;
        is_first = 0;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"live\":[");
    is_first = 1;
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        const snd_history *history = snd_profile_history(profile, self->nodes.kept[i]);
        if (history == NULL)
            continue;
        snd_buffer_text(&self->pack.gzip.bytes, is_first ? "[" : ",[");
        for (uint32_t p = 0; p < history->count; p++)
            snd_page_put_whole(&self->pack, history->points[p].live, p == 0);
        snd_buffer_char(&self->pack.gzip.bytes, ']');
        is_first = 0;
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "]},\n");
}

void
snd_page_put_series(snd_page_maker *self)
{
    const snd_profile_memory *memory = &self->profile->memory;

    snd_buffer_text(&self->pack.gzip.bytes, "\"series\":[");
    for (uint32_t i = 0; i < memory->series_count; i++) {
        put_head(self, memory->series[i].name, memory->series[i].unit, i == 0);
        put_points(self, &memory->series[i]);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    put_counters(self, memory->series_count == 0);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
    put_histories(self);
}

/* Rows of a table; more help nobody. */
#define ROW_LIMIT 5000u
#define GROUP_LIMIT 1000u

static const char *const unit_names[] = {
    [SND_UNIT_TEXT] = "text", [SND_UNIT_LABEL] = "label",     [SND_UNIT_COUNT] = "count",   [SND_UNIT_NS] = "ns",
    [SND_UNIT_US] = "µs",     [SND_UNIT_PERCENT] = "percent", [SND_UNIT_NUMBER] = "number", [SND_UNIT_BYTES] = "bytes",
    [SND_UNIT_RATE] = "rate", [SND_UNIT_BAR] = "bar",         [SND_UNIT_SPARK] = "spark",
};

static int
is_answer(const snd_table *table, uint32_t row)
{
    return !table->rows[row].is_extra;
}

/* What the rows of a tree with too many are chosen by: a number that a row has no less of than those below it. */
static const char *
weight_of(const snd_table *table)
{
    static const char *const names[] = {"time", "peak_bytes", "total"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snd_table_find(table, names[i]) >= 0)
            return names[i];
    return NULL;
}

static void
cut(snd_page_maker *self, snd_table *table)
{
    snd_work_need(snd_table_keep(table, is_answer));
    uint32_t before = table->row_count;

    if (before <= ROW_LIMIT)
        return;
    if (table->is_tree && !table->is_grouped && weight_of(table) != NULL)
        snd_work_need(snd_table_keep_largest(table, weight_of(table), ROW_LIMIT));
    else
        snd_table_limit(table, table->is_grouped ? GROUP_LIMIT : ROW_LIMIT);
    if (table->row_count == before)
        return;
    self->pruned_rows += before - table->row_count;
    snd_page_say_pruned(self, "The table of %s shows the first %u of %u rows.", table->view, table->row_count, before);
}

/* Whether a row's text may be the text of a file that is not to be shown. */
static int
is_hidden(const snd_page_maker *self, const snd_table *table, uint32_t row, uint32_t column)
{
    const snd_cell *cells = table->rows[row].cells;
    int file = snd_table_find(table, "file");

    if (strcmp(table->columns[column].name, "source") != 0)
        return 0;
    return self->options->no_source ||
           (file >= 0 && cells[file].is_there && !snd_own_has(&self->own, cells[file].text));
}

static void
put_cell(snd_buffer *out, snd_unit unit, const snd_cell *cell)
{
    if (!cell->is_there || (snd_unit_is_real(unit) && !isfinite(cell->real)))
        snd_buffer_text(out, "null");
    else if (snd_unit_is_text(unit))
        snd_json_string(out, cell->text);
    else if (snd_unit_is_real(unit))
        snd_buffer_printf(out, "%.15g", cell->real);
    else if (cell->whole < 0)
        snd_buffer_printf(out, "%lld", (long long)cell->whole);
    else
        snd_buffer_number(out, (uint64_t)cell->whole);
}

static void
put_columns(const snd_table *table, snd_buffer *out)
{
    snd_buffer_text(out, ",\"columns\":[");
    for (uint32_t c = 0; c < table->column_count; c++) {
        snd_buffer_text(out, c == 0 ? "{\"name\":" : ",{\"name\":");
        snd_json_string(out, table->columns[c].name);
        snd_buffer_text(out, ",\"title\":");
        snd_json_string(out, table->columns[c].title);
        snd_buffer_printf(out, ",\"unit\":\"%s\",\"traits\":%u}", unit_names[table->columns[c].unit],
                          table->columns[c].traits);
    }
    snd_buffer_char(out, ']');
}

static void
put_depths(snd_page_maker *self, const snd_table *table)
{
    snd_buffer_text(&self->pack.gzip.bytes, table->is_tree ? ",\"depths\":[" : ",\"depths\":null");
    for (uint32_t r = 0; r < table->row_count && table->is_tree; r++)
        snd_page_put_whole(&self->pack, table->rows[r].depth, r == 0);
    snd_buffer_text(&self->pack.gzip.bytes, table->is_tree ? "]" : "");
}

static void
put_rows(snd_page_maker *self, const snd_table *table)
{
    snd_buffer *out = &self->pack.gzip.bytes;

    snd_buffer_text(out, ",\"rows\":[");
    for (uint32_t r = 0; r < table->row_count; r++) {
        snd_buffer_text(out, r == 0 ? "\n[" : ",\n[");
        for (uint32_t c = 0; c < table->column_count; c++) {
            snd_buffer_text(out, c == 0 ? "" : ",");
            if (is_hidden(self, table, r, c))
                snd_buffer_text(out, "null");
            else
                put_cell(out, table->columns[c].unit, &table->rows[r].cells[c]);
        }
        snd_buffer_char(out, ']');
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_char(out, ']');
}

/* Uses the table up. */
static void
put_table(snd_page_maker *self, const char *view, const char *variant, snd_table *table, int *is_first)
{
    snd_buffer *out = &self->pack.gzip.bytes;
    uint32_t before = 0;

    for (uint32_t r = 0; r < table->row_count; r++)
        before += is_answer(table, r) ? 1 : 0;
    cut(self, table);
    snd_buffer_text(out, *is_first ? "\n{\"view\":" : ",\n{\"view\":");
    snd_json_string(out, view);
    snd_buffer_printf(out, ",\"variant\":\"%s\",\"is_tree\":%s,\"is_grouped\":%s,\"row_count\":%u", variant,
                      table->is_tree ? "true" : "false", table->is_grouped ? "true" : "false", before);
    put_columns(table, out);
    put_depths(self, table);
    put_rows(self, table);
    snd_buffer_text(out, ",\"footer\":");
    snd_json_string(out, table->footer == NULL ? "" : table->footer);
    snd_buffer_char(out, '}');
    *is_first = 0;
    snd_table_free(table);
}

static int
has_regions(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            return 1;
    return 0;
}

/* A view that has nothing to show is left out, and so are regions that are nothing but threads. */
static void
put_view(snd_page_maker *self, const snd_view *view, const snd_view_options *options, const char *variant,
         int *is_first)
{
    snd_table *table = NULL;
    int is_empty = view->make == snd_view_regions && !has_regions(self->profile);
    snd_status status = is_empty ? SND_NO_DATA : view->make(self->profile, options, &table);

    if (status == SND_NO_TIMELINE || !snd_work_found(status))
        return;
    if (table != NULL && table->row_count != 0)
        put_table(self, view->name, variant, table, is_first);
    else
        snd_table_free(table);
}

/* Where there are calls as well, "functions" are those. */
static void
put_sampled_functions(snd_page_maker *self, int *is_first)
{
    static const snd_view sampled = {"sampled_functions", "", snd_view_sampled_functions};
    snd_table *table = NULL;

    if (!snd_profile_has_samples(self->profile) ||
        !snd_work_found(snd_view_functions(self->profile, &(snd_view_options){0}, &table)))
        return;
    int has_calls = snd_table_find(table, "calls") >= 0;
    snd_table_free(table);
    if (has_calls)
        put_view(self, &sampled, &(snd_view_options){.no_callees = self->options->no_source}, "", is_first);
}

void
snd_page_put_tables(snd_page_maker *self)
{
    const snd_view *ops = snd_view_find("ops");
    int is_first = 1;

    snd_buffer_text(&self->pack.gzip.bytes, "\"tables\":[");
    for (unsigned i = 0; i < snd_view_count; i++)
        put_view(self, &snd_views[i], &(snd_view_options){.no_callees = self->options->no_source}, "", &is_first);
    put_view(self, ops, &(snd_view_options){.by_shape = 1}, "by_shape", &is_first);
    put_view(self, ops, &(snd_view_options){.by_line = 1}, "by_line", &is_first);
    put_sampled_functions(self, &is_first);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
}

/* The name of a line is its text. */
static void
hide_texts(snd_table *table)
{
    int name = snd_table_find(table, "name"), place = snd_table_find(table, "place");

    for (uint32_t r = 0; r < table->row_count; r++) {
        snd_cell *cells = table->rows[r].cells;
        if (cells[place].is_there && *cells[place].text != '\0')
            cells[name] = cells[place];
    }
}

/* A kind of rows of `sonde diff`, with its heading as the footer. */
static void
put_diff_kind(snd_page_maker *self, const snd_diff *diff, snd_diff_kind kind, int *is_first)
{
    snd_table *table = NULL;

    snd_work_need(snd_diff_table(diff, kind, &table));
    if (self->options->no_source && snd_diff_is_of_lines(kind))
        hide_texts(table);
    snd_work_need(snd_table_set_footer(table, snd_diff_infos[kind].heading));
    put_table(self, "diff", snd_diff_infos[kind].name, table, is_first);
}

void
snd_page_put_diff(snd_page_maker *self)
{
    const snd_view_options view = {0};
    const snd_diff_options options = {.view = &view, .run_share = SND_DIFF_RUN_SHARE};
    snd_diff diff = {0};
    int is_first = 1;

    snd_buffer_text(&self->pack.gzip.bytes, "\"diff\":[");
    if (self->before != NULL && snd_work_found(snd_diff_make(self->before, self->profile, &options, &diff)))
        for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
            if (diff.kinds & 1u << kind)
                put_diff_kind(self, &diff, (snd_diff_kind)kind, &is_first);
    snd_buffer_text(&self->pack.gzip.bytes, "],\n");
}
