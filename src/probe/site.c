/* The sites of the process. */
#include "probe/site.h"

#include "base/alloc.h"
#include "base/map.h"

#include <pthread.h>
#include <string.h>

/* Blocks of doubling size, so that a site never moves: block b holds 64 << b sites. */
#define FIRST_BLOCK 64u
#define BLOCKS 15

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_profile_site *blocks[BLOCKS];
static _Atomic uint32_t count;
static snd_map by_name;
static _Atomic uint64_t lost;

static snd_profile_site *
slot_of(uint32_t id)
{
    uint32_t block = 31u - (uint32_t)__builtin_clz(id / FIRST_BLOCK + 1);
    return &blocks[block][id - FIRST_BLOCK * ((1u << block) - 1)];
}

static uint32_t
find(uint64_t key, snd_site_kind kind, const char *name, size_t len)
{
    uint32_t cursor = 0;
    uint32_t id;

    while ((id = snd_map_next(&by_name, key, &cursor)) != SND_MAP_NONE) {
        const snd_profile_site *site = slot_of(id);
        if (site->kind == kind && strncmp(site->name, name, len) == 0 && site->name[len] == '\0')
            return id;
    }
    return SND_NONE;
}

static int
make_room(uint32_t id)
{
    if (id >= SND_SITE_LIMIT)
        return 0;
    uint32_t block = 31u - (uint32_t)__builtin_clz(id / FIRST_BLOCK + 1);
    if (blocks[block] == NULL)
        blocks[block] = snd_calloc((size_t)FIRST_BLOCK << block, sizeof(snd_profile_site));
    return blocks[block] != NULL;
}

static uint32_t
add(uint64_t key, snd_profile_site site, size_t len)
{
    uint32_t id = SND_GET(count);
    if (!make_room(id))
        return SND_NONE;
    char *name = snd_malloc(len + 1);
    char *file = snd_strdup(site.file);
    if (name == NULL || file == NULL || snd_map_add(&by_name, key, id) != SND_OK) {
        snd_free(name);
        snd_free(file);
        return SND_NONE;
    }
    memcpy(name, site.name, len);
    name[len] = '\0';
    *slot_of(id) = (snd_profile_site){site.kind, name, file, site.line};
    atomic_store_explicit(&count, id + 1, memory_order_release);
    return id;
}

uint32_t
snd_site_add(snd_site_kind kind, const char *name, size_t len, const char *file, uint32_t line)
{
    uint64_t key = snd_hash(name, len, kind);

    pthread_mutex_lock(&lock);
    uint32_t id = find(key, kind, name, len);
    if (id == SND_NONE)
        id = add(key, (snd_profile_site){kind, name, file, line}, len);
    if (id == SND_NONE)
        SND_ADD(lost, 1);
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t
snd_site_find(snd_site_kind kind, const char *name, size_t len)
{
    pthread_mutex_lock(&lock);
    uint32_t id = find(snd_hash(name, len, kind), kind, name, len);
    pthread_mutex_unlock(&lock);
    return id;
}

void
snd_site_reset_lost(void)
{
    SND_SET(lost, 0);
}

uint64_t
snd_site_lost(void)
{
    return SND_GET(lost);
}

uint32_t
snd_site_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

snd_profile_site
snd_site_get(uint32_t id)
{
    return *slot_of(id);
}

void
snd_site_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void
snd_site_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}
