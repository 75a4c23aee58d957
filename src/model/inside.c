/* A part of a profile: what happened inside regions of one name. */
#include "model/rollup.h"

#include "base/alloc.h"

#include <string.h>

/* Sums of the whole process. Where they are not there, views add up the nodes. */
static const char *const whole_facts[] = {
    "alloc_bytes", "copied_bytes", "copy_error_bytes", "cpu_ns",         "length_ns",       "live_bytes",
    "peak_at_ns",  "peak_bytes",   "peak_error_bytes", "rss_peak_bytes", "rss_start_bytes",
};

enum { LEFT_OUT, ABOVE, OUTERMOST, BELOW };

typedef struct part {
    const snd_profile *from;
    snd_profile *to;
    unsigned char *places;            /* per node of `from` */
    uint32_t *sites, *tracks, *nodes; /* what has become of those of `from` */
} part;

static snd_status
start(part *self, const snd_profile *profile)
{
    size_t sites = profile->site_count, tracks = profile->track_count, nodes = profile->node_count;

    self->from = profile;
    self->to = snd_profile_new();
    self->places = snd_calloc(nodes + 1, 1);
    self->sites = snd_malloc((sites + 1) * sizeof *self->sites);
    self->tracks = snd_malloc((tracks + 1) * sizeof *self->tracks);
    self->nodes = snd_malloc((nodes + 1) * sizeof *self->nodes);
    if (self->to != NULL)
        self->to->load_text = profile->load_text;
    if (self->to == NULL || self->places == NULL || self->sites == NULL || self->tracks == NULL || self->nodes == NULL)
        return SND_NO_MEMORY;
    memset(self->sites, 0xff, sites * sizeof *self->sites); /* SND_NONE */
    memset(self->tracks, 0xff, tracks * sizeof *self->tracks);
    return SND_OK;
}

static void
finish(part *self)
{
    snd_profile_free(self->to);
    snd_free(self->places);
    snd_free(self->sites);
    snd_free(self->tracks);
    snd_free(self->nodes);
}

static void
mark_above(part *self, uint32_t node)
{
    for (; node != SND_NONE && self->places[node] == LEFT_OUT; node = self->from->nodes[node].parent)
        self->places[node] = ABOVE;
}

/* A parent's id is smaller than its children's: what holds above is known before. Whether there is any such region. */
static int
mark(part *self, const char *region)
{
    int is_any = 0;

    for (uint32_t i = 0; i < self->from->node_count; i++) {
        const snd_profile_node *node = &self->from->nodes[i];
        const snd_profile_site *site = &self->from->sites[node->site];
        if (node->parent != SND_NONE && self->places[node->parent] >= OUTERMOST)
            self->places[i] = BELOW;
        else if (site->kind == SND_SITE_REGION && strcmp(site->name, region) == 0) {
            self->places[i] = OUTERMOST;
            mark_above(self, node->parent);
            is_any = 1;
        }
    }
    return is_any;
}

static snd_status
copy_node(part *self, uint32_t old)
{
    const snd_profile_node *node = &self->from->nodes[old];
    uint32_t *site = &self->sites[node->site], *track = &self->tracks[node->track];
    uint32_t parent = node->parent == SND_NONE ? SND_NONE : self->nodes[node->parent];
    snd_status status = SND_OK;

    if (*site == SND_NONE)
        status = snd_profile_add_site(self->to, &self->from->sites[node->site], site);
    if (status == SND_OK && *track == SND_NONE)
        status = snd_profile_add_track(self->to, &self->from->tracks[node->track], track);
    if (status == SND_OK)
        status = snd_profile_add_node(self->to, parent, *track, *site, &self->nodes[old]);
    return status;
}

static snd_status
copy_numbers(part *self, uint32_t old)
{
    const snd_profile *from = self->from;
    const snd_history *history = snd_profile_history(from, old);
    uint32_t node = self->nodes[old];
    snd_status status = SND_OK;

    for (unsigned metric = 0; metric < SND_METRIC_COUNT_OF && status == SND_OK; metric++)
        if (snd_profile_has(from, old, (snd_metric)metric))
            status = snd_profile_set(self->to, node, (snd_metric)metric, from->columns[metric][old]);
    if (status == SND_OK && from->histograms != NULL && from->histograms[old] != NULL)
        status = snd_profile_set_histogram(self->to, node, from->histograms[old]);
    if (status == SND_OK && history != NULL)
        status = snd_profile_set_history(self->to, node, history);
    return status;
}

static snd_status
add_total(part *self, uint32_t old)
{
    uint64_t total = snd_profile_whole(self->from, old, SND_METRIC_TOTAL);
    uint32_t root = self->nodes[old];

    while (self->to->nodes[root].parent != SND_NONE)
        root = self->to->nodes[root].parent;
    snd_value sum = {.whole = snd_profile_whole(self->to, root, SND_METRIC_TOTAL) + total};
    snd_status status = snd_profile_set(self->to, root, SND_METRIC_TOTAL, sum);
    if (status == SND_OK)
        status = snd_profile_set(self->to, root, SND_METRIC_COUNT, (snd_value){.whole = 1});
    uint64_t length = snd_profile_info_number(self->to, "length_ns") + total;
    return status == SND_OK ? snd_profile_set_info_number(self->to, "length_ns", length) : status;
}

static snd_status
copy_nodes(part *self)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->from->node_count && status == SND_OK; i++) {
        if (self->places[i] == LEFT_OUT)
            continue;
        status = copy_node(self, i);
        if (status == SND_OK && self->places[i] >= OUTERMOST)
            status = copy_numbers(self, i);
        if (status == SND_OK && self->places[i] == OUTERMOST)
            status = add_total(self, i);
    }
    return status;
}

static int
is_of_whole(const char *key)
{
    for (size_t i = 0; i < sizeof whole_facts / sizeof whole_facts[0]; i++)
        if (strcmp(whole_facts[i], key) == 0)
            return 1;
    return 0;
}

static int
has_file(const snd_profile *profile, const char *file)
{
    for (uint32_t i = 0; i < profile->site_count; i++)
        if (strcmp(profile->sites[i].file, file) == 0)
            return 1;
    return 0;
}

static snd_status
copy_facts(part *self)
{
    const snd_profile *from = self->from;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < from->info_count && status == SND_OK; i++)
        if (!is_of_whole(from->infos[i].key))
            status = snd_profile_set_info(self->to, from->infos[i].key, from->infos[i].value);
    for (uint32_t i = 0; i < from->source_count && status == SND_OK; i++)
        if (has_file(self->to, from->sources[i].file))
            status = snd_profile_copy_source(self->to, &from->sources[i]);
    return status;
}

snd_status
snd_profile_inside(const snd_profile *profile, const char *region, snd_profile **out)
{
    part self = {0};
    snd_status status = start(&self, profile);

    if (status == SND_OK)
        status = mark(&self, region) ? copy_nodes(&self) : SND_NO_DATA;
    if (status == SND_OK)
        status = copy_facts(&self);
    if (status == SND_OK) {
        *out = self.to;
        self.to = NULL; /* it is the caller's */
    }
    finish(&self);
    return status;
}
