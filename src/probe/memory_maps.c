/* Mappings of the program's own. They may be given back in pieces. */
#include "base/alloc.h"
#include "probe/memory_private.h"

/* A piece of the mapping is gone. */
static void
give_back(const snd_memory_map *map, size_t size, uint64_t now_ns)
{
    snd_memory_kept piece = map->kept;

    piece.size = piece.weight = size;
    snd_memory_remove_block(&piece, now_ns);
}

int
snd_memory_maps_add(snd_memory_maps *self, uintptr_t start, const snd_memory_kept *kept)
{
    if (!snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        return 0;
    self->list[self->count++] = (snd_memory_map){start, start + kept->size, *kept};
    return 1;
}

/* Cuts [start, end) out of one mapping, of which up to two pieces are left. */
static void
cut(snd_memory_maps *self, uint32_t place, uintptr_t start, uintptr_t end, uint64_t now_ns)
{
    snd_memory_map *map = &self->list[place];
    uintptr_t from = start > map->start ? start : map->start, to = end < map->end ? end : map->end;
    snd_memory_map rest = {to, map->end, map->kept};

    give_back(map, to - from, now_ns);
    map->end = from;
    if (map->start == map->end)
        *map = self->list[--self->count];
    if (rest.start < rest.end && snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        self->list[self->count++] = rest;
}

int
snd_memory_maps_cut(snd_memory_maps *self, uintptr_t start, size_t size, uint64_t now_ns)
{
    int any = 0;

    for (uint32_t i = self->count; i-- > 0;)
        if (start < self->list[i].end && start + size > self->list[i].start) {
            cut(self, i, start, start + size, now_ns);
            any = 1;
        }
    return any;
}

void
snd_memory_maps_free(snd_memory_maps *self)
{
    snd_free(self->list);
    *self = (snd_memory_maps){0};
}
