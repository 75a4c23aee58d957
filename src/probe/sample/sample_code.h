/* Which line of which function a code address and an offset are: what is known of the code objects seen so far. */
#ifndef SND_PROBE_SAMPLE_CODE_H
#define SND_PROBE_SAMPLE_CODE_H

#include "base/map.h"
#include "probe/sample/sample_stack.h"

#define SND_SAMPLE_FILTER 1024u

/* All zero: nothing is known. Under the sampler's lock, but for the filter. */
typedef struct snd_sample_codes {
    struct snd_sample_entry *entries;
    uint32_t count, capacity;
    snd_map by_address;
    _Atomic uint64_t filter[SND_SAMPLE_FILTER]; /* a bit is set for every address that was ever known */
} snd_sample_codes;

typedef struct snd_sample_place {
    uint32_t site;         /* SND_NONE: nothing that should be shown */
    unsigned char is_call; /* the instruction calls something */
    unsigned char is_launcher;
    unsigned char is_importer;
    unsigned char is_known;
} snd_sample_place;

/* Reads the code when it is new. */
snd_sample_place snd_sample_place_of(snd_sample_codes *self, const snd_sample_interpreter *python,
                                     const snd_sample_frame *frame);

/* The site of the frame's line while it is in what it calls, which the site's detail names as the code does; SND_NONE:
 * the instruction calls nothing, or nothing with a name, or `site` is not that of the frame's line. */
uint32_t snd_sample_called_site(snd_sample_codes *self, const snd_sample_interpreter *python,
                                const snd_sample_frame *frame, uint32_t site);

/* The name of the module that the frame's instruction imports; NULL: none. Good until code is read, or gone. */
const char *snd_sample_imported(snd_sample_codes *self, const snd_sample_interpreter *python,
                                const snd_sample_frame *frame);

/* The code is gone: another one may come to its address. */
void snd_sample_codes_forget(snd_sample_codes *self, uintptr_t code);

static inline uint32_t
snd_sample_filter_bit(uintptr_t code)
{
    return (uint32_t)((uint64_t)code * 0x9E3779B97F4A7C15u >> 48) % (SND_SAMPLE_FILTER * 64);
}

/* 0: this code was never known. Needs no lock. */
static inline int
snd_sample_codes_may_know(const snd_sample_codes *self, uintptr_t code)
{
    uint32_t bit = snd_sample_filter_bit(code);
    return (SND_GET(self->filter[bit / 64]) >> bit % 64 & 1) != 0;
}

void snd_sample_codes_free(snd_sample_codes *self);

#endif
