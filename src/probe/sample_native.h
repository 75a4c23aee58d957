/* Native code in samples: symbols, and the frames between the Python ones. */
#ifndef SND_PROBE_SAMPLE_NATIVE_H
#define SND_PROBE_SAMPLE_NATIVE_H

#include "probe/sample_seen.h"
#include "probe/sample_signal.h"

typedef struct snd_sample_native snd_sample_native;

/* `with_frames`: whole stacks can be unwound, not only one address named. NULL when memory runs out. */
snd_sample_native *snd_sample_native_new(int with_frames);
void snd_sample_native_free(snd_sample_native *self); /* NULL is allowed */

/* The site of the function at an address; SND_NONE when memory runs out. */
uint32_t snd_sample_native_site(snd_sample_native *self, uintptr_t pc);

#endif
