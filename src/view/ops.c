/* The operators of a profile, summed up. */
#include "view/ops.h"

#include "base/alloc.h"
#include "base/map.h"

/* Nodes as lists, and the row of each. */
typedef struct maker {
    const snd_profile *profile;
    const snd_view_options *options;
    snd_ops ops;
    snd_map map;
    uint32_t *row_of; /* per node; SND_NONE: it has none */
    uint32_t *first;  /* child, per node */
    uint32_t *next;   /* with the same parent, per node */
    uint32_t root;    /* the first of those without a parent */
} maker;

int
snd_ops_exist(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_OP)
            return 1;
    return 0;
}

double
snd_ops_speed(const snd_ops_row *row)
{
    return row->flops_ns == 0 ? 0 : row->flops / (double)row->flops_ns;
}

/* What a row of this node says besides numbers. */
static snd_ops_row
describe(const maker *self, uint32_t node)
{
    const snd_profile_node *about = &self->profile->nodes[node];
    const snd_profile_site *site = &self->profile->sites[about->site];
    int by_line = self->options->by_line;

    return (snd_ops_row){
        .site = site,
        .shapes = self->options->by_shape ? site->detail : "",
        .file = by_line ? site->file : "",
        .line = by_line ? site->line : 0,
        .has_parent = self->profile->nodes[about->parent].parent != SND_NONE,
        .min_ns = UINT64_MAX,
    };
}

/* A profile keeps each text once: addresses tell them apart. */
static int
is_same(const snd_ops_row *a, const snd_ops_row *b)
{
    return a->site->kind == b->site->kind && a->site->name == b->site->name && a->line == b->line &&
           (a->shapes == b->shapes || (*a->shapes == '\0' && *b->shapes == '\0')) &&
           (a->file == b->file || (*a->file == '\0' && *b->file == '\0'));
}

static snd_status
find_row(maker *self, uint32_t node, uint32_t *row)
{
    snd_ops *ops = &self->ops;
    snd_ops_row wanted = describe(self, node);
    const uint64_t key[] = {
        (uintptr_t)wanted.site->name,
        (uint64_t)wanted.site->kind << 32 | wanted.line,
        *wanted.shapes == '\0' ? 0 : (uintptr_t)wanted.shapes,
        *wanted.file == '\0' ? 0 : (uintptr_t)wanted.file,
    };
    uint64_t hash = snd_hash(key, sizeof key, 0);
    uint32_t cursor = 0;

    while ((*row = snd_map_next(&self->map, hash, &cursor)) != SND_MAP_NONE)
        if (*row < ops->count && is_same(&ops->rows[*row], &wanted))
            return SND_OK;
    if (!snd_make_room(&ops->rows, ops->count + 1, &ops->capacity, sizeof wanted))
        return SND_NO_MEMORY;
    snd_status status = snd_map_add(&self->map, hash, ops->count);
    if (status != SND_OK)
        return status;
    ops->rows[ops->count] = wanted;
    *row = ops->count++;
    return SND_OK;
}

/* Everything but the total, which depends on what stands above. */
static void
add_node(maker *self, uint32_t node, snd_ops_row *row)
{
    const snd_profile *profile = self->profile;
    uint64_t finished = snd_profile_whole(profile, node, SND_METRIC_COUNT);
    uint64_t entries = finished + snd_profile_whole(profile, node, SND_METRIC_OPEN);
    uint64_t self_ns = snd_profile_whole(profile, node, SND_METRIC_SELF);
    uint64_t min = snd_profile_whole(profile, node, SND_METRIC_MIN);
    uint64_t max = snd_profile_whole(profile, node, SND_METRIC_MAX);

    row->count += entries;
    row->self_ns += self_ns;
    if (finished != 0 && min < row->min_ns)
        row->min_ns = min;
    if (max > row->max_ns)
        row->max_ns = max;
    row->read_bytes += snd_profile_whole(profile, node, SND_METRIC_OP_READ);
    row->written_bytes += snd_profile_whole(profile, node, SND_METRIC_OP_WRITTEN);
    row->copies += snd_profile_whole(profile, node, SND_METRIC_OP_COPIES);
    row->casts += snd_profile_whole(profile, node, SND_METRIC_OP_CASTS);
    if (snd_profile_has(profile, node, SND_METRIC_OP_FLOPS)) {
        row->flops += snd_profile_real(profile, node, SND_METRIC_OP_FLOPS);
        row->flops_ns += snd_profile_whole(profile, node, SND_METRIC_TOTAL);
    }
    snd_estimate entries_ns = snd_estimate_node(profile, node);
    snd_estimate_add(&row->entries, &entries_ns);
    self->ops.whole_ns += self_ns;
    if (row->site->kind == SND_SITE_OP) {
        self->ops.calls += entries;
        if (snd_profile_has(profile, node, SND_METRIC_OP_READ))
            self->ops.entries += entries;
    }
}

static int
was_entered(const snd_profile *profile, uint32_t node)
{
    return snd_profile_whole(profile, node, SND_METRIC_COUNT) != 0 ||
           snd_profile_whole(profile, node, SND_METRIC_OPEN) != 0;
}

static snd_status
add_nodes(maker *self)
{
    const snd_profile *profile = self->profile;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        snd_site_kind kind = profile->sites[profile->nodes[i].site].kind;
        self->row_of[i] = SND_NONE;
        if (profile->nodes[i].parent == SND_NONE || !snd_site_is_entered(kind) || !was_entered(profile, i))
            continue;
        status = find_row(self, i, &self->row_of[i]);
        if (status == SND_OK)
            add_node(self, i, &self->ops.rows[self->row_of[i]]);
    }
    return status;
}

/* A parent's id is smaller than its children's. */
static void
link_children(maker *self)
{
    const snd_profile *profile = self->profile;

    self->root = SND_NONE;
    for (uint32_t i = 0; i < profile->node_count; i++)
        self->first[i] = SND_NONE;
    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent;
        uint32_t *list = parent == SND_NONE ? &self->root : &self->first[parent];
        self->next[i] = *list;
        *list = i;
    }
}

/* Every node is entered, and left when all below it were; `open` counts the entered ones of each row. */
static void
add_totals(maker *self, uint32_t *open)
{
    const snd_profile *profile = self->profile;
    uint32_t node = self->root, above = SND_NONE;

    while (node != SND_NONE || above != SND_NONE) {
        if (node != SND_NONE) {
            uint32_t row = self->row_of[node];
            if (row != SND_NONE && open[row]++ == 0)
                self->ops.rows[row].total_ns += snd_profile_whole(profile, node, SND_METRIC_TOTAL);
            above = node;
            node = self->first[node];
            continue;
        }
        if (self->row_of[above] != SND_NONE)
            open[self->row_of[above]]--;
        node = self->next[above];
        above = profile->nodes[above].parent;
    }
}

static snd_status
make(maker *self)
{
    snd_status status = add_nodes(self);
    if (status != SND_OK)
        return status;
    uint32_t *open = snd_calloc((size_t)self->ops.count + 1, sizeof *open);
    if (open == NULL)
        return SND_NO_MEMORY;
    link_children(self);
    add_totals(self, open);
    for (uint32_t i = 0; i < self->ops.count; i++)
        if (self->ops.rows[i].min_ns == UINT64_MAX) /* none has ended */
            self->ops.rows[i].min_ns = self->ops.rows[i].max_ns;
    snd_free(open);
    return SND_OK;
}

snd_status
snd_ops_make(const snd_profile *profile, const snd_view_options *options, snd_ops *out)
{
    size_t room = (size_t)profile->node_count + 1;
    maker self = {
        .profile = profile,
        .options = options,
        .row_of = snd_malloc(room * sizeof *self.row_of),
        .first = snd_malloc(room * sizeof *self.first),
        .next = snd_malloc(room * sizeof *self.next),
    };
    snd_status status = SND_NO_MEMORY;

    if (self.row_of != NULL && self.first != NULL && self.next != NULL)
        status = make(&self);
    snd_map_free(&self.map);
    snd_free(self.row_of);
    snd_free(self.first);
    snd_free(self.next);
    if (status == SND_OK)
        *out = self.ops;
    else
        snd_ops_free(&self.ops);
    return status;
}

void
snd_ops_free(snd_ops *self)
{
    snd_free(self->rows);
    *self = (snd_ops){0};
}
