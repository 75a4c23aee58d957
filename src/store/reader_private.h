/* What the reader's files share. */
#ifndef SND_STORE_READER_PRIVATE_H
#define SND_STORE_READER_PRIVATE_H

#include "store/reader.h"
#include "store/schema.h"

/* Metrics that a recording may number; more than we will ever have. */
#define SND_READER_METRICS 256u

struct snd_reader {
    sqlite3 *db;
    struct snd_reader_only *only; /* the process whose profile is wanted; NULL: all */
    char message[512];
};

/* What the wanted process's profile is, out of that of all; it stays known for the timeline. */
SND_MUST_USE snd_status snd_reader_take_only(snd_reader *self, const snd_profile *all, snd_profile **out);
void snd_reader_free_only(snd_reader *self);

/* Where the wanted process has an event of the timeline of all, which is changed to that. 0: it is of another. */
int snd_reader_place_only(const snd_reader *self, snd_profile_event *event);
int snd_reader_is_of_only(const snd_reader *self, uint32_t track);

/* The numbers of metrics in this recording as ours; SND_READER_METRICS of them. */
SND_MUST_USE snd_status snd_reader_metrics(sqlite3 *db, snd_metric *metrics);

/* The first number of the first row. An SQLite result. */
int snd_reader_number(sqlite3 *db, const char *sql, int64_t *number);

/* Adds the table `event`, which is in no file: the timeline, unpacked. An SQLite result. */
int snd_event_table_add(sqlite3 *db);

/* Never NULL; a NUL inside ends it. */
const char *snd_reader_text_at(sqlite3_stmt *row, int column);

/* Whether the cell is a whole number from 0 to `limit` - 1, which goes to `id`. */
int snd_reader_id_at(sqlite3_stmt *row, int column, uint64_t limit, uint32_t *id);

/* Gives every row to `take` until it returns other than SND_OK. */
typedef snd_status snd_reader_row(sqlite3_stmt *row, snd_profile *profile, void *context);
SND_MUST_USE snd_status snd_reader_each_row(sqlite3 *db, const char *sql, snd_reader_row *take, snd_profile *profile,
                                            void *context);

#endif
