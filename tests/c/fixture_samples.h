/* A profile of samples, made by hand. */
#ifndef SND_TEST_FIXTURE_SAMPLES_H
#define SND_TEST_FIXTURE_SAMPLES_H

#include "model/profile.h"

/* On main main() at prog.py:3 calls f(), found at line 10 (3 ms of Python) and at line 11, where it calls compress() of
 * libz.so (2 ms native, 1 ms system); main() at line 4 is in the region load (4 ms of waiting for a file); 0.5 ms of
 * Python were not seen. On worker work() at prog.py:20 sleeps for 7 ms. With the source of prog.py. 17.5 ms in all. */
snd_profile *samples_profile(void);

/* The samples of it on one track in the order of time, a millisecond each; `count` gets how many. */
const snd_profile_event *samples_events(uint32_t track, unsigned *count);

/* A place where a thread was found, or through which it got there. */
uint32_t add_frame(snd_profile *profile, uint32_t parent, const snd_profile_site *site);

/* A recording of it at `path`, with or without the timeline. */
void write_samples(const char *path, int with_timeline);

/* Regions, lines and a native frame whose names, files and thread try to leave their place in every format: quotes,
 * separators, newlines, control characters, markup, bytes that are not UTF-8. */
snd_profile *hostile_profile(void);

#endif
