/* A profile without its operators. */
#include "view/fold.h"

#include "base/alloc.h"
#include "base/map.h"
#include "view/ops.h"

/* How the numbers of two nodes become those of one. */
static const snd_metric sums[] = {SND_METRIC_COUNT,         SND_METRIC_TOTAL,
                                  SND_METRIC_SELF,          SND_METRIC_CPU,
                                  SND_METRIC_SUSPENDED,     SND_METRIC_OPEN,
                                  SND_METRIC_PAGE_FAULTS,   SND_METRIC_CONTEXT_SWITCHES,
                                  SND_METRIC_MIGRATIONS,    SND_METRIC_CYCLES,
                                  SND_METRIC_INSTRUCTIONS,  SND_METRIC_BRANCHES,
                                  SND_METRIC_BRANCH_MISSES, SND_METRIC_CACHE_REFERENCES,
                                  SND_METRIC_CACHE_MISSES};
static const snd_metric counter_values[] = {SND_METRIC_VALUE_LAST, SND_METRIC_VALUE_MIN, SND_METRIC_VALUE_MAX,
                                            SND_METRIC_VALUE_SUM};

typedef struct folder {
    const snd_profile *from;
    snd_profile *to;
    snd_map map;       /* by parent and site */
    uint32_t *node_of; /* the old node's new one; of what is left out, that above it */
} folder;

static snd_status
copy_sites_and_tracks(folder *self)
{
    snd_status status = SND_OK;
    uint32_t id;

    for (uint32_t i = 0; i < self->from->site_count && status == SND_OK; i++)
        status = snd_profile_add_site(self->to, &self->from->sites[i], &id);
    for (uint32_t i = 0; i < self->from->track_count && status == SND_OK; i++)
        status = snd_profile_add_track(self->to, &self->from->tracks[i], &id);
    return status;
}

static snd_status
find_node(folder *self, uint32_t old, uint32_t *node, int *is_new)
{
    const snd_profile_node *about = &self->from->nodes[old];
    uint32_t parent = about->parent == SND_NONE ? SND_NONE : self->node_of[about->parent];
    const uint32_t key[] = {parent, about->site, about->track};
    uint64_t hash = snd_hash(key, sizeof key, 0);
    uint32_t cursor = 0;

    *is_new = 0;
    while ((*node = snd_map_next(&self->map, hash, &cursor)) != SND_MAP_NONE) {
        const snd_profile_node *known = &self->to->nodes[*node];
        if (known->parent == parent && known->site == about->site && known->track == about->track)
            return SND_OK;
    }
    snd_status status = snd_profile_add_node(self->to, parent, about->track, about->site, node);
    if (status == SND_OK)
        status = snd_map_add(&self->map, hash, *node);
    *is_new = 1;
    return status;
}

static snd_status
add_whole(folder *self, uint32_t old, uint32_t node, snd_metric metric)
{
    if (!snd_profile_has(self->from, old, metric))
        return SND_OK;
    uint64_t value = snd_profile_whole(self->from, old, metric) + snd_profile_whole(self->to, node, metric);
    return snd_profile_set(self->to, node, metric, (snd_value){.whole = value});
}

static snd_status
set_extremes(folder *self, uint32_t old, uint32_t node, int is_new)
{
    uint64_t min = snd_profile_whole(self->from, old, SND_METRIC_MIN);
    uint64_t max = snd_profile_whole(self->from, old, SND_METRIC_MAX);
    double square = snd_profile_real(self->from, old, SND_METRIC_SQUARE);

    if (!snd_profile_has(self->from, old, SND_METRIC_MIN))
        return SND_OK;
    if (!is_new) {
        uint64_t known_min = snd_profile_whole(self->to, node, SND_METRIC_MIN);
        uint64_t known_max = snd_profile_whole(self->to, node, SND_METRIC_MAX);
        min = known_min < min ? known_min : min;
        max = known_max > max ? known_max : max;
        square += snd_profile_real(self->to, node, SND_METRIC_SQUARE);
    }
    snd_status status = snd_profile_set(self->to, node, SND_METRIC_MIN, (snd_value){.whole = min});
    if (status == SND_OK)
        status = snd_profile_set(self->to, node, SND_METRIC_MAX, (snd_value){.whole = max});
    if (status == SND_OK)
        status = snd_profile_set(self->to, node, SND_METRIC_SQUARE, (snd_value){.real = square});
    return status;
}

/* One entry has no histogram: where two such become one, the percentiles are not known. */
static snd_status
add_histogram(folder *self, uint32_t old, uint32_t node)
{
    const uint64_t *more = self->from->histograms == NULL ? NULL : self->from->histograms[old];
    const uint64_t *known = self->to->histograms == NULL ? NULL : self->to->histograms[node];
    uint64_t counts[SND_HISTOGRAM_BUCKETS];

    if (more == NULL)
        return SND_OK;
    for (unsigned i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = more[i] + (known == NULL ? 0 : known[i]);
    return snd_profile_set_histogram(self->to, node, counts);
}

static snd_status
add_numbers(folder *self, uint32_t old, uint32_t node, int is_new)
{
    snd_status status = set_extremes(self, old, node, is_new);

    for (size_t i = 0; i < sizeof sums / sizeof sums[0] && status == SND_OK; i++)
        status = add_whole(self, old, node, sums[i]);
    for (size_t i = 0; i < sizeof counter_values / sizeof counter_values[0] && status == SND_OK; i++)
        if (snd_profile_has(self->from, old, counter_values[i]))
            status = snd_profile_set(self->to, node, counter_values[i], self->from->columns[counter_values[i]][old]);
    return status == SND_OK ? add_histogram(self, old, node) : status;
}

static snd_status
fold_node(folder *self, uint32_t old)
{
    const snd_profile_node *about = &self->from->nodes[old];
    snd_site_kind kind = self->from->sites[about->site].kind;
    uint32_t node;
    int is_new;

    if (about->parent != SND_NONE && kind != SND_SITE_REGION && kind != SND_SITE_COUNTER) {
        self->node_of[old] = self->node_of[about->parent];
        return kind == SND_SITE_OP ? add_whole(self, old, self->node_of[old], SND_METRIC_SELF) : SND_OK;
    }
    snd_status status = find_node(self, old, &node, &is_new);
    if (status != SND_OK)
        return status;
    self->node_of[old] = node;
    return add_numbers(self, old, node, is_new);
}

snd_status
snd_fold_ops(const snd_profile *profile, snd_profile **out)
{
    *out = NULL;
    if (!snd_ops_exist(profile))
        return SND_OK;
    folder self = {
        .from = profile,
        .to = snd_profile_new(),
        .node_of = snd_malloc(((size_t)profile->node_count + 1) * sizeof *self.node_of),
    };
    snd_status status = SND_NO_MEMORY;

    if (self.to != NULL && self.node_of != NULL)
        status = copy_sites_and_tracks(&self);
    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++)
        status = fold_node(&self, i);
    snd_map_free(&self.map);
    snd_free(self.node_of);
    if (status == SND_OK)
        *out = self.to;
    else
        snd_profile_free(self.to);
    return status;
}
