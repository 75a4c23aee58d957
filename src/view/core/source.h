/* The text of source files, line by line. */
#ifndef SND_VIEW_SOURCE_H
#define SND_VIEW_SOURCE_H

#include "base/buffer.h"
#include "view/core/own_code.h"

/* Larger files are no sources. */
#define SND_SOURCE_FILE_LIMIT (4u << 20)

/* Why there is no text. */
typedef enum snd_source_missing {
    SND_SOURCE_FOUND, /* there is one, or it is of no file: a text that ran, a cell */
    SND_SOURCE_CHANGED,
    SND_SOURCE_UNKNOWN,
} snd_source_missing;

/* All zero is a file without any line. */
typedef struct snd_source_lines {
    const char *text; /* NULL: there is none */
    snd_source_missing missing;
    char *loaded;   /* NULL: the text belongs to the profile */
    size_t *starts; /* where each line starts, and one more for the end */
    uint32_t count;
} snd_source_lines;

/* As the recording has it, or from a plain file of the size and digest that the recording has; no lines where it is
 * neither. All source texts that are shown come from here. The caller frees it. */
SND_MUST_USE snd_status snd_source_open(const snd_profile *profile, const char *file, snd_source_lines *out);
void snd_source_close(snd_source_lines *self);

/* Appends a line, from 1 on, without its end, tabs as spaces. Nothing for a line that is not there. */
void snd_source_line(const snd_source_lines *self, uint32_t line, snd_buffer *out);

/* A clause that says why there is no text; NULL where there is nothing to say. */
const char *snd_source_why(const snd_source_lines *self);

/* The files that a table has lines of and no text, since they are not what was recorded. All zero: none. */
typedef struct snd_source_changes {
    const char *file; /* the first; must live as long as this */
    int has_more;
} snd_source_changes;

void snd_source_note(snd_source_changes *self, const char *file, const snd_source_lines *lines);

/* Appends a sentence; nothing where there is no such file. `name` is what the first is called. */
void snd_source_say(const snd_source_changes *self, const char *name, snd_buffer *out);

/* The sentence as the note of a table. */
SND_MUST_USE snd_status snd_source_set_note(const snd_source_changes *self, const snd_own *own, snd_table *table);

/* Whether a line has nothing but spaces, or is not there. */
int snd_source_is_blank(const snd_source_lines *self, uint32_t line);

#endif
