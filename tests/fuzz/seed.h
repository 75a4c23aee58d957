/* A small recording, from which seeds are made. */
#ifndef SND_TEST_SEED_H
#define SND_TEST_SEED_H

#include "base/buffer.h"
#include "model/merge.h"

/* Writes it at `path`, with pages of 512 bytes: it is then some 17 KB, and a mutation more likely meets something. */
void seed_recording(const char *path);

/* Its profile as the one process of a sum, which the caller owns; the bytes of its part go to `part`, if not NULL. */
snd_merger *seed_merger(snd_buffer *part);

/* Writes a recording at `path` that two such processes were merged into. */
void seed_merged(const char *path);

/* Ends the program with a line when it is not true. */
void seed_require(int is_true, const char *what);
#define REQUIRE(x) seed_require((x) != 0, #x)

#endif
