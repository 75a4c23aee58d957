/* The data of a page: sites, tracks, nodes and their metrics, column by column. */
#include "base/alloc.h"
#include "base/text.h"
#include "format/page/page_private.h"
#include "format/table/format.h"
#include "model/processes.h"
#include "model/rollup.h"

#include <stdlib.h>
#include <string.h>

/* ---- which nodes a page has: of too many, those with the largest shares ---- */

/* What a node's share may be a share of, each the sum of these metrics. A range of a group ends with its second. */
static const struct {
    snd_metric first, last;
} groups[] = {
    {SND_METRIC_SELF, SND_METRIC_SELF},
    {SND_METRIC_PYTHON, SND_METRIC_WAIT_OTHER},
    {SND_METRIC_ALLOC_PYTHON, SND_METRIC_ALLOC_NATIVE},
    {SND_METRIC_LIVE, SND_METRIC_LIVE},
    {SND_METRIC_LIVE_PEAK, SND_METRIC_LIVE_PEAK},
    {SND_METRIC_COPIED, SND_METRIC_COPIED},
};

/* Raises the shares to those of a group. A parent's sum is never below its children's, so neither is its share. */
static void
raise_shares(const snd_profile *profile, size_t group, double *sums, double *shares)
{
    double all = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        sums[i] = 0;
        for (unsigned m = groups[group].first; m <= (unsigned)groups[group].last; m++)
            sums[i] += (double)snd_profile_whole(profile, i, (snd_metric)m);
        all += sums[i];
    }
    for (uint32_t i = profile->node_count; i-- > 0 && all > 0;) {
        if (profile->nodes[i].parent != SND_NONE)
            sums[profile->nodes[i].parent] += sums[i];
        if (sums[i] / all > shares[i])
            shares[i] = sums[i] / all;
    }
}

static int
compare_descending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The share above which a node is kept, so that at most `limit` are. */
static void
find_bound(const snd_profile *profile, uint32_t limit, double *shares, double *bound)
{
    double *sums = snd_calloc((size_t)profile->node_count + 1, sizeof *sums);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        raise_shares(profile, i, sums, shares);
    for (uint32_t i = 0; i < profile->node_count; i++)
        sums[i] = shares[i];
    qsort(sums, profile->node_count, sizeof *sums, compare_descending);
    *bound = sums[limit];
}

/* Roots, marks and garbage collections, of which there are not many, stay in any case. */
static void
number_nodes(const snd_profile *profile, const double *shares, double bound, snd_page_nodes *self)
{
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        snd_site_kind kind = snd_profile_kind(profile, i);
        int can_go = parent != SND_NONE && kind != SND_SITE_GC && kind != SND_SITE_MARK;
        if (shares != NULL && can_go && !(shares[i] > bound)) {
            self->of_node[i] = self->of_node[parent];
            continue;
        }
        self->of_node[i] = self->kept_count;
        self->kept[self->kept_count++] = i;
    }
}

static void
number_sites(const snd_profile *profile, snd_page_nodes *self)
{
    for (uint32_t i = 0; i < profile->site_count; i++)
        self->of_site[i] = SND_NONE;
    for (uint32_t i = 0; i < self->kept_count; i++) {
        uint32_t site = profile->nodes[self->kept[i]].site;
        if (self->of_site[site] != SND_NONE)
            continue;
        self->of_site[site] = self->site_count;
        self->sites[self->site_count++] = site;
    }
}

static void
choose(const snd_profile *profile, uint32_t limit, snd_page_nodes *self)
{
    double *shares = NULL, bound = 0;

    self->of_node = snd_malloc(((size_t)profile->node_count + 1) * sizeof *self->of_node);
    self->kept = snd_malloc(((size_t)profile->node_count + 1) * sizeof *self->kept);
    self->of_site = snd_malloc(((size_t)profile->site_count + 1) * sizeof *self->of_site);
    self->sites = snd_malloc(((size_t)profile->site_count + 1) * sizeof *self->sites);
    if (profile->node_count > limit) {
        shares = snd_calloc(profile->node_count, sizeof *shares);
        find_bound(profile, limit, shares, &bound);
    }
    number_nodes(profile, shares, bound, self);
    number_sites(profile, self);
}

void
snd_page_choose_nodes(const snd_profile *profile, uint32_t limit, snd_page_nodes *out)
{
    *out = (snd_page_nodes){0};
    choose(profile, limit, out);
}

static void
intern(snd_page_maker *self, const char *text, uint32_t *id)
{
    snd_work_need(snd_intern_add(self->texts, text, strlen(text), id));
}

/* ---- sites ---- */

typedef const char *site_text(const snd_page_maker *self, const snd_profile_site *site);

static const char *
name_of(const snd_page_maker *self, const snd_profile_site *site)
{
    (void)self;
    return site->name;
}

static const char *
file_of(const snd_page_maker *self, const snd_profile_site *site)
{
    (void)self;
    return site->file;
}

/* What a line calls is in the words of its source. */
static const char *
detail_of(const snd_page_maker *self, const snd_profile_site *site)
{
    return self->options->no_source && site->kind == SND_SITE_LINE ? "" : site->detail;
}

static void
put_site_texts(snd_page_maker *self, const char *key, site_text *text)
{

    snd_buffer_printf(&self->pack.gzip.bytes, "\"%s\":[", key);
    for (uint32_t i = 0; i < self->nodes.site_count; i++) {
        uint32_t id = 0;
        intern(self, text(self, &self->profile->sites[self->nodes.sites[i]]), &id);
        snd_page_put_whole(&self->pack, id, i == 0);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],");
}

typedef uint32_t site_number(const snd_profile_site *site);

static uint32_t
kind_of(const snd_profile_site *site)
{
    return (uint32_t)site->kind;
}

static uint32_t
line_of(const snd_profile_site *site)
{
    return site->line;
}

static uint32_t
first_line_of(const snd_profile_site *site)
{
    return site->first_line;
}

static void
put_site_numbers(snd_page_maker *self, const char *key, site_number *number, const char *end)
{

    snd_buffer_printf(&self->pack.gzip.bytes, "\"%s\":[", key);
    for (uint32_t i = 0; i < self->nodes.site_count; i++) {
        snd_page_put_whole(&self->pack, number(&self->profile->sites[self->nodes.sites[i]]), i == 0);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, end);
}

static void
put_sites(snd_page_maker *self)
{
    snd_buffer_text(&self->pack.gzip.bytes, "\"kinds\":[");
    for (unsigned kind = 0; kind < SND_SITE_KIND_COUNT; kind++) {
        snd_buffer_text(&self->pack.gzip.bytes, kind == 0 ? "" : ",");
        snd_json_string(&self->pack.gzip.bytes, snd_site_kind_name((snd_site_kind)kind));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\n\"sites\":{");
    put_site_texts(self, "name", name_of);
    put_site_texts(self, "file", file_of);
    put_site_texts(self, "detail", detail_of);
    put_site_numbers(self, "kind", kind_of, "],");
    put_site_numbers(self, "line", line_of, "],");
    put_site_numbers(self, "first_line", first_line_of, "]},\n");
}

/* One of several processes is named with it. */
static void
put_track_name(const snd_profile *profile, const snd_profile_track *track, snd_buffer *out)
{
    snd_buffer name = {0};

    snd_buffer_text(&name, track->name);
    if (track->summed_on != 0) {
        snd_buffer_text(&name, " of ");
        snd_process_name(profile, track->process, &name);
    }
    out->failed |= name.failed;
    snd_json_string(out, snd_buffer_str(&name));
    snd_buffer_free(&name);
}

static void
put_tracks(snd_page_maker *self)
{
    snd_buffer *out = &self->pack.gzip.bytes;

    snd_buffer_text(out, "\"tracks\":[");
    for (uint32_t i = 0; i < self->profile->track_count; i++) {
        const snd_profile_track *track = &self->profile->tracks[i];
        snd_buffer_text(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        put_track_name(self->profile, track, out);
        snd_buffer_printf(out,
                          ",\"process_id\":%u,\"thread_id\":%u,\"thread_count\":%u,\"start_ns\":%llu,\"end_ns\":%llu",
                          track->process_id, track->thread_id, track->thread_count, (unsigned long long)track->start_ns,
                          (unsigned long long)track->end_ns);
        if (track->summed_on != 0)
            snd_buffer_printf(out, ",\"summed_on\":%u", track->summed_on - 1);
        snd_buffer_char(out, '}');
    }
    snd_buffer_text(out, "],\n");
}

/* ---- nodes ---- */

static int64_t
parent_of(const snd_page_maker *self, const snd_profile_node *node)
{
    return node->parent == SND_NONE ? -1 : (int64_t)self->nodes.of_node[node->parent];
}

static int64_t
track_of(const snd_page_maker *self, const snd_profile_node *node)
{
    (void)self;
    return (int64_t)node->track;
}

static int64_t
site_of(const snd_page_maker *self, const snd_profile_node *node)
{
    return (int64_t)self->nodes.of_site[node->site];
}

static void
put_node_column(snd_page_maker *self, const char *key,
                int64_t (*number)(const snd_page_maker *, const snd_profile_node *), const char *end)
{

    snd_buffer_printf(&self->pack.gzip.bytes, "\"%s\":[", key);
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        snd_page_put_signed(&self->pack, number(self, &self->profile->nodes[self->nodes.kept[i]]), i == 0);
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, end);
}

static void
put_tree(snd_page_maker *self)
{
    snd_buffer_text(&self->pack.gzip.bytes, "\"nodes\":{");
    put_node_column(self, "parent", parent_of, "],");
    put_node_column(self, "track", track_of, "],");
    put_node_column(self, "site", site_of, "]},\n");
}

/* ---- metrics ---- */

static uint32_t
by_number(const snd_rollup *rows, uint32_t node)
{
    return ((const snd_page_maker *)rows->context)->nodes.of_node[node];
}

/* Of a node that is not in the page, what goes to the node above it, so that sums stay: what it has of its own. */
static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    const snd_page_maker *self = rows->context;
    snd_site_kind kind = snd_profile_kind(rows->profile, node);
    snd_metric_set sampled = SND_METRIC_BIT(SND_METRIC_COPY_VARIANCE + 1) - SND_METRIC_BIT(SND_METRIC_SAMPLES);

    if (self->nodes.kept[rows->row_of[node]] == node)
        return SND_METRIC_ALL;
    return sampled | SND_METRIC_BIT(SND_METRIC_GPU) | (snd_metric_set)snd_site_is_entered(kind) << SND_METRIC_SELF;
}

static void
put_values(snd_page_maker *self, const snd_metric_info *info, const snd_value *values, int is_first)
{
    uint32_t previous = 0;
    int is_empty = 1;

    snd_buffer_printf(&self->pack.gzip.bytes, "%s\"%s\":{\"node\":[", is_first ? "" : ",\n", info->name);
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        if (info->is_real ? values[i].real == 0 : values[i].whole == 0)
            continue;
        snd_page_put_whole(&self->pack, i - previous, is_empty);
        previous = i;
        is_empty = 0;
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "],\"value\":[");
    is_empty = 1;
    for (uint32_t i = 0; i < self->nodes.kept_count; i++) {
        if (info->is_real ? values[i].real == 0 : values[i].whole == 0)
            continue;
        if (info->is_real)
            snd_page_put_real(&self->pack, values[i].real, is_empty);
        else
            snd_page_put_whole(&self->pack, values[i].whole, is_empty);
        is_empty = 0;
        snd_work_need(snd_page_pack_flush(&self->pack));
    }
    snd_buffer_text(&self->pack.gzip.bytes, "]}");
}

static void
put_metrics(snd_page_maker *self)
{
    const snd_value *none = snd_new(self->nodes.kept_count, sizeof *none);
    int is_first = 1;
    snd_rollup rows;

    snd_rollup_make(self->profile, by_number, counted, self, &rows);
    snd_buffer_text(&self->pack.gzip.bytes, "\"metrics\":{");
    for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++) {
        if (self->profile->columns[m] == NULL)
            continue;
        put_values(self, snd_metric_get((snd_metric)m), rows.columns[m] == NULL ? none : rows.columns[m], is_first);
        is_first = 0;
    }
    snd_buffer_text(&self->pack.gzip.bytes, "},\n");
}

void
snd_page_put_nodes(snd_page_maker *self)
{
    put_sites(self);

    put_tracks(self);
    put_tree(self);
    put_metrics(self);
}
