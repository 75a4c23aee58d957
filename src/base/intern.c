/* Maps text to dense ids. */
#include "base/intern.h"

#include "base/alloc.h"
#include "base/map.h"

#include <string.h>

typedef struct entry {
    size_t len;
    char text[];
} entry;

struct snd_intern {
    snd_map ids;
    entry **entries;
    uint32_t count;
    uint32_t capacity;
};

static snd_status
make_room(snd_intern *self)
{
    int is_there = snd_make_room(&self->entries, self->count + 1, &self->capacity, sizeof *self->entries);
    return is_there ? SND_OK : SND_NO_MEMORY;
}

static entry *
new_entry(const char *text, size_t len)
{
    entry *self = snd_malloc(sizeof *self + len + 1);
    if (self == NULL)
        return NULL;
    self->len = len;
    memcpy(self->text, text, len);
    self->text[len] = '\0';
    return self;
}

snd_intern *
snd_intern_new(void)
{
    return snd_calloc(1, sizeof(snd_intern));
}

void
snd_intern_free(snd_intern *self)
{
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < self->count; i++)
        snd_free(self->entries[i]);
    snd_free(self->entries);
    snd_map_free(&self->ids);
    snd_free(self);
}

/* SND_MAP_NONE: it is not there. */
static uint32_t
find(const snd_intern *self, uint64_t key, const char *text, size_t len)
{
    uint32_t cursor = 0, found;

    while ((found = snd_map_next(&self->ids, key, &cursor)) != SND_MAP_NONE) {
        const entry *known = self->entries[found];
        if (known->len == len && memcmp(known->text, text, len) == 0)
            break;
    }
    return found;
}

const char *
snd_intern_find(const snd_intern *self, const char *text, size_t len)
{
    uint32_t found = find(self, snd_hash(text, len, 0), text, len);
    return found == SND_MAP_NONE ? NULL : self->entries[found]->text;
}

snd_status
snd_intern_add(snd_intern *self, const char *text, size_t len, uint32_t *id)
{
    uint64_t key = snd_hash(text, len, 0);
    uint32_t found = find(self, key, text, len);
    if (found != SND_MAP_NONE) {
        *id = found;
        return SND_OK;
    }
    snd_status status = make_room(self);
    if (status != SND_OK)
        return status;
    entry *added = new_entry(text, len);
    if (added == NULL)
        return SND_NO_MEMORY;
    status = snd_map_add(&self->ids, key, self->count);
    if (status != SND_OK) {
        snd_free(added);
        return status;
    }
    self->entries[self->count] = added;
    *id = self->count++;
    return SND_OK;
}

uint32_t
snd_intern_count(const snd_intern *self)
{
    return self->count;
}

const char *
snd_intern_text(const snd_intern *self, uint32_t id)
{
    return self->entries[id]->text;
}
