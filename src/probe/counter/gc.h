/* The gc probe: how long the interpreter's garbage collections took, on the thread that ran them. A collection stands
 * beside the regions, below its track's root: it takes time from no region's own. */
#ifndef SND_PROBE_GC_H
#define SND_PROBE_GC_H

#include "probe/core/track.h"

#define SND_GC_GENERATIONS 3u
#define SND_GC_SLOTS 65536u /* collections that wait for the collector, which comes at least once a second */

/* A collection for the timeline. Times are in ticks. */
typedef struct snd_gc_event {
    uint64_t start, ticks;
    const snd_track *track;
    uint32_t node; /* within the track */
} snd_gc_event;

/* Makes the sites. 0 when there is no room for them: then nothing is counted. */
int snd_gc_prepare(void);

/* Around a collection, on its thread. Only one runs at a time: whoever calls has the interpreter's lock. An end without
 * a beginning that counts is none. `frame` is the innermost frame, as the interpreter knows it; 0: none. */
void snd_gc_begin(int counts, uintptr_t frame);
void snd_gc_end(unsigned generation, uint64_t collected);

/* The frame in which the collection at hand began; 0: none runs. An end that nobody told of leaves it as it was. */
extern _Atomic uintptr_t snd_gc_frame;

/* Whether collections wait for a collector from now on. Those that waited are gone. By the collector. */
void snd_gc_keep_events(int on);

/* By the collector: the next collection, and what found no room since the last look. 0: none waits. */
int snd_gc_take_event(snd_gc_event *out);
uint64_t snd_gc_take_dropped(void);

#endif
