/* What the files of merging recordings share. */
#ifndef SND_STORE_MERGE_PRIVATE_H
#define SND_STORE_MERGE_PRIVATE_H

#include "model/merge.h"
#include "store/merge/merge_files.h"
#include "store/schema.h"
#include "store/writer.h"

/* A process of one of the recordings. */
typedef struct snd_merge_found {
    uint32_t input;
    uint32_t place;                    /* in the recording */
    uint32_t id;                       /* in the merged one; SND_NONE: it stands elsewhere too */
    uint32_t first_track, track_count; /* in `tracks` */
} snd_merge_found;

typedef struct snd_merging {
    const char *out;
    const char *const *paths;
    uint32_t count;
    snd_merge_result *result;
    snd_merger *merger;
    snd_profile *known; /* the processes, in the order in which they were found */
    snd_merge_found *found;
    uint32_t found_count, found_capacity;
    snd_profile_track *tracks; /* of all that were found, as each process counts time */
    uint32_t track_count, track_capacity;
    char *target; /* what `out` leads to; of malloc */
    char *path;   /* where it is written */
    snd_writer *writer;
    sqlite3 *db;
    sqlite3_stmt *part, *timeline;
} snd_merging;

/* Says which of the recordings a failure is about. Gives the status. */
snd_status snd_merge_fail(snd_merging *self, uint32_t input, snd_status status);

/* Looks at all recordings, finds their processes and tells the merger of them. */
SND_MUST_USE snd_status snd_merge_look(snd_merging *self);

#endif
