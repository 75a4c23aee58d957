/* The tables of memory (series, histories and sizes) and of processes. */
#ifndef SND_STORE_TABLES_H
#define SND_STORE_TABLES_H

#include "model/profile.h"
#include "store/schema.h"

/* Writes all series and sizes, and the histories of the nodes whose byte in `marks` is 1. An SQLite result. */
int snd_store_memory(sqlite3 *db, const snd_profile *profile, const unsigned char *marks);

/* Adds what the recording has to the profile, whose nodes are there. */
SND_MUST_USE snd_status snd_load_memory(sqlite3 *db, snd_profile *profile);

/* Writes the processes of the profile, or the one that its facts tell of. An SQLite result. */
int snd_store_processes(sqlite3 *db, const snd_profile *profile);

/* Adds the processes that the recording has to the profile, whose facts are there; from those in an older recording. */
SND_MUST_USE snd_status snd_load_processes(sqlite3 *db, int64_t version, snd_profile *profile);

#endif
