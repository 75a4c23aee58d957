/* From nodes to the tree that people read. */
#include "view/frames.h"

#include "base/alloc.h"
#include "base/map.h"
#include "view/events.h"

#include <regex.h>
#include <string.h>

/* A tree in the making. */
typedef struct maker {
    const snd_samples *samples;
    snd_frames tree;
    snd_map children;        /* by parent and function; not by time, where only the last child is looked at */
    snd_map hidden;          /* functions that a frame has folded already */
    uint32_t *placed;        /* per node: its frame */
    unsigned char *folded;   /* per node: it is a frame of others, what it calls is folded into it */
    unsigned char *used;     /* per node: samples in it or below */
    unsigned char *leads;    /* per node: to code of the program */
    unsigned char *shown;    /* per function */
    unsigned char *unwanted; /* per function: it was asked to be hidden */
    uint64_t *packages;      /* per function: a hash of its package's name; 0: it has none */
    uint32_t *path;          /* room for every node */
} maker;

snd_status
snd_frames_add(snd_frames *self, uint32_t parent, snd_frame_kind kind, uint32_t which, uint32_t *frame)
{
    if (self->count == self->capacity) {
        uint32_t capacity = self->capacity * 2;
        snd_frame *frames = capacity < self->capacity ? NULL : snd_realloc(self->frames, capacity * sizeof *frames);
        if (frames == NULL)
            return SND_NO_MEMORY;
        self->frames = frames;
        self->capacity = capacity;
    }
    *frame = self->count++;
    self->frames[*frame] = (snd_frame){
        .kind = kind, .which = which, .parent = parent, .first = SND_NONE, .last = SND_NONE, .next = SND_NONE};
    self->frames[*frame].track = parent == SND_NONE ? which : self->frames[parent].track;
    if (parent == SND_NONE)
        return SND_OK;
    snd_frame *above = &self->frames[parent];
    if (above->first == SND_NONE)
        above->first = *frame;
    else
        self->frames[above->last].next = *frame;
    above->last = *frame;
    return SND_OK;
}

/* ---- what is shown ---- */

static snd_status
mark_unwanted(maker *self)
{
    const char *pattern = self->samples->options->hide;
    regex_t compiled;

    if (pattern == NULL)
        return SND_OK;
    int error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
    if (error != 0)
        return error == REG_ESPACE ? SND_NO_MEMORY : SND_BAD_ARGUMENT;
    for (uint32_t i = 0; i < self->samples->function_count; i++) {
        const snd_profile_site *site = snd_samples_site(self->samples, i);
        self->unwanted[i] =
            regexec(&compiled, site->name, 0, NULL, 0) == 0 || regexec(&compiled, site->file, 0, NULL, 0) == 0;
    }
    regfree(&compiled);
    return SND_OK;
}

static void
mark_shown(maker *self)
{
    const snd_samples *samples = self->samples;

    for (uint32_t i = 0; i < samples->function_count; i++) {
        const snd_profile_site *site = snd_samples_site(samples, i);
        snd_site_kind kind = site->kind;
        char package[64];
        int is_of_others = (kind == SND_SITE_LINE && !samples->functions[i].is_own) || kind == SND_SITE_NATIVE;
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
    const snd_profile *profile = self->samples->profile;
    snd_samples_numbers numbers;

    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t parent = profile->nodes[i].parent, function = snd_samples_function_of(self->samples, i);
        self->used[i] |= (unsigned char)snd_samples_read(self->samples, i, &numbers);
        if (!self->used[i])
            continue;
        self->leads[i] |= function != SND_NONE && self->samples->functions[function].is_own && self->shown[function];
        if (parent == SND_NONE)
            continue;
        self->used[parent] = 1;
        self->leads[parent] |= self->leads[i];
    }
}

/* ---- frames of nodes ---- */

static snd_status
find_child(maker *self, uint32_t parent, snd_frame_kind kind, uint32_t which, uint32_t *frame)
{
    snd_frames *tree = &self->tree;
    uint32_t code = kind == SND_FRAME_HIDDEN ? self->samples->function_count : which, cursor = 0;
    uint64_t key = ((uint64_t)parent + 1) << 32 | code;
    int by_time = self->samples->options->by_time && parent != SND_NONE;

    if (by_time) {
        *frame = tree->frames[parent].last;
        if (*frame != SND_NONE && tree->frames[*frame].kind == kind && tree->frames[*frame].which == which)
            return SND_OK;
        return snd_frames_add(tree, parent, kind, which, frame);
    }
    *frame = snd_map_next(&self->children, key, &cursor);
    if (*frame != SND_MAP_NONE)
        return SND_OK;
    snd_status status = snd_map_add(&self->children, key, tree->count);
    return status == SND_OK ? snd_frames_add(tree, parent, kind, which, frame) : status;
}

/* One more function that `frame` stands for. */
static snd_status
fold(maker *self, uint32_t frame, uint32_t function)
{
    uint64_t key = (uint64_t)frame << 32 | function;
    uint32_t cursor = 0;
    snd_frame *into = &self->tree.frames[frame];

    if (snd_map_next(&self->hidden, key, &cursor) != SND_MAP_NONE)
        return SND_OK;
    if (into->kind == SND_FRAME_FUNCTION && into->which == function)
        return SND_OK; /* it calls itself */
    into->hidden++;
    if (self->packages[function] == 0)
        return snd_map_add(&self->hidden, key, frame);
    for (uint32_t i = 0; i < into->package_count; i++)
        if (self->packages[into->packages[i]] == self->packages[function])
            return snd_map_add(&self->hidden, key, frame);
    if (into->package_count < SND_FRAME_PACKAGES)
        into->packages[into->package_count++] = function;
    else
        into->has_more_packages = 1;
    return snd_map_add(&self->hidden, key, frame);
}

static snd_status
place_of_others(maker *self, uint32_t node, uint32_t parent, uint32_t function)
{
    uint32_t above = self->placed[parent];
    const snd_frame *frame = &self->tree.frames[above];
    int is_top =
        frame->kind == SND_FRAME_THREAD ||
        (frame->kind == SND_FRAME_FUNCTION && snd_samples_site(self->samples, frame->which)->kind == SND_SITE_REGION);

    self->folded[node] = 1;
    if (self->folded[parent]) {
        self->placed[node] = above;
        return fold(self, above, function);
    }
    if (is_top && self->leads[node]) { /* how the program was started is no news */
        self->placed[node] = above;
        self->folded[node] = 0;
        return SND_OK;
    }
    if (!self->unwanted[function])
        return find_child(self, above, SND_FRAME_FUNCTION, function, &self->placed[node]);
    snd_status status = find_child(self, above, SND_FRAME_HIDDEN, 0, &self->placed[node]);
    return status == SND_OK ? fold(self, self->placed[node], function) : status;
}

/* The node's parent has its frame already. */
static snd_status
place(maker *self, uint32_t node)
{
    const snd_profile_node *about = &self->samples->profile->nodes[node];
    uint32_t function = snd_samples_function_of(self->samples, node);

    self->folded[node] = 0;
    if (about->parent == SND_NONE)
        return find_child(self, SND_NONE, SND_FRAME_THREAD, about->track, &self->placed[node]);
    if (function == SND_NONE) {
        self->placed[node] = self->placed[about->parent];
        self->folded[node] = self->folded[about->parent];
        return SND_OK;
    }
    if (!self->shown[function])
        return place_of_others(self, node, about->parent, function);
    return find_child(self, self->placed[about->parent], SND_FRAME_FUNCTION, function, &self->placed[node]);
}

static snd_status
take_nodes(maker *self)
{
    const snd_profile *profile = self->samples->profile;
    snd_samples_numbers numbers;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        if (!self->used[i])
            continue;
        status = place(self, i);
        if (status == SND_OK && snd_samples_read(self->samples, i, &numbers))
            snd_samples_add(&self->tree.frames[self->placed[i]].numbers, &numbers);
    }
    return status;
}

/* ---- in the order of time ---- */

/* Enters the nodes from the innermost one that `from` and `to` share down to `to`. SND_NONE stands above all. */
static snd_status
move(maker *self, uint32_t from, uint32_t to)
{
    const snd_profile_node *nodes = self->samples->profile->nodes;
    uint32_t count = 0;
    snd_status status = SND_OK;

    while (from != to)
        if (to != SND_NONE && (from == SND_NONE || to > from)) {
            self->path[count++] = to;
            to = nodes[to].parent;
        }
        else
            from = nodes[from].parent;
    while (count > 0 && status == SND_OK)
        status = place(self, self->path[--count]);
    return status;
}

static snd_status
take_event(maker *self, snd_events *events, const snd_profile_event *event, uint32_t *last)
{
    uint32_t before = self->tree.count;
    snd_samples_numbers numbers;
    snd_status status = move(self, *last, event->node);

    if (status != SND_OK)
        return status;
    for (uint32_t i = before; i < self->tree.count; i++)
        self->tree.frames[i].start_ns = event->start_ns;
    snd_events_take(events, event, event->value, &numbers);
    snd_samples_add(&self->tree.frames[self->placed[event->node]].numbers, &numbers);
    *last = event->node;
    return SND_OK;
}

static snd_status
take_events(maker *self)
{
    const snd_profile *profile = self->samples->profile;
    snd_events events;
    snd_status status = snd_events_make(self->samples, &events);
    if (status != SND_OK)
        return status;
    uint32_t *last = snd_malloc(((size_t)profile->track_count + 1) * sizeof *last); /* per track: where it was */
    status = last == NULL ? SND_NO_MEMORY : SND_OK;
    for (uint32_t i = 0; i < profile->track_count && status == SND_OK; i++)
        last[i] = SND_NONE;
    for (uint64_t i = 0; i < profile->event_count && status == SND_OK; i++) {
        const snd_profile_event *event = &profile->events[i];
        if (snd_events_has(&events, event))
            status = take_event(self, &events, event, &last[snd_event_track(profile, event)]);
    }
    snd_free(last);
    snd_events_free(&events);
    return status;
}

/* ---- self and waiting ---- */

/* What a frame has itself becomes rows below it: waiting always, CPU time where it does not stand alone. */
static snd_status
part(snd_frames *self, uint32_t frame)
{
    snd_samples_numbers own = self->frames[frame].numbers;
    uint32_t row;
    snd_status status = SND_OK;

    if (snd_samples_waiting(&own) == 0 && (self->frames[frame].first == SND_NONE || snd_samples_cpu(&own) == 0))
        return SND_OK;
    self->frames[frame].numbers = (snd_samples_numbers){.samples = own.samples};
    for (unsigned state = 0; state < SND_SAMPLE_STATES && status == SND_OK; state++) {
        if (SND_SAMPLE_IS_CPU(state) || own.states[state] == 0)
            continue;
        status = snd_frames_add(self, frame, SND_FRAME_WAITING, state, &row);
        if (status == SND_OK)
            self->frames[row].numbers.states[state] = own.states[state];
        own.states[state] = 0;
    }
    if (status == SND_OK && snd_samples_cpu(&own) != 0) {
        status = snd_frames_add(self, frame, SND_FRAME_SELF, 0, &row);
        own.samples = 0;
        if (status == SND_OK)
            self->frames[row].numbers = own;
    }
    return status;
}

static snd_status
finish(snd_frames *self)
{
    uint32_t count = self->count;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < count && status == SND_OK; i++) {
        self->thread_count += self->frames[i].kind == SND_FRAME_THREAD;
        status = part(self, i);
    }
    for (uint32_t i = self->count; i-- > 0 && status == SND_OK;)
        if (self->frames[i].parent != SND_NONE)
            snd_samples_add(&self->frames[self->frames[i].parent].numbers, &self->frames[i].numbers);
    return status;
}

/* ---- all of it ---- */

static int
make_room(maker *self)
{
    size_t nodes = (size_t)self->samples->profile->node_count + 1;
    size_t functions = (size_t)self->samples->function_count + 1;

    self->tree.capacity = 64;
    self->tree.frames = snd_malloc(self->tree.capacity * sizeof *self->tree.frames);
    self->placed = snd_malloc(nodes * sizeof *self->placed);
    self->path = snd_malloc(nodes * sizeof *self->path);
    self->folded = snd_calloc(nodes, 1);
    self->used = snd_calloc(nodes, 1);
    self->leads = snd_calloc(nodes, 1);
    self->shown = snd_calloc(functions, 1);
    self->unwanted = snd_calloc(functions, 1);
    self->packages = snd_malloc(functions * sizeof *self->packages);
    return self->tree.frames != NULL && self->placed != NULL && self->path != NULL && self->folded != NULL &&
           self->used != NULL && self->leads != NULL && self->shown != NULL && self->unwanted != NULL &&
           self->packages != NULL;
}

static void
free_room(maker *self)
{
    snd_map_free(&self->children);
    snd_map_free(&self->hidden);
    snd_free(self->placed);
    snd_free(self->path);
    snd_free(self->folded);
    snd_free(self->used);
    snd_free(self->leads);
    snd_free(self->shown);
    snd_free(self->unwanted);
    snd_free(self->packages);
}

snd_status
snd_frames_make(const snd_samples *samples, snd_frames *out)
{
    maker self = {.samples = samples, .tree = {.samples = samples}};
    snd_status status = make_room(&self) ? mark_unwanted(&self) : SND_NO_MEMORY;

    if (status == SND_OK) {
        mark_shown(&self);
        mark_nodes(&self);
        status = samples->options->by_time ? take_events(&self) : take_nodes(&self);
    }
    if (status == SND_OK)
        status = finish(&self.tree);
    free_room(&self);
    if (status == SND_OK)
        *out = self.tree;
    else
        snd_frames_free(&self.tree);
    return status;
}

void
snd_frames_free(snd_frames *self)
{
    snd_free(self->frames);
    *self = (snd_frames){0};
}
