/* A file for speedscope.app: one profile a thread, in the order of time where there is a timeline. The format is that
 * of https://www.speedscope.app/file-format-schema.json. */
#include "base/alloc.h"
#include "format/format.h"
#include "format/stacks.h"

/* A thread that nobody looked at for longer was not there, or not measured: its line of time has a gap. */
#define GAP_NS 10000u

/* A stack for some time; SND_NONE: a gap. */
typedef struct run {
    uint32_t stack;
    uint64_t ns;
} run;

typedef struct drawing {
    const snd_profile *profile;
    const snd_export_options *options;
    snd_stacks stacks;
    uint64_t *sums;   /* NULL: the events are drawn */
    uint32_t *order;  /* events by track, then by time */
    uint64_t *starts; /* where those of a track begin in it, and behind the last track its end */
    run *runs;        /* of the thread that is drawn */
    uint64_t run_count, run_capacity;
    uint64_t end_ns;
    snd_output out;
} drawing;

static int
is_drawn(const drawing *self, const snd_profile_event *event)
{
    snd_site_kind kind = self->profile->sites[self->profile->nodes[event->node].site].kind;
    return snd_site_is_sampled(kind) && event->value != 0 &&
           (!self->options->cpu_only || SND_SAMPLE_IS_CPU(event->task));
}

static uint32_t
track_of(const drawing *self, const snd_profile_event *event)
{
    return snd_event_track(self->profile, event);
}

/* Whether there is an event to draw; if so, they stand by track. */
static snd_status
sort_events(drawing *self, int *is_any)
{
    const snd_profile *profile = self->profile;
    uint64_t *next = snd_calloc((size_t)profile->track_count + 2, sizeof *next);

    *is_any = 0;
    self->starts = next;
    self->order = snd_malloc((profile->event_count + 1) * sizeof *self->order);
    if (next == NULL || self->order == NULL)
        return SND_NO_MEMORY;
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (is_drawn(self, &profile->events[i])) {
            next[track_of(self, &profile->events[i]) + 2]++;
            *is_any = 1;
        }
    for (uint32_t i = 2; i <= profile->track_count; i++)
        next[i] += next[i - 1];
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (is_drawn(self, &profile->events[i]))
            self->order[next[track_of(self, &profile->events[i]) + 1]++] = (uint32_t)i;
    return SND_OK;
}

static snd_status
add_run(drawing *self, uint32_t stack, uint64_t ns)
{
    if (self->run_count != 0 && self->runs[self->run_count - 1].stack == stack) {
        self->runs[self->run_count - 1].ns += ns;
        self->end_ns += ns;
        return SND_OK;
    }
    if (self->run_count == self->run_capacity) {
        uint64_t capacity = self->run_capacity == 0 ? 1024 : self->run_capacity * 2;
        run *runs = snd_realloc(self->runs, capacity * sizeof *runs);
        if (runs == NULL)
            return SND_NO_MEMORY;
        self->runs = runs;
        self->run_capacity = capacity;
    }
    self->runs[self->run_count++] = (run){stack, ns};
    self->end_ns += ns;
    return SND_OK;
}

static snd_status
add_events(drawing *self, uint32_t track)
{
    snd_status status = SND_OK;

    for (uint64_t i = self->starts[track]; i < self->starts[track + 1] && status == SND_OK; i++) {
        const snd_profile_event *event = &self->profile->events[self->order[i]];
        uint32_t stack;
        if (event->start_ns > self->end_ns + GAP_NS)
            status = add_run(self, SND_NONE, event->start_ns - self->end_ns);
        if (status == SND_OK)
            status = snd_stacks_find(&self->stacks, event->node, event->task, &stack);
        if (status == SND_OK)
            status = add_run(self, stack, event->value);
    }
    return status;
}

static snd_status
add_sums(drawing *self, uint32_t track)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->stacks.stack_count && status == SND_OK; i++)
        if (self->stacks.stacks[i].track == track && self->sums[i] != 0)
            status = add_run(self, i, self->sums[i]);
    return status;
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

static snd_status
put_thread(drawing *self, uint32_t track, uint32_t place)
{
    snd_buffer *out = &self->out.text;
    snd_status status = SND_OK;

    snd_buffer_text(out, place == 0 ? "\n  " : ",\n  ");
    snd_buffer_text(out, "{\"type\": \"sampled\", \"name\": ");
    snd_json_string(out, self->profile->tracks[track].name);
    snd_buffer_text(out, ", \"unit\": \"nanoseconds\", \"startValue\": 0, \"endValue\": ");
    snd_buffer_number(out, self->end_ns);
    snd_buffer_text(out, ",\n   \"samples\": [");
    for (uint64_t i = 0; i < self->run_count && status == SND_OK; i++) {
        if (i != 0)
            snd_buffer_char(out, ',');
        put_stack(self, self->runs[i].stack);
        status = snd_output_flush_full(&self->out);
    }
    snd_buffer_text(out, "],\n   \"weights\": [");
    for (uint64_t i = 0; i < self->run_count && status == SND_OK; i++) {
        if (i != 0)
            snd_buffer_char(out, ',');
        snd_buffer_number(out, self->runs[i].ns);
        status = snd_output_flush_full(&self->out);
    }
    snd_buffer_text(out, "]}");
    return status;
}

/* Threads without any time are left out. `active` gets the main thread's place. */
static snd_status
put_threads(drawing *self, uint32_t *active)
{
    uint32_t place = 0;
    snd_status status = SND_OK;

    snd_buffer_text(&self->out.text, " \"profiles\": [");
    for (uint32_t i = 0; i < self->profile->track_count && status == SND_OK; i++) {
        const snd_profile_track *track = &self->profile->tracks[i];
        self->run_count = self->end_ns = 0;
        status = self->sums == NULL ? add_events(self, i) : add_sums(self, i);
        if (status != SND_OK || self->run_count == 0)
            continue;
        if (track->process_id == track->thread_id)
            *active = place;
        status = put_thread(self, i, place++);
    }
    snd_buffer_text(&self->out.text, "],\n");
    return status;
}

static snd_status
put_frames(drawing *self)
{
    snd_buffer *out = &self->out.text;
    snd_status status = SND_OK;

    snd_buffer_text(out, " \"shared\": {\"frames\": [");
    for (uint32_t i = 0; i < self->stacks.frame_count && status == SND_OK; i++) {
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
        status = snd_output_flush_full(&self->out);
    }
    snd_buffer_text(out, "]}}\n");
    return status;
}

/* Frames come last: those of waiting are met on the way. */
static snd_status
put_all(drawing *self)
{
    const char *program = snd_profile_info(self->profile, "program");
    uint32_t active = 0;

    snd_buffer_text(&self->out.text, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
                                     " \"exporter\": \"sonde\",\n \"name\": ");
    snd_json_string(&self->out.text, program == NULL ? "" : program);
    snd_buffer_text(&self->out.text, ",\n");
    snd_status status = put_threads(self, &active);
    snd_buffer_printf(&self->out.text, " \"activeProfileIndex\": %u,\n", active);
    if (status == SND_OK)
        status = put_frames(self);
    return status == SND_OK ? snd_output_flush(&self->out) : status;
}

snd_status
snd_format_speedscope(snd_reader *reader, const snd_profile *profile, const snd_export_options *options, int file)
{
    drawing self = {
        .profile = profile, .options = options, .stacks = {.by_line = options->by_line}, .out = {.file = file}};
    int has_events = 0;

    (void)reader;
    snd_status status = snd_stacks_update(&self.stacks, profile);
    if (status == SND_OK)
        status = sort_events(&self, &has_events);
    if (status == SND_OK && !has_events)
        status = snd_stacks_sums(&self.stacks, profile, options->cpu_only, &self.sums);
    if (status == SND_OK)
        status = put_all(&self);
    snd_buffer_free(&self.out.text);
    snd_free(self.sums);
    snd_free(self.order);
    snd_free(self.starts);
    snd_free(self.runs);
    snd_stacks_free(&self.stacks);
    return status;
}
