/* The view of the timeline: the run in slices, and what the program did in each. */
#include "base/alloc.h"
#include "view/events.h"
#include "view/sample_table.h"

#define SLICES 40u
/* A thread ran in a slice when it had the processor for this part of it. */
#define RUNNING 100u

enum {
    START,
    LENGTH,
    CPU,
    PYTHON,
    NATIVE,
    SYSTEM,
    WAITING,
    THREADS,
    FUNCTION,
    PLACE,
    FUNCTION_TIME,
    PYTHON_NS,
    NATIVE_NS,
    SYSTEM_NS,
    WAITING_NS,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY)

static const snd_column columns[] = {
    [START] = {"start_ns", "start", SND_UNIT_NS, SHOWN},
    [LENGTH] = {"length_ns", "length", SND_UNIT_NS, 0},
    [CPU] = {"cpu_percent", "CPU", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_NO_ZERO},
    [PYTHON] = {"python_percent", "python", SND_UNIT_PERCENT, PART | SND_COLUMN_OPTIONAL},
    [NATIVE] = {"native_percent", "native", SND_UNIT_PERCENT, PART | SND_COLUMN_OPTIONAL},
    [SYSTEM] = {"system_percent", "system", SND_UNIT_PERCENT, PART | SND_COLUMN_OPTIONAL},
    [WAITING] = {"waiting_percent", "waiting", SND_UNIT_PERCENT, PART},
    [THREADS] = {"threads", "running", SND_UNIT_COUNT, SHOWN | SND_COLUMN_NO_ZERO},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
    [FUNCTION_TIME] = {"function_ns", "function time", SND_UNIT_NS, 0},
    [PYTHON_NS] = {"python_ns", "python time", SND_UNIT_NS, 0},
    [NATIVE_NS] = {"native_ns", "native time", SND_UNIT_NS, 0},
    [SYSTEM_NS] = {"system_ns", "system time", SND_UNIT_NS, 0},
    [WAITING_NS] = {"waiting_ns", "waiting time", SND_UNIT_NS, 0},
};

/* A table in the making. */
typedef struct maker {
    snd_samples samples;
    snd_events events;
    uint64_t start_ns, slice_ns;
    snd_samples_numbers slices[SLICES];
    uint64_t *cpu;     /* per slice and function; the last stands for none */
    uint64_t *waiting; /* the same */
    uint64_t *runs;    /* CPU time per slice and track */
} maker;

/* From the first sample to the end of the last. 0: there is none. */
static int
find_slices(maker *self)
{
    const snd_profile *profile = self->samples.profile;
    uint64_t start = UINT64_MAX, end = 0;

    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (!snd_events_has(&self->events, event))
            continue;
        if (event->start_ns < start)
            start = event->start_ns;
        if (event->start_ns + event->value > end)
            end = event->start_ns + event->value;
    }
    self->start_ns = start;
    self->slice_ns = end > start ? (end - start) / SLICES + 1 : 0;
    return self->slice_ns != 0;
}

/* Time in a library belongs to the function of the program that called it. */
static uint32_t
function_of(const snd_samples *samples, uint32_t node)
{
    uint32_t own = samples->charged[node];
    uint32_t function = snd_samples_function_of(samples, own == SND_NONE ? node : own);

    return function == SND_NONE ? samples->function_count : function;
}

static void
take_event(maker *self, const snd_profile_event *event)
{
    const snd_samples *samples = &self->samples;
    uint64_t at = event->start_ns, end = at + event->value;
    size_t functions = (size_t)samples->function_count + 1;
    uint32_t function = function_of(samples, event->node), track = snd_event_track(samples->profile, event);
    snd_samples_numbers numbers;

    while (at < end) {
        uint64_t slice = (at - self->start_ns) / self->slice_ns;
        uint64_t slice_end = self->start_ns + (slice + 1) * self->slice_ns;
        uint64_t part = (slice_end < end ? slice_end : end) - at;
        snd_events_read(&self->events, event, part, &numbers);
        snd_samples_add(&self->slices[slice], &numbers);
        self->cpu[slice * functions + function] += snd_samples_cpu(&numbers);
        self->waiting[slice * functions + function] += snd_samples_waiting(&numbers);
        self->runs[slice * samples->profile->track_count + track] += snd_samples_cpu(&numbers);
        at += part;
    }
}

/* ---- rows ---- */

static uint32_t
busiest(const uint64_t *times, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        if (times[i] > times[best])
            best = i;
    return best;
}

/* The function with the most CPU time or, where nothing ran, the one in which most was waited. */
static void
set_function(const maker *self, unsigned slice, snd_table *table, snd_cell *cells)
{
    const snd_samples *samples = &self->samples;
    size_t functions = (size_t)samples->function_count + 1;
    const uint64_t *times = self->cpu + slice * functions;
    uint32_t best = busiest(times, samples->function_count);
    snd_buffer name = {0}, place = {0};

    if (samples->function_count == 0)
        return;
    if (times[best] == 0) {
        times = self->waiting + slice * functions;
        best = busiest(times, samples->function_count);
    }
    if (times[best] == 0)
        return;
    snd_function_text(snd_samples_site(samples, best), &name);
    snd_place_text(&samples->own, snd_samples_site(samples, best), &place);
    snd_set_buffer(table, &cells[FUNCTION], &name);
    snd_set_buffer(table, &cells[PLACE], &place);
    snd_set_whole(&cells[FUNCTION_TIME], times[best]);
}

static void
set_part(const maker *self, uint64_t ns, snd_cell *share)
{
    snd_set_share(share, 100.0 * (double)ns / (double)self->slice_ns);
}

static snd_status
add_row(const maker *self, unsigned slice, snd_table *table)
{
    const snd_samples_numbers *numbers = &self->slices[slice];
    uint32_t tracks = self->samples.profile->track_count, running = 0;
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
    for (uint32_t i = 0; i < tracks; i++)
        running += self->runs[(size_t)slice * tracks + i] > self->slice_ns / RUNNING;
    snd_set_whole(&cells[START], self->start_ns + slice * self->slice_ns);
    snd_set_whole(&cells[LENGTH], self->slice_ns);
    set_part(self, snd_samples_cpu(numbers), &cells[CPU]);
    set_part(self, snd_samples_waiting(numbers), &cells[WAITING]);
    snd_set_whole(&cells[WAITING_NS], snd_samples_waiting(numbers));
    for (unsigned state = 0; SND_SAMPLE_IS_CPU(state); state++) {
        set_part(self, numbers->states[state], &cells[PYTHON + state]);
        snd_set_whole(&cells[PYTHON_NS + state], numbers->states[state]);
    }
    snd_set_whole(&cells[THREADS], running);
    set_function(self, slice, table, cells);
    snd_table_last(table)->look = SND_LOOK_PLAIN;
    return snd_table_check(table, cells);
}

static snd_status
make_rows(maker *self, snd_table *table)
{
    const snd_profile *profile = self->samples.profile;
    size_t functions = (size_t)self->samples.function_count + 1;
    snd_status status = SND_NO_MEMORY;

    self->cpu = snd_calloc(functions * SLICES, sizeof *self->cpu);
    self->waiting = snd_calloc(functions * SLICES, sizeof *self->waiting);
    self->runs = snd_calloc(((size_t)profile->track_count + 1) * SLICES, sizeof *self->runs);
    if (self->cpu != NULL && self->waiting != NULL && self->runs != NULL) {
        status = SND_OK;
        for (uint64_t i = 0; i < profile->event_count; i++)
            if (snd_events_has(&self->events, &profile->events[i]))
                take_event(self, &profile->events[i]);
        for (unsigned i = 0; i < SLICES && status == SND_OK; i++)
            status = add_row(self, i, table);
    }
    snd_free(self->cpu);
    snd_free(self->waiting);
    snd_free(self->runs);
    return status;
}

snd_status
snd_view_timeline(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {0};
    snd_table *table = NULL;
    snd_status status = snd_samples_make(profile, options, &self.samples);
    if (status != SND_OK)
        return status;
    status = snd_events_make(&self.samples, &self.events);
    if (status == SND_OK && !find_slices(&self))
        status = SND_NO_DATA;
    if (status == SND_OK) {
        table = snd_table_new("timeline", columns, COLUMN_COUNT);
        status = table == NULL ? SND_NO_MEMORY : make_rows(&self, table);
    }
    status = snd_sample_table_finish(&self.samples, status, NULL, table, out);
    snd_events_free(&self.events);
    snd_samples_free(&self.samples);
    return status;
}
