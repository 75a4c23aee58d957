/* The recording's tables, of which docs/recording.md says what they mean, and the little that all share about SQLite.
 */
#ifndef SND_STORE_SCHEMA_H
#define SND_STORE_SCHEMA_H

#include "base/status.h"

#include <sqlite3.h>

#define SND_SCHEMA_APPLICATION 0x536F6E64 /* "Sond" */
#define SND_SCHEMA_VERSION 9

/* How much of sources is written and read: bytes of one, bytes of all, how many. */
#define SND_SOURCE_LIMIT (4u << 20)
#define SND_SOURCE_TOTAL_LIMIT (64u << 20)
#define SND_SOURCE_COUNT_LIMIT 10000u

/* Makes the tables and views of a version in an empty database. An SQLite result. */
int snd_schema_create(sqlite3 *db, int version);

/* Whether it has the tables and views that its version of sonde wrote, text for text, and nothing else: SND_OK,
 * SND_NOT_A_RECORDING, SND_NEWER or SND_DAMAGED. */
SND_MUST_USE snd_status snd_schema_check(sqlite3 *db);

/* What an SQLite result means to us. Sets errno where that tells more. */
snd_status snd_sqlite_status(sqlite3 *db, int result);

/* Binds whole numbers to ?1, ?2, … */
int snd_sqlite_bind(sqlite3_stmt *statement, const int64_t *values, int count);

/* Runs a bound statement that returns no rows and makes it ready for the next use. */
int snd_sqlite_run(sqlite3_stmt *statement);

#endif
