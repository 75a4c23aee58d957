#include "model/profile_memory.h"

#include "base/alloc.h"
#include "model/profile.h"

#include <string.h>

void
snd_profile_memory_free(snd_profile_memory *self)
{
    for (uint32_t i = 0; i < self->series_count; i++)
        snd_free(self->series[i].points);
    for (uint32_t i = 0; i < self->history_count; i++)
        snd_free(self->histories[i]);
    snd_free(self->histories);
    snd_free(self->sizes);
}

const snd_series *
snd_profile_series(const snd_profile *self, const char *name)
{
    for (uint32_t i = 0; i < self->memory.series_count; i++)
        if (strcmp(self->memory.series[i].name, name) == 0)
            return &self->memory.series[i];
    return NULL;
}

static snd_status
add_series(snd_profile *self, const char *name, const char *unit, uint32_t *place)
{
    snd_series added = {0};

    if (self->memory.series_count == SND_SERIES_LIMIT)
        return SND_TOO_LONG;
    snd_status status = snd_profile_keep_text(self, name, &added.name);
    if (status == SND_OK)
        status = snd_profile_keep_text(self, unit, &added.unit);
    if (status != SND_OK)
        return status;
    *place = self->memory.series_count++;
    self->memory.series[*place] = added;
    return SND_OK;
}

snd_status
snd_profile_set_series(snd_profile *self, const char *name, const char *unit, const snd_point *points, uint32_t count)
{
    const snd_series *known = snd_profile_series(self, name);
    uint32_t place = known == NULL ? 0 : (uint32_t)(known - self->memory.series);
    snd_point *copy = snd_malloc((count + 1u) * sizeof *copy);
    if (copy == NULL)
        return SND_NO_MEMORY;
    snd_status status = known == NULL ? add_series(self, name, unit, &place) : SND_OK;
    if (status != SND_OK) {
        snd_free(copy);
        return status;
    }
    if (count != 0)
        memcpy(copy, points, count * sizeof *copy);
    snd_free(self->memory.series[place].points);
    self->memory.series[place].points = copy;
    self->memory.series[place].count = count;
    return SND_OK;
}

snd_status
snd_profile_set_history(snd_profile *self, uint32_t node, const snd_history *history)
{
    snd_profile_memory *memory = &self->memory;
    if (!snd_make_longer(&memory->histories, self->node_count, &memory->history_count, sizeof *memory->histories, 0))
        return SND_NO_MEMORY;
    snd_history **place = &memory->histories[node];
    if (*place == NULL)
        *place = snd_malloc(sizeof **place);
    if (*place == NULL)
        return SND_NO_MEMORY;
    **place = *history;
    return SND_OK;
}

const snd_history *
snd_profile_history(const snd_profile *self, uint32_t node)
{
    return node < self->memory.history_count ? self->memory.histories[node] : NULL;
}

snd_status
snd_profile_set_sizes(snd_profile *self, const snd_block_size *sizes)
{
    if (self->memory.sizes == NULL)
        self->memory.sizes = snd_malloc(SND_BLOCK_SIZES * sizeof *sizes);
    if (self->memory.sizes == NULL)
        return SND_NO_MEMORY;
    memcpy(self->memory.sizes, sizes, SND_BLOCK_SIZES * sizeof *sizes);
    return SND_OK;
}

int
snd_profile_has_memory(const snd_profile *self)
{
    const char *probes = snd_profile_info(self, "probes");

    for (unsigned metric = SND_METRIC_ALLOC_PYTHON; metric < SND_METRIC_GPU; metric++)
        if (self->columns[metric] != NULL)
            return 1;
    return (probes != NULL && strstr(probes, "memory") != NULL) || snd_profile_series(self, "heap") != NULL;
}
