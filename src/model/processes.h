/* The processes that a profile is of: one, or those that were merged into it. */
#ifndef SND_MODEL_PROCESS_H
#define SND_MODEL_PROCESS_H

#include "model/profile.h"

/* What the facts of a recording of one process say of it. Texts are the profile's. */
snd_process snd_process_describe(const snd_profile *profile);

/* Copies it with its texts. On failure the profile is as it was. */
SND_MUST_USE snd_status snd_profile_add_process(snd_profile *self, const snd_process *process, uint32_t *id);

/* Whether both are the same process: host, number and start. */
int snd_process_is_same(const snd_process *a, const snd_process *b);

/* By start, as far as that differs; then by host and number. For qsort of snd_process. */
int snd_process_compare(const void *a, const void *b);

/* Sets `offset_ns` of all: the clocks of one host are compared by CLOCK_MONOTONIC, those of several, or of a machine
 * that was started anew, by the time of day. The one that started first gets 0. `*length_ns` is the time from there to
 * the end of the last. */
void snd_processes_align(snd_process *processes, uint32_t count, uint64_t *length_ns);

/* The process that people mean by "PID", "rank:N", "HOST:PID" or "id:N". SND_NONE: there is none; `*found` is how many
 * there are. */
uint32_t snd_process_find(const snd_profile *profile, const char *which, uint32_t *found);

/* "rank 3", or "HOST:PID" where there is no rank, or "PID" where all are of one host. */
void snd_process_name(const snd_profile *profile, uint32_t id, snd_buffer *out);

#endif
