/* What protects us from a database that somebody else made. */
#ifndef SND_STORE_GUARD_H
#define SND_STORE_GUARD_H

#include "base/status.h"

#include <sqlite3.h>

/* Takes from a connection what no recording needs, and gives nothing of it back. Before anything is read. */
SND_MUST_USE int snd_guard_start(sqlite3 *db); /* an SQLite result */

/* Whether it is a recording, as snd_schema_check() says, in a bounded number of steps. */
SND_MUST_USE snd_status snd_guard_check(sqlite3 *db);

/* What one statement may still read. A table cannot hold more than the file it is in; the pages of a damaged one may
 * lead in circles and give rows for ever. All zero before the first row. */
typedef struct snd_guard_budget {
    uint64_t left;
    int is_known;
} snd_guard_budget;

/* Takes the row that the statement is at from its budget. SND_DAMAGED when that is used up. */
SND_MUST_USE snd_status snd_guard_row(sqlite3_stmt *row, snd_guard_budget *budget);

#endif
