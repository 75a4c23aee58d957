/* What the reader's files share. */
#ifndef SND_STORE_READER_PRIVATE_H
#define SND_STORE_READER_PRIVATE_H

#include "store/reader.h"
#include "store/sqlite.h"

/* Metrics that a recording may number; more than we will ever have. */
#define SND_READER_METRICS 256u

struct snd_reader {
    sqlite3 *db;
    char message[512];
};

#endif
