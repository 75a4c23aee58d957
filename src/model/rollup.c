/* A profile summed by a key. */
#include "model/rollup.h"

#include "base/alloc.h"

#include <string.h>

uint32_t
snd_rollup_key(const snd_rollup *self, const void *key, size_t size)
{
    uint32_t row;

    snd_work_need(snd_intern_add(self->keys, key, size, &row));
    return row;
}

static void
find_rows(snd_rollup *self, snd_rollup_row *row)
{
    uint32_t capacity = 0;

    for (uint32_t i = 0; i < self->profile->node_count; i++) {
        uint32_t found = self->row_of[i] = row(self, i);
        if (found == SND_NONE)
            continue;
        snd_need_room(&self->first, found + 1, &capacity, sizeof *self->first);
        while (self->count <= found)
            self->first[self->count++] = SND_NONE;
        if (self->first[found] == SND_NONE)
            self->first[found] = i;
    }
}

/* ---- sums ---- */

static void
add_value(snd_rollup *self, uint32_t row, uint32_t node, snd_metric metric)
{
    snd_metric_rule rule = snd_metric_get(metric)->rule;
    snd_value added = self->profile->columns[metric][node];

    if ((rule == SND_RULE_LEAST || rule == SND_RULE_LAST) && !snd_profile_was_entered(self->profile, node))
        return;
    if (self->columns[metric] == NULL)
        self->columns[metric] = snd_new(self->count, sizeof **self->columns);
    snd_value *value = &self->columns[metric][row];
    snd_metric_set bit = SND_METRIC_BIT(metric);
    *value = self->present[row] & bit ? snd_metric_combine(metric, rule, *value, added) : added;
    self->present[row] |= bit;
}

/* One entry has no histogram: where two such become one, the percentiles are not known. */
static void
add_histogram(snd_rollup *self, uint32_t row, const uint64_t *more)
{
    if (self->histograms == NULL)
        self->histograms = snd_new(self->count, sizeof *self->histograms);
    if (self->histograms[row] == NULL)
        self->histograms[row] = snd_new(SND_HISTOGRAM_BUCKETS, sizeof *more);
    for (unsigned i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        self->histograms[row][i] += more[i];
}

static void
add_node(snd_rollup *self, uint32_t node, snd_metric_set counted)
{
    const snd_profile *profile = self->profile;

    for (snd_metric_set left = profile->nodes[node].present & counted; left != 0; left &= left - 1)
        add_value(self, self->row_of[node], node, snd_metric_first(left));
    if (counted == SND_METRIC_ALL && profile->histograms != NULL && profile->histograms[node] != NULL)
        add_histogram(self, self->row_of[node], profile->histograms[node]);
}

void
snd_rollup_make(const snd_profile *profile, snd_rollup_row *row, snd_rollup_counts *counts, void *context,
                snd_rollup *out)
{
    snd_rollup *self = out;

    *self = (snd_rollup){.profile = profile,
                         .context = context,
                         .row_of = snd_new((size_t)profile->node_count + 1, sizeof *self->row_of),
                         .counts = counts,
                         .keys = snd_intern_new()};
    find_rows(self, row);
    self->present = snd_new((size_t)self->count + 1, sizeof *self->present);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (self->row_of[i] != SND_NONE)
            add_node(self, i, counts == NULL ? SND_METRIC_ALL : counts(self, i));
}

uint64_t
snd_rollup_whole(const snd_rollup *self, uint32_t row, snd_metric metric)
{
    return self->columns[metric] == NULL ? 0 : self->columns[metric][row].whole;
}

double
snd_rollup_real(const snd_rollup *self, uint32_t row, snd_metric metric)
{
    return self->columns[metric] == NULL ? 0 : self->columns[metric][row].real;
}

/* ---- with all below ---- */

/* Every node is entered, and left when all below it were; `open` counts the entered ones of each row. Trees may be very
 * deep: children are lists, not calls. */
static void
mark_inner(snd_rollup *self)
{
    const snd_profile_node *nodes = self->profile->nodes;
    size_t room = (size_t)self->profile->node_count + 1;
    uint32_t *first = snd_new(room, sizeof *first), *next = snd_new(room, sizeof *next);
    uint32_t *open = snd_new(self->count, sizeof *open), root = SND_NONE, above = SND_NONE;

    self->is_inner = snd_new(room, 1);
    memset(first, 0xff, room * sizeof *first); /* SND_NONE */
    for (uint32_t i = self->profile->node_count; i-- > 0;) {
        uint32_t *list = nodes[i].parent == SND_NONE ? &root : &first[nodes[i].parent];
        next[i] = *list;
        *list = i;
    }
    for (uint32_t node = root; node != SND_NONE || above != SND_NONE;) {
        uint32_t at = node != SND_NONE ? node : above, row = self->row_of[at];
        int enters = node != SND_NONE;
        if (enters && row != SND_NONE)
            self->is_inner[at] = open[row]++ != 0;
        else if (row != SND_NONE)
            open[row]--;
        node = enters ? first[at] : next[at];
        above = enters ? at : nodes[at].parent;
    }
}

uint64_t *
snd_rollup_outermost(snd_rollup *self, const uint64_t *values)
{
    uint64_t *totals = snd_new(self->count, sizeof *totals);

    if (self->is_inner == NULL)
        mark_inner(self);
    for (uint32_t i = 0; i < self->profile->node_count; i++)
        if (self->row_of[i] != SND_NONE && !self->is_inner[i])
            totals[self->row_of[i]] += values[i];
    return totals;
}

uint64_t *
snd_rollup_totals(snd_rollup *self, snd_metric metric)
{
    const snd_profile *profile = self->profile;

    if (profile->columns[metric] == NULL)
        return snd_new(self->count, sizeof(uint64_t));
    uint64_t *values = snd_new(profile->node_count, sizeof *values);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (self->counts == NULL || (self->counts(self, i) >> metric & 1) != 0)
            values[i] = snd_profile_whole(profile, i, metric);
    if (metric != SND_METRIC_TOTAL) /* which has it already */
        snd_profile_add_below(profile, values);
    return snd_rollup_outermost(self, values);
}

/* A parent's id is smaller than its children's: from the end, children come first. */
void
snd_profile_add_below(const snd_profile *profile, uint64_t *values)
{
    for (uint32_t i = profile->node_count; i-- > 0;)
        if (profile->nodes[i].parent != SND_NONE)
            values[profile->nodes[i].parent] += values[i];
}

/* ---- profiles of rows ---- */

static void
copy_row(const snd_rollup *self, uint32_t row, snd_profile *to)
{
    const snd_profile_node *node = &self->profile->nodes[self->first[row]];
    uint32_t parent = node->parent == SND_NONE ? SND_NONE : self->row_of[node->parent], id;

    snd_work_need(snd_profile_add_node(to, parent, node->track, node->site, &id));
    for (snd_metric_set left = self->present[row]; left != 0; left &= left - 1) {
        snd_metric metric = snd_metric_first(left);
        snd_work_need(snd_profile_set(to, id, metric, self->columns[metric][row]));
    }
    if (self->histograms != NULL && self->histograms[row] != NULL)
        snd_work_need(snd_profile_set_histogram(to, id, self->histograms[row]));
}

/* A profile with the same sites and tracks, in which the first node of each row stands for all of it. */
static snd_profile *
profile_of(const snd_rollup *self)
{
    const snd_profile *from = self->profile;
    snd_profile *to = snd_profile_new();
    uint32_t id;

    for (uint32_t i = 0; i < from->site_count; i++)
        snd_work_need(snd_profile_add_site(to, &from->sites[i], &id));
    for (uint32_t i = 0; i < from->track_count; i++)
        snd_work_need(snd_profile_add_track(to, &from->tracks[i], &id));
    for (uint32_t i = 0; i < self->count; i++)
        copy_row(self, i, to);
    return to;
}

static int
is_left_out(const snd_profile *profile, uint32_t node)
{
    snd_site_kind kind = snd_profile_kind(profile, node);
    return profile->nodes[node].parent != SND_NONE && kind != SND_SITE_REGION && kind != SND_SITE_COUNTER;
}

static uint32_t
row_without_ops(const snd_rollup *self, uint32_t node)
{
    const snd_profile_node *about = &self->profile->nodes[node];
    uint32_t above = about->parent == SND_NONE ? SND_NONE : self->row_of[about->parent];
    const uint32_t key[] = {above, about->site, about->track};

    return is_left_out(self->profile, node) ? above : snd_rollup_key(self, key, sizeof key);
}

static snd_metric_set
counted_without_ops(const snd_rollup *self, uint32_t node)
{
    if (!is_left_out(self->profile, node))
        return SND_METRIC_ALL;
    return snd_profile_kind(self->profile, node) == SND_SITE_OP ? SND_METRIC_BIT(SND_METRIC_SELF) : 0;
}

snd_profile *
snd_profile_without_ops(const snd_profile *profile)
{
    snd_rollup rows;

    if (!snd_profile_has_kind(profile, SND_SITE_OP))
        return NULL;
    snd_rollup_make(profile, row_without_ops, counted_without_ops, NULL, &rows);
    return profile_of(&rows);
}
