/* The processes that this one starts. */
#include "collect/children.h"

#include "base/alloc.h"
#include "collect/extras.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/worker.h"

#include <stdatomic.h>
#include <stdio.h>

#define NOTES_LIMIT (1u << 20)

static struct children {
    snd_children kind;
    char *parts;           /* NULL: none */
    uint32_t gathering_id; /* the process that puts them together; 0: nobody does */
    uint64_t end_ns;
    char *_Atomic failure; /* that nobody has said; NULL: none */
} children;

snd_status
snd_children_take(const snd_settings *set, const char *recording)
{
    snd_buffer path = {0};

    children.kind = set->children;
    if (set->children == SND_CHILDREN_PARTS && recording != NULL) {
        snd_buffer_text(&path, set->parts == NULL ? recording : set->parts);
        snd_buffer_text(&path, set->parts == NULL ? SND_PARTS_SUFFIX : "");
    }
    if (path.failed) {
        snd_buffer_free(&path);
        return SND_NO_MEMORY;
    }
    snd_free(children.parts);
    children.parts = path.data;
    children.gathering_id = set->gathers && path.data != NULL ? snd_process_id() : 0;
    return SND_OK;
}

void
snd_children_end_at(uint64_t end_ns)
{
    children.end_ns = end_ns;
}

uint64_t
snd_children_end(void)
{
    return children.end_ns;
}

int
snd_children_are_followed(void)
{
    return children.kind != SND_CHILDREN_NONE && (children.end_ns == 0 || snd_clock_monotonic_ns() < children.end_ns);
}

const char *
snd_children_parts(void)
{
    return children.parts;
}

void
snd_children_take_notes(void)
{
    snd_buffer path = {0};
    char *text = NULL;
    size_t size = 0;

    if (children.gathering_id != snd_process_id())
        return;
    snd_buffer_printf(&path, "%s/" SND_PARTS_NOTES, children.parts);
    if (!path.failed && snd_file_load(snd_buffer_str(&path), NOTES_LIMIT, &text, &size) == SND_OK && size > 1) {
        text[size - 1] = '\0'; /* a line end */
        snd_status status = snd_extras_set_info("not_followed", text);
        (void)status; /* without memory the recording lacks them */
    }
    snd_free(text);
    snd_buffer_free(&path);
}

typedef struct question {
    snd_parts_gathered *out;
    snd_buffer *message; /* NULL: they stay where they are */
    snd_status status;
} question;

static void
ask_parts(void *context)
{
    question *self = context;

    self->status = self->message == NULL ? snd_parts_look(children.parts, self->out)
                                         : snd_parts_gather(children.parts, self->out, self->message);
}

snd_status
snd_children_look(snd_parts_gathered *out)
{
    question self = {.out = out};

    *out = (snd_parts_gathered){0};
    if (children.parts != NULL)
        snd_worker_call(ask_parts, &self);
    return self.status;
}

snd_status
snd_children_gather(snd_parts_gathered *out, snd_buffer *message)
{
    question self = {.out = out, .message = message};

    *out = (snd_parts_gathered){0};
    if (children.gathering_id != snd_process_id())
        return SND_OK;
    children.gathering_id = 0;
    snd_worker_call(ask_parts, &self);
    return self.status;
}

void
snd_children_keep_failure(const char *text)
{
    snd_free(atomic_exchange(&children.failure, snd_strdup(text)));
}

void
snd_children_say_failure(void)
{
    char *text = atomic_exchange(&children.failure, NULL);

    if (text != NULL)
        fprintf(stderr, "sonde: %s\n", text);
    snd_free(text);
}
