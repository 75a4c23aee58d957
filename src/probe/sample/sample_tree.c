/* What the sampler has seen. */
#include "probe/sample/sample_tree.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

#define EVENT_LIMIT (1u << 20) /* a disk that takes no more costs events, not memory */
#define REGION_KEY 0x80000000u /* sites have smaller numbers */

void
snd_sample_tree_free(snd_sample_tree *self)
{
    snd_free(self->nodes);
    snd_free(self->rows);
    snd_free(self->events);
    snd_map_free(&self->children);
    *self = (snd_sample_tree){0};
}

static uint32_t
add_node(snd_sample_tree *self, snd_sample_node node)
{
    if (self->node_count == SND_SAMPLE_NODE_LIMIT ||
        !snd_make_room(&self->nodes, self->node_count + 1, &self->node_capacity, sizeof node))
        return SND_NONE;
    node.changed = self->tick;
    self->nodes[self->node_count] = node;
    return self->node_count++;
}

uint32_t
snd_sample_tree_row_of(const snd_sample_tree *self, const snd_track *track)
{
    for (uint32_t i = 0; track != NULL && i < self->row_count; i++)
        if (self->rows[i].track == track)
            return i;
    return SND_NONE;
}

/* A row whose thread ended: the one that has the track, or, when there are many, one without a track. */
static uint32_t
ended_row(const snd_sample_tree *self, const snd_track *track)
{
    uint32_t oldest = snd_sample_tree_row_of(self, track);

    if (oldest != SND_NONE && self->rows[oldest].end_ns != 0)
        return oldest;
    oldest = SND_NONE;
    if (self->row_count < SND_SAMPLE_ROW_LIMIT)
        return SND_NONE;
    for (uint32_t i = 0; i < self->row_count; i++)
        if (self->rows[i].end_ns != 0 && self->rows[i].track == NULL &&
            (oldest == SND_NONE || self->rows[i].end_ns < self->rows[oldest].end_ns))
            oldest = i;
    return oldest;
}

uint32_t
snd_sample_tree_row(snd_sample_tree *self, uint32_t thread_id, const snd_track *track, uint64_t now_ns)
{
    uint32_t row = ended_row(self, track);

    if (row != SND_NONE) {
        self->rows[row].thread_id = thread_id;
        self->rows[row].thread_count++;
        self->rows[row].end_ns = 0;
        self->rows[row].event_end_ns = now_ns;
        self->rows[row].last_event = 0;
        return row;
    }
    if (!snd_make_room(&self->rows, self->row_count + 1, &self->row_capacity, sizeof *self->rows))
        return SND_NONE;
    uint32_t root = add_node(self, (snd_sample_node){.parent = SND_NONE, .row = self->row_count, .site = SND_NONE});
    if (root == SND_NONE)
        return SND_NONE;
    self->rows[self->row_count] = (snd_sample_row){
        .thread_id = thread_id, .thread_count = 1, .root = root, .start_ns = now_ns, .event_end_ns = now_ns};
    return self->row_count++;
}

static uint32_t
find_or_add(snd_sample_tree *self, uint32_t parent, uint32_t key, snd_sample_node node)
{
    uint64_t whole = (uint64_t)parent << 32 | key;
    uint32_t cursor = 0;
    uint32_t known = snd_map_next(&self->children, whole, &cursor);

    if (known != SND_MAP_NONE)
        return known;
    node.parent = parent;
    node.row = self->nodes[parent].row;
    node.in_import = node.is_import || self->nodes[parent].in_import;
    uint32_t added = add_node(self, node);
    if (added == SND_NONE)
        return parent;
    if (snd_map_add(&self->children, whole, added) != SND_OK) {
        self->node_count--;
        return parent;
    }
    return added;
}

uint32_t
snd_sample_tree_child(snd_sample_tree *self, uint32_t parent, uint32_t site)
{
    return find_or_add(self, parent, site, (snd_sample_node){.site = site});
}

uint32_t
snd_sample_tree_region(snd_sample_tree *self, uint32_t root, const snd_node *region)
{
    return find_or_add(self, root, REGION_KEY | region->id, (snd_sample_node){.site = SND_NONE, .region = region});
}

uint32_t
snd_sample_tree_other(snd_sample_tree *self, uint32_t parent, const char *name)
{
    uint32_t site =
        snd_site_add_placed(&(snd_profile_site){.kind = SND_SITE_OTHER, .name = name, .file = "", .detail = ""});
    return site == SND_NONE ? parent : snd_sample_tree_child(self, parent, site);
}

uint32_t
snd_sample_tree_import(snd_sample_tree *self, uint32_t parent, const char *module)
{
    char name[256];
    snprintf(name, sizeof name, SND_SITE_IMPORT "%s", *module == '\0' ? "." : module);
    uint32_t site =
        snd_site_add_placed(&(snd_profile_site){.kind = SND_SITE_OTHER, .name = name, .file = "", .detail = ""});
    return site == SND_NONE ? parent : find_or_add(self, parent, site, (snd_sample_node){.site = site, .is_import = 1});
}

/* Goes on with the row's last event when nothing changed. */
static void
add_event(snd_sample_tree *self, snd_sample_row *row, uint32_t node, unsigned state, uint64_t now_ns)
{
    uint64_t start = row->event_end_ns;

    if (now_ns <= start)
        return;
    row->event_end_ns = now_ns;
    if (row->last_event > self->event_base) {
        snd_sample_event *last = &self->events[row->last_event - 1 - self->event_base];
        if (last->node == node && last->state == state) {
            last->duration_ns = now_ns - last->start_ns;
            return;
        }
    }
    if (self->event_count == EVENT_LIMIT ||
        !snd_make_room(&self->events, self->event_count + 1, &self->event_capacity, sizeof *self->events)) {
        self->dropped_events++;
        row->last_event = 0;
        return;
    }
    self->events[self->event_count++] = (snd_sample_event){start, now_ns - start, node, state};
    row->last_event = self->event_base + self->event_count;
}

void
snd_sample_tree_add(snd_sample_tree *self, uint32_t node, unsigned state, uint64_t ns, uint64_t now_ns)
{
    snd_sample_node *found = &self->nodes[node];

    found->values[state] += ns;
    found->samples++;
    found->changed = self->tick;
    self->samples++;
    if (self->drops_imports && found->in_import) {
        self->rows[found->row].event_end_ns = now_ns;
        self->rows[found->row].last_event = 0;
    }
    else if (self->keeps_events)
        add_event(self, &self->rows[found->row], node, state, now_ns);
}

void
snd_sample_tree_drained(snd_sample_tree *self)
{
    self->event_base += self->event_count;
    self->events = NULL;
    self->event_count = self->event_capacity = 0;
}
