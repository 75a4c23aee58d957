/* Nodes that no thread enters and leaves. */
#include "probe/attach.h"

#include "base/alloc.h"
#include "base/map.h"

#include <pthread.h>

/* Self time of a track's node that is not its own. */
typedef struct taken {
    const snd_track *track;
    uint32_t node;
    uint64_t ns;
} taken;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_attached *nodes;
static uint32_t node_count, node_capacity;
static snd_map node_map;
static taken *takes;
static uint32_t take_count, take_capacity;
static snd_map take_map;
static _Atomic uint64_t lost;

void
snd_attach_lock(void)
{
    pthread_mutex_lock(&lock);
}

void
snd_attach_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static int
is_same(const snd_attached *a, const snd_attached *b)
{
    return a->track == b->track && a->above == b->above && a->site == b->site &&
           a->is_below_attached == b->is_below_attached;
}

static uint32_t
find_or_make(snd_attached wanted)
{
    const uint64_t key[] = {(uintptr_t)wanted.track, (uint64_t)wanted.above << 32 | wanted.site,
                            wanted.is_below_attached};
    uint64_t hash = snd_hash(key, sizeof key, 0);
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(&node_map, hash, &cursor)) != SND_MAP_NONE)
        if (is_same(&nodes[found], &wanted)) {
            nodes[found].is_used = 1;
            return found;
        }
    wanted.is_used = 1;
    if (wanted.site == SND_NONE || node_count >= SND_ATTACH_LIMIT ||
        !snd_make_room(&nodes, node_count + 1, &node_capacity, sizeof wanted) ||
        snd_map_add(&node_map, hash, node_count) != SND_OK) {
        SND_ADD(lost, 1);
        return SND_NONE;
    }
    nodes[node_count] = wanted;
    return node_count++;
}

uint32_t
snd_attach_to(const snd_track *track, uint32_t node, uint32_t site)
{
    return find_or_make((snd_attached){.track = track, .above = node, .site = site});
}

uint32_t
snd_attach_below(uint32_t attached, uint32_t site)
{
    return find_or_make(
        (snd_attached){.track = nodes[attached].track, .above = attached, .site = site, .is_below_attached = 1});
}

snd_value *
snd_attach_value(uint32_t attached, snd_metric metric)
{
    snd_attached *self = &nodes[attached];

    for (uint32_t i = 0; i < self->value_count; i++)
        if (self->metrics[i] == metric)
            return &self->values[i];
    if (self->value_count == SND_ATTACH_VALUES)
        return NULL;
    self->metrics[self->value_count] = (unsigned char)metric;
    return &self->values[self->value_count++];
}

static taken *
find_take(const snd_track *track, uint32_t node, uint64_t *hash)
{
    const uint64_t key[] = {(uintptr_t)track, node};
    uint32_t cursor = 0, found;

    *hash = snd_hash(key, sizeof key, 0);
    while ((found = snd_map_next(&take_map, *hash, &cursor)) != SND_MAP_NONE)
        if (takes[found].track == track && takes[found].node == node)
            return &takes[found];
    return NULL;
}

void
snd_attach_take_self(const snd_track *track, uint32_t node, uint64_t ns)
{
    uint64_t hash;
    taken *known = find_take(track, node, &hash);

    if (known != NULL)
        known->ns += ns;
    else if (snd_make_room(&takes, take_count + 1, &take_capacity, sizeof *takes) &&
             snd_map_add(&take_map, hash, take_count) == SND_OK)
        takes[take_count++] = (taken){track, node, ns};
}

uint64_t
snd_attach_leave_self(const snd_track *track, uint32_t node, uint64_t ns)
{
    uint64_t hash;
    const taken *known = take_count == 0 ? NULL : find_take(track, node, &hash);

    if (known == NULL)
        return ns;
    return ns > known->ns ? ns - known->ns : 0;
}

uint32_t
snd_attach_count(void)
{
    return node_count;
}

const snd_attached *
snd_attach_get(uint32_t id)
{
    return &nodes[id];
}

uint64_t
snd_attach_lost(void)
{
    return SND_GET(lost);
}

void
snd_attach_reset(void)
{
    snd_attach_lock();
    for (uint32_t i = 0; i < node_count; i++) {
        nodes[i].is_used = 0;
        for (uint32_t k = 0; k < nodes[i].value_count; k++)
            nodes[i].values[k].whole = 0; /* of a real number, too */
    }
    for (uint32_t i = 0; i < take_count; i++)
        takes[i].ns = 0;
    SND_SET(lost, 0);
    snd_attach_unlock();
}
