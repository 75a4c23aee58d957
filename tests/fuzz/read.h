/* Everything that is done with a recording, for the targets that make one of their bytes. */
#ifndef SND_TEST_READ_H
#define SND_TEST_READ_H

#include "model/profile.h"

/* A path of this process, in memory where there is such a folder: SQLite wants a path. */
const char *read_path(void);
void read_write(const char *path, const uint8_t *data, size_t size);

/* Removes it, and what SQLite may have put beside it. */
void read_remove(const char *path);

/* Opens, reads, shows in every view and format, exports and asks. */
void read_everything(const char *path);

/* Their differences, in every table. */
void read_compare(const snd_profile *before, const snd_profile *after);

#endif
