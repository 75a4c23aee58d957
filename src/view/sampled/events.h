/* Samples in the order of time. An event says when a thread was found where; how much of that time was CPU time and how
 * much waiting, the nodes know. */
#ifndef SND_VIEW_EVENTS_H
#define SND_VIEW_EVENTS_H

#include "view/sampled/samples.h"

/* Times that a clock shows are below. */
#define SND_EVENT_TIME_LIMIT (UINT64_MAX / 8)

/* How long the events of a node, and of a node in a state, are together, and how much of that was taken already. */
typedef struct snd_events {
    const snd_samples *samples;
    uint64_t *by_node, *taken_by_node;
    uint64_t *by_state, *taken_by_state; /* SND_SAMPLE_STATES a node */
} snd_events;

/* The caller owns what `*out` points to, on SND_OK only. SND_NO_TIMELINE when the profile has no events. */
void snd_events_make(const snd_samples *samples, snd_events *out);

/* Whether it is a sample of what was asked for. Times that no clock shows are not: a damaged file may hold any number.
 */
int snd_events_has(const snd_events *self, const snd_profile_event *event);

/* What the next `duration_ns` of an event stand for: the node's time in the event's state, and its time in states that
 * have no events, in proportion. All of all events together is what the node has, to the nanosecond. */
void snd_events_take(snd_events *self, const snd_profile_event *event, uint64_t duration_ns, snd_samples_numbers *out);

/* All events can be taken again. */
void snd_events_rewind(snd_events *self);

/* The same of a node that has no events, which a full disk may have cost it. 0: it has events, or no time. */
int snd_events_take_unseen(const snd_events *self, uint32_t node, snd_samples_numbers *out);

#endif
