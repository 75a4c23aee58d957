/* The list of views. */
#include "view/view.h"

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
