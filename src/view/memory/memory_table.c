/* What the tables of memory share. */
#include "view/memory/memory_table.h"

#include "base/text.h"
#include "base/utf8.h"
#include "view/core/arrange.h"

#include <string.h>

/* Standard errors above this share of the value, in per cent, are shown. */
#define SHOWN_ERROR 5u

/* ---- numbers ---- */

static int
is_large(uint64_t error, uint64_t value)
{
    return (double)error > (double)value * SHOWN_ERROR / 100;
}

void
snd_set_error(snd_cell *cell, uint64_t error, uint64_t value)
{
    snd_set_whole(cell, error);
    cell->is_quiet = !is_large(error, value);
}

void
snd_memory_view_put(uint64_t bytes, uint64_t error, snd_buffer *out)
{
    char text[SND_BYTES_SIZE];

    snd_bytes_text(bytes, text);
    snd_buffer_text(out, text);
    if (!is_large(error, bytes))
        return;
    snd_bytes_text(error, text);
    snd_buffer_printf(out, " ± %s", text);
}

uint64_t
snd_memory_view_rate(const snd_profile *profile, uint64_t bytes)
{
    uint64_t length = snd_profile_info_number(profile, "length_ns");

    return length == 0 ? 0 : snd_bytes_of((double)bytes * 1e9 / (double)length);
}

void
snd_memory_view_spark(const snd_history *history, unsigned cells, snd_buffer *out)
{
    uint32_t count = history->count < SND_HISTORY_POINTS ? history->count : SND_HISTORY_POINTS;
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = history->points[i].live > most ? history->points[i].live : most;
    if (count < cells)
        cells = count;
    for (unsigned cell = 0; cell < cells && most != 0; cell++) {
        uint64_t highest = 0; /* of the points that this cell stands for */
        for (uint32_t i = cell * count / cells; i < (cell + 1) * count / cells; i++)
            highest = history->points[i].live > highest ? history->points[i].live : highest;
        double level = (double)highest / (double)most * 8;
        snd_buffer_char(out, (char)('0' + (highest == 0 ? 0 : level < 1 ? 1 : (int)level)));
    }
}

/* ---- words ---- */

static uint64_t
fact(const snd_profile *profile, const char *key, uint64_t otherwise)
{
    return snd_profile_info(profile, key) == NULL ? otherwise : snd_profile_info_number(profile, key);
}

static void
put_amount(const char *before, uint64_t bytes, const char *after, snd_buffer *out)
{
    char text[SND_BYTES_SIZE];

    snd_bytes_text(bytes, text);
    snd_buffer_printf(out, "%s%s%s", before, text, after);
}

void
snd_memory_view_words(const snd_profile *profile, const snd_memory_view_numbers *all, snd_buffer *out)
{
    uint64_t peak = fact(profile, "peak_bytes", snd_memory_view_whole(all, SND_METRIC_LIVE_PEAK));
    uint64_t copied = fact(profile, "copied_bytes", snd_memory_view_whole(all, SND_METRIC_COPIED));
    uint64_t at = snd_profile_info_number(profile, "peak_at_ns");
    char text[SND_DURATION_SIZE];

    snd_buffer_text(out, "peak ");
    snd_memory_view_put(peak, fact(profile, "peak_error_bytes", snd_memory_view_error(all, SND_METRIC_PEAK_VARIANCE)),
                        out);
    if (at != 0) {
        snd_duration_text(at, text);
        snd_buffer_printf(out, " at %s", text);
    }
    put_amount(", growth ", fact(profile, "live_bytes", snd_memory_view_whole(all, SND_METRIC_LIVE)), "", out);
    if (copied == 0)
        return;
    snd_buffer_text(out, ", copied ");
    snd_memory_view_put(copied, fact(profile, "copy_error_bytes", snd_memory_view_error(all, SND_METRIC_COPY_VARIANCE)),
                        out);
    put_amount(" (", snd_memory_view_rate(profile, copied), "/s)", out);
}

void
snd_memory_view_cost(const snd_profile *profile, snd_buffer *out)
{
    uint64_t interval = snd_profile_info_number(profile, "memory_interval_bytes");
    uint64_t unseen = snd_profile_info_number(profile, "memory_unseen_bytes");
    uint64_t own = snd_profile_info_number(profile, "own_memory_bytes");
    const char *note = snd_profile_info(profile, "note");

    if (snd_profile_info_number(profile, "memory_exact") != 0)
        snd_buffer_text(out, "every allocation was recorded");
    else if (interval != 0)
        put_amount("sampled one block per ", interval, "", out);
    else
        snd_buffer_text(out, "blocks were sampled at random");
    snd_buffer_printf(out, "; standard errors above %u%% are shown", SHOWN_ERROR);
    if (unseen != 0)
        put_amount("\n", unseen, " could not be attributed to a line", out);
    if (own != 0)
        put_amount(unseen == 0 ? "\nprofiler overhead: " : "; profiler overhead: ", own, " of memory", out);
    if (note != NULL && *note != '\0') {
        snd_buffer_char(out, '\n');
        snd_utf8_clean(note, out);
    }
}

void
snd_memory_view_footer(const snd_profile *profile, const snd_memory_view_numbers *all, snd_buffer *out)
{
    snd_memory_view_words(profile, all, out);
    snd_buffer_char(out, '\n');
    snd_memory_view_cost(profile, out);
}

/* ---- tables ---- */

void
snd_memory_view_start(const snd_profile *profile, const snd_view_options *options, int for_leaks,
                      snd_memory_view_maker *out)
{
    snd_memory_view_maker self = {0};

    if (!snd_profile_has_memory(profile))
        snd_work_end(SND_NO_DATA);
    snd_samples_weigh(profile, options, SND_METRIC_LIVE_PEAK, &self.samples);
    snd_memory_view_make(&self.samples, for_leaks, &self.memory);
    *out = self;
}

static void
open_source(snd_memory_view_maker *self, const char *file)
{
    if (file == self->source_file)
        return;
    self->source_file = NULL;
    snd_work_need(snd_source_open(self->samples.profile, file, &self->source));
    self->source_file = file;
    snd_source_note(&self->changes, file, &self->source);
}

static void
put_place(snd_memory_view_maker *self, const snd_memory_view_line *line, snd_cell *cells)
{
    snd_buffer place = {0}, text = {0};
    open_source(self, line->file);
    snd_set_text(self->table, &cells[0], line->file);
    snd_buffer_printf(&place, "%s:%u", snd_own_name(&self->samples.own, line->file), line->line);
    cells += self->place;
    snd_set_buffer(self->table, &cells[SND_PLACE_PLACE], &place);
    snd_set_whole(&cells[SND_PLACE_LINE], line->line);
    snd_set_text(self->table, &cells[SND_PLACE_FUNCTION], line->name);
    if (self->source.count == 0)
        return;
    snd_source_line(&self->source, line->line, &text);
    const char *bare = snd_buffer_str(&text) + strspn(snd_buffer_str(&text), " ");
    /* lines that do not stand below each other need no indentation */
    snd_set_text(self->table, &cells[SND_PLACE_SOURCE], bare);
}

void
snd_memory_view_add_row(snd_memory_view_maker *self, const snd_memory_view_line *line, snd_cell **cells)
{
    *cells = snd_table_row(self->table, 0);

    if (line->file != NULL)
        put_place(self, line, *cells);
    else {
        snd_set_text(self->table, &(*cells)[0], line->name);
        snd_set_text(self->table, &(*cells)[self->place], line->name);
    }
}

static void
put_footer(const snd_memory_view_maker *self, const char *footer)
{
    snd_buffer text = {0};

    if (footer != NULL)
        snd_buffer_text(&text, footer);
    else
        snd_memory_view_footer(self->samples.profile, &self->memory.all, &text);
    snd_work_need(snd_source_set_note(&self->changes, &self->samples.own, self->table));
    if (self->table->note != NULL)
        snd_buffer_printf(&text, "\n%s", self->table->note);
    snd_work_need(snd_table_set_footer(self->table, snd_buffer_str(&text)));
}

void
snd_memory_view_finish(snd_memory_view_maker *self, const char *key, const char *footer, snd_table **out)
{
    if (key != NULL)
        snd_work_need(snd_table_sort(self->table, key));
    put_footer(self, footer);
    *out = self->table;
    *self = (snd_memory_view_maker){0};
}
