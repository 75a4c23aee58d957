/* Opening the files of a session. */
#include "collect/collector.h"

#include "base/alloc.h"
#include "base/text.h"
#include "collect/children.h"
#include "os/process.h"
#include "os/worker.h"

#include <errno.h>
#include <string.h>

/* The path for this process. A forked child whose name would be its parent's gets its pid into the name. */
static char *
output_path(const char *template, const char *taken)
{
    snd_buffer path = {0};

    snd_path_expand(template, &path);
    if (taken != NULL && !path.failed && strcmp(path.data, taken) == 0) {
        const char *dot = strrchr(snd_path_base(path.data), '.');
        size_t stem = dot == NULL ? path.size : (size_t)(dot - path.data);
        snd_buffer other = {0};
        snd_buffer_put(&other, path.data, stem);
        snd_buffer_printf(&other, "-%u%s", snd_process_id(), path.data + stem);
        snd_buffer_free(&path);
        path = other;
    }
    if (path.failed)
        snd_buffer_free(&path);
    return path.data;
}

void
snd_opened_files_close(snd_opened_files *self)
{
    snd_writer_free(self->outputs.recording);
    snd_trace_file_free(self->outputs.trace);
    snd_free(self->recording_path);
    snd_free(self->trace_path);
}

static snd_status
open_recording(const snd_settings *set, const snd_parent_files *taken, snd_opened_files *self, snd_buffer *message)
{
    snd_status status = SND_OK;

    if (set->recording == NULL)
        return SND_OK;
    if (taken->parts != NULL)
        status = snd_part_path(taken->parts, &self->recording_path, message);
    else
        self->recording_path = output_path(set->recording, taken->recording);
    if (status == SND_OK && self->recording_path == NULL)
        status = SND_NO_MEMORY;
    if (status == SND_OK && taken->parts == NULL && set->children == SND_CHILDREN_PARTS && set->parts == NULL)
        status = snd_parts_clear(self->recording_path, message);
    return status == SND_OK ? snd_writer_open(self->recording_path, &self->outputs.recording) : status;
}

static snd_status
open_trace(const snd_settings *set, const char *taken, snd_opened_files *self)
{
    if (set->chrome_trace == NULL)
        return SND_OK;
    snd_profile *about = snd_profile_new();
    self->trace_path = output_path(set->chrome_trace, taken);
    snd_status status = about == NULL || self->trace_path == NULL ? SND_NO_MEMORY : SND_OK;
    if (status == SND_OK)
        status = snd_profile_set_info(about, "program", set->program);
    if (status == SND_OK)
        status = snd_profile_set_info_number(about, "process_id", snd_process_id());
    if (status == SND_OK)
        status = snd_trace_file_open(self->trace_path, about, &self->outputs.trace);
    int saved = errno;
    snd_profile_free(about);
    errno = saved;
    return status;
}

typedef struct opening {
    const snd_settings *set;
    const snd_parent_files *taken;
    snd_buffer *message;
    snd_opened_files files;
    const char *what; /* failed */
    snd_status status;
} opening;

static void
open_all(void *context)
{
    opening *self = context;

    self->status = open_recording(self->set, self->taken, &self->files, self->message);
    self->what = self->files.recording_path;
    if (self->status == SND_OK) {
        self->status = open_trace(self->set, self->taken->trace, &self->files);
        self->what = self->files.trace_path;
    }
}

snd_status
snd_opened_files_open(const snd_settings *set, const snd_parent_files *taken, snd_opened_files *out,
                      snd_buffer *message)
{
    opening self = {.set = set, .taken = taken, .message = message};

    snd_worker_call(open_all, &self);
    if (self.status == SND_OK) {
        *out = self.files;
        return SND_OK;
    }
    int saved = errno;
    if (message->size == 0)
        snd_buffer_printf(message, "%s: cannot be written: %s", self.what == NULL ? "" : self.what,
                          snd_status_detail(self.status, saved));
    snd_opened_files_close(&self.files);
    errno = saved;
    return self.status;
}
