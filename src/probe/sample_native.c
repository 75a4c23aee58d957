/* Native code in samples. */
#include "probe/sample_native.h"

#include "base/alloc.h"
#include "os/symbols.h"

struct snd_sample_native {
    snd_symbols *symbols;
    snd_map sites; /* address to site */
};

snd_sample_native *
snd_sample_native_new(int with_frames)
{
    snd_sample_native *self = snd_calloc(1, sizeof *self);

    (void)with_frames;
    if (self != NULL && snd_symbols_new(&self->symbols) != SND_OK) {
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
    snd_symbols_free(self->symbols);
    snd_map_free(&self->sites);
    snd_free(self);
}

uint32_t
snd_sample_native_site(snd_sample_native *self, uintptr_t pc)
{
    uint32_t cursor = 0;
    uint32_t known = snd_map_next(&self->sites, pc, &cursor);
    snd_symbol symbol;

    if (known != SND_MAP_NONE)
        return known;
    if (snd_symbols_find(self->symbols, pc, &symbol) != SND_OK)
        return SND_NONE;
    uint32_t site = snd_site_add_placed(
        &(snd_profile_site){.kind = SND_SITE_NATIVE, .name = symbol.name, .file = symbol.library, .detail = ""});
    if (site != SND_NONE && snd_map_add(&self->sites, pc, site) != SND_OK)
        return site; /* without room it is looked up again */
    return site;
}
