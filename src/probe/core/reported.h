/* Nodes that no thread enters and leaves: what a library measured of itself, hung into the tree of the threads. They
 * are kept beside the live tracks, and every snapshot has them. */
#ifndef SND_PROBE_REPORTED_H
#define SND_PROBE_REPORTED_H

#include "probe/core/track.h"

#define SND_REPORTED_LIMIT (1u << 20) /* nodes; more are counted as dropped */
#define SND_REPORTED_VALUES 12u       /* metrics that one of them can have */

typedef struct snd_reported {
    const snd_track *track;
    uint32_t above; /* another reported node, or one of the track's */
    uint32_t site;
    uint32_t value_count;
    unsigned char is_below_reported;
    unsigned char is_used; /* somebody asked for it since the last reset */
    unsigned char metrics[SND_REPORTED_VALUES];
    snd_value values[SND_REPORTED_VALUES];
} snd_reported;

/* Around everything below, so that a snapshot sees all of an update or nothing of it. */
void snd_reported_lock(void);
void snd_reported_unlock(void);

/* The node for `site` below a node of a track, or below another reported one; made when it is new. Its id stays the
 * same until the process ends. SND_NONE when memory or the limit runs out; that is counted. */
uint32_t snd_reported_to(const snd_track *track, uint32_t node, uint32_t site);
uint32_t snd_reported_below(uint32_t reported, uint32_t site);

/* A value of the node, 0 at first, to be set or added to. NULL: it has no room for another metric. */
snd_value *snd_reported_value(uint32_t reported, snd_metric metric);

/* So much of the time in which a track's node was the innermost one belongs to what is reported below it. */
void snd_reported_take_self(const snd_track *track, uint32_t node, uint64_t ns);

/* What is left of the time in which it was the innermost one. */
uint64_t snd_reported_leave_self(const snd_track *track, uint32_t node, uint64_t ns);

uint32_t snd_reported_count(void);
const snd_reported *snd_reported_get(uint32_t id);
uint64_t snd_reported_lost(void); /* nodes that found no room since the last reset */

/* Sets all numbers to 0. Takes the lock itself. */
void snd_reported_reset(void);

#endif
