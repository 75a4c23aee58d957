/* The nodes of a profile in printing order. */
#include "view/sampled/tree.h"

#include "base/alloc.h"

#include <stdlib.h>

/* What sorting looks at. */
typedef struct entry {
    uint32_t node;
    uint32_t parent;
    uint64_t rank; /* descending */
} entry;

static int
compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int
is_kept_kind(const snd_profile *profile, uint32_t node, snd_site_kind kind)
{
    return profile->nodes[node].parent == SND_NONE || profile->sites[profile->nodes[node].site].kind == kind;
}

/* A parent's id is smaller than its children's: one pass from the end sees children first. */
static void
mark_kept(const snd_profile *profile, snd_site_kind kind, unsigned char *kept)
{
    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent;
        if (!is_kept_kind(profile, i, kind))
            kept[i] = 0;
        else if (snd_profile_entries(profile, i) != 0)
            kept[i] = 1;
        if (kept[i] && parent != SND_NONE)
            kept[parent] = 1;
    }
}

/* The main thread comes first, then the one that started first. */
static uint64_t
root_rank(const snd_profile *profile, uint32_t track)
{
    if (track == snd_tree_main_track(profile))
        return UINT64_MAX;
    return UINT64_MAX - 1 - profile->tracks[track].start_ns;
}

static uint32_t
collect(const snd_profile *profile, snd_metric metric, const unsigned char *kept, entry *entries)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent;
        if (!kept[i])
            continue;
        uint64_t rank =
            parent == SND_NONE ? root_rank(profile, profile->nodes[i].track) : snd_profile_whole(profile, i, metric);
        entries[count++] = (entry){i, parent, rank};
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}

/* Where the children of `parent` start; roots have SND_NONE as parent and so stand last. */
static uint32_t
first_child(const entry *entries, uint32_t count, uint32_t parent)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entries[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pushes the children in reverse, so that the first is popped first. */
static uint32_t
push_children(const entry *entries, uint32_t count, snd_tree_row parent, uint32_t parent_row, snd_tree_row *stack,
              uint32_t size)
{
    uint32_t from = first_child(entries, count, parent.node);
    uint32_t to = from;

    while (to < count && entries[to].parent == parent.node)
        to++;
    while (to > from)
        stack[size++] = (snd_tree_row){entries[--to].node, parent.depth + 1, parent_row};
    return size;
}

static void
walk(const entry *entries, uint32_t count, snd_tree_row *stack, snd_tree *tree)
{
    const snd_tree_row above = {SND_NONE, UINT32_MAX, SND_NONE}; /* the roots' depth becomes 0 */
    uint32_t size = push_children(entries, count, above, SND_NONE, stack, 0);

    while (size > 0) {
        snd_tree_row row = stack[--size];
        tree->rows[tree->count] = row;
        size = push_children(entries, count, row, tree->count, stack, size);
        tree->count++;
    }
}

void
snd_tree_make(const snd_profile *profile, snd_site_kind kind, snd_metric metric, snd_tree *out)
{
    size_t room = (size_t)profile->node_count + 1;
    unsigned char *kept = snd_calloc(room, 1);
    entry *entries = snd_calloc(room, sizeof *entries);
    snd_tree_row *stack = snd_calloc(room, sizeof *stack);
    snd_tree tree = {snd_calloc(room, sizeof(snd_tree_row)), 0};

    mark_kept(profile, kind, kept);
    uint32_t count = collect(profile, metric, kept, entries);
    walk(entries, count, stack, &tree);
    *out = tree;
}

uint32_t
snd_tree_main_track(const snd_profile *profile)
{
    uint32_t best = SND_NONE;

    for (uint32_t i = 0; i < profile->track_count; i++) {
        const snd_profile_track *track = &profile->tracks[i];
        if (track->thread_id == track->process_id)
            return i;
        if (best == SND_NONE || track->start_ns < profile->tracks[best].start_ns)
            best = i;
    }
    return best;
}

uint32_t
snd_tree_root(const snd_profile *profile, uint32_t track)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].track == track && profile->nodes[i].parent == SND_NONE)
            return i;
    return SND_NONE;
}
