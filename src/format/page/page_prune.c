/* Which nodes a page has: of too many, those with the largest shares. */
#include "base/alloc.h"
#include "format/page/page_private.h"

#include <stdlib.h>

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

/* Roots and garbage collections, of which there are three a thread at most, stay in any case. */
static void
number_nodes(const snd_profile *profile, const double *shares, double bound, snd_page_nodes *self)
{
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        int can_go = parent != SND_NONE && snd_profile_kind(profile, i) != SND_SITE_GC;
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
