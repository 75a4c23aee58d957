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

static void
add_up(const snd_samples *samples, snd_waiting *self)
{
    const snd_profile *profile = samples->profile;
    snd_samples_numbers *tracks = snd_calloc((size_t)profile->track_count + 1, sizeof *tracks), numbers;

    self->is_idle = snd_calloc((size_t)profile->track_count + 1, 1);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_samples_read(samples, i, &numbers))
            snd_samples_add(&tracks[profile->nodes[i].track], &numbers);
    find_idle(samples, tracks, self);
    self->processor_ns = samples->all.states[PROCESSOR];
    self->others_ns = snd_samples_waited(&samples->all) - self->idle_ns;
}

/* ---- rows ---- */

/* What was waited at one node for one reason; `row.threads` is its track so far. */
static void
set_entry(const snd_samples *samples, const snd_waiting *self, uint32_t node, unsigned state, snd_waiting_row *entry)
{
    const snd_profile *profile = samples->profile;
    uint32_t line = samples->charged[node];
    const snd_profile_site *site = &profile->sites[profile->nodes[line == SND_NONE ? node : line].site];

    *entry = (snd_waiting_row){.file = site->file,
                               .line = site->line,
                               .function = line == SND_NONE ? SND_NONE : snd_samples_function_of(samples, line),
                               .state = state,
                               .is_idle = self->is_idle[profile->nodes[node].track],
                               .threads = profile->nodes[node].track};
    if (line != SND_NONE)
        return;
    entry->file = site->kind == SND_SITE_OTHER ? site->name : SND_SAMPLES_OUTSIDE;
    entry->line = 0;
}

static int
is_same_row(const snd_waiting_row *a, const snd_waiting_row *b)
{
    return a->is_idle == b->is_idle && a->line == b->line && a->state == b->state && strcmp(a->file, b->file) == 0;
}

/* By row, then by track. */
static int
compare_entries(const void *a, const void *b)
{
    const snd_waiting_row *x = a, *y = b;
    int difference = x->file == y->file ? 0 : strcmp(x->file, y->file);

    if (x->is_idle != y->is_idle)
        return x->is_idle ? 1 : -1;
    if (difference != 0)
        return difference;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    return x->threads < y->threads ? -1 : x->threads > y->threads;
}

static int
compare_rows(const void *a, const void *b)
{
    const snd_waiting_row *x = a, *y = b;

    if (x->is_idle != y->is_idle)
        return x->is_idle ? 1 : -1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return compare_entries(a, b);
}

/* Entries that are sorted become rows, in their place. */
static uint32_t
merge(const snd_profile *profile, snd_waiting_row *rows, uint32_t count)
{
    uint32_t used = 0, track = SND_NONE;

    for (uint32_t i = 0; i < count; i++) {
        snd_waiting_row entry = rows[i];
        int is_new = used == 0 || !is_same_row(&rows[used - 1], &entry);
        uint32_t threads = snd_waiting_threads(&profile->tracks[entry.threads]);
        if (is_new) {
            rows[used] = entry;
            rows[used].ns = rows[used].threads = 0;
            used++;
        }
        rows[used - 1].ns += entry.ns;
        if (is_new || entry.threads != track)
            rows[used - 1].threads += threads;
        track = entry.threads;
    }
    return used;
}

static void
list_rows(const snd_samples *samples, snd_waiting *self)
{
    const snd_profile *profile = samples->profile;
    snd_samples_numbers numbers;
    uint32_t capacity = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        if (!snd_samples_read(samples, i, &numbers))
            continue;
        for (unsigned state = PROCESSOR + 1; state < SND_SAMPLE_STATES; state++) {
            if (numbers.states[state] == 0)
                continue;
            snd_need_room(&self->rows, self->count + 1, &capacity, sizeof *self->rows);
            set_entry(samples, self, i, state, &self->rows[self->count]);
            self->rows[self->count++].ns = numbers.states[state];
        }
    }
    if (self->count == 0)
        return;
    qsort(self->rows, self->count, sizeof *self->rows, compare_entries);
    self->count = merge(profile, self->rows, self->count);
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
