/* A growing run of bytes. */
#include "base/buffer.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* Room for `more` bytes and a NUL. */
static int
reserve(snd_buffer *self, size_t more)
{
    if (self->failed)
        return 0;
    if (more > SIZE_MAX / 4 - self->size)
        goto fail;
    size_t need = self->size + more + 1;
    if (need <= self->capacity)
        return 1;
    size_t capacity = self->capacity < 64 ? 64 : self->capacity;
    while (capacity < need)
        capacity *= 2;
    char *data = snd_realloc(self->data, capacity);
    if (data == NULL)
        goto fail;
    self->data = data;
    self->capacity = capacity;
    return 1;
fail:
    self->failed = 1;
    return 0;
}

void
snd_buffer_free(snd_buffer *self)
{
    snd_free(self->data);
    *self = (snd_buffer){0};
}

void
snd_buffer_clear(snd_buffer *self)
{
    self->size = 0;
    self->failed = 0;
    if (self->data != NULL)
        self->data[0] = '\0';
}

void
snd_buffer_put(snd_buffer *self, const void *data, size_t size)
{
    if (size == 0 || !reserve(self, size))
        return;
    memcpy(self->data + self->size, data, size);
    self->size += size;
    self->data[self->size] = '\0';
}

void
snd_buffer_text(snd_buffer *self, const char *text)
{
    snd_buffer_put(self, text, strlen(text));
}

void
snd_buffer_char(snd_buffer *self, char value)
{
    snd_buffer_put(self, &value, 1);
}

void
snd_buffer_repeat(snd_buffer *self, char value, size_t count)
{
    if (count == 0 || !reserve(self, count))
        return;
    memset(self->data + self->size, value, count);
    self->size += count;
    self->data[self->size] = '\0';
}

void
snd_buffer_number(snd_buffer *self, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    snd_buffer_put(self, digits + at, sizeof digits - at);
}

/* What vsnprintf would need; the text is written when that fits. */
static int
try_printf(snd_buffer *self, const char *format, va_list args)
{
    size_t room = self->capacity - self->size;
    int size = vsnprintf(self->data + self->size, room, format, args);
    if (size >= 0 && (size_t)size < room)
        self->size += (size_t)size;
    else
        self->data[self->size] = '\0';
    return size;
}

static void
put_csv(snd_buffer *self, const char *before, const char *text)
{
    int is_quoted = text[strcspn(text, ",\"\r\n")] != '\0';

    if (is_quoted)
        snd_buffer_char(self, '"');
    snd_buffer_text(self, before);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            snd_buffer_char(self, '"');
        snd_buffer_char(self, *text);
    }
    if (is_quoted)
        snd_buffer_char(self, '"');
}

void
snd_buffer_csv(snd_buffer *self, const char *text)
{
    put_csv(self, "", text);
}

void
snd_buffer_csv_text(snd_buffer *self, const char *text)
{
    put_csv(self, *text != '\0' && strchr("=+-@\t\r", *text) != NULL ? "'" : "", text);
}

void
snd_buffer_vprintf(snd_buffer *self, const char *format, va_list args)
{
    va_list again;

    if (!reserve(self, 64))
        return;
    size_t room = self->capacity - self->size;
    va_copy(again, args);
    int size = try_printf(self, format, args);
    if (size < 0)
        self->failed = 1;
    else if ((size_t)size >= room && reserve(self, (size_t)size))
        (void)try_printf(self, format, again);
    va_end(again);
}

void
snd_buffer_printf(snd_buffer *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    snd_buffer_vprintf(self, format, args);
    va_end(args);
}

snd_status
snd_buffer_status(const snd_buffer *self)
{
    return self->failed ? SND_NO_MEMORY : SND_OK;
}

const char *
snd_buffer_str(const snd_buffer *self)
{
    return self->data == NULL ? "" : self->data;
}
