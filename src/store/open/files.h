/* Room: how SQLite gets at files that a stranger may have made. */
/* How SQLite gets at files: one way to read a recording, one to write it. Left to itself it would also roll back what
 * a journal beside the file says, take over a write-ahead log, follow links, and delete files that a journal names. */
#ifndef SND_STORE_FILES_H
#define SND_STORE_FILES_H

#include "base/status.h"

#include <sqlite3.h>

/* Extended results of SQLite that only these files give; snd_sqlite_status knows them. */
#define SND_SQLITE_FOREIGN_JOURNAL (SQLITE_IOERR | (240 << 8))
#define SND_SQLITE_WAL (SQLITE_IOERR | (241 << 8))

/* For reading. Nothing is written, created or deleted, and besides the file only its rollback journal is read: see
 * store/open/undo.h. Temporary tables are in memory. The caller closes `*db`, also on failure. An SQLite result. */
int snd_files_open_reading(const char *path, sqlite3 **db);

/* Whether a file that is no database has nothing in it, or zeros only where its header would be. */
int snd_files_is_blank(sqlite3 *db);

/* Before a file is replaced: removes what its journal would undo. SND_NOT_OURS when that is somebody else's; on
 * SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_files_remove_journal(const char *path);

/* Creates an empty file for writing, in place of one that stands there and its journal. The same failures. */
SND_MUST_USE snd_status snd_files_create(const char *path);

/* Removes a file that was created so and could not be finished, with its journal. */
void snd_files_remove(const char *path);

/* For writing a file that was created so. It is no link; its journal is created by us, and one that is there already
 * is rolled back if it belongs to the file's owner, else SQLITE_CANTOPEN. As snd_files_open_reading. */
int snd_files_open_writing(const char *path, sqlite3 **db);

#endif
