/* Room: values that are counted: by the program, by the system, by the garbage collector, by GPUs. */
/* The counter probe: named values that a program sets, with their extremes, and moments that it marks. */
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

/* The site of a mark. `detail` says more about this one, or is "". Of more than 10,000 different details those that
 * come later are not kept. SND_NONE when memory runs out. Thread-safe. */
uint32_t snd_mark_site(const char *name, const char *detail);

/* This moment. `site` must be of kind SND_SITE_MARK. */
void snd_mark(snd_track *track, uint32_t site);

/* Whether somebody takes updates and marks out of the tracks' rings even where no timeline is kept: all marks, and of
 * updates the first and the last of every step, so that a counter in a hot loop needs little room. */
#define SND_COUNTER_STEP_NS 10000000u
void snd_counter_keep_events(int on);

/* The last update of a counter, if it is in no ring so far. 0: it is. Any thread. */
int snd_counter_waiting(const snd_track *track, const snd_node *node, snd_event *out);

#endif
