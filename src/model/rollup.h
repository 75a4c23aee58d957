/* A profile summed by a key: by function, line, operator, thread, by whatever the nodes of a row have in common. */
#ifndef SND_MODEL_ROLLUP_H
#define SND_MODEL_ROLLUP_H

#include "base/work.h"
#include "model/profile.h"

typedef struct snd_rollup snd_rollup;

/* The row of a node; SND_NONE: it has none. Those of the nodes before it, such as its parent, are known. */
typedef uint32_t snd_rollup_row(const snd_rollup *self, uint32_t node);

/* Which metrics of a node count. */
typedef snd_metric_set snd_rollup_counts(const snd_rollup *self, uint32_t node);

/* Read freely. Each metric is summed by its own rule. The profile must live longer. */
struct snd_rollup {
    const snd_profile *profile;
    void *context;                           /* of both functions, which may change it */
    uint32_t count;                          /* rows */
    uint32_t *row_of;                        /* per node; SND_NONE: it has none */
    uint32_t *first;                         /* per row: the first of its nodes; SND_NONE: it has none */
    snd_metric_set *present;                 /* per row: those that have a value */
    snd_value *columns[SND_METRIC_COUNT_OF]; /* per row; NULL: no row has this metric */
    uint64_t **histograms;                   /* per row; NULL: none */
    snd_rollup_counts *counts;
    snd_intern *keys;
    unsigned char *is_inner; /* per node: one above it has the same row; NULL: not asked for yet */
};

/* Inside a work. `counts` NULL: all of them do. */
void snd_rollup_make(const snd_profile *profile, snd_rollup_row *row, snd_rollup_counts *counts, void *context,
                     snd_rollup *out);

/* The row of a key, for rows that have no number yet: they are numbered as they are met. Texts of a profile are kept
 * once each, so that the addresses tell them apart; bytes that only fill up are 0. */
uint32_t snd_rollup_key(const snd_rollup *self, const void *key, size_t size);

/* 0 where the row has no such metric. */
uint64_t snd_rollup_whole(const snd_rollup *self, uint32_t row, snd_metric metric);
double snd_rollup_real(const snd_rollup *self, uint32_t row, snd_metric metric);

/* Per row: a metric of its nodes with all that stands below them, counted once where one is inside another. */
uint64_t *snd_rollup_totals(snd_rollup *self, snd_metric metric);

/* The same of values per node, which have what stands below already. */
uint64_t *snd_rollup_outermost(snd_rollup *self, const uint64_t *values);

/* Adds to the value of each node those of all below it. */
void snd_profile_add_below(const snd_profile *profile, uint64_t *values);

/* A profile with the same sites and tracks, its roots, regions and counters, in which a region inside an operator
 * stands below the region around that, whose own time the operator's is. NULL where there are no operators: the profile
 * itself will do. Facts, events and samples are not part of it. */
snd_profile *snd_profile_without_ops(const snd_profile *profile);

/* Regions called `region` with everything that stands below them: samples, memory, operators, regions. What stands
 * above them has no numbers, but for the root of a track, whose total is that of these regions; so is the length. Facts
 * that are sums of the whole process, its numbers over time, blocks by size and events are not part of it. The caller
 * owns it. SND_NO_DATA when there is no such region. */
SND_MUST_USE snd_status snd_profile_inside(const snd_profile *profile, const char *region, snd_profile **out);

#endif
