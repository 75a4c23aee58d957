/* A larger profile of samples, with libraries, threads and sources, made by hand. */
#ifndef SND_TEST_FIXTURE_WALK_H
#define SND_TEST_FIXTURE_WALK_H

#include "model/profile.h"

/* A program of two files, /app/walk.py and /app/lib/points.py, that calls numpy and json, on four threads: main, with
 * the region "load"; worker, which waits for a lock; a native thread; sonde's own. 20 files of a package of its own
 * have little time each. The source of walk.py is kept, and there are events. */
snd_profile *walk_profile(void);

/* A line of a function under a parent. `place` is FILE:FUNCTION:FIRST:LINE. */
uint32_t add_walk_line(snd_profile *profile, uint32_t parent, const char *place);

/* A native symbol or something without a place ("" as file) under a parent. */
uint32_t add_walk_symbol(snd_profile *profile, uint32_t parent, snd_site_kind kind, const char *name, const char *file);

/* CPU time found at a node, a sample a millisecond. */
void add_cpu(snd_profile *profile, uint32_t node, uint64_t python_ms, uint64_t native_ms, uint64_t system_ms);

/* More time in one state, a sample a millisecond. */
void add_time(snd_profile *profile, uint32_t node, snd_metric metric, uint64_t ms);

/* Makes the events of all samples: node after node, each track in a time of its own, slices of at most 5 ms. */
void add_events(snd_profile *profile);

/* A chain of `depth` functions on one thread, each with a millisecond. */
snd_profile *deep_profile(uint32_t depth);

#endif
