/* Room: the recording, written and read; with its rooms the only one that knows SQLite. */
/* Reading a recording. Nothing in the file is trusted. */
#ifndef SND_STORE_READER_H
#define SND_STORE_READER_H

#include "model/profile.h"
#include "store/chunk.h"

/* Not thread-safe. */
typedef struct snd_reader snd_reader;

/* Nothing is written, created or deleted, now or later; store/open/files.h says what is read. SND_EMPTY: the file of a
 * process that was killed before its first checkpoint. The caller owns the reader. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_reader_open(const char *path, snd_reader **out);
void snd_reader_free(snd_reader *self); /* NULL is allowed */

/* The whole profile. The caller owns it. */
SND_MUST_USE snd_status snd_reader_profile(snd_reader *self, snd_profile **out);

/* Facts, processes and tracks only. The caller owns it. */
SND_MUST_USE snd_status snd_reader_outline(snd_reader *self, snd_profile **out);

/* From now on profile and timeline are those of one process, as it was recorded; `process` is one of the outline's. */
SND_MUST_USE snd_status snd_reader_only(snd_reader *self, uint32_t process);

/* Whether several processes were merged into it, so that each has a part of its own. */
SND_MUST_USE snd_status snd_reader_is_merged(snd_reader *self, int *is_merged);

/* The profile of one process of a merged recording. `all` is the recording's profile. `nodes`, if not NULL, gets a list
 * that says which of its nodes those are. The caller owns both. */
SND_MUST_USE snd_status snd_reader_part(snd_reader *self, const snd_profile *all, uint32_t process, snd_profile **out,
                                        uint32_t **nodes);

/* Fills `all->parts`. On failure the profile is as it was. */
SND_MUST_USE snd_status snd_reader_parts(snd_reader *self, snd_profile *all);

/* Gives every timeline event to `take`, chunk by chunk, until it returns other than SND_OK. Node ids and the states of
 * samples are checked against `profile`, which must be this recording's. SND_NO_TIMELINE when there is none. */
typedef snd_status snd_reader_take(void *context, const snd_profile_event *event);
SND_MUST_USE snd_status snd_reader_timeline(snd_reader *self, const snd_profile *profile, snd_reader_take *take,
                                            void *context);

/* Fills `profile->events` with the whole timeline, by start. SND_NO_TIMELINE when there is none, SND_TOO_LONG when it
 * has more events than one should hold in memory. On failure the profile is as it was. */
SND_MUST_USE snd_status snd_reader_events(snd_reader *self, snd_profile *profile);

/* Events in the timeline; 0 when there is none. */
SND_MUST_USE snd_status snd_reader_event_count(snd_reader *self, uint64_t *count);

/* A cell of a query's answer. */
typedef struct snd_query_cell {
    enum { SND_QUERY_NULL, SND_QUERY_WHOLE, SND_QUERY_REAL, SND_QUERY_TEXT, SND_QUERY_BLOB } type;
    int64_t whole; /* for a blob: its size */
    double real;
    const char *text; /* valid during the call */
} snd_query_cell;

/* Runs one SQL statement that only reads. `head` gets the column names before the first row, also when there is
 * none. On SND_BAD_QUERY snd_reader_message() says what is wrong. */
typedef snd_status snd_query_head(void *context, int count, const char *const *names);
typedef snd_status snd_query_row(void *context, int count, const snd_query_cell *cells);
SND_MUST_USE snd_status snd_reader_query(snd_reader *self, const char *sql, snd_query_head *head, snd_query_row *row,
                                         void *context);

/* SQLite's words about the last failed query. Valid until the next call. */
const char *snd_reader_message(const snd_reader *self);

/* What SQLite may take of memory, in all of this process. */
void snd_reader_limit_memory(uint64_t size);

/* "SQLite 3.40.1", for the doctor. */
const char *snd_reader_library(void);

#endif
