/* Counters of regions, from live tracks to a profile. */
#include "probe/snapshot_private.h"

snd_counted_values
snd_snapshot_read_counted(const snd_track *live, const snd_node *node)
{
    const snd_counted_sums *sums = snd_node_counted(live, node);
    snd_counted_values now = {0};

    if (sums == NULL)
        return now;
    now.known = SND_GET(sums->known);
    for (unsigned i = 0; i < SND_COUNTED_COUNT_OF; i++)
        now.values[i] = SND_GET(sums->values[i]);
    return now;
}

snd_status
snd_snapshot_put_counted(snd_snapshot *self, snd_profile *profile, uint32_t id, const snd_counted_values *now)
{
    snd_status status = SND_OK;

    for (unsigned i = 0; i < SND_COUNTED_COUNT_OF && status == SND_OK; i++) {
        snd_metric metric = (snd_metric)((unsigned)SND_METRIC_PAGE_FAULTS + i);
        if ((now->known & 1u << i) != 0 || snd_profile_has(profile, id, metric))
            status = snd_snapshot_put(self, profile, id, metric, (snd_value){.whole = now->values[i]});
    }
    return status;
}
