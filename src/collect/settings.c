/* What a session was asked for, with texts of its own. */
#include "collect/settings.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/table/format.h"
#include "os/process.h"

#include <stddef.h>
#include <string.h>

static const size_t texts[] = {
    offsetof(snd_settings, recording), offsetof(snd_settings, chrome_trace), offsetof(snd_settings, program),
    offsetof(snd_settings, arguments), offsetof(snd_settings, python),       offsetof(snd_settings, parts),
};
#define TEXT_COUNT (sizeof texts / sizeof texts[0])

static const char **
text_at(snd_settings *self, size_t place)
{
    return (const char **)(void *)((char *)self + texts[place]);
}

void
snd_settings_free(snd_settings *self)
{
    for (size_t i = 0; i < TEXT_COUNT; i++)
        snd_free((void *)(uintptr_t)*text_at(self, i));
    *self = (snd_settings){0};
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
    snd_settings copy = *options;
    int failed = 0;

    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const char **text = text_at(&copy, i);
        if (*text != NULL)
            failed |= (*text = snd_strdup(*text)) == NULL;
    }
    if (options->program == NULL)
        copy.program = system_program();
    if (options->arguments == NULL)
        copy.arguments = system_arguments();
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
