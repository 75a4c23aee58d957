/* Views that are more than a table on a terminal: their list, memory, and the footprint. */
#include "format/table/reports.h"

#include "base/text.h"
#include "format/table/draw.h"
#include "format/table/summary.h"
#include "view/core/arrange.h"
#include "view/memory/memory_table.h"

#include <stdio.h>
#include <string.h>

#define LINES 15u
#define TREE_ROWS 25u
#define TEMPORARY_LINES 8u

static const struct {
    const char *view;
    snd_report *write;
} reports[] = {
#define SND_REPORT_ENTRY(name) {#name, snd_report_##name},
    SND_REPORT_MAP(SND_REPORT_ENTRY)
#undef SND_REPORT_ENTRY
};

snd_report *
snd_report_find(const char *view)
{
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++)
        if (strcmp(reports[i].view, view) == 0)
            return reports[i].write;
    return NULL;
}

/* ---- memory ---- */

static int
is_zero(const snd_table *table, uint32_t row, const char *column)
{
    const snd_cell *cell = &table->rows[row].cells[(uint32_t)snd_table_find(table, column)];

    return !cell->is_there || cell->whole == 0;
}

static int
has_peak(const snd_table *table, uint32_t row)
{
    return !is_zero(table, row, "peak_bytes");
}

static int
has_temporary(const snd_table *table, uint32_t row)
{
    return !is_zero(table, row, "temporary_bytes");
}

/* The table of `view`, the rows that are wanted, the first so many of them; with how many there were in the heading. */
static void
put_lines(const snd_summary *self, int (*is_kept)(const snd_table *, uint32_t), const char *key, uint32_t limit,
          const char *const *names, const char *heading)
{
    snd_table *table = NULL;
    snd_buffer text = {0};
    snd_work_need(snd_view_memory(self->profile, self->options, &table));

    snd_work_need(snd_table_sort(table, key));
    snd_work_need(snd_table_keep(table, is_kept));
    if (table->row_count == 0)
        return;
    snd_buffer_text(&text, heading);
    if (table->row_count > limit && !self->options->show_all) {
        snd_buffer_printf(&text, " (the %u largest of %u lines)", limit, table->row_count);
        snd_table_limit(table, limit);
    }
    snd_summary_show(table, names);
    snd_work_need(snd_summary_put(self, snd_buffer_str(&text), table));
}

static void
put_owners(const snd_summary *self)
{
    static const char *const names[] = {"peak",       "peak_percent", "peak_error",   "place",  "source", NULL,
                                        "live_bytes", "alloc_python", "alloc_native", "blocks", NULL};

    put_lines(self, has_peak, "peak_bytes", LINES, names, "Memory at the peak, by owner");
}

static void
put_temporary(const snd_summary *self)
{
    static const char *const names[] = {"temporary_bytes", "temporary_percent", "place", "source", NULL, NULL};

    put_lines(self, has_temporary, "temporary_bytes", TEMPORARY_LINES, names,
              "Temporary memory: freed within 10 ms, and its share of the line's allocations");
}

static void
put_tree(const snd_summary *self)
{
    char heading[64] = "The same by call stack";
    snd_table *table = NULL;
    snd_work_need(snd_view_owners(self->profile, self->options, &table));

    snd_work_need(snd_table_keep(table, snd_summary_is_answer));
    uint32_t rows = table->row_count;
    if (rows > TREE_ROWS && !self->options->show_all) {
        snprintf(heading, sizeof heading, "The same by call stack (the %u largest of %u rows)", TREE_ROWS, rows);
        snd_work_need(snd_table_keep_largest(table, "peak_bytes", TREE_ROWS));
    }
    if (rows != 0)
        snd_work_need(snd_summary_put(self, heading, table));
}

static void
put_sizes(const snd_summary *self)
{
    snd_table *table = NULL;

    if (snd_work_found(snd_view_sizes(self->profile, self->options, &table)) && table->row_count != 0)
        snd_work_need(snd_summary_put(self, "Allocations by size", table));
}

/* The facts are about the whole program, whatever threads and regions were asked for. */
static void
put_rss(const snd_profile *profile, snd_buffer *out)
{
    uint64_t start = snd_profile_info_number(profile, "rss_start_bytes");
    uint64_t peak = snd_profile_info_number(profile, "rss_peak_bytes");
    char text[SND_BYTES_SIZE];

    if (peak == 0)
        return;
    snd_bytes_text(peak, text);
    snd_buffer_printf(out, "resident memory: at most %s", text);
    snd_bytes_text(start, text);
    snd_buffer_printf(out, ", %s at the start\n", text);
}

static void
put_head(const snd_summary *self)
{
    snd_memory_view_maker of;
    snd_buffer text = {0};
    snd_memory_view_start(self->profile, self->options, 0, &of);
    snd_memory_view_words(self->profile, &of.memory.all, &text);
    snd_summary_bold(self, snd_buffer_str(&text));
    put_rss(self->profile, self->out);
}

static void
write_memory(const snd_summary *self)
{
    put_head(self);
    put_owners(self);
    put_tree(self);
    put_temporary(self);
    put_sizes(self);
    snd_buffer footer = {0};
    snd_memory_view_cost(self->profile, &footer);
    snd_summary_put_footer(self, snd_buffer_str(&footer));
}

snd_status
snd_report_memory(const snd_profile *profile, const snd_view_options *options, const snd_format_options *format,
                  snd_buffer *out)
{
    return snd_summary_run(write_memory, &(snd_summary){profile, options, format, out});
}

/* ---- the footprint ---- */

static void
put_legend(const snd_profile *profile, const snd_format_options *format, snd_buffer *out)
{
    uint64_t start = snd_profile_info_number(profile, "rss_start_bytes");
    char text[SND_BYTES_SIZE];

    snd_buffer_text(out, format->unicode ? "█ heap" : "# heap");
    if (snd_profile_series(profile, "rss") != NULL)
        snd_buffer_text(out, format->unicode ? "   • resident memory" : "   * resident memory");
    if (start != 0) {
        snd_bytes_text(start, text);
        snd_buffer_printf(out, " (%s at the start)", text);
    }
    snd_buffer_char(out, '\n');
}

static void
write_footprint(const snd_summary *self)
{
    const snd_profile *profile = self->profile;
    const snd_format_options *format = self->format;
    snd_plot plot = {
        .area = snd_profile_series(profile, "heap"),
        .line = snd_profile_series(profile, "rss"),
        .end_ns = snd_profile_info_number(profile, "length_ns"),
        .mark_ns = snd_profile_info_number(profile, "peak_at_ns"),
    };
    char bytes[SND_BYTES_SIZE], time[SND_DURATION_SIZE], mark[SND_BYTES_SIZE + SND_DURATION_SIZE + 16];
    snd_table *table = NULL;
    snd_work_need(snd_view_footprint(profile, self->options, &table));
    if (plot.mark_ns != 0) {
        snd_bytes_text(snd_profile_info_number(profile, "peak_bytes"), bytes);
        snd_duration_text(plot.mark_ns, time);
        snprintf(mark, sizeof mark, "peak %s at %s", bytes, time);
        plot.mark = mark;
    }
    snd_draw_plot(&plot, format->width, format->unicode, self->out);
    put_legend(profile, format, self->out);
    if (!format->no_footer && table->footer != NULL)
        snd_buffer_printf(self->out, "%s\n", table->footer);
}

snd_status
snd_report_footprint(const snd_profile *profile, const snd_view_options *options, const snd_format_options *format,
                     snd_buffer *out)
{
    return snd_summary_run(write_footprint, &(snd_summary){profile, options, format, out});
}
