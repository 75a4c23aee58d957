/* What threads waited for. */
#include "view/waiting.h"

#include "base/alloc.h"
#include "view/memory_table.h"
#include "view/tree.h"

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

static snd_status
add_up(const snd_samples *samples, snd_waiting *self)
{
    const snd_profile *profile = samples->profile;
    snd_samples_numbers *tracks = snd_calloc((size_t)profile->track_count + 1, sizeof *tracks), numbers;

    self->is_idle = snd_calloc((size_t)profile->track_count + 1, 1);
    if (tracks == NULL || self->is_idle == NULL) {
        snd_free(tracks);
        return SND_NO_MEMORY;
    }
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_samples_read(samples, i, &numbers))
            snd_samples_add(&tracks[profile->nodes[i].track], &numbers);
    find_idle(samples, tracks, self);
    self->processor_ns = samples->all.states[PROCESSOR];
    self->others_ns = snd_samples_waited(&samples->all) - self->idle_ns;
    snd_free(tracks);
    return SND_OK;
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
    entry->file = site->kind == SND_SITE_OTHER ? site->name : SND_MEMORY_OUTSIDE;
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

static snd_status
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
            if (!snd_make_room(&self->rows, self->count + 1, &capacity, sizeof *self->rows))
                return SND_NO_MEMORY;
            set_entry(samples, self, i, state, &self->rows[self->count]);
            self->rows[self->count++].ns = numbers.states[state];
        }
    }
    if (self->count == 0)
        return SND_OK;
    qsort(self->rows, self->count, sizeof *self->rows, compare_entries);
    self->count = merge(profile, self->rows, self->count);
    qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
    return SND_OK;
}

snd_status
snd_waiting_make(const snd_samples *samples, snd_waiting *out)
{
    snd_waiting self = {0};
    snd_status status = add_up(samples, &self);

    if (status == SND_OK)
        status = list_rows(samples, &self);
    if (status == SND_OK)
        *out = self;
    else
        snd_waiting_free(&self);
    return status;
}

void
snd_waiting_free(snd_waiting *self)
{
    snd_free(self->rows);
    snd_free(self->is_idle);
    *self = (snd_waiting){0};
}
