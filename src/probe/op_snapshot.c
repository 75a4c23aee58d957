/* From the operators' facts to a profile. */
#include "probe/op.h"
#include "probe/snapshot_private.h"

static snd_status
put_wholes(snd_snapshot *self, snd_profile *profile, uint32_t node, const snd_op_facts *facts, uint64_t count)
{
    const struct {
        snd_metric metric;
        uint64_t value;
    } wholes[] = {
        {SND_METRIC_OP_READ, facts->read_bytes * count},
        {SND_METRIC_OP_WRITTEN, facts->written_bytes * count},
        {SND_METRIC_OP_COPIES, facts->copies * count},
        {SND_METRIC_OP_CASTS, facts->casts * count},
    };
    snd_status status = SND_OK;
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0] && status == SND_OK; i++)
        status = snd_snapshot_put(self, profile, node, wholes[i].metric, (snd_value){.whole = wholes[i].value});
    return status;
}

snd_status
snd_snapshot_put_op(snd_snapshot *self, snd_profile *profile, uint32_t site, uint32_t node, uint64_t count)
{
    snd_op_facts facts;

    if (profile->sites[profile->nodes[node].site].kind != SND_SITE_OP || !snd_op_facts_of(site, &facts))
        return SND_OK;
    snd_status status = put_wholes(self, profile, node, &facts, count);
    if (status == SND_OK && facts.flops > 0) /* without a formula it is not there */
        status = snd_snapshot_put(self, profile, node, SND_METRIC_OP_FLOPS,
                                  (snd_value){.real = facts.flops * (double)count});
    return status;
}
