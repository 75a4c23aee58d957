/* Chrome trace events. */
#include "format/chrome.h"

#include "format/format.h"

#include <math.h>
#include <string.h>

#define FLUSH_SIZE 65536u

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
put_who(snd_buffer *out, const char *name, const char *phase, const snd_profile_track *track)
{
    snd_buffer_text(out, "{\"name\": ");
    snd_json_string(out, name);
    snd_buffer_text(out, ", \"ph\": \"");
    snd_buffer_text(out, phase);
    snd_buffer_text(out, "\", \"pid\": ");
    snd_buffer_number(out, track->process_id);
    snd_buffer_text(out, ", \"tid\": ");
    snd_buffer_number(out, track->thread_id);
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
snd_chrome_rest(const snd_chunk_event *event, snd_buffer *out)
{
    put_time(out, ", \"ts\": ", event->start_ns);
    put_time(out, ", \"dur\": ", event->value);
    snd_buffer_char(out, '}');
}

void
snd_chrome_process(const snd_profile *profile, snd_buffer *out)
{
    const char *program = snd_profile_info(profile, "program");

    snd_buffer_printf(out, "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %llu, \"args\": {\"name\": ",
                      (unsigned long long)snd_profile_info_number(profile, "process_id"));
    snd_json_string(out, program == NULL ? "" : program);
    snd_buffer_text(out, "}}");
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
snd_chrome_event(const snd_profile *profile, uint32_t track, const snd_chunk_event *event, snd_buffer *out)
{
    const snd_profile_track *about = &profile->tracks[track];
    const snd_profile_site *site = &profile->sites[profile->nodes[event->node].site];

    if (site->kind == SND_SITE_COUNTER) {
        double value;
        memcpy(&value, &event->value, sizeof value);
        put_start(out, site->name, "C", about, event->start_ns);
        snd_buffer_printf(out, ", \"id\": %u, \"args\": {\"value\": %.15g}}", about->thread_id,
                          isfinite(value) ? value : 0.0);
    }
    else if (event->task != 0) {
        put_start(out, site->name, "b", about, event->start_ns);
        snd_buffer_printf(out, ", \"cat\": \"task\", \"id\": \"%u.%u\"}" SND_CHROME_COMMA, about->process_id,
                          event->task);
        put_task_end(out, about, event->task, site->name, event->start_ns + event->value);
    }
    else {
        snd_chrome_prefix(profile, event->node, out);
        snd_chrome_rest(event, out);
    }
}

typedef struct export {
    const snd_profile *profile;
    snd_buffer out;
    int file;
} export;

static snd_status
flush(export *self)
{
    snd_status status = snd_buffer_status(&self->out);
    if (status == SND_OK)
        status = snd_write_all(self->file, self->out.data, self->out.size);
    snd_buffer_clear(&self->out);
    return status;
}

static snd_status
take_event(void *context, uint32_t track, const snd_chunk_event *event)
{
    export *self = context;

    snd_buffer_text(&self->out, SND_CHROME_COMMA);
    snd_chrome_event(self->profile, track, event, &self->out);
    return self->out.size >= FLUSH_SIZE ? flush(self) : SND_OK;
}

snd_status
snd_format_chrome(snd_reader *reader, const snd_profile *profile, int file)
{
    export self = {profile, {0}, file};

    snd_buffer_text(&self.out, SND_CHROME_HEAD);
    snd_chrome_process(profile, &self.out);
    for (uint32_t i = 0; i < profile->track_count; i++) {
        snd_buffer_text(&self.out, SND_CHROME_COMMA);
        snd_chrome_thread(profile, i, &self.out);
    }
    snd_status status = snd_reader_timeline(reader, profile, take_event, &self);
    if (status == SND_OK) {
        snd_buffer_text(&self.out, SND_CHROME_TAIL);
        status = flush(&self);
    }
    snd_buffer_free(&self.out);
    return status;
}
