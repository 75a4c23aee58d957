/* Several processes as one profile: their sum, by the path of sites, and what becomes of each node. */
#ifndef SND_MODEL_MERGE_H
#define SND_MODEL_MERGE_H

#include "model/profile.h"

/* Which processes there are is said first, then their profiles are added, one at a time and in any order: the sum does
 * not depend on it, but for the numbers of its nodes and the last bits of real numbers. Not thread-safe. */
typedef struct snd_merger snd_merger;

/* The caller owns it. NULL when memory runs out. */
snd_merger *snd_merger_new(void);
void snd_merger_free(snd_merger *self); /* NULL is allowed */

/* A process, and then its tracks in their order. Texts are copied. */
SND_MUST_USE snd_status snd_merger_add_process(snd_merger *self, const snd_process *process, uint32_t *id);
SND_MUST_USE snd_status snd_merger_add_track(snd_merger *self, uint32_t process, const snd_profile_track *track);

/* All processes are known: aligns their clocks and makes the tracks. Those of the sum come first, then those of the
 * processes, process by process. */
SND_MUST_USE snd_status snd_merger_start(snd_merger *self);

/* How much later than the sum a process started, and the first of its tracks. */
uint64_t snd_merger_offset(const snd_merger *self, uint32_t process);
uint32_t snd_merger_line(const snd_merger *self, uint32_t process);

/* Adds the profile of one process, whose tracks are those that were said. `sites` and `nodes` have room for its sites
 * and nodes, and get those of the sum. After a failure the sum is of no use. */
SND_MUST_USE snd_status snd_merger_add(snd_merger *self, uint32_t process, const snd_profile *profile, uint32_t *sites,
                                       uint32_t *nodes);

/* The text of a file that the sum has; NULL: none. */
const snd_source *snd_merger_source(const snd_merger *self, const char *file);

/* The sum so far; complete after snd_merger_finish. Owned by the merger. */
const snd_profile *snd_merger_sum(const snd_merger *self);
SND_MUST_USE snd_status snd_merger_finish(snd_merger *self);

#endif
