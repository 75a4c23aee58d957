/* The text of source files, line by line. */
#include "view/core/source.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <string.h>

#define TAB 4u

/* A recording may come from anybody, and must not bring a file into a page or a table: what is shown of a file on disk
 * is what the recording knows already. */
static snd_status
load_known(const snd_profile *profile, const snd_source *known, snd_source_lines *self, size_t *size)
{
    unsigned char digest[SND_SHA256_SIZE];
    char *text = NULL;
    snd_status status = SND_OK;

    if (known->size <= SND_SOURCE_FILE_LIMIT && profile->load_text != NULL)
        status = profile->load_text(known->file, known->size, &text, size);
    self->missing = SND_SOURCE_CHANGED;
    if (text != NULL && *size == known->size) {
        snd_sha256(text, *size, digest);
        if (memcmp(digest, known->sha256, sizeof digest) == 0) {
            *self = (snd_source_lines){.text = text, .loaded = text};
            return SND_OK;
        }
    }
    snd_free(text);
    return status;
}

static snd_status
find_text(const snd_profile *profile, const char *file, snd_source_lines *self, size_t *size)
{
    const snd_source *known = snd_profile_source(profile, file);

    if (known == NULL)
        self->missing = file[0] == '/' ? SND_SOURCE_UNKNOWN : SND_SOURCE_FOUND;
    else if (known->text == NULL)
        return load_known(profile, known, self, size);
    else {
        self->text = known->text;
        *size = known->size;
    }
    return SND_OK;
}

/* Where the line that starts at `at` ends, its newline included. */
static size_t
end_of_line(const char *text, size_t size, size_t at)
{
    const char *newline = memchr(text + at, '\n', size - at);
    return newline == NULL ? size : (size_t)(newline - text) + 1;
}

static snd_status
find_lines(snd_source_lines *self, size_t size)
{
    uint32_t count = 0;

    for (size_t at = 0; at < size; at = end_of_line(self->text, size, at))
        count++;
    self->starts = snd_malloc(((size_t)count + 1) * sizeof *self->starts);
    if (self->starts == NULL)
        return SND_NO_MEMORY;
    for (size_t at = 0; at < size; at = end_of_line(self->text, size, at))
        self->starts[self->count++] = at;
    self->starts[count] = size;
    return SND_OK;
}

snd_status
snd_source_open(const snd_profile *profile, const char *file, snd_source_lines *out)
{
    snd_source_lines self = {0};
    size_t size = 0;
    snd_status status = find_text(profile, file, &self, &size);

    if (status == SND_OK && self.text != NULL)
        status = find_lines(&self, size);
    if (status != SND_OK) {
        snd_source_close(&self);
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_source_close(snd_source_lines *self)
{
    snd_free(self->loaded);
    snd_free(self->starts);
    *self = (snd_source_lines){0};
}

void
snd_source_line(const snd_source_lines *self, uint32_t line, snd_buffer *out)
{
    if (line == 0 || line > self->count)
        return;
    const char *at = self->text + self->starts[line - 1], *end = self->text + self->starts[line];
    while (end > at && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    for (size_t width = 0; at < end && *at != '\0'; at++, width++) {
        if (*at != '\t') {
            snd_buffer_char(out, *at);
            continue;
        }
        size_t spaces = TAB - width % TAB;
        snd_buffer_repeat(out, ' ', spaces);
        width += spaces - 1;
    }
}

int
snd_source_is_blank(const snd_source_lines *self, uint32_t line)
{
    if (line == 0 || line > self->count)
        return 1;
    size_t start = self->starts[line - 1];
    return start + strspn(self->text + start, " \t\r\n\f") >= self->starts[line];
}

const char *
snd_source_why(const snd_source_lines *self)
{
    switch (self->missing) {
    case SND_SOURCE_CHANGED:
        return "the file was changed or removed after it was recorded";
    case SND_SOURCE_UNKNOWN:
        return "the recording does not contain it";
    case SND_SOURCE_FOUND:
        break;
    }
    return NULL;
}

void
snd_source_note(snd_source_changes *self, const char *file, const snd_source_lines *lines)
{
    if (lines->missing != SND_SOURCE_CHANGED)
        return;
    if (self->file == NULL)
        self->file = file;
    else if (strcmp(self->file, file) != 0)
        self->has_more = 1;
}

void
snd_source_say(const snd_source_changes *self, const char *name, snd_buffer *out)
{
    if (self->file == NULL)
        return;
    snd_buffer_text(out, "source not shown for ");
    snd_utf8_clean(name, out);
    snd_buffer_printf(out, "%s: changed or removed after %s recorded", self->has_more ? " and other files" : "",
                      self->has_more ? "they were" : "it was");
}

snd_status
snd_source_set_note(const snd_source_changes *self, const snd_own *own, snd_table *table)
{
    snd_buffer text = {0};

    if (self->file == NULL)
        return SND_OK;
    snd_source_say(self, snd_own_name(own, self->file), &text);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_table_set_note(table, snd_buffer_str(&text));
    snd_buffer_free(&text);
    return status;
}
