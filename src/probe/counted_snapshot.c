/* From what the system has counted to a profile. */
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
snd_snapshot_put_counted(snd_snapshot *self, snd_profile *profile, uint32_t node, const snd_counted_values *now)
{
    snd_status status = SND_OK;

    for (unsigned i = 0; i < SND_COUNTED_COUNT_OF && status == SND_OK; i++) {
        snd_metric metric = (snd_metric)((unsigned)SND_METRIC_PAGE_FAULTS + i);
        if ((now->known & 1u << i) != 0 || snd_profile_has(profile, node, metric))
            status = snd_snapshot_put(self, profile, node, metric, (snd_value){.whole = now->values[i]});
    }
    return status;
}

snd_status
snd_counted_add_info(snd_profile *profile)
{
    snd_buffer counted = {0}, missing = {0};

    snd_counted_describe(&counted, &missing);
    snd_status status = snd_buffer_status(&counted);
    if (status == SND_OK)
        status = snd_buffer_status(&missing);
    int is_asked = counted.size != 0 || missing.size != 0;
    if (status == SND_OK && is_asked)
        status = snd_profile_set_info(profile, "counters", snd_buffer_str(&counted));
    if (status == SND_OK && is_asked)
        status = snd_profile_set_info(profile, "counters_missing", snd_buffer_str(&missing));
    snd_buffer_free(&counted);
    snd_buffer_free(&missing);
    return status;
}
