/* The list of views. */
#include "view/core/view.h"

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
    return view->make == snd_view_timeline || view->make == snd_view_marks ||
           (view->make == snd_view_tree && options->by_time);
}

int
snd_view_needs_parts(const snd_view *view)
{
    return view->make == snd_view_ranks;
}

int
snd_view_needs_memory(const snd_view *view)
{
    static snd_status (*const views[])(const snd_profile *, const snd_view_options *, snd_table **) = {
        snd_view_memory, snd_view_leaks, snd_view_copies, snd_view_footprint, snd_view_owners, snd_view_sizes,
    };

    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        if (view->make == views[i])
            return 1;
    return 0;
}

const snd_view *
snd_view_default(const snd_profile *profile)
{
    int has_regions = snd_profile_has_kind(profile, SND_SITE_REGION);
    int has_calls = snd_profile_has_kind(profile, SND_SITE_FUNCTION) || snd_profile_has_kind(profile, SND_SITE_BUILTIN);
    int has_ops = snd_profile_has_kind(profile, SND_SITE_OP),
        has_graphs = snd_profile_has_kind(profile, SND_SITE_GRAPH);

    if (snd_profile_has_samples(profile))
        return snd_view_find("lines");
    if (has_graphs && !has_calls && !has_ops && !has_regions)
        return snd_view_find("graph");
    if (has_ops && !has_calls)
        return snd_view_find("ops");
    if (snd_profile_has_memory(profile) && !has_regions && !has_calls)
        return snd_view_find("memory");
    return snd_view_find(has_calls && !has_regions ? "functions" : "regions");
}
