/* The sites of the process. */
#include "probe/core/site.h"

#include "base/alloc.h"
#include "base/blocks.h"
#include "base/map.h"
#include "os/process.h"

#include <pthread.h>
#include <string.h>

#define BLOCKS 15

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snd_profile_site *blocks[BLOCKS];
static _Atomic uint32_t count;
static snd_map by_name;
static _Atomic uint64_t lost;

static snd_profile_site *
slot_of(uint32_t id)
{
    uint32_t offset, block = snd_block_of(id, &offset);
    return &blocks[block][offset];
}

/* What two sites must share to be one. */
static int
is_same(const snd_profile_site *site, const snd_profile_site *wanted, size_t len)
{
    if (site->kind != wanted->kind || strncmp(site->name, wanted->name, len) != 0 || site->name[len] != '\0')
        return 0;
    return !snd_site_is_placed(site->kind) ||
           (site->line == wanted->line && site->first_line == wanted->first_line && site->twin == wanted->twin &&
            strcmp(site->file, wanted->file) == 0 && strcmp(site->detail, wanted->detail) == 0);
}

static uint32_t
find(uint64_t key, const snd_profile_site *wanted, size_t len)
{
    uint32_t cursor = 0;
    uint32_t id;

    while ((id = snd_map_next(&by_name, key, &cursor)) != SND_MAP_NONE)
        if (is_same(slot_of(id), wanted, len))
            return id;
    return SND_NONE;
}

static int
make_room(uint32_t id)
{
    if (id >= SND_SITE_LIMIT)
        return 0;
    uint32_t offset, block = snd_block_of(id, &offset);
    if (blocks[block] == NULL)
        blocks[block] = snd_calloc(snd_block_room(block), sizeof(snd_profile_site));
    return blocks[block] != NULL;
}

static uint32_t
add(uint64_t key, const snd_profile_site *site, size_t len)
{
    uint32_t id = SND_GET(count);
    if (!make_room(id))
        return SND_NONE;
    char *name = snd_malloc(len + 1);
    char *file = snd_strdup(site->file);
    char *detail = snd_strdup(site->detail);
    if (name == NULL || file == NULL || detail == NULL || snd_map_add(&by_name, key, id) != SND_OK) {
        snd_free(name);
        snd_free(file);
        snd_free(detail);
        return SND_NONE;
    }
    memcpy(name, site->name, len);
    name[len] = '\0';
    *slot_of(id) = (snd_profile_site){site->kind, name, file, site->line, detail, site->twin, site->first_line};
    atomic_store_explicit(&count, id + 1, memory_order_release);
    return id;
}

static uint32_t
find_or_add(uint64_t key, const snd_profile_site *site, size_t len)
{
    pthread_mutex_lock(&lock);
    uint32_t id = find(key, site, len);
    if (id == SND_NONE)
        id = add(key, site, len);
    if (id == SND_NONE)
        SND_ADD(lost, 1);
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t
snd_site_add(snd_site_kind kind, const char *name, size_t len, const char *file, uint32_t line)
{
    char *plain = snd_path_plain(file);
    snd_profile_site site = {kind, name, plain == NULL ? file : plain, line, "", 0, 0};
    uint32_t id = find_or_add(snd_hash(name, len, kind), &site, len);

    snd_free(plain);
    return id;
}

static uint32_t
add_placed(const snd_profile_site *site)
{
    size_t len = strlen(site->name);
    uint64_t key = snd_hash(site->name, len, (uint64_t)site->kind << 32 | (site->line ^ site->twin << 24));
    key = snd_hash(site->file, strlen(site->file), key);
    return find_or_add(snd_hash(site->detail, strlen(site->detail), key), site, len);
}

uint32_t
snd_site_add_placed(const snd_profile_site *site)
{
    snd_profile_site named = *site;
    char *plain = snd_path_plain(site->file);

    if (plain != NULL)
        named.file = plain;
    uint32_t id = add_placed(&named);
    snd_free(plain);
    return id;
}

uint32_t
snd_site_find(snd_site_kind kind, const char *name, size_t len)
{
    snd_profile_site site = {kind, name, "", 0, "", 0, 0};
    pthread_mutex_lock(&lock);
    uint32_t id = find(snd_hash(name, len, kind), &site, len);
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

snd_site_kind
snd_site_kind_get(uint32_t id)
{
    while (id >= snd_site_count()) /* the number was handed on faster than the site itself */
        ;
    return slot_of(id)->kind;
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
