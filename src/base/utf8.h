/* Text that came from outside: decoding it without trusting it. */
#ifndef SND_BASE_UTF8_H
#define SND_BASE_UTF8_H

#include "base/buffer.h"

#define SND_UTF8_BAD UINT32_MAX

/* The character at *at (which is before `end`), and *at moved past it; SND_UTF8_BAD, moved by one byte, where
 * the bytes are not UTF-8. */
uint32_t snd_utf8_next(const char **at, const char *end);

/* Appends the text with an escape in place of all that would move the cursor: names come from programs. */
void snd_utf8_clean(const char *text, snd_buffer *out);

/* Appends the text with U+FFFD in place of each byte that is not UTF-8. */
void snd_utf8_put(const char *text, snd_buffer *out);

/* How many terminal cells the text takes; bytes that are not UTF-8 take one each. */
size_t snd_utf8_width(const char *text);

/* Cells of one character: 0 for combining marks, 2 for wide ones. */
unsigned snd_utf8_cells(uint32_t character);

/* Whether a table must not print this character as it is. */
int snd_utf8_is_control(uint32_t character);

#endif
