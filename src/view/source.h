/* The text of source files, line by line. */
#ifndef SND_VIEW_SOURCE_H
#define SND_VIEW_SOURCE_H

#include "base/buffer.h"
#include "model/profile.h"

/* All zero is a file without any line. */
typedef struct snd_source_lines {
    const char *text;
    char *loaded;   /* NULL: the text belongs to the profile */
    size_t *starts; /* where each line starts, and one more for the end */
    uint32_t count;
} snd_source_lines;

/* As the recording has it, else as it is on disk; no lines where there is neither. The caller frees it. */
SND_MUST_USE snd_status snd_source_open(const snd_profile *profile, const char *file, snd_source_lines *out);
void snd_source_close(snd_source_lines *self);

/* Appends a line, from 1 on, without its end, tabs as spaces. Nothing for a line that is not there. */
void snd_source_line(const snd_source_lines *self, uint32_t line, snd_buffer *out);

/* Whether a line has nothing but spaces, or is not there. */
int snd_source_is_blank(const snd_source_lines *self, uint32_t line);

#endif
