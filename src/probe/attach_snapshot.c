/* From the attached nodes to a profile. */
#include "base/alloc.h"
#include "probe/attach.h"
#include "probe/snapshot_private.h"

#include <string.h>

static snd_status
make_room(snd_snapshot *self, uint32_t count)
{
    if (count <= self->attached_count)
        return SND_OK;
    uint32_t *attached = snd_realloc(self->attached, count * sizeof *attached);
    if (attached == NULL)
        return SND_NO_MEMORY;
    memset(attached + self->attached_count, 0xff, (count - self->attached_count) * sizeof *attached);
    self->attached = attached;
    self->attached_count = count;
    return SND_OK;
}

/* What it hangs below is in the profile, or its thread has not met the last reset yet: then there is nothing to tell.
 */
static snd_status
add_node(snd_snapshot *self, snd_profile *profile, uint32_t id)
{
    const snd_attached *node = snd_attach_get(id);
    uint32_t above =
        node->is_below_attached ? self->attached[node->above] : snd_snapshot_node(self, node->track, node->above);
    uint32_t site;

    if (above == SND_NONE)
        return SND_OK;
    snd_status status = snd_snapshot_add_site(self, profile, node->site, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, above, profile->nodes[above].track, site, &self->attached[id]);
    return status == SND_OK ? snd_snapshot_make_changed(self, profile) : status;
}

static snd_status
put_values(snd_snapshot *self, snd_profile *profile, uint32_t id)
{
    const snd_attached *node = snd_attach_get(id);
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < node->value_count && status == SND_OK; i++)
        status = snd_snapshot_put(self, profile, self->attached[id], (snd_metric)node->metrics[i], node->values[i]);
    return status;
}

snd_status
snd_snapshot_put_attached(snd_snapshot *self, snd_profile *profile)
{
    uint32_t count = snd_attach_count();
    snd_status status = make_room(self, count);

    for (uint32_t i = 0; i < count && status == SND_OK; i++) {
        if (self->attached[i] == SND_NONE && snd_attach_get(i)->is_used)
            status = add_node(self, profile, i);
        if (status == SND_OK && self->attached[i] != SND_NONE)
            status = put_values(self, profile, i);
    }
    return status;
}
