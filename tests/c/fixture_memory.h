/* A profile with memory, made by hand. */
#ifndef SND_TEST_FIXTURE_MEMORY_H
#define SND_TEST_FIXTURE_MEMORY_H

#include "model/profile.h"

#define MEMORY_STEP_NS 100000000u
#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* A program /app/prog.py that ran for 3.2 s, with samples and memory: load() (line 6, through json, 96 MiB at the
 * peak), build() (line 10, one native block of 256 MiB), remember() (line 14: a cache that grows by 8 MiB a second),
 * double() (line 18: temporary lists), on a worker copies (line 22), under the import of a package 24 MiB that stay and
 * grow, and 12 MiB of native code that no line led to. The peak, 412 MiB, is at 2.4 s. With the series of heap and RSS,
 * histories and sizes. */
snd_profile *memory_profile(void);

/* The same without samples. */
snd_profile *memory_only_profile(void);

/* A recording of it at `path`. */
void write_memory(const char *path);

/* What the tests of leaks build their histories of: 32 points of 100 ms, nothing so far. */
snd_history new_history(void);

/* One step: blocks of `size` bytes taken and freed in it. */
void add_step(snd_history *history, uint64_t taken, uint64_t freed, uint64_t size);

#endif
