/* A process of a merged recording as bytes, in terms of the sum's sites and nodes. docs/recording.md has the layout. */
#ifndef SND_STORE_PARTS_H
#define SND_STORE_PARTS_H

#include "base/buffer.h"
#include "model/merge.h"

/* The most bytes of a part, before compression, and of a piece of it. */
#define SND_PART_LIMIT (UINT64_C(1) << 30)
#define SND_PART_PIECE (4u << 20)

/* Appends the part. `sites` and `nodes` are what the profile's became in the sum. A source is in it only where the sum
 * has another text for that file. */
void snd_part_encode(const snd_profile *profile, const snd_merger *merger, const uint32_t *sites, const uint32_t *nodes,
                     snd_buffer *out);

/* What a part is read with. */
typedef struct snd_part_reading {
    const snd_profile *sum;
    uint32_t process;
    const snd_metric *metrics; /* by their number in the recording; SND_METRIC_COUNT_OF: one that we do not know */
    uint32_t metric_count;
} snd_part_reading;

/* The process's own profile, as it was before it was merged, but for sources that are the sum's. `*nodes`, if wanted,
 * says which nodes of the sum its nodes became. The caller owns both. SND_DAMAGED when the bytes are not what encode
 * writes for this sum. */
SND_MUST_USE snd_status snd_part_decode(const snd_part_reading *with, const void *data, size_t size, snd_profile **out,
                                        uint32_t **nodes);

#endif
