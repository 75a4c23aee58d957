/* SQLite's results in our words. */
#include "store/sqlite.h"

#include "store/files.h"

#include <errno.h>

snd_status
snd_sqlite_status(sqlite3 *db, int result)
{
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return SND_OK;
    case SQLITE_NOMEM:
        return SND_NO_MEMORY;
    case SQLITE_NOTADB:
        return SND_NOT_A_RECORDING;
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT: /* it had more to read than a recording has */
    case SQLITE_ERROR:     /* a table or a column is missing */
        return SND_DAMAGED;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SND_BUSY;
    case SQLITE_AUTH:
        return SND_READ_ONLY;
    case SQLITE_FULL:
        errno = ENOSPC;
        return SND_SYSTEM;
    default: {
        int extended = db == NULL ? result : sqlite3_extended_errcode(db);
        if (extended == SND_SQLITE_FOREIGN_JOURNAL)
            return SND_FOREIGN_JOURNAL;
        if (extended == SND_SQLITE_WAL)
            return SND_WAL;
        int code = db == NULL ? 0 : sqlite3_system_errno(db);
        errno = code != 0 ? code : EIO;
        return SND_SYSTEM;
    }
    }
}

int
snd_sqlite_bind(sqlite3_stmt *statement, const int64_t *values, int count)
{
    int result = SQLITE_OK;
    for (int i = 0; i < count && result == SQLITE_OK; i++)
        result = sqlite3_bind_int64(statement, i + 1, values[i]);
    return result;
}

int
snd_sqlite_run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}
