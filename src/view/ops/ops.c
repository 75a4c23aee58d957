/* The operators of a profile, summed up. */
#include "view/ops/ops.h"

#include "model/rollup.h"

double
snd_ops_speed(const snd_ops_row *row)
{
    return row->flops_ns == 0 ? 0 : row->flops / (double)row->flops_ns;
}

/* Operators of one name are one row, and so are those of one input or line where that is asked for; "" is no text of
 * its own. */
static uint32_t
row_of_node(const snd_rollup *self, uint32_t node)
{
    const snd_view_options *options = self->context;
    const snd_profile_site *site = &self->profile->sites[self->profile->nodes[node].site];
    const char *shapes = options->by_shape ? site->detail : "", *file = options->by_line ? site->file : "";
    const uint64_t key[] = {(uint64_t)site->kind << 32 | (options->by_line ? site->line : 0), (uintptr_t)site->name,
                            *shapes == '\0' ? 0 : (uintptr_t)shapes, *file == '\0' ? 0 : (uintptr_t)file};

    if (self->profile->nodes[node].parent == SND_NONE || !snd_site_is_entered(site->kind) ||
        snd_profile_entries(self->profile, node) == 0)
        return SND_NONE;
    return snd_rollup_key(self, key, sizeof key);
}

/* An open entry is not the shortest one yet. */
static uint64_t
counted(const snd_rollup *self, uint32_t node)
{
    return snd_profile_whole(self->profile, node, SND_METRIC_COUNT) != 0 ? UINT64_MAX
                                                                         : ~(UINT64_C(1) << SND_METRIC_MIN);
}

static snd_ops_row
make_row(const snd_rollup *rows, const uint64_t *totals, uint32_t row)
{
    const snd_profile *profile = rows->profile;
    const snd_view_options *options = rows->context;
    const snd_profile_node *node = &profile->nodes[rows->first[row]];
    const snd_profile_site *site = &profile->sites[node->site];

    return (snd_ops_row){
        .site = site,
        .shapes = options->by_shape ? site->detail : "",
        .file = options->by_line ? site->file : "",
        .line = options->by_line ? site->line : 0,
        .has_parent = profile->nodes[node->parent].parent != SND_NONE,
        .count = snd_rollup_whole(rows, row, SND_METRIC_COUNT) + snd_rollup_whole(rows, row, SND_METRIC_OPEN),
        .self_ns = snd_rollup_whole(rows, row, SND_METRIC_SELF),
        .total_ns = totals[row],
        .min_ns =
            snd_rollup_whole(rows, row, rows->present[row] >> SND_METRIC_MIN & 1 ? SND_METRIC_MIN : SND_METRIC_MAX),
        .max_ns = snd_rollup_whole(rows, row, SND_METRIC_MAX),
        .read_bytes = snd_rollup_whole(rows, row, SND_METRIC_OP_READ),
        .written_bytes = snd_rollup_whole(rows, row, SND_METRIC_OP_WRITTEN),
        .copies = snd_rollup_whole(rows, row, SND_METRIC_OP_COPIES),
        .casts = snd_rollup_whole(rows, row, SND_METRIC_OP_CASTS),
        .flops = snd_rollup_real(rows, row, SND_METRIC_OP_FLOPS),
    };
}

/* What depends on more than one metric of a node. */
static void
add_node(snd_ops *self, const snd_profile *profile, uint32_t node, snd_ops_row *row)
{
    snd_estimate entries = snd_estimate_node(profile, node);

    snd_estimate_add(&row->entries, &entries);
    if (snd_profile_has(profile, node, SND_METRIC_OP_FLOPS))
        row->flops_ns += snd_profile_whole(profile, node, SND_METRIC_TOTAL);
    if (row->site->kind == SND_SITE_OP && snd_profile_has(profile, node, SND_METRIC_OP_READ))
        self->entries += snd_profile_entries(profile, node);
}

static void
make_ops(const snd_profile *profile, const snd_view_options *options, snd_ops *out)
{
    snd_ops self = {0};
    snd_rollup rows;

    snd_rollup_make(profile, row_of_node, counted, (void *)options, &rows);
    uint64_t *totals = snd_rollup_totals(&rows, SND_METRIC_TOTAL);
    self.rows = snd_new(rows.count, sizeof *self.rows);
    for (; self.count < rows.count; self.count++) {
        snd_ops_row *row = &self.rows[self.count];
        *row = make_row(&rows, totals, self.count);
        self.whole_ns += row->self_ns;
        self.calls += row->site->kind == SND_SITE_OP ? row->count : 0;
    }
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (rows.row_of[i] != SND_NONE)
            add_node(&self, profile, i, &self.rows[rows.row_of[i]]);
    *out = self;
}

SND_DOOR_2(snd_ops_make, snd_ops, make_ops, const snd_profile *, const snd_view_options *)

void
snd_ops_free(snd_ops *self)
{
    snd_pool_free(self->pool);
    *self = (snd_ops){0};
}
