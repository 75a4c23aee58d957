/* The table of processes. */
#ifndef SND_STORE_PROCESS_H
#define SND_STORE_PROCESS_H

#include "model/profile.h"
#include "store/sqlite.h"

/* Writes the processes of the profile, or the one that its facts tell of. An SQLite result. */
int snd_store_processes(sqlite3 *db, const snd_profile *profile);

/* Adds the processes that the recording has to the profile, whose facts are there; from those in an older recording. */
SND_MUST_USE snd_status snd_load_processes(sqlite3 *db, int64_t version, snd_profile *profile);

#endif
