/* The view of functions: a row a function or builtin, all its calls on all threads. Without calls: what samples say. */
#include "view/call_table.h"
#include "view/sample_table.h"

/* Nodes may be left from an earlier measurement of the same process, without a call in this one. */
static int
has_calls(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_call(profile->sites[profile->nodes[i].site].kind) &&
            snd_profile_whole(profile, i, SND_METRIC_COUNT) != 0)
            return 1;
    return 0;
}

snd_status
snd_view_functions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_call_table self;

    if (snd_samples_exist(profile) && !has_calls(profile))
        return snd_view_sampled_functions(profile, options, out);
    snd_status status = snd_call_table_start(&self, profile, "functions", 0);
    for (uint32_t i = 0; i < self.calls.row_count && status == SND_OK; i++)
        if (self.calls.rows[i].function == i && snd_calls_is_used(&self.calls.rows[i].numbers))
            status = snd_call_table_add(&self, i);
    return snd_call_table_finish(&self, status, "self_ns", out);
}
