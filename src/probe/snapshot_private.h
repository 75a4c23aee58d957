/* What the readers of several probes share. */
#ifndef SND_PROBE_SNAPSHOT_PRIVATE_H
#define SND_PROBE_SNAPSHOT_PRIVATE_H

#include "probe/snapshot.h"

/* Where a thread that was sampled stands in the profile. */
typedef struct snd_snapshot_row {
    uint32_t thread_id;
    uint32_t track; /* SND_NONE: not there yet */
    uint32_t root;
} snd_snapshot_row;

/* The profile's id of a live site, which is added when it is new. */
SND_MUST_USE snd_status snd_snapshot_add_site(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t *id);

/* The site of a track's root is the thread itself. */
SND_MUST_USE snd_status snd_snapshot_root_site(snd_profile *profile, const char *name, uint32_t *id);

/* Room in `changed` for all nodes; new ones count as changed. */
SND_MUST_USE snd_status snd_snapshot_make_changed(snd_snapshot *self, const snd_profile *profile);

/* Sets a metric and marks the node when that changes it. */
SND_MUST_USE snd_status snd_snapshot_put(snd_snapshot *self, snd_profile *profile, uint32_t node, snd_metric metric,
                                         snd_value value);

/* What the system has counted for a node of a track, and from there to the profile. */
snd_counted_values snd_snapshot_read_counted(const snd_track *live, const snd_node *node);
SND_MUST_USE snd_status snd_snapshot_put_counted(snd_snapshot *self, snd_profile *profile, uint32_t node,
                                                 const snd_counted_values *now);

/* What `count` calls of an operator did; nothing for a node of another kind. `site` is the live one. */
SND_MUST_USE snd_status snd_snapshot_put_op(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t node,
                                            uint64_t count);

/* The numbers of garbage collections. Times in ns. */
typedef struct snd_collections {
    uint64_t count, total, min, max, collected;
} snd_collections;
SND_MUST_USE snd_status snd_snapshot_put_collections(snd_snapshot *self, snd_profile *profile, uint32_t node,
                                                     const snd_collections *now);

/* What is attached to the tracks, which must be up to date. The caller has the lock. */
SND_MUST_USE snd_status snd_snapshot_put_attached(snd_snapshot *self, snd_profile *profile);

#endif
