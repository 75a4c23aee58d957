/* The model in memory. */
#include "model/profile.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
#define SND_SITE_KIND_NAME(id, name) name,
    SND_SITE_KIND_MAP(SND_SITE_KIND_NAME)
#undef SND_SITE_KIND_NAME
};

const char *
snd_site_kind_name(snd_site_kind kind)
{
    return kind_names[kind];
}

int
snd_site_is_import(const snd_profile_site *site)
{
    return site->kind == SND_SITE_OTHER && strncmp(site->name, SND_SITE_IMPORT, sizeof SND_SITE_IMPORT - 1) == 0;
}

int
snd_site_is_code(const snd_profile_site *site)
{
    static const char pyx[] = ".pyx";

    if (site->kind != SND_SITE_NATIVE || site->line == 0 || site->file[0] != '/')
        return site->kind == SND_SITE_LINE;
    size_t len = strlen(site->file), end = sizeof pyx - 1;
    return len > end && strcmp(site->file + len - end, pyx) == 0;
}

snd_site_kind
snd_site_kind_find(const char *name)
{
    for (unsigned i = 0; i < SND_SITE_KIND_COUNT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (snd_site_kind)i;
    return SND_SITE_KIND_COUNT;
}

/* Room for one more element in an array. */
static snd_status
make_room(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    return snd_make_room(array, count + 1, capacity, size) ? SND_OK : SND_NO_MEMORY;
}

snd_status
snd_profile_keep_text(snd_profile *self, const char *text, const char **kept)
{
    uint32_t id;
    snd_status status = snd_intern_add(self->texts, text, strlen(text), &id);
    if (status == SND_OK)
        *kept = snd_intern_text(self->texts, id);
    return status;
}

snd_profile *
snd_profile_new(void)
{
    snd_profile *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->texts = snd_intern_new();
    if (self->texts == NULL) {
        snd_free(self);
        return NULL;
    }
    return self;
}

static void
free_memory(snd_profile_memory *self)
{
    for (uint32_t i = 0; i < self->series_count; i++)
        snd_free(self->series[i].points);
    for (uint32_t i = 0; i < self->history_count; i++)
        snd_free(self->histories[i]);
    snd_free(self->histories);
    snd_free(self->sizes);
}

void
snd_profile_free(snd_profile *self)
{
    if (self == NULL)
        return;
    for (uint32_t i = 0; self->histograms != NULL && i < self->node_count; i++)
        snd_free(self->histograms[i]);
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF; i++)
        snd_free(self->columns[i]);
    for (uint32_t i = 0; i < self->info_count; i++)
        snd_free(self->infos[i].value);
    for (uint32_t i = 0; i < self->source_count; i++)
        snd_free(self->sources[i].text);
    for (uint32_t i = 0; self->parts != NULL && i < self->process_count; i++)
        snd_free(self->parts[i].entries);
    snd_free(self->parts);
    snd_free(self->processes);
    snd_free(self->sources);
    free_memory(&self->memory);
    snd_free(self->events);
    snd_free(self->histograms);
    snd_free(self->sites);
    snd_free(self->tracks);
    snd_free(self->nodes);
    snd_free(self->infos);
    snd_map_free(&self->info_places);
    snd_intern_free(self->texts);
    snd_free(self);
}

snd_status
snd_profile_add_site(snd_profile *self, const snd_profile_site *site, uint32_t *id)
{
    snd_profile_site kept = *site;
    snd_status status = make_room(&self->sites, self->site_count, &self->site_capacity, sizeof kept);
    if (status == SND_OK)
        status = snd_profile_keep_text(self, site->name, &kept.name);
    if (status == SND_OK)
        status = snd_profile_keep_text(self, site->file, &kept.file);
    if (status == SND_OK)
        status = snd_profile_keep_text(self, site->detail, &kept.detail);
    if (status != SND_OK)
        return status;
    self->sites[self->site_count] = kept;
    *id = self->site_count++;
    return SND_OK;
}

snd_status
snd_profile_set_detail(snd_profile *self, uint32_t site, const char *detail)
{
    const char *kept;
    snd_status status = snd_profile_keep_text(self, detail, &kept);
    if (status == SND_OK)
        self->sites[site].detail = kept;
    return status;
}

snd_status
snd_profile_set_track(snd_profile *self, uint32_t id, const snd_profile_track *track)
{
    snd_profile_track kept = *track;
    snd_status status = snd_profile_keep_text(self, track->name, &kept.name);
    if (status == SND_OK)
        self->tracks[id] = kept;
    return status;
}

snd_status
snd_profile_add_track(snd_profile *self, const snd_profile_track *track, uint32_t *id)
{
    snd_status status = make_room(&self->tracks, self->track_count, &self->track_capacity, sizeof *track);
    if (status == SND_OK)
        status = snd_profile_set_track(self, self->track_count, track);
    if (status == SND_OK)
        *id = self->track_count++;
    return status;
}

/* All arrays that run beside `nodes` grow before it does, so that a failure leaves no trace. */
static snd_status
make_node_room(snd_profile *self)
{
    if (self->node_count < self->node_capacity)
        return SND_OK;
    uint32_t capacity;
    snd_status status = SND_OK;
    for (unsigned i = 0; i < SND_METRIC_COUNT_OF && status == SND_OK; i++) {
        capacity = self->node_capacity;
        if (self->columns[i] != NULL)
            status = make_room(&self->columns[i], self->node_count, &capacity, sizeof(snd_value));
    }
    capacity = self->node_capacity;
    if (status == SND_OK && self->histograms != NULL)
        status = make_room(&self->histograms, self->node_count, &capacity, sizeof(uint64_t *));
    if (status == SND_OK)
        status = make_room(&self->nodes, self->node_count, &self->node_capacity, sizeof *self->nodes);
    return status;
}

snd_status
snd_profile_add_node(snd_profile *self, uint32_t parent, uint32_t track, uint32_t site, uint32_t *id)
{
    snd_status status = make_node_room(self);
    if (status != SND_OK)
        return status;
    uint32_t node = self->node_count++;
    self->nodes[node] = (snd_profile_node){parent, track, site, 0};
    if (self->histograms != NULL)
        self->histograms[node] = NULL;
    *id = node;
    return SND_OK;
}

snd_status
snd_profile_set(snd_profile *self, uint32_t node, snd_metric metric, snd_value value)
{
    if (self->columns[metric] == NULL) {
        self->columns[metric] = snd_malloc(self->node_capacity * sizeof(snd_value));
        if (self->columns[metric] == NULL)
            return SND_NO_MEMORY;
    }
    self->columns[metric][node] = value;
    self->nodes[node].present |= SND_METRIC_BIT(metric);
    return SND_OK;
}

snd_status
snd_profile_set_histogram(snd_profile *self, uint32_t node, const uint64_t *counts)
{
    size_t size = SND_HISTOGRAM_BUCKETS * sizeof *counts;

    if (self->histograms == NULL) {
        self->histograms = snd_calloc(self->node_capacity, sizeof *self->histograms);
        if (self->histograms == NULL)
            return SND_NO_MEMORY;
    }
    if (self->histograms[node] == NULL) {
        self->histograms[node] = snd_malloc(size);
        if (self->histograms[node] == NULL)
            return SND_NO_MEMORY;
    }
    memcpy(self->histograms[node], counts, size);
    return SND_OK;
}

uint64_t
snd_profile_whole(const snd_profile *self, uint32_t node, snd_metric metric)
{
    return snd_profile_has(self, node, metric) ? self->columns[metric][node].whole : 0;
}

int
snd_profile_has_samples(const snd_profile *self)
{
    int exist = self->columns[SND_METRIC_SAMPLES] != NULL;

    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++)
        exist |= self->columns[SND_SAMPLE_METRIC(state)] != NULL;
    return exist;
}

int
snd_profile_has_kind(const snd_profile *self, snd_site_kind kind)
{
    for (uint32_t i = 0; i < self->node_count; i++)
        if (snd_profile_kind(self, i) == kind)
            return 1;
    return 0;
}

uint64_t
snd_profile_entries(const snd_profile *self, uint32_t node)
{
    return snd_profile_whole(self, node, SND_METRIC_COUNT) + snd_profile_whole(self, node, SND_METRIC_OPEN);
}

int
snd_profile_was_entered(const snd_profile *self, uint32_t node)
{
    return !snd_profile_has(self, node, SND_METRIC_COUNT) || snd_profile_entries(self, node) != 0;
}

double
snd_profile_real(const snd_profile *self, uint32_t node, snd_metric metric)
{
    return snd_profile_has(self, node, metric) ? self->columns[metric][node].real : 0;
}

const snd_source *
snd_profile_source(const snd_profile *self, const char *file)
{
    const char *kept = snd_intern_find(self->texts, file, strlen(file)); /* one text is one address */

    for (uint32_t i = 0; i < self->source_count && kept != NULL; i++)
        if (self->sources[i].file == kept)
            return &self->sources[i];
    return NULL;
}

int
snd_source_equal(const snd_source *a, const snd_source *b)
{
    if (a->size != b->size || (a->text == NULL) != (b->text == NULL))
        return 0;
    return a->text == NULL ? memcmp(a->sha256, b->sha256, SND_SHA256_SIZE) == 0
                           : memcmp(a->text, b->text, a->size) == 0;
}

static char *
copy_text(const char *text, size_t size)
{
    char *copy = snd_malloc(size + 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

snd_status
snd_profile_copy_source(snd_profile *self, const snd_source *source)
{
    const snd_source *known = snd_profile_source(self, source->file);
    uint32_t place = known == NULL ? self->source_count : (uint32_t)(known - self->sources);
    snd_source added = *source;

    added.revision = known == NULL ? 0 : known->revision + 1;
    added.text = source->text == NULL ? NULL : copy_text(source->text, source->size);
    if (source->text != NULL && added.text == NULL)
        return SND_NO_MEMORY;
    snd_status status = make_room(&self->sources, self->source_count, &self->source_capacity, sizeof added);
    if (status == SND_OK)
        status = snd_profile_keep_text(self, source->file, &added.file);
    if (status != SND_OK) {
        snd_free(added.text);
        return status;
    }
    if (place == self->source_count)
        self->source_count++;
    else
        snd_free(self->sources[place].text);
    self->sources[place] = added;
    return SND_OK;
}

snd_status
snd_profile_add_source(snd_profile *self, const char *file, const char *text, size_t size)
{
    /* it is only read */
    return snd_profile_copy_source(self, &(snd_source){.file = file, .text = (char *)text, .size = size});
}

uint32_t
snd_profile_info_place(const snd_profile *self, const char *key)
{
    uint64_t hash = snd_hash(key, strlen(key), 0);
    uint32_t cursor = 0, place;

    while ((place = snd_map_next(&self->info_places, hash, &cursor)) != SND_MAP_NONE)
        if (strcmp(self->infos[place].key, key) == 0)
            return place;
    return SND_NONE;
}

/* The last one that there is room for, and that does not count yet. */
static snd_status
place_info(snd_profile *self, uint32_t place)
{
    const char *key = self->infos[place].key;
    return snd_map_add(&self->info_places, snd_hash(key, strlen(key), 0), place);
}

snd_status
snd_profile_set_info(snd_profile *self, const char *key, const char *value)
{
    uint32_t known = snd_profile_info_place(self, key);
    char *copy = snd_strdup(value);
    if (copy == NULL)
        return SND_NO_MEMORY;
    if (known != SND_NONE) {
        snd_free(self->infos[known].value);
        self->infos[known].value = copy;
        return SND_OK;
    }
    snd_status status = make_room(&self->infos, self->info_count, &self->info_capacity, sizeof *self->infos);
    if (status == SND_OK) {
        self->infos[self->info_count] = (snd_info){.value = copy};
        status = snd_profile_keep_text(self, key, &self->infos[self->info_count].key);
    }
    if (status == SND_OK)
        status = place_info(self, self->info_count);
    if (status == SND_OK)
        self->info_count++;
    else
        snd_free(copy);
    return status;
}

snd_status
snd_profile_drop_infos(snd_profile *self, int (*is_dropped)(const snd_info *info))
{
    uint32_t count = self->info_count;
    snd_status status = SND_OK;

    self->info_count = 0;
    snd_map_free(&self->info_places);
    for (uint32_t i = 0; i < count; i++) {
        snd_info info = self->infos[i];
        self->infos[self->info_count] = info;
        int is_kept = status == SND_OK && !is_dropped(&info);
        if (is_kept)
            status = place_info(self, self->info_count);
        if (is_kept && status == SND_OK)
            self->info_count++;
        else
            snd_free(info.value);
    }
    return status;
}

snd_status
snd_profile_set_info_number(snd_profile *self, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return snd_profile_set_info(self, key, text);
}

const char *
snd_profile_info(const snd_profile *self, const char *key)
{
    uint32_t known = snd_profile_info_place(self, key);
    return known == SND_NONE ? NULL : self->infos[known].value;
}

uint64_t
snd_profile_info_number(const snd_profile *self, const char *key)
{
    const char *text = snd_profile_info(self, key);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
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
