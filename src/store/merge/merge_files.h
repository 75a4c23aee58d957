/* Room: several recordings as one, and the parts that it keeps of them. */
/* Several recordings as one. docs/merge.md says what becomes of what. */
#ifndef SND_STORE_MERGE_H
#define SND_STORE_MERGE_H

#include "base/status.h"

typedef struct snd_merge_result {
    uint32_t processes; /* in the merged recording */
    uint32_t twice; /* processes that stood in more than one place, and were counted once: where they stand longer */
    const char *twice_path; /* one of the paths: where the first of these was found again */
    uint32_t twice_id;      /* and its number */
    uint32_t empty;         /* files of processes that were killed before their first checkpoint */
    uint64_t events;        /* of the timeline */
    const char *failed;     /* what a failure is about: one of the paths, or `out` */
} snd_merge_result;

/* Writes what the recordings at `paths` have together to `out`, which may be one of them: it is written under another
 * name beside it and renamed at the end, so that a failure changes nothing. Recordings are read one at a time; memory
 * is bounded by the distinct paths of calls that they have. SND_OTHER_KIND when there is no probe that measured in all
 * of them, SND_EMPTY when all are empty. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_merge_files(const char *out, const char *const *paths, uint32_t count,
                                        snd_merge_result *result);

#endif
