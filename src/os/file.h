/* Files read and written as a whole. */
#ifndef SND_OS_FILE_H
#define SND_OS_FILE_H

#include "base/status.h"

/* `*text` is ended by NUL and freed by the caller with snd_free. NULL, and SND_OK, when there is no such file, when it
 * is not a regular file or larger than `limit`. */
snd_status snd_file_load(const char *path, size_t limit, char **text, size_t *size);

/* Opens a file for writing; `flags` as for open(). In a folder that everybody may write to, such as /tmp, what another
 * user has put there is neither opened nor, if it is a link, followed. -1 and errno on failure. */
int snd_file_open(const char *path, int flags);

/* The path that `path` leads to, with the same rule for a link; NULL and errno on failure. Where there is nothing, a
 * copy of `path`. The caller frees it with free(). */
char *snd_file_target(const char *path);

/* Writes the whole file under another name first and renames it then, so that a full disk leaves no half of a file and
 * keeps an older one. What is not a regular file, such as a pipe, is written as it is. Links as in snd_file_target. On
 * SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_file_replace(const char *path, const void *data, size_t size);

/* Gives an open file a number out of the way of programs that count on small ones, and that number; where there is no
 * room above, it stays as it is. */
int snd_file_lift(int file);

#endif
