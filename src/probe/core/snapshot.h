/* From the live tracks to a profile: the reading side. */
#ifndef SND_PROBE_SNAPSHOT_H
#define SND_PROBE_SNAPSHOT_H

#include "model/profile.h"
#include "probe/core/track.h"

/* Where a thread stands in the profile: one place, whichever probe came first. */
typedef struct snd_snapshot_place {
    uint32_t thread_id;
    uint32_t track; /* SND_NONE: not there yet */
    uint32_t root;
} snd_snapshot_place;

/* What a profile already holds of the live tracks. All zero: nothing. One reader at a time. */
typedef struct snd_snapshot {
    struct snd_snapshot_track *tracks; /* by live track id */
    uint32_t track_count;
    uint32_t *sites; /* live site id to the profile's */
    uint32_t site_count;
    unsigned char *changed; /* per profile node: 1 when an update changed it since snd_snapshot_written */
    uint32_t changed_count;
    struct snd_call_sum *sums; /* per live node of the track at hand */
    uint32_t sum_capacity;
    snd_snapshot_place *rows; /* per row of the sampler */
    uint32_t row_count;
    uint32_t *sample_nodes; /* the sampler's node to the profile's */
    uint32_t sample_count, sample_capacity;
    uint32_t sample_tick, memory_tick; /* the sampler's ticks up to which the profile is right */
    uint32_t *reported;                /* reported node to the profile's; SND_NONE: it is not there */
    uint32_t reported_count;
} snd_snapshot;

void snd_snapshot_free(snd_snapshot *self);

/* Brings `profile` up to date with all tracks; times count from `origin` (ticks), open entries up to `now`. Safe
 * while the threads run: each node is read as one of its states. On failure the profile is as far as it got. */
SND_MUST_USE snd_status snd_snapshot_update(snd_snapshot *self, snd_profile *profile, uint64_t origin, uint64_t now);

/* The same for one track that is in no list, which has an `id` of its own among those given to this snapshot. */
SND_MUST_USE snd_status snd_snapshot_add(snd_snapshot *self, snd_profile *profile, const snd_track *track,
                                         uint64_t origin, uint64_t now);

/* What changed so far has been written. */
void snd_snapshot_written(snd_snapshot *self);

/* The profile's id of a site; SND_NONE for one that no update has seen. */
uint32_t snd_snapshot_site(const snd_snapshot *self, uint32_t site);

/* The profile's id of a track's node; SND_NONE for one that no update has seen. */
uint32_t snd_snapshot_node(const snd_snapshot *self, const snd_track *track, uint32_t node);

/* The profile's id of a track; SND_NONE for one that no update has seen. */
uint32_t snd_snapshot_track_id(const snd_snapshot *self, const snd_track *track);

/* ---- for probes ---- */

/* The one place that decides whose track a thread is. For its row of the sampler: where it stands in the profile, which
 * is where its regions are, if `live` (NULL: none) is there already. A new one is made from `about`; of one that is
 * there, `about` replaces what is said, unless its regions say it: then its life is as long as both saw it. */
SND_MUST_USE snd_status snd_snapshot_place_row(snd_snapshot *self, snd_profile *profile, uint32_t row,
                                               const snd_track *live, const snd_profile_track *about);

/* The profile's id of a live site, which is added when it is new. */
SND_MUST_USE snd_status snd_snapshot_add_site(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t *id);

/* Room in `changed` for all nodes; new ones count as changed. */
SND_MUST_USE snd_status snd_snapshot_make_changed(snd_snapshot *self, const snd_profile *profile);

/* Sets a metric and marks the node when that changes it. */
SND_MUST_USE snd_status snd_snapshot_put(snd_snapshot *self, snd_profile *profile, uint32_t node, snd_metric metric,
                                         snd_value value);

/* The same for several. One that is rare is left out where it is 0 and the node has never had it. */
typedef struct snd_number {
    snd_metric metric;
    int is_rare;
    snd_value value;
} snd_number;
SND_MUST_USE snd_status snd_snapshot_put_numbers(snd_snapshot *self, snd_profile *profile, uint32_t node,
                                                 const snd_number *numbers, size_t count);
#define SND_PUT_NUMBERS(self, profile, node, numbers) \
    snd_snapshot_put_numbers(self, profile, node, numbers, sizeof(numbers) / sizeof(numbers)[0])

/* What the system has counted for a node of a track, and from there to the profile. */
snd_system_counter_values snd_snapshot_read_counted(const snd_track *live, const snd_node *node);
SND_MUST_USE snd_status snd_snapshot_put_counted(snd_snapshot *self, snd_profile *profile, uint32_t node,
                                                 const snd_system_counter_values *now);

/* Puts what `count` calls of an operator did; nothing for a node of another kind. `site` is the live one. The op
 * probe's, once it has a site. */
typedef snd_status snd_snapshot_put_op(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t node,
                                       uint64_t count);
extern snd_snapshot_put_op *_Atomic snd_snapshot_op_putter;

/* What was reported of the tracks, which must be up to date. The caller has the lock. */
SND_MUST_USE snd_status snd_snapshot_put_reported(snd_snapshot *self, snd_profile *profile);

#endif
