/* Writing a recording: whole checkpoints, so that a process that is killed leaves the last one. */
#ifndef SND_STORE_WRITER_H
#define SND_STORE_WRITER_H

#include "model/profile.h"
#include "store/chunk.h"

/* One thread at a time. Between calls no file is open. */
typedef struct snd_writer snd_writer;

/* Whether there is nothing at `path`, an empty file or a recording. */
int snd_writer_may_replace(const char *path);

/* Creates the file at `path` (absolute) anew; an older recording there is replaced, another kind of file is not:
 * SND_NOT_A_RECORDING. The caller owns the writer. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_writer_open(const char *path, snd_writer **out);
void snd_writer_free(snd_writer *self); /* NULL is allowed; writes nothing */

const char *snd_writer_path(const snd_writer *self);

/* Keeps a packed copy of the chunk for the next checkpoint. */
SND_MUST_USE snd_status snd_writer_add_chunk(snd_writer *self, uint32_t track, const snd_chunk *chunk);
size_t snd_writer_pending(const snd_writer *self); /* bytes of such copies */

/* Brings the file up to date with `profile` in one transaction. `changed` has a byte per node, 1 or 0 (NULL: all
 * changed); nodes, sites, tracks and sources that are new are written anyway. On failure nothing is lost: the next call
 * writes it. */
SND_MUST_USE snd_status snd_writer_checkpoint(snd_writer *self, const snd_profile *profile,
                                              const unsigned char *changed);

/* Writes a whole recording under another name first and renames it then. The failures of snd_writer_open. */
SND_MUST_USE snd_status snd_writer_save(const snd_profile *profile, const char *path);

#endif
