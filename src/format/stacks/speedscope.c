/* A file for speedscope.app: a profile a thread in the order of time, where there is a timeline, and one in sum: events
 * say how long a sample stood for, sums what the clocks of the thread said. The format is that of
 * https://www.speedscope.app/file-format-schema.json. */
#include "base/alloc.h"
#include "base/text.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

#include <string.h>

/* A thread that nobody looked at for longer was not there, or not measured: its line of time has a gap. */
#define GAP_NS 10000u

/* A stack for some time; SND_NONE: a gap. */
typedef struct run {
    uint32_t stack;
    uint64_t ns;
} run;

typedef struct drawing {
    const snd_profile *profile;
    snd_cost cost;
    snd_stacks stacks;
    uint64_t *sums; /* of the stacks that have some */
    uint32_t sum_count;
    int is_over_time; /* the events are drawn, not the sums */
    uint32_t *order;  /* events by track, then by time */
    uint64_t *starts; /* where those of a track begin in it, and behind the last track its end */
    run *runs;        /* of the thread that is drawn */
    uint32_t run_count, run_capacity;
    uint64_t end_ns;
    snd_output out;
} drawing;

static int
is_drawn(const drawing *self, const snd_profile_event *event)
{
    snd_site_kind kind = self->profile->sites[self->profile->nodes[event->node].site].kind;
    return snd_site_is_sampled(kind) && event->duration_ns != 0 &&
           (self->cost == SND_COST_WALL || (self->cost == SND_COST_CPU && SND_SAMPLE_IS_CPU(event->state)));
}

/* Whether there is an event to draw; if so, they stand by track. */
static void
sort_events(drawing *self, int *is_any)
{
    const snd_profile *profile = self->profile;
    uint64_t *next = snd_calloc((size_t)profile->track_count + 2, sizeof *next);

    *is_any = 0;
    self->starts = next;
    self->order = snd_malloc((profile->event_count + 1) * sizeof *self->order);
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (is_drawn(self, &profile->events[i])) {
            next[profile->events[i].track + 2]++;
            *is_any = 1;
        }
    for (uint32_t i = 2; i <= profile->track_count; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (is_drawn(self, &profile->events[i]))
            self->order[next[profile->events[i].track + 1]++] = (uint32_t)i;
}

static void
add_run(drawing *self, uint32_t stack, uint64_t ns)
{
    if (self->run_count != 0 && self->runs[self->run_count - 1].stack == stack) {
        self->runs[self->run_count - 1].ns += ns;
        self->end_ns += ns;
        return;
    }
    snd_need_room(&self->runs, self->run_count + 1, &self->run_capacity, sizeof *self->runs);
    self->runs[self->run_count++] = (run){stack, ns};
    self->end_ns += ns;
}

static void
add_events(drawing *self, uint32_t track)
{

    for (uint64_t i = self->starts[track]; i < self->starts[track + 1]; i++) {
        const snd_profile_event *event = &self->profile->events[self->order[i]];
        uint32_t stack;
        if (event->start_ns > self->end_ns + GAP_NS)
            add_run(self, SND_NONE, event->start_ns - self->end_ns);
        snd_work_need(snd_stacks_find(&self->stacks, event->node, event->state, &stack));
        add_run(self, stack, event->duration_ns);
    }
}

static void
add_sums(drawing *self, uint32_t track)
{

    for (uint32_t i = 0; i < self->sum_count; i++)
        if (self->stacks.stacks[i].track == track && self->sums[i] != 0)
            add_run(self, i, self->sums[i]);
}

/* The numbers of its frames, outermost first. */
static void
put_stack(drawing *self, uint32_t stack)
{
    uint32_t frames[SND_STACK_DEPTH], depth = 0;

    for (; stack != SND_NONE && self->stacks.stacks[stack].frame != SND_NONE; stack = self->stacks.stacks[stack].parent)
        frames[depth++] = self->stacks.stacks[stack].frame;
    snd_buffer_char(&self->out.text, '[');
    while (depth != 0) {
        snd_buffer_number(&self->out.text, frames[--depth]);
        if (depth != 0)
            snd_buffer_char(&self->out.text, ',');
    }
    snd_buffer_char(&self->out.text, ']');
}

/* As speedscope calls it. */
static const char *
unit_of(snd_cost cost)
{
    return strcmp(snd_costs[cost].unit, "count") == 0 ? "none" : snd_costs[cost].unit;
}

static void
put_profile_name(drawing *self, uint32_t track, int is_second)
{
    snd_buffer name = {0};

    snd_buffer_text(&name, self->profile->tracks[track].name);
    if (is_second)
        snd_buffer_text(&name, " (sums)");
    snd_json_string(&self->out.text, snd_buffer_str(&name));
    snd_buffer_free(&name);
}

static void
put_thread(drawing *self, uint32_t track, uint32_t place, int is_second)
{
    snd_buffer *out = &self->out.text;

    snd_buffer_text(out, place == 0 ? "\n  " : ",\n  ");
    snd_buffer_text(out, "{\"type\": \"sampled\", \"name\": ");
    put_profile_name(self, track, is_second);
    snd_buffer_printf(out, ", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": ", unit_of(self->cost));
    snd_buffer_number(out, self->end_ns);
    snd_buffer_text(out, ",\n   \"samples\": [");
    for (uint32_t i = 0; i < self->run_count; i++) {
        if (i != 0)
            snd_buffer_char(out, ',');
        put_stack(self, self->runs[i].stack);
        snd_work_need(snd_output_flush_full(&self->out));
    }
    snd_buffer_text(out, "],\n   \"weights\": [");
    for (uint32_t i = 0; i < self->run_count; i++) {
        if (i != 0)
            snd_buffer_char(out, ',');
        snd_buffer_number(out, self->runs[i].ns);
        snd_work_need(snd_output_flush_full(&self->out));
    }
    snd_buffer_text(out, "]}");
}

/* Threads without any time are left out. `active` gets the main thread's place. */
static void
put_threads(drawing *self, int is_second, uint32_t *place, uint32_t *active)
{
    for (uint32_t i = 0; i < self->profile->track_count; i++) {
        const snd_profile_track *track = &self->profile->tracks[i];
        self->run_count = 0;
        self->end_ns = 0;
        if (self->is_over_time)
            add_events(self, i);
        else
            add_sums(self, i);
        if (self->run_count == 0)
            continue;
        if (track->process_id == track->thread_id && !is_second)
            *active = *place;
        put_thread(self, i, (*place)++, is_second);
    }
}

static void
put_profiles(drawing *self, uint32_t *active)
{
    uint32_t place = 0;
    int has_both = self->is_over_time;

    snd_buffer_text(&self->out.text, " \"profiles\": [");
    put_threads(self, 0, &place, active);
    self->is_over_time = 0;
    if (has_both)
        put_threads(self, 1, &place, active);
    snd_buffer_text(&self->out.text, "],\n");
}

static void
put_frames(drawing *self)
{
    snd_buffer *out = &self->out.text;

    snd_buffer_text(out, " \"shared\": {\"frames\": [");
    for (uint32_t i = 0; i < self->stacks.frame_count; i++) {
        const snd_stacks_frame *frame = &self->stacks.frames[i];
        snd_buffer_text(out, i == 0 ? "\n  {\"name\": " : ",\n  {\"name\": ");
        snd_json_string(out, frame->name);
        if (*frame->file != '\0') {
            snd_buffer_text(out, ", \"file\": ");
            snd_json_string(out, frame->file);
        }
        if (frame->line != 0)
            snd_buffer_printf(out, ", \"line\": %u", frame->line);
        snd_buffer_char(out, '}');
        snd_work_need(snd_output_flush_full(&self->out));
    }
    snd_buffer_text(out, "]}}\n");
}

/* Frames come last: those of waiting are met on the way. */
static void
put_all(drawing *self)
{
    const char *program = snd_profile_info(self->profile, "program");
    uint32_t active = 0;

    snd_buffer_text(&self->out.text, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                                     " \"exporter\": \"sonde\",\n \"name\": ");
    snd_json_string(&self->out.text, program == NULL ? "" : program);
    snd_buffer_text(&self->out.text, ",\n");
    put_profiles(self, &active);
    snd_buffer_printf(&self->out.text, " \"activeProfileIndex\": %u,\n", active);
    put_frames(self);
    snd_work_need(snd_output_flush(&self->out));
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    drawing self = {.profile = profile,
                    .cost = snd_export_cost(profile, options),
                    .stacks = {.by_line = options->by_line},
                    .out = {.file = file}};

    snd_work_need(snd_stacks_update(&self.stacks, profile));
    sort_events(&self, &self.is_over_time);
    self.sums = snd_stacks_sums(&self.stacks, profile, self.cost);
    self.sum_count = self.stacks.stack_count; /* events may bring more */
    put_all(&self);
}

SND_FORMAT_WORK(speedscope, write_recording)
