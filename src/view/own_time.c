#include "view/own_time.h"

#include "view/samples.h"

static uint64_t
in_functions(const snd_profile *profile)
{
    uint64_t ns = 0;
    snd_own own;

    snd_own_rules(&own, profile, &(snd_view_options){0});
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_site *site = &profile->sites[profile->nodes[i].site];
        if (site->kind == SND_SITE_FUNCTION && snd_own_has(&own, site->file))
            ns += snd_profile_whole(profile, i, SND_METRIC_SELF);
    }
    return ns;
}

snd_status
snd_own_time(const snd_profile *profile, uint64_t *ns)
{
    snd_samples samples;
    snd_samples_numbers numbers;

    *ns = 0;
    if (!snd_samples_exist(profile)) {
        *ns = in_functions(profile);
        return SND_OK;
    }
    snd_status status = snd_samples_make(profile, &(snd_view_options){0}, &samples);
    if (status != SND_OK)
        return status == SND_NO_DATA ? SND_OK : status;
    for (uint32_t i = 0; i < profile->node_count && !samples.own.has_none; i++)
        if (samples.charged[i] != SND_NONE && snd_samples_read(&samples, i, &numbers))
            *ns += snd_samples_time(&numbers);
    snd_samples_free(&samples);
    return SND_OK;
}
