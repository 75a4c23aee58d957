/* What may be asked of the sampler. Apart from it, because a session's options carry it. */
#ifndef SND_PROBE_SAMPLE_OPTIONS_H
#define SND_PROBE_SAMPLE_OPTIONS_H

#include "base/attr.h"

#define SND_SAMPLE_RATE 1000u /* looks a second, when nothing is said */
#define SND_SAMPLE_RATE_MAX 20000u

/* All zero: no samples. */
typedef struct snd_sample_options {
    uint32_t rate_hz; /* 0: the sampler is off */
    int native;       /* native frames too */
    int cpu_only;     /* what waits is not looked at */
    int no_signals;   /* read every thread from outside */
    int safe_frames;  /* read Python's frames with the GIL held, as where the fast way cannot be trusted */
    int paused;       /* begin without looking */
    int timeline;     /* keep when each was seen */
    int resting;      /* no time is measured: the threads are listed for what else needs them */
} snd_sample_options;

#endif
