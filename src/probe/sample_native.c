/* Native code in samples. */
#include "probe/sample_native.h"

#include "base/alloc.h"
#include "os/native.h"

struct snd_sample_native {
    snd_native *native;
    snd_map sites; /* address and turn to site */
};

snd_sample_native *
snd_sample_native_new(int with_callers)
{
    snd_sample_native *self = snd_calloc(1, sizeof *self);

    if (self != NULL && snd_native_new(with_callers ? NULL : "", &self->native) != SND_OK) {
        snd_free(self);
        return NULL;
    }
    return self;
}

void
snd_sample_native_free(snd_sample_native *self)
{
    if (self == NULL)
        return;
    snd_native_free(self->native);
    snd_map_free(&self->sites);
    snd_free(self);
}

void
snd_sample_native_rest(snd_sample_native *self)
{
    if (self != NULL)
        snd_native_rest(self->native);
}

const char *
snd_sample_native_why_not(const snd_sample_native *self)
{
    return snd_native_why_not(self->native);
}

static uint32_t
site_of(const snd_native_place *place)
{
    return snd_site_add_placed(&(snd_profile_site){
        .kind = SND_SITE_NATIVE, .name = place->function, .file = place->file, .line = place->line, .detail = ""});
}

/* All sites of an address stand under its key, the outermost function first. */
static void
learn(snd_sample_native *self, uintptr_t pc)
{
    snd_native_place places[SND_NATIVE_PLACES];
    size_t count = 0;

    if (snd_native_describe(self->native, pc, places, &count) != SND_OK)
        return;
    for (size_t i = count; i-- > 0;) {
        uint32_t site = site_of(&places[i]);
        if (site != SND_NONE && snd_map_add(&self->sites, pc, site) != SND_OK)
            return; /* it is looked up again */
    }
}

uint32_t
snd_sample_native_child(snd_sample_native *self, snd_sample_seen *seen, uint32_t parent, uintptr_t pc)
{
    uint32_t cursor = 0, node = parent;
    uint32_t site = snd_map_next(&self->sites, pc, &cursor);

    if (site == SND_MAP_NONE) {
        learn(self, pc);
        cursor = 0;
        site = snd_map_next(&self->sites, pc, &cursor);
    }
    for (; site != SND_MAP_NONE; site = snd_map_next(&self->sites, pc, &cursor))
        node = snd_sample_seen_child(seen, node, site);
    return node;
}

size_t
snd_sample_native_walk(snd_sample_native *self, const snd_sample_slot *slot, uint64_t *out, size_t limit)
{
    snd_stack_copy copy = {slot->native, slot->native_start, slot->native_size};
    snd_unwind_end end;

    return snd_native_unwind(self->native, &slot->registers, &copy, out, limit, &end);
}
