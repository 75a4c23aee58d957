/* What several tables below each other share. */
#ifndef SND_FORMAT_SUMMARY_H
#define SND_FORMAT_SUMMARY_H

#include "format/table/format.h"

/* A text in the making. */
typedef struct snd_summary {
    const snd_profile *profile;
    const snd_view_options *options;
    const snd_format_options *format;
    snd_buffer *out;
} snd_summary;

/* Writes it as one work: `write` never fails, and ends the work where there is nothing to write. */
SND_MUST_USE snd_status snd_summary_run(void (*write)(const snd_summary *self), const snd_summary *to);

/* Appends the next string of a JSON list and moves `*json` behind it. 0: there is none. */
int snd_summary_argument(const char **json, snd_buffer *out);

/* A line of its own. */
void snd_summary_bold(const snd_summary *self, const char *text);

/* Shows the named columns, those behind NULL only where there is room; a second NULL ends the names. */
void snd_summary_show(snd_table *table, const char *const *names);

/* The last sentences, unless nobody wants them. */
void snd_summary_put_footer(const snd_summary *self, const char *footer);

/* A heading and the columns that are shown; uses `table` up. */
SND_MUST_USE snd_status snd_summary_put(const snd_summary *self, const char *heading, snd_table *table);

/* Whether a row is for programs too. */
int snd_summary_is_answer(const snd_table *table, uint32_t row);

#endif
