/* What the files of merging share. */
#ifndef SND_MODEL_MERGE_PRIVATE_H
#define SND_MODEL_MERGE_PRIVATE_H

#include "base/map.h"
#include "model/merge.h"

/* What a node of the sum needs besides its metrics. */
typedef struct snd_merge_node {
    unsigned __int128 weighted; /* of the metric with the rule AVERAGE: value times length */
    uint64_t last_ns;           /* of the rule LAST: when the track ended that the value is from */
    uint32_t seen;              /* so many processes have it */
} snd_merge_node;

/* What a fact of the sum needs besides its text. */
typedef struct snd_merge_info {
    unsigned __int128 squares; /* of the rule ROOT */
    uint32_t process;          /* of the rule FIRST: whose it is */
} snd_merge_info;

/* Of the first site of the sum with its texts: how many the profile at hand has had so far. */
typedef struct snd_merge_twins {
    uint32_t turn; /* that of the last profile that had one */
    uint32_t count;
} snd_merge_twins;

struct snd_merger {
    snd_profile *sum;
    snd_intern *sites;              /* of the sum: by their texts */
    snd_map nodes, tracks, sources; /* by parent and site, by name, by file */
    snd_merge_twins *twins;         /* per site of the sum */
    uint32_t twins_count, turn;
    snd_merge_node *extras; /* per node of the sum */
    uint32_t extra_count, extra_capacity;
    snd_merge_info *facts; /* per fact of the sum */
    uint32_t fact_count, fact_capacity;
    snd_profile_track *lines; /* the processes' tracks, before snd_merger_start */
    uint32_t line_count, line_capacity;
    uint32_t *first_line; /* per process: the first of its tracks in the sum */
    uint64_t length_ns;
    uint32_t added; /* profiles so far */
};

/* Each adds a part of the profile to the sum. `nodes` says which nodes of the sum its nodes are. */
SND_MUST_USE snd_status snd_merge_infos(snd_merger *self, uint32_t process, const snd_profile *profile);
SND_MUST_USE snd_status snd_merge_memory(snd_merger *self, uint32_t process, const snd_profile *profile,
                                         const uint32_t *nodes);

/* Between the points of a node of the sum. */
uint64_t snd_merge_history_step(const snd_merger *self);

/* What is known at the end only. */
SND_MUST_USE snd_status snd_merge_finish_infos(snd_merger *self);

#endif
