/* The walk over the nodes that were sampled. */
#include "view/walk.h"

#include "base/alloc.h"

/* Children as lists: the first of each node, and the next of each child. */
typedef struct children {
    uint32_t *first;
    uint32_t *next;
    unsigned char *is_used; /* samples in it or below */
    uint32_t root;          /* the first root */
} children;

/* A parent's id is smaller than its children's: from the end, children come first. */
static void
add_up(const snd_samples *samples, snd_walk *self, children *lists)
{
    const snd_profile *profile = samples->profile;
    snd_samples_numbers numbers;

    for (uint32_t i = 0; i < profile->node_count; i++)
        lists->first[i] = SND_NONE;
    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent;
        if (snd_samples_read(samples, i, &numbers)) {
            self->totals[i] += snd_samples_time(&numbers);
            self->cpu_totals[i] += snd_samples_cpu(&numbers);
            lists->is_used[i] = 1;
        }
        if (!lists->is_used[i])
            continue;
        uint32_t *list = parent == SND_NONE ? &lists->root : &lists->first[parent];
        lists->next[i] = *list;
        *list = i;
        if (parent == SND_NONE)
            continue;
        lists->is_used[parent] = 1;
        self->totals[parent] += self->totals[i];
        self->cpu_totals[parent] += self->cpu_totals[i];
    }
}

static void
go(const snd_profile *profile, const children *lists, snd_walk *self)
{
    uint32_t node = lists->root, above = SND_NONE;

    while (node != SND_NONE || above != SND_NONE) {
        if (node != SND_NONE) {
            self->steps[self->step_count++] = (snd_walk_step){node, 0};
            above = node;
            node = lists->first[node];
            continue;
        }
        self->steps[self->step_count++] = (snd_walk_step){above, 1};
        node = lists->next[above];
        above = profile->nodes[above].parent;
    }
}

snd_status
snd_walk_make(const snd_samples *samples, snd_walk *out)
{
    size_t room = (size_t)samples->profile->node_count + 1;
    children lists = {
        snd_malloc(room * sizeof(uint32_t)),
        snd_malloc(room * sizeof(uint32_t)),
        snd_calloc(room, 1),
        SND_NONE,
    };
    snd_walk self = {snd_malloc(2 * room * sizeof(snd_walk_step)), 0, snd_calloc(room, sizeof(uint64_t)),
                     snd_calloc(room, sizeof(uint64_t))};
    int is_there = lists.first != NULL && lists.next != NULL && lists.is_used != NULL && self.steps != NULL &&
                   self.totals != NULL && self.cpu_totals != NULL;

    if (is_there) {
        add_up(samples, &self, &lists);
        go(samples->profile, &lists, &self);
        *out = self;
    }
    else
        snd_walk_free(&self);
    snd_free(lists.first);
    snd_free(lists.next);
    snd_free(lists.is_used);
    return is_there ? SND_OK : SND_NO_MEMORY;
}

void
snd_walk_free(snd_walk *self)
{
    snd_free(self->steps);
    snd_free(self->totals);
    snd_free(self->cpu_totals);
    *self = (snd_walk){0};
}
