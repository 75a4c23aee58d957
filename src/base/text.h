/* Numbers as people read them, parts of paths, and texts in JSON. */
#ifndef SND_BASE_TEXT_H
#define SND_BASE_TEXT_H

#include "base/attr.h"
#include "base/buffer.h"

#define SND_BYTES_SIZE 32u

/* Three digits and a unit, powers of 1024: "12.3 MiB", "419 B". */
void snd_bytes_text(uint64_t bytes, char text[SND_BYTES_SIZE]);

/* A real number of bytes as a whole one: 0 for what is none or negative, at most INT64_MAX. */
uint64_t snd_bytes_of(double bytes);

#define SND_DURATION_SIZE 32u

/* Four digits and a unit: "31.18 ms", "1.163 µs", "419 ns". */
void snd_duration_text(uint64_t ns, char text[SND_DURATION_SIZE]);

/* The same with two or three digits, for what is measured no better: "31 ms", "1.2 µs". */
void snd_duration_short(uint64_t ns, char text[SND_DURATION_SIZE]);

/* The same as snd_duration_text in ASCII: "1.163 us". */
void snd_duration_plain(uint64_t ns, char text[SND_DURATION_SIZE]);

/* The digits behind the point that leave a number two or three digits in all: 12, 4.0, 0.07. */
int snd_short_digits(double value);

/* From byte `from` on, the few characters that sonde itself uses beyond ASCII become ASCII: "us", "+-", "<=". For
 * terminals without Unicode; other characters stay as they are. */
void snd_text_plain(snd_buffer *text, size_t from);

/* From byte `from` on, blanks become ends of lines, so that no line has more than `width` cells; a longer word stays
 * whole. 0: no limit. */
void snd_text_wrap(snd_buffer *text, size_t from, size_t width);

/* The part after the last slash. Points into `path`. */
const char *snd_path_base(const char *path);

/* A JSON string with its quotes; what is not UTF-8 becomes U+FFFD. */
void snd_json_string(snd_buffer *out, const char *text);

#endif
