/* From the live tracks to a profile: the reading side. */
#ifndef SND_PROBE_SNAPSHOT_H
#define SND_PROBE_SNAPSHOT_H

#include "model/profile.h"
#include "probe/track.h"

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
    struct snd_snapshot_row *rows; /* per row of the sampler */
    uint32_t row_count;
    uint32_t *sample_nodes; /* the sampler's node to the profile's */
    uint32_t sample_count, sample_capacity;
    uint32_t sample_look; /* the sampler's look up to which the profile is right */
    uint32_t *attached;   /* attached node to the profile's; SND_NONE: it is not there */
    uint32_t attached_count;
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

#endif
