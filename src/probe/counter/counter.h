/* Room: values that are counted: by the program, by the system, by the garbage collector, by GPUs. */
/* The counter probe: named values that a program sets, with their extremes and, when asked for, their timeline. */
#ifndef SND_PROBE_COUNTER_H
#define SND_PROBE_COUNTER_H

#include "probe/core/probe.h"
#include "probe/core/track.h"

/* As a session sees it: what the system counts for every entry. */
extern const snd_probe snd_counter_probe;

/* `site` must be of kind SND_SITE_COUNTER. Every thread has its own value; add starts from 0. What is not a number is
 * passed over. */
void snd_counter_set(snd_track *track, uint32_t site, double value);
void snd_counter_add(snd_track *track, uint32_t site, double delta);

#endif
