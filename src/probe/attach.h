/* Nodes that no thread enters and leaves: what a library measured of itself, hung into the tree of the threads. They
 * are kept beside the live tracks, and every snapshot has them. */
#ifndef SND_PROBE_ATTACH_H
#define SND_PROBE_ATTACH_H

#include "probe/track.h"

#define SND_ATTACH_LIMIT (1u << 20) /* nodes; more are counted as dropped */
#define SND_ATTACH_VALUES 12u       /* metrics that one of them can have */

typedef struct snd_attached {
    const snd_track *track;
    uint32_t above; /* another attached node, or one of the track's */
    uint32_t site;
    uint32_t value_count;
    unsigned char is_below_attached;
    unsigned char is_used; /* somebody asked for it since the last reset */
    unsigned char metrics[SND_ATTACH_VALUES];
    snd_value values[SND_ATTACH_VALUES];
} snd_attached;

/* Around everything below, so that a snapshot sees all of an update or nothing of it. */
void snd_attach_lock(void);
void snd_attach_unlock(void);

/* The node for `site` below a node of a track, or below another attached one; made when it is new. Its id stays the
 * same until the process ends. SND_NONE when memory or the limit runs out; that is counted. */
uint32_t snd_attach_to(const snd_track *track, uint32_t node, uint32_t site);
uint32_t snd_attach_below(uint32_t attached, uint32_t site);

/* A value of the node, 0 at first, to be set or added to. NULL: it has no room for another metric. */
snd_value *snd_attach_value(uint32_t attached, snd_metric metric);

/* So much of the time in which a track's node was the innermost one belongs to what is attached below it. */
void snd_attach_take_self(const snd_track *track, uint32_t node, uint64_t ns);

/* What is left of the time in which it was the innermost one. */
uint64_t snd_attach_leave_self(const snd_track *track, uint32_t node, uint64_t ns);

uint32_t snd_attach_count(void);
const snd_attached *snd_attach_get(uint32_t id);
uint64_t snd_attach_lost(void); /* nodes that found no room since the last reset */

/* Sets all numbers to 0. Takes the lock itself. */
void snd_attach_reset(void);

#endif
