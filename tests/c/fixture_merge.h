/* Random recordings of processes, and whether two sums of them are equal. */
#ifndef SND_TEST_FIXTURE_MERGE_H
#define SND_TEST_FIXTURE_MERGE_H

#include "model/profile.h"

typedef char path_text[512];

/* The path of a temporary recording of that name and number. */
void name_path(path_text path, const char *name, uint32_t number);

/* A small recording of such a process. */
snd_profile *process_profile(const char *host, uint32_t pid, uint64_t realtime_ns, uint64_t monotonic_ns);

/* The same for the same seed. Everything a profile can have, with names that other seeds have too. */
snd_profile *random_profile(uint64_t seed);

/* Whether both have the same nodes by their path, with equal whole numbers and real ones within 1e-12, the same memory,
 * facts, processes and tracks; prints the first difference. */
int sums_are_equal(const snd_profile *a, const snd_profile *b);

/* Six ranks on two hosts, with their parts: a region "step" that takes rank 3 twice as long as the others; the sampled
 * function "solve", which calls itself, below "main"; the function "load", called in ranks 0 and 1 only. */
snd_profile *ranks_profile(void);

/* Whether the memory that both have is the same: series, histories, sizes. */
int memory_is_equal(const snd_profile *a, const snd_profile *b);

#endif
