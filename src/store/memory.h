/* The tables of memory: series, histories and sizes. */
#ifndef SND_STORE_MEMORY_H
#define SND_STORE_MEMORY_H

#include "model/profile.h"
#include "store/sqlite.h"

/* Writes all series and sizes, and the histories of the nodes whose byte in `marks` is 1. An SQLite result. */
int snd_store_memory(sqlite3 *db, const snd_profile *profile, const unsigned char *marks);

/* Adds what the recording has to the profile, whose nodes are there. */
SND_MUST_USE snd_status snd_load_memory(sqlite3 *db, snd_profile *profile);

#endif
