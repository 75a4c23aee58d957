/* What threads waited for. */
#include "view/sampled/waiting.h"

#include "base/alloc.h"
#include "view/core/source.h"
#include "view/sampled/sample_table.h"
#include "view/sampled/tree.h"

#include <stdlib.h>
#include <string.h>

/* Of the time in which a thread was seen, in per cent. */
#define IDLE_SHARE 95u
/* Below this share of all time, in per cent, waiting is no news. */
#define MUCH_SHARE 1.0
/* From this share of the time in which threads could have run, in per cent, and so many samples on, the machine was
 * busy. */
#define BUSY_SHARE 5.0
#define BUSY_SAMPLES 100u

enum { PROCESSOR = SND_METRIC_WAIT_CPU - SND_METRIC_PYTHON };

const char *
snd_waiting_reason(unsigned state)
{
    static const char *const reasons[] = {"processor", "lock", "GIL", "I/O", "sleep", "other"};

    return reasons[state - PROCESSOR];
}

uint32_t
snd_waiting_threads(const snd_profile_track *track)
{
    return track->thread_count == 0 ? 1 : track->thread_count;
}

int
snd_waiting_is_much(const snd_samples_numbers *all)
{
    double waited = (double)snd_samples_waited(all);

    return waited > 0 && 100 * waited >= MUCH_SHARE * (double)snd_samples_time(all);
}

void
snd_waiting_put_busy(const snd_samples_numbers *all, snd_buffer *out)
{
    double waited = (double)all->states[PROCESSOR], ran = (double)snd_samples_cpu(all);
    double share = waited + ran > 0 ? 100 * waited / (waited + ran) : 0;

    if (share >= BUSY_SHARE && all->samples >= BUSY_SAMPLES)
        snd_buffer_printf(out, "the machine was busy: %.0f%% of the time a runnable thread had no processor", share);
}

/* ---- idle threads ---- */

static void
find_idle(const snd_samples *samples, const snd_samples_numbers *tracks, snd_waiting *self)
{
    const snd_profile *profile = samples->profile;
    uint32_t main_track = snd_tree_main_track(profile);

    if (samples->options->thread != NULL || samples->options->region != NULL)
        return;
    for (uint32_t i = 0; i < profile->track_count; i++) {
        const snd_profile_track *track = &profile->tracks[i];
        int is_main = track->thread_id == track->process_id || i == main_track;
        double waited = (double)snd_samples_waited(&tracks[i]), seen = (double)snd_samples_time(&tracks[i]);
        self->is_idle[i] = waited > 0 && 100 * waited > IDLE_SHARE * seen && !is_main;
        if (!self->is_idle[i])
            continue;
        self->idle_count += snd_waiting_threads(track);
        self->idle_ns += snd_samples_waited(&tracks[i]);
    }
}

static uint32_t
by_track(const snd_rollup *rows, uint32_t node)
{
    return rows->profile->nodes[node].track;
}

static void
add_up(const snd_samples *samples, snd_waiting *self)
{
    uint32_t count = samples->profile->track_count;
    snd_samples_numbers *tracks = snd_new(count, sizeof *tracks);
    snd_rollup rows;

    snd_samples_rollup(samples, by_track, &rows);
    for (uint32_t i = 0; i < rows.count; i++)
        tracks[i] = snd_samples_row(&rows, i);
    self->is_idle = snd_new(count, 1);
    find_idle(samples, tracks, self);
    self->processor_ns = samples->all.states[PROCESSOR];
    self->others_ns = snd_samples_waited(&samples->all) - self->idle_ns;
}

/* ---- rows ---- */

/* What the roll-ups of places know. */
typedef struct placing {
    snd_samples samples; /* as everywhere: the context of a roll-up of samples */
    const unsigned char *is_idle;
    int by_track;
} placing;

/* Where a node's waiting stands, but for the state. */
static snd_waiting_row
place_of(const placing *self, uint32_t node)
{
    const snd_profile *profile = self->samples.profile;
    uint32_t line = self->samples.charged[node], track = profile->nodes[node].track;
    const snd_profile_site *site = &profile->sites[profile->nodes[line == SND_NONE ? node : line].site];
    const char *elsewhere = site->kind == SND_SITE_OTHER ? site->name : SND_SAMPLES_OUTSIDE;

    return line == SND_NONE
               ? (snd_waiting_row){.file = elsewhere, .function = SND_NONE, .is_idle = self->is_idle[track]}
               : (snd_waiting_row){.file = site->file,
                                   .line = site->line,
                                   .function = snd_samples_function_of(&self->samples, line),
                                   .is_idle = self->is_idle[track]};
}

static uint32_t
by_place(const snd_rollup *rows, uint32_t node)
{
    const placing *self = rows->context;
    snd_waiting_row place = place_of(self, node);
    uint64_t track = self->by_track ? rows->profile->nodes[node].track : SND_NONE;
    const uint64_t key[] = {(uintptr_t)place.file, (uint64_t)place.line << 1 | (uint64_t)place.is_idle, track};

    return snd_rollup_key(rows, key, sizeof key);
}

static int
compare_rows(const void *a, const void *b)
{
    const snd_waiting_row *x = a, *y = b;

    if (x->is_idle != y->is_idle)
        return x->is_idle ? 1 : -1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    int difference = x->file == y->file ? 0 : strcmp(x->file, y->file);
    if (difference != 0)
        return difference;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* A row for each state of a place; those that were not waited in go. */
static void
list_rows(const snd_samples *samples, snd_waiting *self)
{
    placing context = {.samples = *samples, .is_idle = self->is_idle};
    snd_rollup places, threads;

    snd_samples_rollup(&context.samples, by_place, &places);
    context.by_track = 1;
    snd_samples_rollup(&context.samples, by_place, &threads);
    self->rows = snd_new((size_t)places.count * SND_SAMPLE_STATES, sizeof *self->rows);
    for (uint32_t i = 0; i < threads.count; i++) {
        uint32_t node = threads.first[i],
                 count = snd_waiting_threads(&samples->profile->tracks[by_track(&threads, node)]);
        snd_samples_numbers numbers = snd_samples_row(&threads, i);
        for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
            self->rows[places.row_of[node] * SND_SAMPLE_STATES + state].threads +=
                numbers.states[state] == 0 ? 0 : count;
    }
    for (uint32_t i = 0; i < places.count * SND_SAMPLE_STATES; i++) {
        snd_waiting_row row = place_of(&context, places.first[i / SND_SAMPLE_STATES]);
        row.threads = self->rows[i].threads;
        row.state = i % SND_SAMPLE_STATES;
        row.ns = snd_samples_row(&places, i / SND_SAMPLE_STATES).states[row.state];
        if (row.state > PROCESSOR && row.ns != 0)
            self->rows[self->count++] = row;
    }
    qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
}

void
snd_waiting_make(const snd_samples *samples, snd_waiting *out)
{
    snd_waiting self = {0};
    add_up(samples, &self);

    list_rows(samples, &self);
    *out = self;
}

enum { PLACE, WAITING, SHARE, REASON, THREADS, FUNCTION, KIND, FILE_NAME, LINE, NOTE, SOURCE, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN},
    [WAITING] = {"wait_ns", "waiting", SND_UNIT_NS, SHOWN},
    [SHARE] = {"wait_percent", "% of waiting", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
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

static void
add_row(maker *self, uint64_t ns, const char *reason, const char *kind, snd_cell **cells)
{
    uint64_t all = snd_samples_waiting(&self->samples.all);
    *cells = snd_table_row(self->table, 0);

    snd_set_whole(&(*cells)[WAITING], ns);
    snd_set_share(&(*cells)[SHARE], all == 0 ? 0 : 100.0 * (double)ns / (double)all);
    snd_set_text(self->table, &(*cells)[REASON], reason);
    snd_set_text(self->table, &(*cells)[KIND], kind);
    snd_table_last(self->table)->colour = SND_COLOUR_PLAIN;
}

/* The text stands where people look for the source as well. */
static void
set_note(maker *self, const char *text, snd_cell *cells)
{
    snd_set_text(self->table, &cells[NOTE], text);
    snd_set_text(self->table, &cells[SOURCE], text);
}

static void
open_source(maker *self, const char *file)
{
    if (self->source_file != NULL && strcmp(self->source_file, file) == 0)
        return;
    self->source = (snd_source_lines){0};
    self->source_file = file;
    snd_work_need(snd_source_open(self->samples.profile, file, &self->source));
}

static void
put_place(const maker *self, const snd_waiting_row *row, snd_buffer *out)
{
    snd_buffer_text(out, row->line == 0 ? row->file : snd_own_name(&self->samples.own, row->file));
    if (row->line != 0)
        snd_buffer_printf(out, ":%u", row->line);
}

static void
set_source(maker *self, const snd_waiting_row *row, snd_cell *cells)
{
    snd_buffer text = {0};
    open_source(self, row->file);

    snd_source_line(&self->source, row->line, &text);
    if (self->source.count != 0 && snd_buffer_status(&text) == SND_OK) {
        const char *trimmed = snd_buffer_str(&text);
        snd_set_text(self->table, &cells[SOURCE], trimmed + strspn(trimmed, " \t"));
    }
}

static void
add_line(maker *self, const snd_waiting_row *row)
{
    snd_buffer place = {0};
    snd_cell *cells;
    add_row(self, row->ns, snd_waiting_reason(row->state), row->line == 0 ? "other" : "line", &cells);

    put_place(self, row, &place);
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[THREADS], row->threads);
    if (row->line != 0) {
        snd_set_text(self->table, &cells[FUNCTION], snd_samples_site(&self->samples, row->function)->name);
        snd_set_text(self->table, &cells[FILE_NAME], row->file);
        snd_set_whole(&cells[LINE], row->line);
        set_source(self, row, cells);
    }
}

/* `most` is where most of it was waited. */
static void
add_idle(maker *self, const snd_waiting_row *most)
{
    uint32_t count = self->waiting.idle_count;
    snd_buffer place = {0}, note = {0};
    snd_cell *cells;
    add_row(self, self->waiting.idle_ns, snd_waiting_reason(most->state), "idle", &cells);

    snd_buffer_printf(&place, "%u idle thread%s", count, count == 1 ? "" : "s");
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[THREADS], count);
    snd_buffer_text(&note, "mostly at ");
    put_place(self, most, &note);
    set_note(self, snd_buffer_str(&note), cells);
}

static void
add_machine(maker *self)
{
    snd_buffer note = {0};
    snd_cell *cells;
    add_row(self, self->waiting.processor_ns, "processor", "machine", &cells);

    snd_set_text(self->table, &cells[PLACE], "[the machine]");
    snd_waiting_put_busy(&self->samples.all, &note);
    if (note.size != 0)
        set_note(self, snd_buffer_str(&note), cells);
}

static void
add_rows(maker *self)
{
    const snd_waiting *waiting = &self->waiting;

    for (uint32_t i = 0; i < waiting->count; i++) {
        const snd_waiting_row *row = &waiting->rows[i];
        int is_folded = row->is_idle && !self->samples.options->show_all;
        if (!is_folded)
            add_line(self, row);
        else if (i == 0 || !waiting->rows[i - 1].is_idle)
            add_idle(self, row);
    }
    if (waiting->processor_ns != 0)
        add_machine(self);
}

static void
ask_waiting(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {0};
    snd_samples_make(profile, options, &self.samples);

    if (snd_samples_waiting(&self.samples.all) == 0)
        snd_work_end(SND_NO_DATA);
    snd_waiting_make(&self.samples, &self.waiting);
    self.table = snd_table_new("waiting", columns, COLUMN_COUNT);
    add_rows(&self);
    snd_sample_table_finish(&self.samples, NULL, self.table, out);
}

SND_VIEW(waiting, ask_waiting)
