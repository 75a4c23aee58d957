/* A growing run of bytes. Failure sticks: append freely, ask for the status once at the end. */
#ifndef SND_BASE_BUFFER_H
#define SND_BASE_BUFFER_H

#include "base/status.h"

#include <stdarg.h>

/* All zero is an empty buffer. Not thread-safe. `data` is NUL-terminated once anything was put in it. */
typedef struct snd_buffer {
    char *data;
    size_t size;
    size_t capacity;
    int failed;
} snd_buffer;

void snd_buffer_free(snd_buffer *self);  /* the buffer is empty and usable afterwards */
void snd_buffer_clear(snd_buffer *self); /* keeps the memory and forgets a failure */

/* After a failed append the buffer stays as it was and takes no more. */
void snd_buffer_put(snd_buffer *self, const void *data, size_t size);
void snd_buffer_text(snd_buffer *self, const char *text);
void snd_buffer_char(snd_buffer *self, char value);
void snd_buffer_repeat(snd_buffer *self, char value, size_t count);
void snd_buffer_number(snd_buffer *self, uint64_t value); /* in decimal; for what is written by the million */
void snd_buffer_csv(snd_buffer *self,
                    const char *text); /* as a value in a line of CSV: in quotes where it needs them */
void snd_buffer_csv_text(snd_buffer *self, const char *text); /* and with a ' before what a spreadsheet would compute */
void snd_buffer_printf(snd_buffer *self, const char *format, ...) SND_PRINTF(2, 3);
void snd_buffer_vprintf(snd_buffer *self, const char *format, va_list args);

/* SND_OK or SND_NO_MEMORY. */
SND_MUST_USE snd_status snd_buffer_status(const snd_buffer *self);

/* Never NULL: the text so far. Owned by the buffer. */
const char *snd_buffer_str(const snd_buffer *self);

#endif
