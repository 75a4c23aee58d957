/* Which C functions rows of samples were in. */
#include "view/sampled/callees.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define NAMED 3u         /* in one cell */
#define LEAST_SHARE 0.05 /* in per cent: less is shown as nothing */

const char *
snd_callee_of(const snd_profile_site *site)
{
    return site->kind == SND_SITE_LINE && *site->detail != '\0' ? site->detail : NULL;
}

uint64_t
snd_callees_by_function(const snd_samples *samples, uint32_t node)
{
    uint32_t function = snd_samples_function_of(samples, node);
    return function == SND_NONE ? UINT64_MAX : function;
}

/* Files are told apart by their text: two may have the same. */
uint64_t
snd_callees_line(const char *file, uint32_t line)
{
    return snd_hash(file, strlen(file), line) >> 1;
}

uint64_t
snd_callees_by_line(const snd_samples *samples, uint32_t node)
{
    const snd_profile *profile = samples->profile;
    uint32_t line = samples->charged[node];

    if (line == SND_NONE)
        return UINT64_MAX;
    const snd_profile_site *site = &profile->sites[profile->nodes[line].site];
    return snd_callees_line(site->file, site->line);
}

static int
compare_names(const void *a, const void *b)
{
    const snd_callee *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int
compare_times(const void *a, const void *b)
{
    const snd_callee *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void
merge(snd_callees *self)
{
    uint32_t count = 0;

    qsort(self->all, self->count, sizeof *self->all, compare_names);
    for (uint32_t i = 0; i < self->count; i++)
        if (count != 0 && compare_names(&self->all[count - 1], &self->all[i]) == 0)
            self->all[count - 1].time += self->all[i].time;
        else
            self->all[count++] = self->all[i];
    self->count = count;
    qsort(self->all, self->count, sizeof *self->all, compare_times);
}

void
snd_callees_make(const snd_samples *samples, snd_callees_row *row, snd_callees *out)
{
    const snd_profile *profile = samples->profile;
    snd_callees self = {samples, snd_new(profile->node_count, sizeof *self.all), 0};
    snd_samples_numbers numbers;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        const char *name = snd_callee_of(&profile->sites[profile->nodes[i].site]);
        if (name == NULL || samples->options->no_callees || !snd_samples_read(samples, i, &numbers))
            continue;
        self.all[self.count++] = (snd_callee){row(samples, i), name, snd_samples_ranked(samples, &numbers)};
    }
    if (self.count != 0)
        merge(&self);
    *out = self;
}

void
snd_callees_text(const snd_callees *self, uint64_t row, snd_buffer *out)
{
    uint32_t low = 0, high = self->count, named = 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->all[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < self->count && self->all[low].row == row && named < NAMED; low++, named++) {
        double share = snd_samples_share(self->samples, self->all[low].time);
        if (share < LEAST_SHARE)
            return;
        snd_buffer_printf(out, "%s%s() %.*f%%", named == 0 ? "" : ", ", self->all[low].name, share < 10, share);
    }
}
