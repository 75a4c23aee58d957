/* What is known of the code objects seen so far. */
#include "probe/sample/sample_code.h"

#include "base/alloc.h"
#include "probe/core/site.h"

#include <string.h>

typedef struct snd_sample_entry {
    uintptr_t address; /* 0: the code that was there is gone */
    snd_sample_code code;
    uint32_t *sites; /* per unit: the site's number + 1; 0: not asked for yet. Then again, of what it calls */
} entry;

void
snd_sample_code_free(snd_sample_code *self)
{
    snd_free(self->name);
    snd_free(self->file);
    snd_free(self->lines);
    snd_free(self->is_call);
    snd_free(self->callees);
    snd_free(self->callee_texts);
}

static void
empty(entry *self)
{
    snd_sample_code_free(&self->code);
    snd_free(self->sites);
    *self = (entry){0};
}

/* The entry at this address; with `*free` one whose code is gone, to be used again. */
static entry *
find(const snd_sample_codes *self, uintptr_t address, entry **free)
{
    uint32_t cursor = 0, index;

    while ((index = snd_map_next(&self->by_address, address, &cursor)) != SND_MAP_NONE) {
        if (self->entries[index].address == address)
            return &self->entries[index];
        *free = &self->entries[index];
    }
    return NULL;
}

static entry *
make_room(snd_sample_codes *self, uintptr_t address)
{
    if (!snd_make_room(&self->entries, self->count + 1, &self->capacity, sizeof *self->entries) ||
        snd_map_add(&self->by_address, address, self->count) != SND_OK)
        return NULL;
    self->entries[self->count] = (entry){0};
    return &self->entries[self->count++];
}

/* The filter is set before the code is read: whoever frees the code meanwhile sees that, and waits. */
static entry *
find_or_read(snd_sample_codes *self, const snd_sample_interpreter *python, const snd_sample_frame *frame)
{
    uintptr_t address = frame->code;
    entry *place = NULL;
    entry *known = find(self, address, &place);
    snd_sample_code code;

    if (known != NULL && frame->is_foreign && python->mark_code(address) != known->code.mark) {
        empty(known);
        place = known;
        known = NULL;
    }
    if (known != NULL)
        return known;
    uint32_t bit = snd_sample_filter_bit(address);
    atomic_fetch_or(&self->filter[bit / 64], (uint64_t)1 << bit % 64);
    if (!python->read_code(address, &code))
        return NULL;
    uint32_t *sites = snd_calloc((code.unit_count + (size_t)1) * 2, sizeof *sites);
    if (place == NULL && sites != NULL)
        place = make_room(self, address);
    entry made = {address, code, sites};
    if (place == NULL || sites == NULL) {
        empty(&made);
        return NULL;
    }
    *place = made;
    return place;
}

/* `callee`: what the line calls, or NULL. SND_NONE when memory runs out. */
static uint32_t
site_at(entry *self, uint32_t unit, const char *callee)
{
    uint32_t line = unit < self->code.unit_count ? self->code.lines[unit] : 0;
    uint32_t *known = &self->sites[unit + (callee == NULL ? 0 : self->code.unit_count + 1)];

    if (*known != 0)
        return *known - 1;
    uint32_t site = snd_site_add_placed(&(snd_profile_site){
        .kind = SND_SITE_LINE,
        .name = self->code.name,
        .file = self->code.file,
        .line = line == 0 ? self->code.first_line : line,
        .detail = callee == NULL ? "" : callee,
        .first_line = self->code.first_line,
    });
    if (site != SND_NONE)
        *known = site + 1;
    return site;
}

snd_sample_place
snd_sample_place_of(snd_sample_codes *self, const snd_sample_interpreter *python, const snd_sample_frame *frame)
{
    entry *known = find_or_read(self, python, frame);
    if (known == NULL)
        return (snd_sample_place){.site = SND_NONE};
    /* beyond its last unit: the interpreter is between two instructions, or has not begun */
    uint32_t unit = frame->offset < 0 ? 0 : (uint32_t)frame->offset / 2;
    if (unit > known->code.unit_count)
        unit = known->code.unit_count;
    snd_sample_place place = {
        .site = SND_NONE,
        .is_known = 1,
        .is_importer = (unsigned char)known->code.is_importer,
        .is_launcher = known->code.is_ours == SND_SAMPLE_LAUNCHER,
        .is_call = unit < known->code.unit_count && known->code.is_call[unit] == SND_SAMPLE_CALL,
    };
    if (known->code.is_ours != 0)
        return place;
    place.site = site_at(known, unit, NULL);
    if (place.site == SND_NONE) /* memory ran out */
        place = (snd_sample_place){.site = SND_NONE};
    return place;
}

/* What the frame's instruction calls or else imports; NULL: it does not, or there is no name. */
static const char *
name_at(const entry *known, uint32_t unit, int is_called)
{
    if (known == NULL || unit >= known->code.unit_count || known->code.callees == NULL ||
        known->code.callees[unit] == 0 || (known->code.is_call[unit] != 0) != is_called)
        return NULL;
    return known->code.callee_texts + known->code.callees[unit];
}

static uint32_t
unit_of(const snd_sample_frame *frame)
{
    return frame->offset < 0 ? UINT32_MAX : (uint32_t)frame->offset / 2;
}

uint32_t
snd_sample_called_site(snd_sample_codes *self, const snd_sample_interpreter *python, const snd_sample_frame *frame,
                       uint32_t site)
{
    entry *known = find_or_read(self, python, frame);
    uint32_t unit = unit_of(frame);
    const char *name = name_at(known, unit, 1);

    return name == NULL || known->sites[unit] != site + 1 ? SND_NONE : site_at(known, unit, name);
}

const char *
snd_sample_imported(snd_sample_codes *self, const snd_sample_interpreter *python, const snd_sample_frame *frame)
{
    return name_at(find_or_read(self, python, frame), unit_of(frame), 0);
}

void
snd_sample_codes_forget(snd_sample_codes *self, uintptr_t code)
{
    entry *ignored = NULL;
    entry *known = find(self, code, &ignored);
    if (known != NULL)
        empty(known);
}

void
snd_sample_codes_free(snd_sample_codes *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        empty(&self->entries[i]);
    snd_free(self->entries);
    snd_map_free(&self->by_address);
    self->entries = NULL;
    self->count = self->capacity = 0;
    for (unsigned i = 0; i < SND_SAMPLE_FILTER; i++)
        SND_SET(self->filter[i], 0);
}
