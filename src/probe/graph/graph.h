/* Room: the graph probe: what libraries of compiled graphs say of their functions. */
/* The graph probe: what a library of compiled graphs measured of its functions, in the running measurement. */
#ifndef SND_PROBE_GRAPH_H
#define SND_PROBE_GRAPH_H

#include "probe/core/probe.h"

/* As a session sees it. */
extern const snd_probe snd_graph_probe;

/* Hangs the nodes of a profile that are of compiled graphs below the root of a track, with their numbers as they are;
 * what was reported before and is not among them is gone (SND_METRIC_GRAPH_GONE) and has zeros from then on. The track
 * is that of the thread that came first after a reset, so that later ones, whatever thread they come from, are in the
 * same place. Thread-safe. SND_NO_MEMORY when there is no track or when some found no room; these are counted as
 * dropped. */
SND_MUST_USE snd_status snd_graph_attach(const snd_profile *profile);

#endif
