/* What a session was asked for, with texts of its own. */
#include "collect/settings.h"

#include "base/alloc.h"
#include "format/format.h"
#include "os/process.h"

#include <string.h>

void
snd_settings_free(snd_settings *self)
{
    snd_free(self->recording);
    snd_free(self->chrome_trace);
    snd_free(self->program);
    snd_free(self->arguments);
    snd_free(self->python);
    snd_free(self->parts);
    *self = (snd_settings){0};
}

static char *
copy_or_null(const char *text, int *failed)
{
    char *copy = text == NULL ? NULL : snd_strdup(text);
    *failed |= text != NULL && copy == NULL;
    return copy;
}

/* The command line as a JSON list. */
static char *
system_arguments(void)
{
    snd_buffer words = {0}, json = {0};

    snd_process_arguments(&words);
    snd_buffer_char(&json, '[');
    for (size_t at = 0; at < words.size; at += strlen(words.data + at) + 1) {
        if (at != 0)
            snd_buffer_text(&json, ", ");
        snd_json_string(&json, words.data + at);
    }
    snd_buffer_char(&json, ']');
    snd_buffer_free(&words);
    if (json.failed)
        snd_buffer_free(&json);
    return json.data;
}

static char *
system_program(void)
{
    snd_buffer words = {0};

    snd_process_arguments(&words);
    char *name = snd_strdup(snd_path_base(snd_buffer_str(&words)));
    snd_buffer_free(&words);
    return name;
}

snd_status
snd_settings_copy(const snd_session_options *options, snd_settings *out)
{
    int failed = 0;
    snd_settings copy = {
        .recording = copy_or_null(options->recording, &failed),
        .chrome_trace = copy_or_null(options->chrome_trace, &failed),
        .program = options->program == NULL ? system_program() : snd_strdup(options->program),
        .arguments = options->arguments == NULL ? system_arguments() : snd_strdup(options->arguments),
        .python = copy_or_null(options->python, &failed),
        .parts = copy_or_null(options->parts, &failed),
        .children = options->children,
        .gathers = options->gathers,
        .timeline = options->timeline,
        .cpu = options->cpu,
        .counters = options->counters,
        .debug = options->debug,
        .calls = options->calls,
        .ops = options->ops,
        .graphs = options->graphs,
        .own_cost_ns = options->own_cost_ns,
        .call_cost_ns = options->call_cost_ns,
        .sample = options->sample,
        .memory = options->memory,
    };
    if (failed || copy.program == NULL || copy.arguments == NULL) {
        snd_settings_free(&copy);
        return SND_NO_MEMORY;
    }
    *out = copy;
    return SND_OK;
}

static int
same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int
snd_settings_have_same_outputs(const snd_settings *a, const snd_settings *b)
{
    return same_text(a->recording, b->recording) && same_text(a->chrome_trace, b->chrome_trace) &&
           a->timeline == b->timeline;
}
