/* Files read as a whole. */
#ifndef SND_OS_FILE_H
#define SND_OS_FILE_H

#include "base/status.h"

/* `*text` is ended by NUL and freed by the caller with snd_free. NULL, and SND_OK, when there is no such file, when it
 * is no plain file or larger than `limit`. */
snd_status snd_file_load(const char *path, size_t limit, char **text, size_t *size);

#endif
