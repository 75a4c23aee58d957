/* What the tables of memory share: where a line stands, standard errors, the sentence below. */
#ifndef SND_VIEW_MEMORY_TABLE_H
#define SND_VIEW_MEMORY_TABLE_H

#include "view/core/source.h"
#include "view/memory/memory_lines.h"
#include "view/sampled/sample_table.h"

/* The first column of these tables is the file; these stand side by side from the view's own number `at` on. */
enum { SND_PLACE_PLACE, SND_PLACE_LINE, SND_PLACE_FUNCTION, SND_PLACE_SOURCE, SND_PLACE_COLUMN_COUNT };

#define SND_FILE_COLUMN {"file", "file", SND_UNIT_TEXT, 0}
#define SND_PLACE_COLUMNS(at)                                                                             \
    [(at) + SND_PLACE_PLACE] = {"place", "place", SND_UNIT_TEXT, SND_COLUMN_SHOWN},                       \
            [(at) + SND_PLACE_LINE] = {"line", "line", SND_UNIT_COUNT, 0},                                \
            [(at) + SND_PLACE_FUNCTION] = {"function", "function", SND_UNIT_TEXT,                         \
                                           SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY}, \
            [(at) + SND_PLACE_SOURCE] = {"source", "source", SND_UNIT_TEXT,                               \
                                         SND_COLUMN_SHOWN | SND_COLUMN_MAIN | SND_COLUMN_NO_EMPTY}

/* A table in the making. All zero but for what snd_memory_view_start fills. */
typedef struct snd_memory_view_maker {
    snd_samples samples;
    snd_memory_view memory;
    snd_table *table;
    uint32_t place;          /* where its columns of places start */
    snd_source_lines source; /* of the last file that was asked for */
    snd_source_changes changes;
    const char *source_file;
} snd_memory_view_maker;

/* SND_NO_DATA without memory. On SND_OK the caller goes on to snd_memory_view_finish. */
void snd_memory_view_start(const snd_profile *profile, const snd_view_options *options, int for_leaks,
                           snd_memory_view_maker *out);

/* A row with its file, place, function and source; the caller fills the rest. Lines of one file one after the other:
 * its source is opened once. */
void snd_memory_view_add_row(snd_memory_view_maker *self, const snd_memory_view_line *line, snd_cell **cells);

/* Sorts by `key` (NULL: not), sets the sentence, or the usual one for NULL, frees what the maker has, and hands over
 * the table, or frees it where `status` is not SND_OK. */
void snd_memory_view_finish(snd_memory_view_maker *self, const char *key, const char *footer, snd_table **out);

/* A standard error; people see it only where it is more than 5% of the value. */
void snd_set_error(snd_cell *cell, uint64_t error, uint64_t value);

/* "12.3 MiB" or "12.3 MiB +- 1.02 MiB". */
void snd_memory_view_put(uint64_t bytes, uint64_t error, snd_buffer *out);

/* Bytes a second over the recording's length; 0 where that is unknown. */
uint64_t snd_memory_view_rate(const snd_profile *profile, uint64_t bytes);

/* "peak 512 MiB +- 26.1 MiB at 1.200 s, 24.0 MiB kept at the end, 1.20 GiB copied (1.00 GiB/s)". */
void snd_memory_view_words(const snd_profile *profile, const snd_memory_view_numbers *all, snd_buffer *out);

/* How it was recorded, what was not seen, what it cost; and the sentence under a table of memory, both together. */
void snd_memory_view_cost(const snd_profile *profile, snd_buffer *out);
void snd_memory_view_footer(const snd_profile *profile, const snd_memory_view_numbers *all, snd_buffer *out);

/* A curve of what was live, at most `cells` wide: the digits that SND_UNIT_SPARK wants. Nothing without a history. */
void snd_memory_view_spark(const snd_history *history, unsigned cells, snd_buffer *out);

#endif
