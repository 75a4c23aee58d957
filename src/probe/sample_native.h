/* Native code in samples: symbols, and the frames between the Python ones. */
#ifndef SND_PROBE_SAMPLE_NATIVE_H
#define SND_PROBE_SAMPLE_NATIVE_H

#include "probe/sample_seen.h"
#include "probe/sample_signal.h"

/* On threads with files of ours only. */
typedef struct snd_sample_native snd_sample_native;

/* `with_callers`: not only names, for which libdw is loaded. NULL when memory runs out. */
snd_sample_native *snd_sample_native_new(int with_callers);
void snd_sample_native_free(snd_sample_native *self); /* NULL is allowed */

/* Has no files open until it is asked again; NULL is allowed. */
void snd_sample_native_rest(snd_sample_native *self);

/* Why callers in native code are not known; NULL when they are. */
const char *snd_sample_native_why_not(const snd_sample_native *self);

/* The node of the function at an address, and of those that were compiled into it, below `parent`. */
uint32_t snd_sample_native_child(snd_sample_native *self, snd_sample_seen *seen, uint32_t parent, uintptr_t pc);

/* The native frames of an answer, innermost first: addresses; how many. */
size_t snd_sample_native_walk(snd_sample_native *self, const snd_sample_slot *slot, uint64_t *out, size_t limit);

#endif
