/* Bytes as the part of a process in a merged recording, beside a sum that is always the same. */
#include "base/alloc.h"
#include "fuzz.h"
#include "seed.h"
#include "store/merge/parts.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static snd_merger *merger;
    static snd_metric metrics[SND_METRIC_COUNT_OF];
    snd_profile *profile = NULL;
    uint32_t *nodes = NULL;

    if (merger == NULL) {
        merger = seed_merger(NULL);
        for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
            metrics[i] = (snd_metric)i;
    }
    snd_part_reading with = {snd_merger_sum(merger), 0, metrics, SND_METRIC_COUNT_OF};
    snd_status status = snd_part_decode(&with, data, size, &profile, &nodes);
    MUST(status == SND_OK || status == SND_DAMAGED || status == SND_NO_MEMORY);
    MUST((status == SND_OK) == (profile != NULL));
    for (uint32_t i = 0; profile != NULL && i < profile->node_count; i++) {
        MUST(nodes[i] < with.sum->node_count && profile->nodes[i].site < profile->site_count);
        MUST(profile->nodes[i].parent == SND_NONE || profile->nodes[i].parent < i);
    }
    snd_profile_free(profile);
    snd_free(nodes);
    return 0;
}
