/* From nodes to the tree that people read. */
#include "view/sampled/tree_table.h"

#include "base/alloc.h"
#include "base/map.h"
#include "view/sampled/callees.h"
#include "view/sampled/events.h"

#include <regex.h>
#include <string.h>

/* A tree in the making. */
typedef struct maker {
    snd_samples samples; /* as everywhere: the context of a roll-up of samples */
    snd_tree_frames tree;
    const snd_rollup *rows;  /* that the frames are rows of; NULL by time, where only the last child is looked at */
    snd_map hidden;          /* functions that a frame has folded already */
    uint32_t *threads;       /* per track: its frame; SND_NONE: none yet */
    uint32_t *placed;        /* per node: its frame */
    unsigned char *folded;   /* per node: it is a frame of others, what it calls is folded into it */
    unsigned char *used;     /* per node: samples in it or below */
    unsigned char *leads;    /* per node: to code of the program */
    unsigned char *shown;    /* per function */
    unsigned char *unwanted; /* per function: it was asked to be hidden */
    uint64_t *packages;      /* per function: a hash of its package's name; 0: it has none */
    uint32_t *callees;       /* per site that names what it calls: the first one that names the same */
    uint32_t *path;          /* room for every node */
} maker;

void
snd_tree_frames_add(snd_tree_frames *self, uint32_t parent, snd_tree_frame_kind kind, uint32_t which, uint32_t *frame)
{
    snd_need_room(&self->frames, self->count + 1, &self->capacity, sizeof *self->frames);
    *frame = self->count++;
    self->frames[*frame] = (snd_tree_frame){
        .kind = kind, .which = which, .parent = parent, .first = SND_NONE, .last = SND_NONE, .next = SND_NONE};
    self->frames[*frame].track = parent == SND_NONE ? which : self->frames[parent].track;
    if (parent == SND_NONE)
        return;
    snd_tree_frame *above = &self->frames[parent];
    if (above->first == SND_NONE)
        above->first = *frame;
    else
        self->frames[above->last].next = *frame;
    above->last = *frame;
}

/* ---- what is shown ---- */

static void
mark_unwanted(maker *self)
{
    const char *pattern = self->samples.options->hide;
    regex_t compiled;

    if (pattern == NULL)
        return;
    int error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
    if (error != 0)
        snd_work_end(error == REG_ESPACE ? SND_NO_MEMORY : SND_BAD_ARGUMENT);
    for (uint32_t i = 0; i < self->samples.function_count; i++) {
        const snd_profile_site *site = snd_samples_site(&self->samples, i);
        self->unwanted[i] =
            regexec(&compiled, site->name, 0, NULL, 0) == 0 || regexec(&compiled, site->file, 0, NULL, 0) == 0;
    }
    regfree(&compiled);
}

static void
mark_shown(maker *self)
{
    const snd_samples *samples = &self->samples;

    for (uint32_t i = 0; i < samples->function_count; i++) {
        const snd_profile_site *site = snd_samples_site(samples, i);
        snd_site_kind kind = site->kind;
        char package[64];
        int is_of_others = ((kind == SND_SITE_LINE || kind == SND_SITE_NATIVE) && !samples->functions[i].is_own) ||
                           snd_site_is_import(site);
        self->shown[i] = !self->unwanted[i] && (samples->options->show_all || !is_of_others);
        snd_own_package(&samples->own, site->file, package, sizeof package);
        /* a native function with a line has its source in place of its library */
        self->packages[i] = kind == SND_SITE_NATIVE && site->line != 0 ? 0 : snd_hash(package, strlen(package), 0);
    }
}

/* A parent's id is smaller than its children's: from the end, what stands below is known before. */
static void
mark_nodes(maker *self)
{
    const snd_profile *profile = self->samples.profile;
    snd_samples_numbers numbers;

    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent, function = snd_samples_function_of(&self->samples, i);
        self->used[i] |= (unsigned char)snd_samples_read(&self->samples, i, &numbers);
        if (!self->used[i])
            continue;
        self->leads[i] |= function != SND_NONE && self->samples.functions[function].is_own && self->shown[function];
        if (parent == SND_NONE)
            continue;
        self->used[parent] = 1;
        self->leads[parent] |= self->leads[i];
    }
}

/* A profile keeps each text once: its address stands for it. */
static void
find_callees(maker *self)
{
    const snd_profile *profile = self->samples.profile;
    snd_map known = {0};

    for (uint32_t i = 0; i < profile->site_count; i++) {
        const char *name = snd_callee_of(&profile->sites[i]);
        uint32_t cursor = 0;
        if (name == NULL)
            continue;
        self->callees[i] = snd_map_next(&known, (uintptr_t)name, &cursor);
        if (self->callees[i] != SND_MAP_NONE)
            continue;
        snd_work_need(snd_map_add(&known, (uintptr_t)name, i));
        self->callees[i] = i;
    }
}

/* ---- frames of nodes ---- */

static void
find_child(maker *self, uint32_t parent, snd_tree_frame_kind kind, uint32_t which, uint32_t *frame)
{
    snd_tree_frames *tree = &self->tree;
    const uint32_t key[] = {parent, kind, which};

    if (self->rows != NULL)
        *frame = snd_rollup_key(self->rows, key, sizeof key);
    else
        *frame = parent == SND_NONE ? self->threads[which] : tree->frames[parent].last;
    if (*frame < tree->count && tree->frames[*frame].kind == kind && tree->frames[*frame].which == which)
        return;
    snd_tree_frames_add(tree, parent, kind, which, frame);
    if (kind == SND_FRAME_THREAD)
        self->threads[which] = *frame;
}

/* One more function that `frame` stands for. */
static void
fold(maker *self, uint32_t frame, uint32_t function)
{
    uint64_t key = (uint64_t)frame << 32 | function;
    uint32_t cursor = 0;
    snd_tree_frame *into = &self->tree.frames[frame];

    if (snd_map_next(&self->hidden, key, &cursor) != SND_MAP_NONE)
        return;
    if (into->kind == SND_FRAME_FUNCTION && into->which == function)
        return; /* it calls itself */
    into->hidden++;
    snd_work_need(snd_map_add(&self->hidden, key, frame));
    if (self->packages[function] == 0)
        return;
    for (uint32_t i = 0; i < into->package_count; i++)
        if (self->packages[into->packages[i]] == self->packages[function])
            return;
    if (into->package_count < SND_FRAME_PACKAGES)
        into->packages[into->package_count++] = function;
    else
        into->has_more_packages = 1;
}

static void
place_of_others(maker *self, uint32_t node, uint32_t parent, uint32_t function)
{
    uint32_t above = self->placed[parent];
    const snd_tree_frame *frame = &self->tree.frames[above];
    snd_tree_frame_kind kind = frame->kind; /* a parent has its frame: NOLINT(clang-analyzer-core.NullDereference) */
    int is_top = kind == SND_FRAME_THREAD || (kind == SND_FRAME_FUNCTION &&
                                              snd_samples_site(&self->samples, frame->which)->kind == SND_SITE_REGION);

    self->folded[node] = 1;
    if (self->folded[parent]) {
        self->placed[node] = above;
        return fold(self, above, function);
    }
    if (is_top && self->leads[node]) { /* how the program was started is no news */
        self->placed[node] = above;
        self->folded[node] = 0;
        return;
    }
    if (!self->unwanted[function])
        return find_child(self, above, SND_FRAME_FUNCTION, function, &self->placed[node]);
    find_child(self, above, SND_FRAME_HIDDEN, 0, &self->placed[node]);
    fold(self, self->placed[node], function);
}

/* The node's parent has its frame already. */
static void
place(maker *self, uint32_t node)
{
    const snd_profile_node *about = &self->samples.profile->nodes[node];
    uint32_t function = snd_samples_function_of(&self->samples, node);

    self->folded[node] = 0;
    if (about->parent == SND_NONE)
        return find_child(self, SND_NONE, SND_FRAME_THREAD, about->track, &self->placed[node]);
    if (function == SND_NONE) {
        self->placed[node] = self->placed[about->parent];
        self->folded[node] = self->folded[about->parent];
        return;
    }
    if (!self->shown[function])
        return place_of_others(self, node, about->parent, function);
    find_child(self, self->placed[about->parent], SND_FRAME_FUNCTION, function, &self->placed[node]);
    if (snd_callee_of(&self->samples.profile->sites[about->site]) != NULL && !self->samples.options->no_callees)
        find_child(self, self->placed[node], SND_FRAME_CALLEE, self->callees[about->site], &self->placed[node]);
}

static uint32_t
by_frame(const snd_rollup *rows, uint32_t node)
{
    maker *self = rows->context;

    if (!self->used[node])
        return SND_NONE;
    self->rows = rows;
    place(self, node);
    return self->placed[node];
}

static void
take_nodes(maker *self)
{
    snd_rollup rows;

    snd_samples_rollup(&self->samples, by_frame, &rows);
    for (uint32_t i = 0; i < rows.count; i++)
        self->tree.frames[i].numbers = snd_samples_row(&rows, i);
}

/* ---- in the order of time ---- */

/* Enters the nodes from the innermost one that `from` and `to` share down to `to`. SND_NONE stands above all. */
static void
move(maker *self, uint32_t from, uint32_t to)
{
    const snd_profile_node *nodes = self->samples.profile->nodes;
    uint32_t count = 0;

    while (from != to)
        if (to != SND_NONE && (from == SND_NONE || to > from)) {
            self->path[count++] = to;
            to = nodes[to].parent;
        }
        else
            from = nodes[from].parent;
    while (count > 0)
        place(self, self->path[--count]);
}

static void
take_event(maker *self, snd_events *events, const snd_profile_event *event, uint32_t *last)
{
    uint32_t before = self->tree.count;
    snd_samples_numbers numbers;
    move(self, *last, event->node);

    for (uint32_t i = before; i < self->tree.count; i++)
        self->tree.frames[i].start_ns = event->start_ns;
    snd_events_take(events, event, event->duration_ns, &numbers);
    snd_samples_add(&self->tree.frames[self->placed[event->node]].numbers, &numbers);
    *last = event->node;
}

static void
take_events(maker *self)
{
    const snd_profile *profile = self->samples.profile;
    snd_events events;
    snd_events_make(&self->samples, &events);
    uint32_t *last = snd_malloc(((size_t)profile->track_count + 1) * sizeof *last); /* per track: where it was */

    for (uint32_t i = 0; i < profile->track_count; i++)
        last[i] = SND_NONE;
    for (uint64_t i = 0; i < profile->event_count; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (snd_events_has(&events, event))
            take_event(self, &events, event, &last[event->track]);
    }
}

/* ---- self and waiting ---- */

/* What a frame has itself becomes rows below it: waiting always, CPU time where it does not stand alone. A C function
 * has both in one row: it ran, and had to wait for a processor. */
static void
part(snd_tree_frames *self, uint32_t frame)
{
    snd_samples_numbers own = self->frames[frame].numbers;
    uint32_t row;

    if (self->frames[frame].kind == SND_FRAME_CALLEE)
        return;
    if (snd_samples_waiting(&own) == 0 && (self->frames[frame].first == SND_NONE || snd_samples_cpu(&own) == 0))
        return;
    self->frames[frame].numbers = (snd_samples_numbers){.samples = own.samples};
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
        if (SND_SAMPLE_IS_CPU(state) || own.states[state] == 0)
            continue;
        snd_tree_frames_add(self, frame, SND_FRAME_WAITING, state, &row);
        self->frames[row].numbers.states[state] = own.states[state];
        own.states[state] = 0;
    }
    if (snd_samples_cpu(&own) != 0) {
        snd_tree_frames_add(self, frame, SND_FRAME_SELF, 0, &row);
        own.samples = 0;
        self->frames[row].numbers = own;
    }
}

static void
finish(snd_tree_frames *self)
{
    uint32_t count = self->count;

    for (uint32_t i = 0; i < count; i++) {
        self->thread_count += self->frames[i].kind == SND_FRAME_THREAD;
        part(self, i);
    }
    for (uint32_t i = self->count; i-- > 0;)
        if (self->frames[i].parent != SND_NONE)
            snd_samples_add(&self->frames[self->frames[i].parent].numbers, &self->frames[i].numbers);
}

/* ---- all of it ---- */

static void
make_room(maker *self)
{
    size_t nodes = (size_t)self->samples.profile->node_count + 1;
    size_t functions = (size_t)self->samples.function_count + 1;

    self->threads = snd_malloc(((size_t)self->samples.profile->track_count + 1) * sizeof *self->threads);
    memset(self->threads, 0xff, self->samples.profile->track_count * sizeof *self->threads); /* SND_NONE */
    self->placed = snd_malloc(nodes * sizeof *self->placed);
    self->path = snd_malloc(nodes * sizeof *self->path);
    self->callees = snd_new(self->samples.profile->site_count, sizeof *self->callees);
    self->folded = snd_calloc(nodes, 1);
    self->used = snd_calloc(nodes, 1);
    self->leads = snd_calloc(nodes, 1);
    self->shown = snd_calloc(functions, 1);
    self->unwanted = snd_calloc(functions, 1);
    self->packages = snd_malloc(functions * sizeof *self->packages);
}

void
snd_tree_frames_make(const snd_samples *samples, snd_tree_frames *out)
{
    maker self = {.samples = *samples, .tree = {.samples = samples}};

    make_room(&self);
    mark_unwanted(&self);
    mark_shown(&self);
    mark_nodes(&self);
    find_callees(&self);
    if (samples->options->by_time)
        take_events(&self);
    else
        take_nodes(&self);
    finish(&self.tree);
    *out = self.tree;
}
