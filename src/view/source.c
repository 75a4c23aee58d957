/* The text of source files, line by line. */
#include "view/source.h"

#include "base/alloc.h"
#include "os/file.h"

#include <string.h>

/* Larger files are no sources. */
#define SIZE_LIMIT (16u << 20)
#define TAB 4u

static snd_status
find_text(const snd_profile *profile, const char *file, snd_source_lines *self, size_t *size)
{
    const snd_source *kept = snd_profile_source(profile, file);

    if (kept != NULL) {
        self->text = kept->text;
        *size = kept->size;
        return SND_OK;
    }
    snd_status status = snd_file_load(file, SIZE_LIMIT, &self->loaded, size);
    self->text = self->loaded;
    return status;
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
