/* The view of the timeline: the run in slices, and what the program did in each. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "view/sampled/events.h"
#include "view/sampled/sample_table.h"

#define SLICES 40u
#define MARKS_SHOWN 3u /* in a slice */
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
    MARKS,
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
    [MARKS] = {"marks", "marks", SND_UNIT_TEXT, SHOWN | SND_COLUMN_NO_EMPTY},
    [FUNCTION_TIME] = {"function_ns", "function time", SND_UNIT_NS, 0},
    [PYTHON_NS] = {"python_ns", "python time", SND_UNIT_NS, 0},
    [NATIVE_NS] = {"native_ns", "native time", SND_UNIT_NS, 0},
    [SYSTEM_NS] = {"system_ns", "system time", SND_UNIT_NS, 0},
    [WAITING_NS] = {"waiting_ns", "waiting time", SND_UNIT_NS, 0},
};

/* Python, native, system, waiting: what a thread, or all, did in a slice. */
enum { CPU_PARTS = 3, PARTS };
typedef struct parts {
    uint64_t ns[PARTS];
} parts;

/* From the first event of a track to the end of its last, and all that it did. */
typedef struct life {
    uint64_t start_ns, end_ns;
    uint64_t time_ns;
} life;

/* A table in the making. */
typedef struct maker {
    snd_samples samples;
    snd_events events;
    uint64_t start_ns, slice_ns;
    uint64_t *cpu;     /* per slice and function; the last stands for none */
    uint64_t *waiting; /* the same */
    parts *threads;    /* per track and slice */
    life *lives;       /* per track; an end of 0: it has no event */
} maker;

/* ---- when threads were there ---- */

static void
see_event(maker *self, const snd_profile_event *event)
{
    life *lived = &self->lives[event->track];
    uint64_t end = event->start_ns + event->duration_ns;
    snd_samples_numbers numbers;

    if (lived->end_ns == 0 || event->start_ns < lived->start_ns)
        lived->start_ns = event->start_ns;
    lived->end_ns = end > lived->end_ns ? end : lived->end_ns;
    snd_events_take(&self->events, event, event->duration_ns, &numbers);
    lived->time_ns += snd_samples_time(&numbers);
}

/* A thread that ran before it was first seen did so before its first event. */
static void
make_room_for(life *lived)
{
    if (lived->time_ns > SND_EVENT_TIME_LIMIT || lived->end_ns - lived->start_ns >= lived->time_ns)
        return;
    lived->end_ns = lived->end_ns > lived->time_ns ? lived->end_ns : lived->time_ns;
    lived->start_ns = lived->end_ns - lived->time_ns;
}

static void
find_lives(maker *self)
{
    const snd_profile *profile = self->samples.profile;
    snd_samples_numbers numbers;

    for (uint64_t i = 0; i < profile->event_count; i++)
        if (snd_events_has(&self->events, &profile->events[i]))
            see_event(self, &profile->events[i]);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_events_take_unseen(&self->events, i, &numbers))
            self->lives[profile->nodes[i].track].time_ns += snd_samples_time(&numbers);
    for (uint32_t i = 0; i < profile->track_count; i++)
        if (self->lives[i].end_ns != 0)
            make_room_for(&self->lives[i]);
    snd_events_rewind(&self->events);
}

/* From the first sample to the end of the last. 0: there is none. */
static int
find_slices(maker *self)
{
    uint64_t start = UINT64_MAX, end = 0;

    find_lives(self);
    for (uint32_t i = 0; i < self->samples.profile->track_count; i++) {
        const life *lived = &self->lives[i];
        if (lived->end_ns == 0)
            continue;
        start = lived->start_ns < start ? lived->start_ns : start;
        end = lived->end_ns > end ? lived->end_ns : end;
    }
    self->start_ns = start;
    self->slice_ns = end > start ? (end - start) / SLICES + 1 : 0;
    return self->slice_ns != 0;
}

/* ---- what they did ---- */

/* Time in a library belongs to the function of the program that called it. */
static uint32_t
function_of(const snd_samples *samples, uint32_t node)
{
    uint32_t own = samples->charged[node];
    uint32_t function = snd_samples_function_of(samples, own == SND_NONE ? node : own);

    return function == SND_NONE ? samples->function_count : function;
}

static parts *
parts_of(const maker *self, uint32_t track, uint64_t slice)
{
    return &self->threads[(size_t)track * SLICES + slice];
}

static void
add_to_slice(maker *self, uint32_t node, uint32_t track, uint64_t slice, const snd_samples_numbers *numbers)
{
    size_t at = slice * ((size_t)self->samples.function_count + 1) + function_of(&self->samples, node);
    parts *into = parts_of(self, track, slice);

    for (unsigned state = 0; state < CPU_PARTS; state++)
        into->ns[state] += numbers->states[state];
    into->ns[CPU_PARTS] += snd_samples_waiting(numbers);
    self->cpu[at] += snd_samples_cpu(numbers);
    self->waiting[at] += snd_samples_waiting(numbers);
}

static void
take_event(maker *self, const snd_profile_event *event)
{
    uint64_t at = event->start_ns, end = at + event->duration_ns;
    uint32_t track = event->track;
    snd_samples_numbers numbers;

    while (at < end) {
        uint64_t slice = (at - self->start_ns) / self->slice_ns;
        uint64_t slice_end = self->start_ns + (slice + 1) * self->slice_ns;
        uint64_t part = (slice_end < end ? slice_end : end) - at;
        snd_events_take(&self->events, event, part, &numbers);
        add_to_slice(self, event->node, track, slice, &numbers);
        at += part;
    }
}

/* Nobody knows when: it is the same in all slices. */
static void
take_unseen(maker *self, uint32_t node)
{
    snd_samples_numbers all, numbers = {0};

    if (!snd_events_take_unseen(&self->events, node, &all))
        return;
    for (uint64_t slice = 0; slice < SLICES; slice++) {
        for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
            numbers.states[state] = all.states[state] / SLICES + (slice < all.states[state] % SLICES);
        add_to_slice(self, node, self->samples.profile->nodes[node].track, slice, &numbers);
    }
}

/* ---- one thread, one slice: no more than its length ---- */

/* How much of a slice a thread can have filled: what it lived of it or, if that does not hold all, the slice. */
static uint64_t
room_of(const maker *self, uint32_t track, uint64_t slice, int is_all)
{
    const life *lived = &self->lives[track];
    uint64_t start = self->start_ns + slice * self->slice_ns, end = start + self->slice_ns;

    if (is_all)
        return self->slice_ns;
    start = lived->start_ns > start ? lived->start_ns : start;
    end = lived->end_ns < end ? lived->end_ns : end;
    return end > start ? end - start : 0;
}

static uint64_t
sum_of(const parts *all)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < PARTS; i++)
        sum += all->ns[i];
    return sum;
}

/* Waiting first: it is what was noted late. */
static void
move(parts *from, parts *to, uint64_t ns)
{
    for (unsigned i = PARTS; i-- > 0 && ns != 0;) {
        uint64_t part = from->ns[i] < ns ? from->ns[i] : ns;
        from->ns[i] -= part;
        to->ns[i] += part;
        ns -= part;
    }
}

/* What is too much in a slice goes to those before it that have room, the nearest first, and then to those behind. */
static void
relieve(const maker *self, uint32_t track, uint64_t slice, int is_all)
{
    parts *from = parts_of(self, track, slice);
    uint64_t room = room_of(self, track, slice, is_all), sum = sum_of(from);

    for (uint64_t step = 1; step < SLICES && sum > room; step++) {
        uint64_t other = step <= slice ? slice - step : step;
        parts *to = parts_of(self, track, other);
        uint64_t free = room_of(self, track, other, is_all), used = sum_of(to);
        uint64_t ns = used >= free ? 0 : free - used < sum - room ? free - used : sum - room;
        move(from, to, ns);
        sum -= ns;
    }
}

/* A thread is noted to have waited when it is seen waiting, or when the kernel says for how long it was: the time
 * itself passed before, bit by bit, while other things were seen of it. All of it put where it was noted may be more
 * than fits there. */
static void
spread(const maker *self, uint32_t track)
{
    for (int is_all = 0; is_all < 2; is_all++)
        for (uint64_t slice = SLICES; slice-- > 0;)
            relieve(self, track, slice, is_all);
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

/* The first moments in a slice that the program marked, and how many more there are. What was marked before the first
 * slice, or after the last, stands there. */
static void
set_marks(const maker *self, uint64_t slice, snd_table *table, snd_cell *cells)
{
    const snd_profile *profile = self->samples.profile;
    uint32_t count = 0;
    snd_buffer names = {0};

    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (event->node >= profile->node_count || /* a damaged recording */
            snd_profile_kind(profile, event->node) != SND_SITE_MARK)
            continue;
        uint64_t since = event->start_ns > self->start_ns ? event->start_ns - self->start_ns : 0;
        uint64_t at = since / self->slice_ns;
        if ((at < SLICES ? at : SLICES - 1) != slice || ++count > MARKS_SHOWN)
            continue;
        snd_buffer_text(&names, names.size == 0 ? "" : ", ");
        snd_utf8_clean(profile->sites[profile->nodes[event->node].site].name, &names);
    }
    if (count > MARKS_SHOWN)
        snd_buffer_printf(&names, " and %u more", count - MARKS_SHOWN);
    if (names.size != 0)
        snd_set_buffer(table, &cells[MARKS], &names);
}

/* What all threads did in a slice, and how many of them ran. */
static uint32_t
add_up(const maker *self, uint64_t slice, parts *all)
{
    uint32_t running = 0;

    *all = (parts){0};
    for (uint32_t track = 0; track < self->samples.profile->track_count; track++) {
        const parts *one = parts_of(self, track, slice);
        for (unsigned i = 0; i < PARTS; i++)
            all->ns[i] += one->ns[i];
        running += sum_of(one) - one->ns[CPU_PARTS] > self->slice_ns / RUNNING;
    }
    return running;
}

static void
set_part(const maker *self, uint64_t ns, snd_cell *share)
{
    snd_set_share(share, 100.0 * (double)ns / (double)self->slice_ns);
}

static void
add_row(const maker *self, unsigned slice, snd_table *table)
{
    parts all;
    uint32_t running = add_up(self, slice, &all);
    snd_cell *cells = snd_table_row(table, 0);
    snd_set_whole(&cells[START], self->start_ns + slice * self->slice_ns);
    snd_set_whole(&cells[LENGTH], self->slice_ns);
    set_part(self, sum_of(&all) - all.ns[CPU_PARTS], &cells[CPU]);
    for (unsigned i = 0; i < PARTS; i++) {
        set_part(self, all.ns[i], &cells[PYTHON + i]);
        snd_set_whole(&cells[PYTHON_NS + i], all.ns[i]);
    }
    snd_set_whole(&cells[THREADS], running);
    set_function(self, slice, table, cells);
    set_marks(self, slice, table, cells);
    snd_table_last(table)->colour = SND_COLOUR_PLAIN;
}

static void
make_rows(maker *self, snd_table *table)
{
    const snd_profile *profile = self->samples.profile;

    for (uint64_t i = 0; i < profile->event_count; i++)
        if (snd_events_has(&self->events, &profile->events[i]))
            take_event(self, &profile->events[i]);
    for (uint32_t i = 0; i < profile->node_count; i++)
        take_unseen(self, i);
    for (uint32_t i = 0; i < profile->track_count; i++)
        spread(self, i);
    for (unsigned i = 0; i < SLICES; i++)
        add_row(self, i, table);
}

static void
make_room(maker *self)
{
    size_t functions = (size_t)self->samples.function_count + 1;
    size_t tracks = (size_t)self->samples.profile->track_count + 1;

    self->cpu = snd_calloc(functions * SLICES, sizeof *self->cpu);
    self->waiting = snd_calloc(functions * SLICES, sizeof *self->waiting);
    self->threads = snd_calloc(tracks * SLICES, sizeof *self->threads);
    self->lives = snd_calloc(tracks, sizeof *self->lives);
}

static void
ask_timeline(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {0};
    snd_table *table = NULL;
    snd_samples_make(profile, options, &self.samples);
    snd_events_make(&self.samples, &self.events);
    make_room(&self);
    if (!find_slices(&self))
        snd_work_end(SND_NO_DATA);
    table = snd_table_new("timeline", columns, COLUMN_COUNT);
    make_rows(&self, table);
    snd_sample_table_finish(&self.samples, NULL, table, out);
}

SND_VIEW(timeline, ask_timeline)
