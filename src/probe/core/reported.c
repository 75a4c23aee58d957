/* Nodes that no thread enters and leaves. */
#include "probe/core/reported.h"

#include "base/alloc.h"
#include "base/map.h"

#include "probe/core/snapshot.h"
#include <pthread.h>
#include <string.h>

/* Self time of a track's node that is not its own. */
typedef struct passed_on {
    const snd_track *track;
    uint32_t node;
    uint64_t ns;
} passed_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_reported *nodes;
static uint32_t node_count, node_capacity;
static snd_map node_map;
static passed_on *passed;
static uint32_t passed_count, passed_capacity;
static snd_map passed_map;
static _Atomic uint64_t lost;

void
snd_reported_lock(void)
{
    pthread_mutex_lock(&lock);
}

void
snd_reported_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static int
is_same(const snd_reported *a, const snd_reported *b)
{
    return a->track == b->track && a->above == b->above && a->site == b->site &&
           a->is_below_reported == b->is_below_reported;
}

static uint32_t
find_or_make(snd_reported wanted)
{
    const uint64_t key[] = {(uintptr_t)wanted.track, (uint64_t)wanted.above << 32 | wanted.site,
                            wanted.is_below_reported};
    uint64_t hash = snd_hash(key, sizeof key, 0);
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(&node_map, hash, &cursor)) != SND_MAP_NONE)
        if (is_same(&nodes[found], &wanted)) {
            nodes[found].is_used = 1;
            return found;
        }
    wanted.is_used = 1;
    if (wanted.site == SND_NONE || node_count >= SND_REPORTED_LIMIT ||
        !snd_make_room(&nodes, node_count + 1, &node_capacity, sizeof wanted) ||
        snd_map_add(&node_map, hash, node_count) != SND_OK) {
        SND_ADD(lost, 1);
        return SND_NONE;
    }
    nodes[node_count] = wanted;
    return node_count++;
}

uint32_t
snd_reported_to(const snd_track *track, uint32_t node, uint32_t site)
{
    return find_or_make((snd_reported){.track = track, .above = node, .site = site});
}

uint32_t
snd_reported_below(uint32_t reported, uint32_t site)
{
    return find_or_make(
        (snd_reported){.track = nodes[reported].track, .above = reported, .site = site, .is_below_reported = 1});
}

snd_value *
snd_reported_value(uint32_t reported, snd_metric metric)
{
    snd_reported *self = &nodes[reported];

    for (uint32_t i = 0; i < self->value_count; i++)
        if (self->metrics[i] == metric)
            return &self->values[i];
    if (self->value_count == SND_REPORTED_VALUES)
        return NULL;
    self->metrics[self->value_count] = (unsigned char)metric;
    return &self->values[self->value_count++];
}

static passed_on *
find_passed(const snd_track *track, uint32_t node, uint64_t *hash)
{
    const uint64_t key[] = {(uintptr_t)track, node};
    uint32_t cursor = 0, found;

    *hash = snd_hash(key, sizeof key, 0);
    while ((found = snd_map_next(&passed_map, *hash, &cursor)) != SND_MAP_NONE)
        if (passed[found].track == track && passed[found].node == node)
            return &passed[found];
    return NULL;
}

void
snd_reported_take_self(const snd_track *track, uint32_t node, uint64_t ns)
{
    uint64_t hash;
    passed_on *known = find_passed(track, node, &hash);

    if (known != NULL)
        known->ns += ns;
    else if (snd_make_room(&passed, passed_count + 1, &passed_capacity, sizeof *passed) &&
             snd_map_add(&passed_map, hash, passed_count) == SND_OK)
        passed[passed_count++] = (passed_on){track, node, ns};
}

uint64_t
snd_reported_leave_self(const snd_track *track, uint32_t node, uint64_t ns)
{
    uint64_t hash;
    const passed_on *known = passed_count == 0 ? NULL : find_passed(track, node, &hash);

    if (known == NULL)
        return ns;
    return ns > known->ns ? ns - known->ns : 0;
}

uint32_t
snd_reported_count(void)
{
    return node_count;
}

const snd_reported *
snd_reported_get(uint32_t id)
{
    return &nodes[id];
}

uint64_t
snd_reported_lost(void)
{
    return SND_GET(lost);
}

void
snd_reported_reset(void)
{
    snd_reported_lock();
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i].is_used = 0;
        for (uint32_t k = 0; k < nodes[i].value_count; k++)
            nodes[i].values[k].whole = 0; /* of a real number, too */
    }
    for (uint32_t i = 0; i < passed_count; i++)
        passed[i].ns = 0;
    SND_SET(lost, 0);
    snd_reported_unlock();
}

/* What it hangs below is in the profile, or its thread has not met the last reset yet: then there is nothing to tell.
 */
static snd_status
add_node(snd_snapshot *self, snd_profile *profile, uint32_t id)
{
    const snd_reported *node = snd_reported_get(id);
    uint32_t above =
        node->is_below_reported ? self->reported[node->above] : snd_snapshot_node(self, node->track, node->above);
    uint32_t site;

    if (above == SND_NONE)
        return SND_OK;
    snd_status status = snd_snapshot_add_site(self, profile, node->site, &site);
    if (status == SND_OK)
        status = snd_profile_add_node(profile, above, profile->nodes[above].track, site, &self->reported[id]);
    return status == SND_OK ? snd_snapshot_make_changed(self, profile) : status;
}

static snd_status
put_values(snd_snapshot *self, snd_profile *profile, uint32_t id)
{
    const snd_reported *node = snd_reported_get(id);
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < node->value_count && status == SND_OK; i++)
        status = snd_snapshot_put(self, profile, self->reported[id], (snd_metric)node->metrics[i], node->values[i]);
    return status;
}

snd_status
snd_snapshot_put_reported(snd_snapshot *self, snd_profile *profile)
{
    uint32_t count = snd_reported_count();
    int is_there = snd_make_longer(&self->reported, count, &self->reported_count, sizeof *self->reported, 0xff);
    snd_status status = is_there ? SND_OK : SND_NO_MEMORY;

    for (uint32_t i = 0; i < count && status == SND_OK; i++) {
        if (self->reported[i] == SND_NONE && snd_reported_get(i)->is_used)
            status = add_node(self, profile, i);
        if (status == SND_OK && self->reported[i] != SND_NONE)
            status = put_values(self, profile, i);
    }
    return status;
}
