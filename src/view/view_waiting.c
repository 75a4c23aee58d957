/* The view of waiting: by line and reason, idle threads as one row, the machine as another. */
#include "view/sample_table.h"
#include "view/source.h"
#include "view/waiting.h"

#include <string.h>

enum { PLACE, WAITING, SHARE, REASON, THREADS, FUNCTION, KIND, FILE_NAME, LINE, NOTE, SOURCE, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN},
    [WAITING] = {"wait_ns", "waiting", SND_UNIT_NS, SHOWN},
    [SHARE] = {"wait_percent", "% of waiting", SND_UNIT_PERCENT, SHOWN},
    [REASON] = {"reason", "for", SND_UNIT_TEXT, SHOWN},
    [THREADS] = {"threads", "threads", SND_UNIT_COUNT, SHOWN | SND_COLUMN_OPTIONAL},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, 0},
    [KIND] = {"kind", "kind", SND_UNIT_TEXT, 0},
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, 0},
    [NOTE] = {"note", "note", SND_UNIT_TEXT, 0},
    [SOURCE] = {"source", "source", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN | SND_COLUMN_NO_EMPTY},
};

/* A table in the making. The source of the file of the last row is open. */
typedef struct maker {
    snd_samples samples;
    snd_waiting waiting;
    snd_table *table;
    snd_source_lines source;
    const char *source_file;
} maker;

static snd_status
add_row(maker *self, uint64_t ns, const char *reason, const char *kind, snd_cell **cells)
{
    uint64_t all = snd_samples_waiting(&self->samples.all);
    snd_status status = snd_table_add_row(self->table, 0, cells);

    if (status != SND_OK)
        return status;
    snd_set_whole(&(*cells)[WAITING], ns);
    snd_set_share(&(*cells)[SHARE], all == 0 ? 0 : 100.0 * (double)ns / (double)all);
    snd_set_text(self->table, &(*cells)[REASON], reason);
    snd_set_text(self->table, &(*cells)[KIND], kind);
    snd_table_last(self->table)->look = SND_LOOK_PLAIN;
    return SND_OK;
}

/* The text stands where people look for the source as well. */
static void
set_note(maker *self, const char *text, snd_cell *cells)
{
    snd_set_text(self->table, &cells[NOTE], text);
    snd_set_text(self->table, &cells[SOURCE], text);
}

static snd_status
open_source(maker *self, const char *file)
{
    if (self->source_file != NULL && strcmp(self->source_file, file) == 0)
        return SND_OK;
    snd_source_close(&self->source);
    self->source = (snd_source_lines){0};
    self->source_file = file;
    return snd_source_open(self->samples.profile, file, &self->source);
}

static void
put_place(const maker *self, const snd_waiting_row *row, snd_buffer *out)
{
    snd_buffer_text(out, row->line == 0 ? row->file : snd_own_name(&self->samples.own, row->file));
    if (row->line != 0)
        snd_buffer_printf(out, ":%u", row->line);
}

static snd_status
set_source(maker *self, const snd_waiting_row *row, snd_cell *cells)
{
    snd_buffer text = {0};
    snd_status status = open_source(self, row->file);

    if (status != SND_OK)
        return status;
    snd_source_line(&self->source, row->line, &text);
    if (self->source.count != 0 && snd_buffer_status(&text) == SND_OK) {
        const char *trimmed = snd_buffer_str(&text);
        snd_set_text(self->table, &cells[SOURCE], trimmed + strspn(trimmed, " \t"));
    }
    status = snd_buffer_status(&text);
    snd_buffer_free(&text);
    return status;
}

static snd_status
add_line(maker *self, const snd_waiting_row *row)
{
    snd_buffer place = {0};
    snd_cell *cells;
    snd_status status =
        add_row(self, row->ns, snd_waiting_reason(row->state), row->line == 0 ? "other" : "line", &cells);

    if (status != SND_OK)
        return status;
    put_place(self, row, &place);
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[THREADS], row->threads);
    if (row->line != 0) {
        snd_set_text(self->table, &cells[FUNCTION], snd_samples_site(&self->samples, row->function)->name);
        snd_set_text(self->table, &cells[FILE_NAME], row->file);
        snd_set_whole(&cells[LINE], row->line);
        status = set_source(self, row, cells);
    }
    return status == SND_OK ? snd_table_check(self->table, cells) : status;
}

/* `most` is where most of it was waited. */
static snd_status
add_idle(maker *self, const snd_waiting_row *most)
{
    uint32_t count = self->waiting.idle_count;
    snd_buffer place = {0}, note = {0};
    snd_cell *cells;
    snd_status status = add_row(self, self->waiting.idle_ns, snd_waiting_reason(most->state), "idle", &cells);

    if (status != SND_OK)
        return status;
    snd_buffer_printf(&place, "%u idle thread%s", count, count == 1 ? "" : "s");
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[THREADS], count);
    snd_buffer_text(&note, "mostly at ");
    put_place(self, most, &note);
    status = snd_buffer_status(&note);
    if (status == SND_OK)
        set_note(self, snd_buffer_str(&note), cells);
    snd_buffer_free(&note);
    return status == SND_OK ? snd_table_check(self->table, cells) : status;
}

static snd_status
add_machine(maker *self)
{
    snd_buffer note = {0};
    snd_cell *cells;
    snd_status status = add_row(self, self->waiting.processor_ns, "processor", "machine", &cells);

    if (status != SND_OK)
        return status;
    snd_set_text(self->table, &cells[PLACE], "[the machine]");
    snd_waiting_put_busy(&self->samples.all, &note);
    status = snd_buffer_status(&note);
    if (status == SND_OK && note.size != 0)
        set_note(self, snd_buffer_str(&note), cells);
    snd_buffer_free(&note);
    return status == SND_OK ? snd_table_check(self->table, cells) : status;
}

static snd_status
add_rows(maker *self)
{
    const snd_waiting *waiting = &self->waiting;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < waiting->count && status == SND_OK; i++) {
        const snd_waiting_row *row = &waiting->rows[i];
        int is_folded = row->is_idle && !self->samples.options->show_all;
        if (!is_folded)
            status = add_line(self, row);
        else if (i == 0 || !waiting->rows[i - 1].is_idle)
            status = add_idle(self, row);
    }
    return status == SND_OK && waiting->processor_ns != 0 ? add_machine(self) : status;
}

snd_status
snd_view_waiting(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {0};
    snd_status status = snd_samples_make(profile, options, &self.samples);

    if (status != SND_OK)
        return status;
    status = snd_samples_waiting(&self.samples.all) == 0 ? SND_NO_DATA : snd_waiting_make(&self.samples, &self.waiting);
    if (status == SND_OK) {
        self.table = snd_table_new("waiting", columns, COLUMN_COUNT);
        status = self.table == NULL ? SND_NO_MEMORY : add_rows(&self);
    }
    status = snd_sample_table_finish(&self.samples, status, NULL, self.table, out);
    snd_source_close(&self.source);
    snd_waiting_free(&self.waiting);
    snd_samples_free(&self.samples);
    return status;
}
