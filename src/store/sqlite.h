/* The little that the writer and the reader share about SQLite. */
#ifndef SND_STORE_SQLITE_H
#define SND_STORE_SQLITE_H

#include "base/status.h"

#include <sqlite3.h>

/* What an SQLite result means to us. Sets errno where that tells more. */
snd_status snd_sqlite_status(sqlite3 *db, int result);

/* Binds whole numbers to ?1, ?2, … */
int snd_sqlite_bind(sqlite3_stmt *statement, const int64_t *values, int count);

/* Runs a bound statement that returns no rows and makes it ready for the next use. */
int snd_sqlite_run(sqlite3_stmt *statement);

#endif
