/* The call tree as a table: who called what, with the time or the memory in and below each. */
#include "view/sampled/tree_table.h"

#include "base/alloc.h"
#include "view/sampled/tree.h"
#include "view/sampled/waiting.h"

#include <stdlib.h>

/* Rows below this share, in per cent, are left out. */
#define LEAST_SHARE 1.0

/* What a frame of small rows is: those of one parent, all that have no row anywhere, or the idle threads. */
enum { OF_PARENT, LEFT_OUT, IDLE };

/* A row to come. */
typedef struct step {
    uint32_t frame;
    uint32_t depth;
    uint32_t parent_row; /* SND_NONE: none */
} step;

/* A table in the making. */
typedef struct maker {
    const snd_samples *samples;
    const snd_tree_numbers *of;
    snd_tree_frames tree;
    snd_waiting waiting;
    snd_table *table;
    step *steps;        /* still to come, the next one last */
    uint32_t *children; /* of one frame */
    uint32_t step_count, step_capacity, child_count, child_capacity;
    snd_samples_numbers left_out;
    uint32_t left_out_count;
    uint32_t main_track;
} maker;

/* ---- texts ---- */

static void
put_packages(const snd_samples *samples, const snd_tree_frame *frame, snd_buffer *out)
{
    snd_buffer_printf(out, "[%u frame%s hidden]", frame->hidden, frame->hidden == 1 ? "" : "s");
    for (uint32_t i = 0; i < frame->package_count; i++) {
        char package[64];
        snd_own_package(&samples->own, snd_samples_site(samples, frame->packages[i])->file, package, sizeof package);
        snd_buffer_printf(out, "%s%s", i == 0 ? "  " : ", ", package);
    }
    if (frame->has_more_packages)
        snd_buffer_text(out, ", ...");
}

static void
put_function(const snd_samples *samples, const snd_tree_frame *frame, snd_buffer *out)
{
    const snd_profile_site *site = snd_samples_site(samples, frame->which);

    snd_function_text(site, out);
    if (site->kind == SND_SITE_NATIVE)
        snd_buffer_text(out, " (native)");
    if (frame->hidden != 0) {
        snd_buffer_text(out, "  ");
        put_packages(samples, frame, out);
    }
}

static void
put_name(const snd_samples *samples, const snd_tree_frame *frame, snd_buffer *out)
{
    switch (frame->kind) {
    case SND_FRAME_THREAD:
        snd_buffer_text(out, "thread ");
        snd_thread_text(&samples->profile->tracks[frame->which], out);
        break;
    case SND_FRAME_FUNCTION:
        put_function(samples, frame, out);
        break;
    case SND_FRAME_HIDDEN:
        put_packages(samples, frame, out);
        break;
    case SND_FRAME_CALLEE:
        snd_buffer_printf(out, "[in %s()]", samples->profile->sites[frame->which].detail);
        break;
    case SND_FRAME_SELF:
        snd_buffer_text(out, "[self]");
        break;
    case SND_FRAME_WAITING:
        snd_buffer_printf(out, "[waiting: %s]", snd_waiting_reason(frame->which));
        break;
    case SND_FRAME_SMALL:
        if (frame->which == IDLE)
            snd_buffer_printf(out, "[%u idle thread%s]", frame->hidden, frame->hidden == 1 ? "" : "s");
        else
            snd_buffer_printf(out, "[%u %srow%s below 1%%]", frame->hidden, frame->which == LEFT_OUT ? "more " : "",
                              frame->hidden == 1 ? "" : "s");
        break;
    }
}

static const char *
kind_of(const snd_samples *samples, const snd_tree_frame *frame)
{
    static const char *const names[] = {
        [SND_FRAME_THREAD] = "thread", [SND_FRAME_FUNCTION] = "", [SND_FRAME_HIDDEN] = "hidden",
        [SND_FRAME_CALLEE] = "native", [SND_FRAME_SELF] = "self", [SND_FRAME_WAITING] = "waiting",
        [SND_FRAME_SMALL] = "small",
    };
    return frame->kind == SND_FRAME_FUNCTION ? snd_function_code(samples, frame->which) : names[frame->kind];
}

/* ---- rows ---- */

static void
add_row(maker *self, const step *at)
{
    const snd_tree_frame *frame = &self->tree.frames[at->frame];
    snd_table *table = self->table;
    uint32_t row = table->row_count;
    double share = snd_samples_share(self->samples, snd_samples_ranked(self->samples, &frame->numbers));
    snd_buffer name = {0}, place = {0};
    snd_cell *cells = snd_table_row(table, at->depth);
    put_name(self->samples, frame, &name);
    self->of->put(self->samples, &frame->numbers, cells);
    snd_cell *about = cells + self->of->at;
    snd_set_buffer(table, &about[SND_TREE_NAME], &name);
    snd_set_text(table, &about[SND_TREE_KIND], kind_of(self->samples, frame));
    if (frame->kind == SND_FRAME_FUNCTION) {
        snd_place_text(&self->samples->own, snd_samples_site(self->samples, frame->which), &place);
        snd_set_buffer(table, &about[SND_TREE_PLACE], &place);
    }
    if (self->samples->options->by_time && (frame->kind == SND_FRAME_FUNCTION || frame->kind == SND_FRAME_HIDDEN))
        snd_set_whole(&about[SND_TREE_START], frame->start_ns);
    snd_set_whole(&about[SND_TREE_ID], row);
    if (at->parent_row != SND_NONE)
        snd_set_whole(&about[SND_TREE_PARENT_ID], at->parent_row);
    snd_table_last(table)->colour = frame->kind == SND_FRAME_SMALL ? SND_COLOUR_DIM : snd_colour_of_share(share);
}

/* ---- the order of rows ---- */

static int
compare_children(const void *a, const void *b, void *context)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const maker *self = context;
    const snd_tree_frame *left = &self->tree.frames[x], *right = &self->tree.frames[y];
    int difference = snd_samples_compare(self->samples, &left->numbers, &right->numbers);

    if (left->kind == SND_FRAME_THREAD && (left->which == self->main_track) != (right->which == self->main_track))
        return left->which == self->main_track ? -1 : 1;
    if (difference != 0 && !(self->samples->options->by_time && left->kind != SND_FRAME_THREAD))
        return difference;
    return x < y ? -1 : x > y;
}

static int
is_large(const maker *self, const snd_samples_numbers *numbers)
{
    return snd_samples_share(self->samples, snd_samples_ranked(self->samples, numbers)) >= LEAST_SHARE;
}

/* In the order of CPU time, what threads that are not idle wait for has rows too, as far as it is the program's. */
static int
is_shown(const maker *self, uint32_t frame)
{
    const snd_tree_frame *of = &self->tree.frames[frame];
    double waited = (double)snd_samples_waited(&of->numbers);

    if (self->samples->options->show_all || is_large(self, &of->numbers))
        return 1;
    return !self->samples->options->with_waiting && waited > 0 && !self->waiting.is_idle[of->track] &&
           100 * waited >= LEAST_SHARE * (double)self->waiting.others_ns;
}

/* Takes a child in, or counts it among those that are too small. */
static void
take_child(maker *self, uint32_t frame, snd_samples_numbers *small, uint32_t *small_count)
{
    const snd_tree_frame *child = &self->tree.frames[frame];

    if (snd_samples_time(&child->numbers) == 0 && child->numbers.samples == 0)
        return;
    if (!is_shown(self, frame)) {
        snd_samples_add(small, &child->numbers);
        ++*small_count;
        return;
    }
    snd_need_room(&self->children, self->child_count + 1, &self->child_capacity, sizeof *self->children);
    self->children[self->child_count++] = frame;
}

/* Small children that are not small together get a row of their own, the last one, and so do those at the top, so that
 * the rows there add up; others wait for the end. */
static void
take_small(maker *self, uint32_t parent, int is_top, const snd_samples_numbers *small, uint32_t count, uint32_t *row)
{
    *row = SND_NONE;
    if (count == 0)
        return;
    if (!is_top && !is_large(self, small)) {
        snd_samples_add(&self->left_out, small);
        self->left_out_count += count;
        return;
    }
    snd_tree_frames_add(&self->tree, parent, SND_FRAME_SMALL, OF_PARENT, row);
    self->tree.frames[*row].numbers = *small;
    self->tree.frames[*row].hidden = count;
}

/* The children that were taken in come next, the first of them last into the steps. */
static void
push_children(maker *self, uint32_t small, uint32_t depth, uint32_t parent_row)
{
    uint32_t needed = self->step_count + self->child_count + 1;

    snd_need_room(&self->steps, needed, &self->step_capacity, sizeof *self->steps);
    if (self->child_count != 0)
        qsort_r(self->children, self->child_count, sizeof *self->children, compare_children, self);
    if (small != SND_NONE)
        self->steps[self->step_count++] = (step){small, depth, parent_row};
    while (self->child_count > 0)
        self->steps[self->step_count++] = (step){self->children[--self->child_count], depth, parent_row};
}

static void
expand(maker *self, uint32_t frame, uint32_t depth, uint32_t parent_row)
{
    snd_samples_numbers small = {0};
    uint32_t small_count = 0, row;

    for (uint32_t i = self->tree.frames[frame].first; i != SND_NONE; i = self->tree.frames[i].next)
        take_child(self, i, &small, &small_count);
    take_small(self, frame, depth == 0, &small, small_count, &row);
    push_children(self, row, depth, parent_row);
}

/* Idle threads that have no rows of their own: the last row. */
static void
push_idle(maker *self, const snd_samples_numbers *numbers, uint32_t count)
{
    uint32_t row;

    if (count == 0)
        return;
    snd_tree_frames_add(&self->tree, SND_NONE, SND_FRAME_SMALL, IDLE, &row);
    self->tree.frames[row].numbers = *numbers;
    self->tree.frames[row].hidden = count;
    snd_need_room(&self->steps, self->step_count + 1, &self->step_capacity, sizeof *self->steps);
    self->steps[self->step_count++] = (step){row, 0, SND_NONE};
}

static void
start(maker *self)
{
    snd_samples_numbers small = {0}, idle = {0};
    uint32_t small_count = 0, idle_count = 0, row, count = self->tree.count;

    for (uint32_t i = 0; i < count; i++) {
        if (self->tree.frames[i].kind != SND_FRAME_THREAD)
            continue;
        int is_idle = !self->samples->options->with_waiting && self->waiting.is_idle[self->tree.frames[i].track];
        uint32_t before = idle_count, track = self->tree.frames[i].track;
        if (self->tree.thread_count == 1)
            expand(self, i, 0, SND_NONE);
        else
            take_child(self, i, is_idle ? &idle : &small, is_idle ? &idle_count : &small_count);
        if (idle_count != before)
            idle_count = before + snd_waiting_threads(&self->samples->profile->tracks[track]);
    }
    if (self->tree.thread_count == 1)
        return;
    take_small(self, SND_NONE, 1, &small, small_count, &row);
    push_idle(self, &idle, idle_count);
    push_children(self, row, 0, SND_NONE);
}

/* Time that is in rows above already: for people only. */
static void
add_left_out(maker *self)
{
    uint32_t row;

    if (self->left_out_count == 0)
        return;
    snd_tree_frames_add(&self->tree, SND_NONE, SND_FRAME_SMALL, LEFT_OUT, &row);
    self->tree.frames[row].numbers = self->left_out;
    self->tree.frames[row].hidden = self->left_out_count;
    add_row(self, &(step){row, 0, SND_NONE});
    snd_table_last(self->table)->is_extra = 1;
}

static void
add_rows(maker *self)
{
    start(self);

    while (self->step_count > 0) {
        step at = self->steps[--self->step_count];
        uint32_t row = self->table->row_count;
        add_row(self, &at);
        expand(self, at.frame, at.depth + 1, row);
    }
    add_left_out(self);
}

static void
make_table(maker *self)
{
    self->table = snd_table_new(self->of->view, self->of->columns, self->of->at + SND_TREE_COLUMN_COUNT);
    self->table->is_tree = self->table->has_guides = 1;
    add_rows(self);
}

void
snd_tree_table_make(const snd_samples *samples, const snd_tree_numbers *of, snd_table **out)
{
    maker self = {.samples = samples, .of = of, .main_track = snd_tree_main_track(samples->profile)};
    snd_tree_frames_make(samples, &self.tree);

    snd_waiting_make(samples, &self.waiting);
    make_table(&self);
    *out = self.table;
}

enum { TIME, ABOUT = SND_SAMPLE_COLUMN_COUNT };

static const snd_column columns[] = {
    SND_SAMPLE_COLUMNS(TIME, "cpu_ns", "CPU", "time_ns", "time", "percent", SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO,
                       SND_COLUMN_NO_ZERO),
    SND_TREE_COLUMNS(ABOUT),
};

static const snd_tree_numbers of_time = {"tree", columns, ABOUT, snd_sample_cells};

static void
ask_tree(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_table *table = NULL;

    if (options->flat) {
        snd_work_need(snd_view_sampled_functions(profile, options, out));
        return;
    }
    snd_samples_make(profile, options, &samples);
    snd_tree_table_make(&samples, &of_time, &table);
    snd_sample_table_adapt(table, TIME, options);
    if (!options->with_waiting && !options->cpu_only)
        table->columns[SND_SAMPLE_WAITED].traits |= SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY;
    snd_sample_table_finish(&samples, NULL, table, out);
}

SND_VIEW(tree, ask_tree)
