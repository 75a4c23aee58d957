/* Chrome trace events. */
#include "format/trace/chrome.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/table/format.h"

#include <math.h>
#include <string.h>

/* Microseconds with three digits: nanoseconds are kept. */
static void
put_time(snd_buffer *out, const char *key, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};

    snd_buffer_text(out, key);
    snd_buffer_number(out, ns / 1000);
    snd_buffer_put(out, decimals, sizeof decimals);
}

static void
put_head(snd_buffer *out, const char *name, const char *phase, uint32_t process_id, uint32_t thread_id)
{
    snd_buffer_text(out, "{\"name\": ");
    snd_json_string(out, name);
    snd_buffer_text(out, ", \"ph\": \"");
    snd_buffer_text(out, phase);
    snd_buffer_text(out, "\", \"pid\": ");
    snd_buffer_number(out, process_id);
    snd_buffer_text(out, ", \"tid\": ");
    snd_buffer_number(out, thread_id);
}

/* ---- samples in a Chrome trace ---- */

/* No thread has such a number: the kernel's end at 2^22. */
#define FIRST_LINE_ID (UINT32_C(1) << 30)

/* Where a thread was last found. */
struct snd_chrome_line {
    uint32_t stack;   /* SND_NONE: nowhere */
    uint64_t end_ns;  /* of the last sample */
    uint64_t *starts; /* of the slice of each frame of the stack, outermost first */
    uint32_t capacity;
    int is_named;
};

void
snd_chrome_samples_free(snd_chrome_samples *self)
{
    for (uint32_t i = 0; i < self->line_count; i++)
        snd_free(self->lines[i].starts);
    snd_free(self->lines);
    snd_stacks_free(&self->stacks);
    *self = (snd_chrome_samples){0};
}

/* The time between two ticks, as far as that is known, and a bit of lateness. */
static uint64_t
gap_of(const snd_profile *profile)
{
    uint64_t rate = snd_profile_info_number(profile, "sample_rate_hz");
    return rate == 0 || rate > 1000 ? 2000000 : 2000000000 / rate;
}

static snd_status
update(snd_chrome_samples *self, const snd_profile *profile)
{
    if (self->gap_ns == 0) {
        self->gap_ns = gap_of(profile);
        self->stacks.without_regions = 1;
    }
    uint32_t known = self->line_count;
    if (!snd_make_longer(&self->lines, profile->track_count, &self->line_count, sizeof *self->lines, 0))
        return SND_NO_MEMORY;
    for (uint32_t i = known; i < self->line_count; i++)
        self->lines[i].stack = SND_NONE;
    return self->stacks.node_count < profile->node_count ? snd_stacks_update(&self->stacks, profile) : SND_OK;
}

/* The name of a line that is no thread's own but has to do with one: `id` is the number it has. */
static void
put_line_name(const snd_profile *profile, uint32_t track, uint32_t id, snd_buffer *out)
{
    const snd_profile_track *about = &profile->tracks[track];
    snd_buffer name = {0};

    snd_buffer_printf(&name, "%s (samples)", about->name);
    out->failed |= name.failed;
    put_head(out, "thread_name", "M", about->process_id, id);
    snd_buffer_text(out, ", \"args\": {\"name\": ");
    snd_json_string(out, snd_buffer_str(&name));
    snd_buffer_text(out, "}}");
    snd_buffer_free(&name);
}

static void
name_line(snd_chrome_line *line, const snd_profile *profile, uint32_t track, snd_buffer *out)
{
    snd_buffer_text(out, SND_CHROME_COMMA);
    put_line_name(profile, track, FIRST_LINE_ID + track, out);
    line->is_named = 1;
}

/* The frames of `from` that are not in `to`, which is above it, end. */
typedef struct ends {
    uint32_t from, to;
    uint64_t end_ns;
} ends;

/* A frame from `event->start_ns` on for `event->duration_ns`, on the line of that number. */
static void
put_slice(const snd_stacks_frame *frame, uint32_t process_id, uint32_t id, const snd_profile_event *event,
          snd_buffer *out)
{
    put_head(out, frame->name, "X", process_id, id);
    put_time(out, ", \"ts\": ", event->start_ns);
    put_time(out, ", \"dur\": ", event->duration_ns);
    snd_buffer_text(out, ", \"cat\": \"sample\"");
    if (*frame->file != '\0') {
        snd_buffer_text(out, ", \"args\": {\"file\": ");
        snd_json_string(out, frame->file);
        if (frame->line != 0)
            snd_buffer_printf(out, ", \"line\": %u", frame->line);
        snd_buffer_char(out, '}');
    }
    snd_buffer_char(out, '}');
}

static void
end_slices(snd_chrome_samples *self, const snd_profile *profile, uint32_t track, ends at, snd_buffer *out)
{
    for (uint32_t from = at.from; from != at.to; from = self->stacks.stacks[from].parent) {
        const snd_stacks_entry *stack = &self->stacks.stacks[from];
        uint64_t start_ns = self->lines[track].starts[stack->depth - 1];
        snd_buffer_text(out, SND_CHROME_COMMA);
        put_slice(&self->stacks.frames[stack->frame], profile->tracks[track].process_id, FIRST_LINE_ID + track,
                  &(snd_profile_event){.start_ns = start_ns, .duration_ns = at.end_ns - start_ns}, out);
    }
}

static void
close_line(snd_chrome_samples *self, const snd_profile *profile, uint32_t track, snd_buffer *out)
{
    snd_chrome_line *line = &self->lines[track];

    if (line->stack != SND_NONE)
        end_slices(self, profile, track,
                   (ends){line->stack, self->stacks.of_track[self->stacks.stacks[line->stack].track], line->end_ns},
                   out);
    line->stack = SND_NONE;
}

snd_status
snd_chrome_samples_add(snd_chrome_samples *self, const snd_profile *profile, const snd_profile_event *event,
                       snd_buffer *out)
{
    uint32_t stack = SND_NONE;
    snd_status status = update(self, profile);
    if (status == SND_OK)
        status = snd_stacks_find(&self->stacks, event->node, event->state, &stack);
    if (status != SND_OK || stack == SND_NONE)
        return status;
    uint32_t track = event->track, depth = self->stacks.stacks[stack].depth;
    snd_chrome_line *line = &self->lines[track];
    if (!snd_make_room(&line->starts, depth, &line->capacity, sizeof *line->starts))
        return SND_NO_MEMORY;
    if (!line->is_named)
        name_line(line, profile, track, out);
    /* a sample that says it began before the last one ended cannot be drawn so */
    uint64_t start_ns = event->start_ns > line->end_ns ? event->start_ns : line->end_ns;
    if (line->stack != SND_NONE && start_ns - line->end_ns > self->gap_ns)
        close_line(self, profile, track, out);
    uint32_t common = self->stacks.of_track[self->stacks.stacks[stack].track];
    if (line->stack != SND_NONE) {
        common = snd_stacks_common(&self->stacks, line->stack, stack);
        end_slices(self, profile, track, (ends){line->stack, common, start_ns}, out);
    }
    for (uint32_t i = self->stacks.stacks[common].depth; i < depth; i++)
        line->starts[i] = start_ns;
    uint64_t end_ns = event->start_ns + event->duration_ns;
    line->end_ns = end_ns > start_ns ? end_ns : start_ns;
    line->stack = stack;
    return SND_OK;
}

void
snd_chrome_samples_close(snd_chrome_samples *self, const snd_profile *profile, snd_buffer *out)
{
    for (uint32_t i = 0; i < self->line_count; i++)
        close_line(self, profile, i, out);
}

/* ---- events ---- */

static void
put_who(snd_buffer *out, const char *name, const char *phase, const snd_profile_track *track)
{
    put_head(out, name, phase, track->process_id, track->thread_id);
}

static void
put_start(snd_buffer *out, const char *name, const char *phase, const snd_profile_track *track, uint64_t ns)
{
    put_who(out, name, phase, track);
    put_time(out, ", \"ts\": ", ns);
}

void
snd_chrome_prefix(const snd_profile *profile, uint32_t node, snd_buffer *out)
{
    const snd_profile_node *about = &profile->nodes[node];
    put_who(out, profile->sites[about->site].name, "X", &profile->tracks[about->track]);
}

void
snd_chrome_rest(const snd_profile_event *event, snd_buffer *out)
{
    put_time(out, ", \"ts\": ", event->start_ns);
    put_time(out, ", \"dur\": ", event->duration_ns);
    snd_buffer_char(out, '}');
}

static void
put_process(uint64_t id, const char *program, snd_buffer *out)
{
    snd_buffer_printf(out, "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %llu, \"args\": {\"name\": ",
                      (unsigned long long)id);
    snd_json_string(out, program);
    snd_buffer_text(out, "}}");
}

void
snd_chrome_process(const snd_profile *profile, snd_buffer *out)
{
    const char *program = snd_profile_info(profile, "program");

    if (profile->process_count <= 1)
        put_process(snd_profile_info_number(profile, "process_id"), program == NULL ? "" : program, out);
    for (uint32_t i = 0; profile->process_count > 1 && i < profile->process_count; i++) {
        snd_buffer_text(out, i == 0 ? "" : SND_CHROME_COMMA);
        put_process(profile->processes[i].process_id, profile->processes[i].program, out);
    }
}

void
snd_chrome_thread(const snd_profile *profile, uint32_t track, snd_buffer *out)
{
    const snd_profile_track *about = &profile->tracks[track];

    snd_buffer_printf(out, "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %u, \"tid\": %u, \"args\": {\"name\": ",
                      about->process_id, about->thread_id);
    snd_json_string(out, about->name);
    snd_buffer_text(out, "}}");
}

static void
put_task_end(snd_buffer *out, const snd_profile_track *track, uint32_t task, const char *name, uint64_t ns)
{
    put_start(out, name, "e", track, ns);
    snd_buffer_printf(out, ", \"cat\": \"task\", \"id\": \"%u.%u\"}", track->process_id, task);
}

void
snd_chrome_event(const snd_profile *profile, const snd_profile_event *event, snd_buffer *out)
{
    const snd_profile_track *about = &profile->tracks[event->track];
    const snd_profile_site *site = &profile->sites[profile->nodes[event->node].site];

    if (site->kind == SND_SITE_COUNTER) {
        put_start(out, site->name, "C", about, event->start_ns);
        snd_buffer_printf(out, ", \"id\": %u, \"args\": {\"value\": %.15g}}", about->thread_id,
                          isfinite(event->value) ? event->value : 0.0);
    }
    else if (site->kind == SND_SITE_MARK) {
        put_start(out, site->name, "i", about, event->start_ns);
        snd_buffer_text(out, ", \"s\": \"p\", \"args\": {\"detail\": ");
        snd_json_string(out, site->detail);
        snd_buffer_text(out, "}}");
    }
    else if (event->task != 0) {
        put_start(out, site->name, "b", about, event->start_ns);
        snd_buffer_printf(out, ", \"cat\": \"task\", \"id\": \"%u.%u\"}" SND_CHROME_COMMA, about->process_id,
                          event->task);
        put_task_end(out, about, event->task, site->name, event->start_ns + event->duration_ns);
    }
    else {
        put_who(out, site->name, "X", about);
        snd_chrome_rest(event, out);
    }
}

typedef struct export {
    const snd_profile *profile;
    snd_chrome_samples samples;
    snd_output out;
} export;

static snd_status
take_event(void *context, const snd_profile_event *event)
{
    export *self = context;
    snd_site_kind kind = self->profile->sites[self->profile->nodes[event->node].site].kind;
    snd_status status = SND_OK;

    if (snd_site_is_sampled(kind))
        status = snd_chrome_samples_add(&self->samples, self->profile, event, &self->out.text);
    else {
        snd_buffer_text(&self->out.text, SND_CHROME_COMMA);
        snd_chrome_event(self->profile, event, &self->out.text);
    }
    return status == SND_OK ? snd_output_flush_full(&self->out) : status;
}

snd_status
snd_format_chrome(snd_reader *reader, const snd_profile *profile, const snd_export_options *options, int file)
{
    export self = {.profile = profile, .samples.stacks.by_line = options->by_line, .out.file = file};

    snd_buffer_text(&self.out.text, SND_CHROME_HEAD);
    snd_chrome_process(profile, &self.out.text);
    for (uint32_t i = 0; i < profile->track_count; i++) {
        if (profile->tracks[i].process == SND_NONE) /* its lines follow */
            continue;
        snd_buffer_text(&self.out.text, SND_CHROME_COMMA);
        snd_chrome_thread(profile, i, &self.out.text);
    }
    snd_status status = snd_reader_timeline(reader, profile, take_event, &self);
    if (status == SND_OK) {
        snd_chrome_samples_close(&self.samples, profile, &self.out.text);
        snd_buffer_text(&self.out.text, SND_CHROME_TAIL);
        status = snd_output_flush(&self.out);
    }
    snd_buffer_free(&self.out.text);
    snd_chrome_samples_free(&self.samples);
    return status;
}
