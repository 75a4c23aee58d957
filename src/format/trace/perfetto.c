/* A file for ui.perfetto.dev: a message Trace of Perfetto, protos/perfetto/trace/trace.proto. Threads, samples, tasks
 * and counters are tracks of their own; slices of a track come in the order of time, the outer before the inner. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "format/stacks/protobuf.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of fields, and of what stands in them. */
enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum { UNIT_BYTES = 3 };
enum { EVENT_NOTE = 4, EVENT_TYPE = 9, EVENT_NAME, EVENT_TRACK, EVENT_SOURCE = 34, EVENT_VALUE = 44 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { NOTE_TEXT = 6, NOTE_NAME = 10 };
enum { INTERNED_NAMES = 2, INTERNED_SOURCES = 4 };
enum { NAME_ID = 1, NAME_TEXT };
enum { SOURCE_ID = 1, SOURCE_FILE, SOURCE_FUNCTION, SOURCE_LINE };

/* What a track is of; its number has this in the highest bits. */
typedef enum line_kind { LINE_PROCESS = 1, LINE_THREAD, LINE_SAMPLES, LINE_TASK, LINE_COUNTER, LINE_SERIES } line_kind;

typedef struct tracing {
    const snd_profile *profile;
    snd_stacks stacks;
    uint32_t *order; /* the events by their track, then by time */
    snd_intern *names;
    unsigned char *is_known; /* per frame: its source location was written */
    uint32_t known_capacity;
    uint64_t *ends; /* of the slices that are open, outermost first */
    uint32_t depth, capacity;
    uint32_t stack;  /* samples: the one that is open; SND_NONE: none */
    uint64_t end_ns; /* samples: of the last one */
    int has_state;
    snd_buffer packet, message, part, text;
    snd_output out;
} tracing;

static uint64_t
number_of(line_kind kind, uint64_t which)
{
    return (uint64_t)kind << 60 | which;
}

/* ---- packets ---- */

static void
end_packet(tracing *self)
{
    snd_protobuf_number(&self->packet, PACKET_SEQUENCE, 1);
    snd_protobuf_number(&self->packet, PACKET_FLAGS, self->has_state ? FLAG_NEEDS_STATE : FLAG_CLEARED);
    self->has_state = 1;
    snd_protobuf_message(&self->out.text, TRACE_PACKET, &self->packet);
    snd_work_need(snd_output_flush_full(&self->out));
}

static void
put_text(tracing *self, snd_buffer *out, unsigned field, const char *text)
{
    snd_buffer_clear(&self->text);
    snd_utf8_put(text, &self->text);
    snd_protobuf_message(out, field, &self->text);
}

/* Texts and places of events are written once, in the packet that needs them first. */
static uint32_t
name_of(tracing *self, const char *name)
{
    uint32_t count = snd_intern_count(self->names), id = 0;

    snd_work_need(snd_intern_add(self->names, name, strlen(name), &id));
    if (id == count) {
        snd_protobuf_number(&self->part, NAME_ID, (uint64_t)id + 1);
        put_text(self, &self->part, NAME_TEXT, name);
        snd_protobuf_message(&self->message, INTERNED_NAMES, &self->part);
    }
    return id + 1;
}

static void
put_source(tracing *self, uint32_t frame)
{
    const snd_stacks_frame *about = &self->stacks.frames[frame];
    uint32_t old = self->known_capacity;

    snd_need_room(&self->is_known, frame + 1, &self->known_capacity, 1);
    memset(self->is_known + old, 0, self->known_capacity - old);
    if (self->is_known[frame])
        return;
    self->is_known[frame] = 1;
    snd_protobuf_number(&self->part, SOURCE_ID, (uint64_t)frame + 1);
    put_text(self, &self->part, SOURCE_FILE, about->file);
    put_text(self, &self->part, SOURCE_FUNCTION, about->name);
    snd_protobuf_number(&self->part, SOURCE_LINE, about->line);
    snd_protobuf_message(&self->message, INTERNED_SOURCES, &self->part);
}

static void
put_interned(tracing *self)
{
    if (self->message.size != 0)
        snd_protobuf_message(&self->packet, PACKET_INTERNED, &self->message);
}

/* The time stands there even if it is 0. */
static void
end_event(tracing *self, uint64_t ns)
{
    snd_protobuf_key(&self->packet, PACKET_TIME, SND_PROTOBUF_VARINT);
    snd_varint_put(&self->packet, ns);
    snd_protobuf_message(&self->packet, PACKET_EVENT, &self->message);
    end_packet(self);
}

/* `frame`: SND_NONE, or says where it is. */
static void
put_begin(tracing *self, uint64_t track, uint64_t ns, const char *text, uint32_t frame)
{
    int has_source = frame != SND_NONE && *self->stacks.frames[frame].file != '\0';
    uint32_t name = name_of(self, text);

    if (has_source)
        put_source(self, frame);
    put_interned(self);
    snd_protobuf_number(&self->message, EVENT_TYPE, TYPE_BEGIN);
    snd_protobuf_number(&self->message, EVENT_TRACK, track);
    snd_protobuf_number(&self->message, EVENT_NAME, name);
    if (has_source)
        snd_protobuf_number(&self->message, EVENT_SOURCE, (uint64_t)frame + 1);
    end_event(self, ns);
}

static void
put_end(tracing *self, uint64_t track, uint64_t ns)
{
    snd_protobuf_number(&self->message, EVENT_TYPE, TYPE_END);
    snd_protobuf_number(&self->message, EVENT_TRACK, track);
    end_event(self, ns);
}

/* A moment, with its detail as a note (DebugAnnotation). */
static void
put_mark(tracing *self, uint64_t track, uint64_t ns, const snd_profile_site *site)
{
    uint32_t name = name_of(self, site->name);

    put_interned(self);
    if (*site->detail != '\0') {
        put_text(self, &self->part, NOTE_NAME, "detail");
        put_text(self, &self->part, NOTE_TEXT, site->detail);
        snd_protobuf_message(&self->message, EVENT_NOTE, &self->part);
    }
    snd_protobuf_number(&self->message, EVENT_TYPE, TYPE_INSTANT);
    snd_protobuf_number(&self->message, EVENT_TRACK, track);
    snd_protobuf_number(&self->message, EVENT_NAME, name);
    end_event(self, ns);
}

static void
put_value(tracing *self, uint64_t track, uint64_t ns, double value)
{
    snd_protobuf_number(&self->message, EVENT_TYPE, TYPE_COUNTER);
    snd_protobuf_number(&self->message, EVENT_TRACK, track);
    snd_protobuf_double(&self->message, EVENT_VALUE, isfinite(value) ? value : 0.0);
    end_event(self, ns);
}

/* ---- tracks ---- */

static void
end_track(tracing *self, uint64_t number, uint64_t parent, const char *name)
{
    snd_protobuf_number(&self->message, TRACK_UUID, number);
    snd_protobuf_number(&self->message, TRACK_PARENT, parent);
    if (name != NULL)
        put_text(self, &self->message, TRACK_NAME, name);
    snd_protobuf_message(&self->packet, PACKET_TRACK, &self->message);
    end_packet(self);
}

/* The line of a track's process; none for a sum over several. */
static uint64_t
process_line(const snd_profile *profile, uint32_t track)
{
    uint32_t process = profile->tracks[track].process;
    return process == SND_NONE ? 0 : number_of(LINE_PROCESS, process);
}

static void
put_process(tracing *self, uint32_t track)
{
    const snd_profile_track *about = &self->profile->tracks[track];
    const char *program = about->process < self->profile->process_count
                              ? self->profile->processes[about->process].program
                              : snd_profile_info(self->profile, "program");

    snd_protobuf_number(&self->part, PROCESS_PID, about->process_id);
    put_text(self, &self->part, PROCESS_NAME, program == NULL ? "" : program);
    snd_protobuf_message(&self->message, TRACK_PROCESS, &self->part);
    end_track(self, process_line(self->profile, track), 0, NULL);
}

static void
put_thread(tracing *self, uint32_t track)
{
    const snd_profile_track *about = &self->profile->tracks[track];

    snd_protobuf_number(&self->part, THREAD_PID, about->process_id);
    snd_protobuf_number(&self->part, THREAD_TID, about->thread_id);
    put_text(self, &self->part, THREAD_NAME, about->name);
    snd_protobuf_message(&self->message, TRACK_THREAD, &self->part);
    end_track(self, number_of(LINE_THREAD, track), process_line(self->profile, track), NULL);
}

static int
is_first_of_process(const snd_profile *profile, uint32_t track)
{
    for (uint32_t i = 0; i < track; i++)
        if (profile->tracks[i].process == profile->tracks[track].process)
            return 0;
    return 1;
}

static void
put_threads(tracing *self)
{
    for (uint32_t i = 0; i < self->profile->track_count; i++) {
        if (self->profile->tracks[i].process == SND_NONE)
            continue; /* a sum over processes, whose own threads follow */
        if (is_first_of_process(self->profile, i))
            put_process(self, i);
        put_thread(self, i);
    }
}

/* A track that is no thread's own: samples, a task, a counter. */
static void
put_line(tracing *self, uint64_t number, uint32_t track, const char *what, const char *name)
{
    uint64_t parent = process_line(self->profile, track);
    snd_buffer text = {0};

    snd_buffer_text(&text, name);
    snd_buffer_text(&text, what);
    end_track(self, number, parent, snd_buffer_str(&text));
    snd_buffer_free(&text);
}

/* ---- events in order ---- */

static uint64_t
line_of(const snd_profile *profile, const snd_profile_event *event)
{
    uint32_t track = event->track;
    snd_site_kind kind = snd_profile_kind(profile, event->node);

    if (kind == SND_SITE_COUNTER)
        return number_of(LINE_COUNTER, (uint64_t)(track & 0xfffffff) << 32 | event->node);
    if (snd_site_is_sampled(kind))
        return number_of(LINE_SAMPLES, track);
    if (event->task != 0)
        return number_of(LINE_TASK, (uint64_t)(profile->tracks[track].process & 0xfffffff) << 32 | event->task);
    return number_of(LINE_THREAD, track);
}

static int
compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Of slices that start together the longest is around the others; then as they stand in the recording. */
static int
compare_events(const void *left, const void *right, void *context)
{
    const snd_profile *profile = context;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const snd_profile_event *a = &profile->events[i], *b = &profile->events[j];
    uint64_t line = line_of(profile, a);
    int order = compare(line, line_of(profile, b));

    if (order == 0)
        order = compare(a->start_ns, b->start_ns);
    if (order == 0 && (line >> 60 == LINE_THREAD || line >> 60 == LINE_TASK))
        order = compare(b->duration_ns, a->duration_ns);
    return order != 0 ? order : compare(i, j);
}

static void
sort_events(tracing *self)
{
    const snd_profile *profile = self->profile;

    self->order = snd_malloc((profile->event_count + 1) * sizeof *self->order);
    for (uint64_t i = 0; i < profile->event_count; i++)
        self->order[i] = (uint32_t)i;
    qsort_r(self->order, profile->event_count, sizeof *self->order, compare_events, (void *)(uintptr_t)profile);
}

/* ---- slices ---- */

/* Ends those that are over at `ns`. */
static void
end_slices(tracing *self, uint64_t track, uint64_t ns)
{
    while (self->depth != 0 && self->ends[self->depth - 1] <= ns)
        put_end(self, track, self->ends[--self->depth]);
}

static void
put_slice(tracing *self, uint64_t track, const snd_profile_event *event)
{
    const snd_profile_site *site = &self->profile->sites[self->profile->nodes[event->node].site];
    uint64_t end_ns = event->start_ns + event->duration_ns;

    end_slices(self, track, event->start_ns);
    if (site->kind == SND_SITE_MARK) {
        put_mark(self, track, event->start_ns, site);
        return;
    }
    put_begin(self, track, event->start_ns, site->name, SND_NONE);
    snd_need_room(&self->ends, self->depth + 1, &self->capacity, sizeof *self->ends);
    if (end_ns < event->start_ns)
        end_ns = event->start_ns;
    if (self->depth != 0 && end_ns > self->ends[self->depth - 1])
        end_ns = self->ends[self->depth - 1]; /* no slice reaches out of the one around it */
    self->ends[self->depth++] = end_ns;
}

/* ---- samples: what stands in consecutive ones is one slice ---- */

static uint64_t
gap_of(const snd_profile *profile)
{
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    return rate == 0 || rate > 1000 ? 2000000 : 2000000000 / rate;
}

static void
end_frames(tracing *self, uint64_t track, uint32_t to, uint64_t ns)
{
    for (; self->stack != to; self->stack = self->stacks.stacks[self->stack].parent)
        put_end(self, track, ns);
}

static void
begin_frames(tracing *self, uint64_t track, uint32_t stack, uint64_t ns)
{
    uint32_t frames[SND_STACK_DEPTH], count = 0;

    for (uint32_t at = stack; at != self->stack; at = self->stacks.stacks[at].parent)
        frames[count++] = self->stacks.stacks[at].frame;
    while (count-- != 0)
        put_begin(self, track, ns, self->stacks.frames[frames[count]].name, frames[count]);
    self->stack = stack;
}

static void
put_sample(tracing *self, uint64_t line, const snd_profile_event *event)
{
    uint32_t root = self->stacks.of_track[self->profile->nodes[event->node].track], stack;

    snd_work_need(snd_stacks_find(&self->stacks, event->node, event->state, &stack));
    if (stack == SND_NONE)
        return;
    if (self->stack == SND_NONE)
        self->stack = root;
    /* a sample that says it began before the last one ended cannot be drawn so */
    uint64_t start_ns = event->start_ns > self->end_ns ? event->start_ns : self->end_ns;
    uint64_t end_ns = event->start_ns + event->duration_ns;
    if (start_ns - self->end_ns > gap_of(self->profile))
        end_frames(self, line, root, self->end_ns);
    end_frames(self, line, snd_stacks_common(&self->stacks, self->stack, stack), start_ns);
    begin_frames(self, line, stack, start_ns);
    self->end_ns = end_ns > start_ns ? end_ns : start_ns;
}

/* ---- all ---- */

static void
start_line(tracing *self, uint64_t line, const snd_profile_event *event)
{
    uint32_t track = event->track;
    const char *thread = self->profile->tracks[track].name;

    self->stack = SND_NONE;
    self->end_ns = 0;
    switch (line >> 60) {
    case LINE_SAMPLES:
        put_line(self, line, track, " (samples)", thread);
        break;
    case LINE_TASK:
        put_line(self, line, track, " (task)", thread);
        break;
    case LINE_COUNTER:
        snd_protobuf_bytes(&self->message, TRACK_COUNTER, "", 0);
        put_line(self, line, track, "", self->profile->sites[self->profile->nodes[event->node].site].name);
        break;
    default:
        break;
    }
}

static void
end_line(tracing *self, uint64_t line)
{
    if (line >> 60 == LINE_SAMPLES && self->stack != SND_NONE) {
        uint32_t root = self->stacks.of_track[self->stacks.stacks[self->stack].track];
        end_frames(self, line, root, self->end_ns);
    }
    else
        end_slices(self, line, UINT64_MAX);
}

static void
put_event(tracing *self, uint64_t line, const snd_profile_event *event)
{
    switch (line >> 60) {
    case LINE_SAMPLES:
        put_sample(self, line, event);
        break;
    case LINE_COUNTER:
        put_value(self, line, event->start_ns, event->value);
        break;
    default:
        put_slice(self, line, event);
    }
}

static void
put_events(tracing *self)
{
    uint64_t line = 0;

    for (uint64_t i = 0; i < self->profile->event_count; i++) {
        const snd_profile_event *event = &self->profile->events[self->order[i]];
        uint64_t now = line_of(self->profile, event);
        if (now != line) {
            end_line(self, line);
            line = now;
            start_line(self, line, event);
        }
        put_event(self, line, event);
    }
    end_line(self, line);
}

/* Memory over time. */
static void
put_series(tracing *self)
{
    for (uint32_t i = 0; i < self->profile->memory.series_count; i++) {
        const snd_series *series = &self->profile->memory.series[i];
        uint64_t line = number_of(LINE_SERIES, i);
        if (strcmp(series->unit, "bytes") == 0)
            snd_protobuf_number(&self->part, COUNTER_UNIT, UNIT_BYTES);
        else
            put_text(self, &self->part, COUNTER_UNIT_NAME, series->unit);
        snd_protobuf_message(&self->message, TRACK_COUNTER, &self->part);
        put_line(self, line, 0, "", series->name);
        for (uint32_t p = 0; p < series->count; p++)
            put_value(self, line, series->points[p].at_ns, series->points[p].value);
    }
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    tracing self = {.profile = profile,
                    .stacks = {.by_line = options->by_line, .without_regions = 1},
                    .names = snd_intern_new(),
                    .out.file = file};

    if (profile->event_count == 0 && profile->memory.series_count == 0)
        snd_work_end(SND_NO_TIMELINE);
    snd_work_need(snd_stacks_update(&self.stacks, profile));
    sort_events(&self);
    put_threads(&self);
    put_events(&self);
    if (profile->track_count != 0)
        put_series(&self);
    snd_work_need(snd_output_flush(&self.out));
}

SND_FORMAT_WORK(perfetto, write_recording)
