/* The types that calls return, by site. They come to light after the site, and belong to one profile. */
#include "python/calls/call.h"
#include "python/module/describe.h"

#include "base/alloc.h"
#include "base/map.h"

#include <string.h>

#define TYPE_LIMIT 4 /* what comes beyond is "…" */

typedef struct entry {
    uint32_t site;
    uint32_t count;
    char *types[TYPE_LIMIT];
} entry;

struct snd_returns {
    snd_map by_site;
    entry *all;
    uint32_t count;
    uint32_t capacity;
};

void
snd_returns_free(snd_call_probe *probe)
{
    struct snd_returns *self = probe->returns;

    probe->returns = NULL;
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < self->count; i++)
        for (uint32_t t = 0; t < self->all[i].count; t++)
            snd_free(self->all[i].types[t]);
    snd_map_free(&self->by_site);
    snd_free(self->all);
    snd_free(self);
}

/* Made when it is new; NULL when memory runs out. */
static entry *
find(struct snd_returns *self, uint32_t site)
{
    uint32_t cursor = 0;
    uint32_t at = snd_map_next(&self->by_site, site, &cursor);

    if (at != SND_MAP_NONE)
        return &self->all[at];
    if (!snd_make_room(&self->all, self->count + 1, &self->capacity, sizeof *self->all) ||
        snd_map_add(&self->by_site, site, self->count) != SND_OK)
        return NULL;
    self->all[self->count] = (entry){.site = site};
    return &self->all[self->count++];
}

void
snd_returns_add(snd_call_probe *probe, uint32_t site, PyObject *value)
{
    snd_call_thread *thread = snd_call_mine;
    snd_description text = {0};

    thread->is_muted++;
    snd_describe(value, &text); /* a library's code may run: another thread may come in between */
    thread->is_muted--;
    snd_description_end(&text, "…");
    if (probe->returns == NULL)
        probe->returns = snd_calloc(1, sizeof *probe->returns);
    entry *found = probe->returns == NULL ? NULL : find(probe->returns, site);
    if (found == NULL)
        return;
    for (uint32_t i = 0; i < found->count; i++)
        if (strcmp(found->types[i], text.text) == 0)
            return;
    char *kept = found->count == TYPE_LIMIT ? NULL : snd_strdup(text.text);
    if (kept != NULL)
        found->types[found->count++] = kept;
}

snd_status
snd_returns_show(const snd_call_probe *probe, const snd_snapshot *snapshot, snd_profile *profile)
{
    const struct snd_returns *self = probe->returns;
    snd_status status = SND_OK;

    for (uint32_t i = 0; self != NULL && i < self->count && status == SND_OK; i++) {
        uint32_t site = snd_snapshot_site(snapshot, self->all[i].site);
        snd_description text = {0};
        if (site == SND_NONE || *profile->sites[site].detail == '\0')
            continue;
        snd_description_text(&text, profile->sites[site].detail);
        for (uint32_t t = 0; t < self->all[i].count; t++) {
            snd_description_text(&text, t == 0 ? " -> " : "|");
            snd_description_text(&text, self->all[i].types[t]);
        }
        if (self->all[i].count == TYPE_LIMIT)
            snd_description_text(&text, "|…");
        snd_description_end(&text, "…");
        status = snd_profile_set_detail(profile, site, text.text);
    }
    return status;
}
