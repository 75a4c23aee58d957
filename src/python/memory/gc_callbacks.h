/* The interpreter's garbage collections, as they happen. */
#ifndef SND_PYTHON_GC_H
#define SND_PYTHON_GC_H

#include "python/module/state.h"

/* A callback of ours at the end of gc.callbacks, while something is measured that shows it; the other callbacks stay as
 * they are. Where it cannot be, collections are not counted. Nothing raises. */
void snd_gc_hook(snd_state *state, int on);

/* While the measurement is paused no collection counts. */
void snd_gc_set_paused(int paused);

#endif
