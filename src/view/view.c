/* The list of views. */
#include "view/view.h"

#include "view/samples.h"

#include <string.h>

const snd_view snd_views[] = {
#define SND_VIEW_ENTRY(name, about) {#name, about, snd_view_##name},
    SND_VIEW_MAP(SND_VIEW_ENTRY)
#undef SND_VIEW_ENTRY
};
const unsigned snd_view_count = sizeof snd_views / sizeof snd_views[0];

const snd_view *
snd_view_find(const char *name)
{
    for (unsigned i = 0; i < snd_view_count; i++)
        if (strcmp(snd_views[i].name, name) == 0)
            return &snd_views[i];
    return NULL;
}

int
snd_view_needs_events(const snd_view *view, const snd_view_options *options)
{
    return view->make == snd_view_timeline || (view->make == snd_view_tree && options->by_time);
}

const snd_view *
snd_view_default(const snd_profile *profile)
{
    int has_regions = 0, has_calls = 0;

    if (snd_samples_exist(profile))
        return snd_view_find("lines");
    for (uint32_t i = 0; i < profile->node_count; i++) {
        snd_site_kind kind = profile->sites[profile->nodes[i].site].kind;
        has_regions |= kind == SND_SITE_REGION;
        has_calls |= snd_site_is_call(kind);
    }
    return snd_view_find(has_calls && !has_regions ? "functions" : "regions");
}
