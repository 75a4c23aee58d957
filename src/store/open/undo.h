/* What a checkpoint half wrote when its process was killed, undone while the file is read: the pages that SQLite's
 * rollback journal keeps stand in front of those of the file. Neither of the two is changed. */
#ifndef SND_STORE_UNDO_H
#define SND_STORE_UNDO_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Not thread-safe. */
typedef struct snd_undo snd_undo;

/* Looks at the journal of a file of `size` bytes whose owner is `owner`. `*out` is NULL where there is nothing to undo:
 * no journal, one that has no pages yet, or one that cannot have been written for that file, since it is a link or
 * somebody else's. SND_FOREIGN_JOURNAL when it names a further file, which sonde's own never do. The caller owns it. On
 * SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_undo_open(const char *journal, uid_t owner, uint64_t size, snd_undo **out);
void snd_undo_free(snd_undo *self); /* NULL is allowed */

/* The size of the file before. */
uint64_t snd_undo_size(const snd_undo *self);

/* How many of `size` bytes at `at` lie on one page. Where the journal keeps this page they are read and `*is_read` is
 * 1; -1 and errno when that fails. */
ssize_t snd_undo_read(const snd_undo *self, void *to, size_t size, uint64_t at, int *is_read);

#endif
