/* A Chrome trace that grows while the program runs. */
#include "collect/trace_file.h"

#include "base/alloc.h"
#include "format/trace/chrome.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Where a node's prefix stands; size 0: not made yet. */
typedef struct prefix {
    uint32_t at;
    uint32_t size;
} prefix;

struct snd_trace_file {
    char *path;
    snd_buffer kept;
    off_t end;          /* where the tail starts */
    const char **names; /* of the threads, as written so far; texts of the profile */
    uint32_t threads;
    snd_buffer prefixes; /* what the entries of each region begin with, one after the other */
    prefix *by_node;
    uint32_t node_count;
    snd_chrome_samples samples;
};

/* One write for events and tail together: a kill between two writes leaves whole JSON. */
static snd_status
write_at(const char *path, int flags, const snd_buffer *bytes, off_t at)
{
    size_t done = 0;
    int file = snd_file_open(path, flags);
    if (file < 0)
        return SND_SYSTEM;
    while (done < bytes->size) {
        ssize_t written = pwrite(file, bytes->data + done, bytes->size - done, at + (off_t)done);
        if (written < 0 && errno != EINTR)
            break;
        done += written < 0 ? 0 : (size_t)written;
    }
    int saved = errno;
    close(file);
    errno = saved;
    return done == bytes->size ? SND_OK : SND_SYSTEM;
}

/* Writes `bytes` and the tail after them; `bytes` is left as it was. */
static snd_status
write_with_tail(snd_trace_file *self, int flags, snd_buffer *bytes)
{
    size_t size = bytes->size;
    snd_buffer_text(bytes, SND_CHROME_TAIL);
    snd_status status = snd_buffer_status(bytes);
    bytes->failed = 0; /* the next write tries again */
    if (status == SND_OK)
        status = write_at(self->path, flags, bytes, self->end);
    if (status == SND_OK)
        self->end += (off_t)size;
    bytes->size = size;
    return status;
}

snd_status
snd_trace_file_open(const char *path, const snd_profile *profile, snd_trace_file **out)
{
    snd_trace_file *self = snd_calloc(1, sizeof *self);
    snd_buffer head = {0};
    if (self == NULL)
        return SND_NO_MEMORY;
    self->path = snd_strdup(path);
    snd_buffer_text(&head, SND_CHROME_HEAD);
    snd_chrome_process(profile, &head);
    snd_status status = self->path == NULL ? SND_NO_MEMORY : write_with_tail(self, O_CREAT | O_TRUNC, &head);
    int saved = errno;
    snd_buffer_free(&head);
    if (status != SND_OK) {
        snd_trace_file_free(self);
        errno = saved;
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_trace_file_free(snd_trace_file *self)
{
    if (self == NULL)
        return;
    snd_buffer_free(&self->kept);
    snd_buffer_free(&self->prefixes);
    snd_chrome_samples_free(&self->samples);
    snd_free(self->by_node);
    snd_free(self->names);
    snd_free(self->path);
    snd_free(self);
}

const char *
snd_trace_file_path(const snd_trace_file *self)
{
    return self->path;
}

/* Half an event would spoil the file: when memory ran out since `size`, what came since then is gone. */
static int
take_back(snd_buffer *buffer, size_t size)
{
    if (SND_LIKELY(!buffer->failed))
        return 1;
    buffer->failed = 0;
    buffer->size = size;
    return 0;
}

/* Says the names of threads that are new or have another name now. */
static void
name_threads(snd_trace_file *self, const snd_profile *profile)
{
    /* nameless is better than not at all */
    (void)!snd_make_longer(&self->names, profile->track_count, &self->threads, sizeof *self->names, 0);
    for (uint32_t i = 0; i < self->threads; i++) {
        if (self->names[i] == profile->tracks[i].name)
            continue;
        size_t before = self->kept.size;
        snd_buffer_text(&self->kept, SND_CHROME_COMMA);
        snd_chrome_thread(profile, i, &self->kept);
        if (take_back(&self->kept, before))
            self->names[i] = profile->tracks[i].name;
    }
}

/* NULL for a counter, and when memory runs out. */
static const prefix *
find_prefix(snd_trace_file *self, const snd_profile *profile, uint32_t node)
{
    if (node >= self->node_count &&
        !snd_make_longer(&self->by_node, profile->node_count, &self->node_count, sizeof *self->by_node, 0))
        return NULL;
    prefix *known = &self->by_node[node];
    if (SND_LIKELY(known->size != 0))
        return known;
    size_t start = self->prefixes.size;
    if (profile->sites[profile->nodes[node].site].kind != SND_SITE_REGION || start > UINT32_MAX / 2)
        return NULL;
    snd_buffer_text(&self->prefixes, SND_CHROME_COMMA);
    snd_chrome_prefix(profile, node, &self->prefixes);
    if (!take_back(&self->prefixes, start))
        return NULL;
    *known = (prefix){(uint32_t)start, (uint32_t)(self->prefixes.size - start)};
    return known;
}

/* A sample whose slices find no room costs these. */
static int
add_sample(snd_trace_file *self, const snd_profile *profile, const snd_profile_event *event)
{
    size_t before = self->kept.size;
    snd_status status = snd_chrome_samples_add(&self->samples, profile, event, &self->kept);
    return take_back(&self->kept, before) && status == SND_OK;
}

int
snd_trace_file_add(snd_trace_file *self, const snd_profile *profile, const snd_profile_event *event)
{
    if (SND_UNLIKELY(self->threads < profile->track_count))
        name_threads(self, profile);
    if (snd_site_is_sampled(profile->sites[profile->nodes[event->node].site].kind))
        return add_sample(self, profile, event);
    size_t before = self->kept.size;
    const prefix *known = event->task == 0 ? find_prefix(self, profile, event->node) : NULL;
    if (known != NULL) {
        snd_buffer_put(&self->kept, self->prefixes.data + known->at, known->size);
        snd_chrome_rest(event, &self->kept);
    }
    else {
        snd_buffer_text(&self->kept, SND_CHROME_COMMA);
        snd_chrome_event(profile, event, &self->kept);
    }
    return take_back(&self->kept, before);
}

size_t
snd_trace_file_pending(const snd_trace_file *self)
{
    return self->kept.size;
}

snd_status
snd_trace_file_write(snd_trace_file *self, const snd_profile *profile)
{
    name_threads(self, profile);
    size_t before = self->kept.size;
    snd_chrome_samples_close(&self->samples, profile, &self->kept);
    if (!take_back(&self->kept, before))
        return SND_NO_MEMORY;
    if (self->kept.size == 0)
        return snd_buffer_status(&self->kept);
    snd_status status = write_with_tail(self, 0, &self->kept);
    if (status == SND_OK)
        snd_buffer_clear(&self->kept);
    return status;
}
