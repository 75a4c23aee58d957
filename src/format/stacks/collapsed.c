/* Folded stacks, a line each: thread;caller;callee number. For flamegraph.pl, speedscope and others. */
#include "base/alloc.h"
#include "format/stacks/import.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

#include <stdlib.h>
#include <string.h>

typedef struct folding {
    const snd_profile *profile;
    snd_stacks stacks;
    snd_cost cost;
    uint64_t *sums;
    uint64_t sum, written; /* of the stacks so far; what their lines say, in the unit of the lines */
    uint32_t *order;       /* all stacks: those of one parent together, by their texts */
    uint32_t *children;    /* where those of a parent begin in it, and behind the last parent its end */
    uint32_t count;
    int without_threads; /* they are named after their first frames */
    snd_buffer path;
    snd_output out;
} folding;

/* Threads have no parent: they come last. Their frames are texts already, and so are their names. */
static int
compare_stacks(const void *left, const void *right, void *context)
{
    const folding *self = context;
    const snd_stacks_entry *a = &self->stacks.stacks[*(const uint32_t *)left];
    const snd_stacks_entry *b = &self->stacks.stacks[*(const uint32_t *)right];

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->frame == SND_NONE || b->frame == SND_NONE)
        return strcmp(self->profile->tracks[a->track].name, self->profile->tracks[b->track].name);
    return strcmp(self->stacks.frames[a->frame].name, self->stacks.frames[b->frame].name);
}

static void
sort_stacks(folding *self)
{
    self->count = self->stacks.stack_count;
    self->order = snd_malloc(self->count * sizeof *self->order);
    self->children = snd_calloc((size_t)self->count + 1, sizeof *self->children);
    for (uint32_t i = 0; i < self->count; i++)
        self->order[i] = i;
    qsort_r(self->order, self->count, sizeof *self->order, compare_stacks, self);
    uint32_t at = 0;
    for (uint32_t parent = 0; parent <= self->count; parent++) {
        while (at < self->count && self->stacks.stacks[self->order[at]].parent < parent)
            at++;
        self->children[parent] = at;
    }
}

static void
put_frame(folding *self, const snd_stacks_entry *stack)
{
    if (stack->frame == SND_NONE) {
        if (!self->without_threads)
            snd_stacks_put_name(&self->path, self->profile->tracks[stack->track].name);
        return;
    }
    if (self->path.size != 0)
        snd_buffer_char(&self->path, ';');
    snd_buffer_text(&self->path, self->stacks.frames[stack->frame].name);
}

/* Microseconds in place of nanoseconds, rounded so that all lines together are the whole, rounded once. */
static uint64_t
number_of(folding *self, uint32_t stack)
{
    uint64_t before = self->written;

    self->sum += self->sums[stack];
    self->written = strcmp(snd_costs[self->cost].unit, "nanoseconds") == 0 ? (self->sum + 500) / 1000 : self->sum;
    return self->written - before;
}

static void
put_line(folding *self, uint32_t stack)
{
    uint64_t number = number_of(self, stack);

    if (number == 0)
        return;
    snd_buffer_put(&self->out.text, self->path.data, self->path.size);
    snd_buffer_char(&self->out.text, ' ');
    snd_buffer_number(&self->out.text, number);
    snd_buffer_char(&self->out.text, '\n');
}

/* A stack that is being walked. */
typedef struct step {
    uint32_t next, end; /* its children that are left, in `order` */
    size_t path_size;   /* with its own frame */
} step;

static void
walk_thread(folding *self, uint32_t root, step *steps)
{
    uint32_t depth = 0, stack = root;

    self->path.size = 0;
    for (;;) {
        put_frame(self, &self->stacks.stacks[stack]);
        put_line(self, stack);
        snd_work_need(snd_output_flush_full(&self->out));
        steps[depth++] = (step){self->children[stack], self->children[stack + 1], self->path.size};
        while (depth != 0 && steps[depth - 1].next == steps[depth - 1].end)
            depth--;
        if (depth == 0)
            return;
        stack = self->order[steps[depth - 1].next++];
        self->path.size = steps[depth - 1].path_size;
    }
}

static void
walk(folding *self)
{
    step *steps = snd_malloc((SND_STACK_DEPTH + 1) * sizeof *steps);

    for (uint32_t i = self->children[self->count]; i < self->count; i++)
        walk_thread(self, self->order[i], steps);
    snd_work_need(snd_output_flush(&self->out));
}

static void
write_recording(const snd_profile *profile, const snd_export_options *options, int file)
{
    folding self = {.profile = profile, .stacks = {.by_line = options->by_line, .by_text = 1}, .out = {.file = file}};

    self.without_threads = snd_profile_info_number(profile, SND_IMPORT_ROOTS) != 0;
    self.cost = snd_export_cost(profile, options);
    snd_work_need(snd_stacks_update(&self.stacks, profile));
    self.sums = snd_stacks_sums(&self.stacks, profile, self.cost);
    sort_stacks(&self);
    walk(&self);
}

SND_FORMAT_WORK(collapsed, write_recording)
