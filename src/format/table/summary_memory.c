/* The part of the summary that is about memory. */
#include "format/table/summary.h"

#include "base/text.h"
#include "view/core/arrange.h"
#include "view/memory/memory_table.h"

#define LINES 3u
#define LEAKS 5u

static void
put_words(const snd_summary *self)
{
    snd_memory_view_maker of;
    snd_buffer text = {0};
    snd_memory_view_start(self->profile, self->options, 0, &of);
    snd_memory_view_words(self->profile, &of.memory.all, &text);
    snd_buffer_char(self->out, '\n');
    snd_summary_bold(self, "Memory");
    snd_buffer_printf(self->out, "%s\n", snd_buffer_str(&text));
}

static const snd_cell *
cell_of(const snd_table *table, uint32_t row, const char *column)
{
    return &table->rows[row].cells[(uint32_t)snd_table_find(table, column)];
}

static int
is_owner(const snd_table *table, uint32_t row)
{
    return cell_of(table, row, "line")->is_there && cell_of(table, row, "peak")->whole != 0;
}

static void
put_owners(const snd_summary *self)
{
    static const char *const names[] = {"place",  "peak", "peak_percent", "peak_error",
                                        "source", NULL,   "live_bytes",   NULL};
    snd_format_options format = *self->format;
    snd_table *table = NULL, *shown = NULL;
    snd_work_need(snd_view_memory(self->profile, self->options, &table));

    snd_work_need(snd_table_keep(table, is_owner));
    if (table->row_count != 0) {
        snd_table_limit(table, LINES);
        snd_summary_show(table, names);
        snd_work_need(snd_table_select_shown(table, &shown));
    }
    if (shown != NULL) {
        format.no_footer = 1;
        snd_format_table(shown, &format, self->out);
        snd_summary_put_note(self, table);
    }
}

/* "leak: app.py:12 grows by 1.20 MiB/s (24.0 MiB in total, 97% confidence): cache.append(row)". */
static void
put_leak(const snd_table *table, uint32_t row, snd_buffer *out)
{
    const snd_cell *source = cell_of(table, row, "source");
    char rate[SND_BYTES_SIZE], growth[SND_BYTES_SIZE];

    snd_bytes_text((uint64_t)cell_of(table, row, "bytes_per_second")->whole, rate);
    snd_bytes_text((uint64_t)cell_of(table, row, "live_bytes")->whole, growth);
    snd_buffer_text(out, "leak: ");
    snd_format_cell(SND_UNIT_TEXT, cell_of(table, row, "place"), out);
    snd_buffer_printf(out, " grows by %s/s (%s in total, %.0f%% confidence)", rate, growth,
                      cell_of(table, row, "confidence_percent")->real);
    if (source->is_there) {
        snd_buffer_text(out, ": ");
        snd_format_cell(SND_UNIT_TEXT, source, out);
    }
    snd_buffer_char(out, '\n');
}

static void
put_leaks(const snd_summary *self)
{
    snd_view_options options = *self->options;
    snd_table *table = NULL;

    options.show_all = 0;
    snd_work_need(snd_view_leaks(self->profile, &options, &table));
    for (uint32_t i = 0; i < table->row_count && i < LEAKS; i++)
        put_leak(table, i, self->out);
    if (table->row_count > LEAKS)
        snd_buffer_printf(self->out, "%u more leak%s: --leaks\n", table->row_count - LEAKS,
                          table->row_count - LEAKS == 1 ? "" : "s");
}

static void
put_all(const snd_summary *self)
{
    put_words(self);
    put_owners(self);
    put_leaks(self);
}

void
snd_summary_put_memory(const snd_summary *self)
{
    (void)snd_work_found(snd_summary_run(put_all, self));
}
