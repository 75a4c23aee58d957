/* Room: the memory probe: who allocates, keeps and copies memory. */
/* Memory: who allocates it, who keeps it, who copies it. It is part of the sampler, whose threads, places and tree it
 * shares, and runs only while that does. */
#ifndef SND_PROBE_MEMORY_H
#define SND_PROBE_MEMORY_H

#include "probe/core/probe.h"

extern const snd_probe snd_memory_probe;

/* After the sampler's start. What was counted before stays until snd_memory_clear. SND_SYSTEM: the functions of the
 * program cannot be led here. */
SND_MUST_USE snd_status snd_memory_probe_start(const snd_memory_options *options);

/* Leads everything back. What was counted stays. */
void snd_memory_probe_stop(void);

/* Nothing is taken for a while; blocks that are known are still seen to be freed. */
void snd_memory_set_paused(int paused);

/* Forgets what was counted, all but the blocks that are known. */
void snd_memory_reset(void);

/* Objects that were loaded since the start are led here, too; `has_loaded`: the caller has just loaded one. */
void snd_memory_refresh(int has_loaded);

/* What is to be said of memory as a whole: the peak, plots, sizes. */
SND_MUST_USE snd_status snd_memory_describe(snd_profile *profile);

/* What there is now; estimates but for an exact measurement. */
typedef struct snd_memory_now {
    uint64_t live, peak, allocated, copied; /* bytes */
    uint64_t blocks;                        /* live ones that are sampled */
    double live_error, peak_error;          /* standard errors, bytes */
} snd_memory_now;
void snd_memory_get(snd_memory_now *out);

/* The peak is looked for anew from here on. */
void snd_memory_reset_peak(void);

#endif
