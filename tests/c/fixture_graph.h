/* Profiles with compiled functions, made by hand. */
#ifndef SND_TEST_FIXTURE_GRAPH_H
#define SND_TEST_FIXTURE_GRAPH_H

#include "model/profile.h"

/* Below a node: a part of a compiled graph. */
uint32_t add_graph(snd_profile *profile, uint32_t parent, snd_site_kind kind, const char *name, const char *detail);

/* A node of a graph with its class and operator, below a function; equal ones are there once. */
uint32_t add_apply(snd_profile *profile, uint32_t function, const char *const texts[4], uint64_t count,
                   uint64_t total_ns);

/* The functions train and predict below this node. train was called 1000 times for 1,234 ms, 1,190 ms of them in the
 * VM; its nodes took 1,144.5 ms: two of class CGemv (980 ms, one in place), a Scan of 120 ms in Python, inside of which
 * the function step took 100 ms, and two Elemwise (44.5 ms); with shapes, peaks, rewriters and phases of compiling.
 * predict was called once, and shares a class and an operator with train. unused was never called. */
void add_graphs(snd_profile *profile, uint32_t root);

/* These alone on the track main, with a note and a tip. */
snd_profile *graph_profile(void);

/* A recording of it at `path`. */
void write_graphs(const char *path);

#endif
