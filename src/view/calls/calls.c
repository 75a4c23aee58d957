/* Functions and pairs of a profile, added up over its tracks. */
#include "view/calls/calls.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "model/rollup.h"

#include <stdlib.h>

/* What making needs beside its result. */
typedef struct maker {
    const snd_profile *profile;
    snd_calls calls;
    snd_calls_pairs pairs_of;
    snd_intern *places; /* of the rows */
    uint32_t row_capacity;
    uint32_t *row_of; /* per node: that of its site; SND_NONE: it is no call */
} maker;

/* One address for all that have no signature. */
static const char no_detail[] = "";

/* What a node is to us, by where it stands. */
typedef enum role { NO_CALL, FUNCTION, PAIR } role;

static int
is_call(const snd_profile *profile, uint32_t node)
{
    return snd_site_is_call(profile->sites[profile->nodes[node].site].kind);
}

static int
is_below_root(const snd_profile *profile, uint32_t node)
{
    uint32_t parent = profile->nodes[node].parent;
    return parent != SND_NONE && profile->nodes[parent].parent == SND_NONE;
}

static role
role_of(const snd_profile *profile, uint32_t node)
{
    uint32_t parent = profile->nodes[node].parent;

    if (parent == SND_NONE || !is_call(profile, node))
        return NO_CALL;
    if (is_below_root(profile, node))
        return FUNCTION;
    return is_call(profile, parent) && is_below_root(profile, parent) ? PAIR : NO_CALL;
}

/* The profile interns its texts: equal ones are one, and their addresses tell them apart. */
static void
find_row(maker *self, const snd_profile_site *site, uint32_t *row)
{
    const uint64_t key[] = {(uint64_t)site->kind << 32 | site->line, (uintptr_t)site->name, (uintptr_t)site->file,
                            (uintptr_t)site->detail};

    snd_work_need(snd_intern_add(self->places, (const char *)key, sizeof key, row));
    if (*row < self->calls.row_count)
        return;
    snd_need_room(&self->calls.rows, *row + 1, &self->row_capacity, sizeof *self->calls.rows);
    self->calls.rows[self->calls.row_count++] = (snd_calls_row){.site = *site, .function = *row};
}

static void
find_function(maker *self, uint32_t row)
{
    snd_profile_site site = self->calls.rows[row].site;
    uint32_t function;

    if (site.detail == no_detail || self->calls.rows[row].function != row)
        return;
    site.detail = no_detail;
    find_row(self, &site, &function);
    self->calls.rows[row].function = function;
    self->calls.rows[function].signature_count++;
}

static void
row_of_site(maker *self, uint32_t id, uint32_t *row)
{
    snd_profile_site site = self->profile->sites[id];

    if (site.detail[0] == '\0')
        site.detail = no_detail;
    find_row(self, &site, row);
    find_function(self, *row);
}

/* Rows are numbered as they are met, a callee before its caller. */
static void
find_rows(maker *self)
{
    const snd_profile_node *nodes = self->profile->nodes;
    uint32_t caller;

    self->row_of = snd_new(self->profile->node_count, sizeof *self->row_of);
    for (uint32_t i = 0; i < self->profile->node_count; i++) {
        role as = role_of(self->profile, i);
        self->row_of[i] = SND_NONE;
        if (as != NO_CALL)
            row_of_site(self, nodes[i].site, &self->row_of[i]);
        if (as == PAIR)
            row_of_site(self, nodes[nodes[i].parent].site, &caller);
    }
}

/* ---- keys ---- */

static uint32_t
by_row(const snd_rollup *rows, uint32_t node)
{
    const maker *self = rows->context;
    return role_of(rows->profile, node) == FUNCTION ? self->row_of[node] : SND_NONE;
}

static uint32_t
by_function(const snd_rollup *rows, uint32_t node)
{
    const maker *self = rows->context;
    uint32_t row = by_row(rows, node);
    return row == SND_NONE ? SND_NONE : self->calls.rows[row].function;
}

static uint32_t
pair_row(const maker *self, uint32_t node)
{
    uint32_t row = self->row_of[node];
    return self->pairs_of == SND_PAIRS_OF_FUNCTIONS ? self->calls.rows[row].function : row;
}

static uint32_t
by_pair(const snd_rollup *rows, uint32_t node)
{
    if (role_of(rows->profile, node) != PAIR)
        return SND_NONE;
    const uint32_t key[] = {pair_row(rows->context, rows->profile->nodes[node].parent), pair_row(rows->context, node)};
    return snd_rollup_key(rows, key, sizeof key);
}

/* ---- sums ---- */

/* A call is recursive from its start on: the open ones are among those. */
static snd_calls_numbers
read_numbers(const snd_rollup *rows, uint32_t row)
{
    uint64_t open = snd_rollup_whole(rows, row, SND_METRIC_OPEN);
    uint64_t started = snd_rollup_whole(rows, row, SND_METRIC_COUNT) + open;
    uint64_t recursive = snd_rollup_whole(rows, row, SND_METRIC_RECURSIVE);

    return (snd_calls_numbers){
        .count = started,
        .primitive = started > recursive ? started - recursive : 0,
        .open = open,
        .resumes = snd_rollup_whole(rows, row, SND_METRIC_RESUMES),
        .self_ns = snd_rollup_whole(rows, row, SND_METRIC_SELF),
        .total_ns = snd_rollup_whole(rows, row, SND_METRIC_TOTAL),
        .suspended_ns = snd_rollup_whole(rows, row, SND_METRIC_SUSPENDED),
    };
}

/* A function whose own node had no room is at least the sum of its signatures. */
static void
add_up_rows(maker *self)
{
    snd_rollup rows, functions;

    snd_rollup_make(self->profile, by_row, NULL, self, &rows);
    snd_rollup_make(self->profile, by_function, NULL, self, &functions);
    for (uint32_t i = 0; i < self->calls.row_count; i++) {
        if (i < rows.count && rows.first[i] != SND_NONE)
            self->calls.rows[i].numbers = read_numbers(&rows, i);
        else if (i < functions.count)
            self->calls.rows[i].numbers = read_numbers(&functions, i);
    }
}

static int
compare_pairs(const void *a, const void *b)
{
    const snd_calls_pair *x = a, *y = b;

    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void
add_up_pairs(maker *self)
{
    snd_calls *calls = &self->calls;
    snd_rollup rows;

    snd_rollup_make(self->profile, by_pair, NULL, self, &rows);
    calls->pairs = snd_new(rows.count, sizeof *calls->pairs);
    for (; calls->pair_count < rows.count; calls->pair_count++) {
        uint32_t node = rows.first[calls->pair_count];
        calls->pairs[calls->pair_count] =
            (snd_calls_pair){pair_row(self, self->profile->nodes[node].parent), pair_row(self, node),
                             read_numbers(&rows, calls->pair_count)};
    }
    qsort(calls->pairs, calls->pair_count, sizeof *calls->pairs, compare_pairs);
}

static void
make_calls(const snd_profile *profile, snd_calls_pairs pairs, snd_calls *out)
{
    maker self = {.profile = profile, .pairs_of = pairs, .places = snd_intern_new()};

    find_rows(&self);
    add_up_rows(&self);
    add_up_pairs(&self);
    *out = self.calls;
}

SND_DOOR_2(snd_calls_make, snd_calls, make_calls, const snd_profile *, snd_calls_pairs)

void
snd_calls_free(snd_calls *self)
{
    snd_pool_free(self->pool);
    *self = (snd_calls){0};
}

void
snd_calls_turn_pairs(snd_calls *self)
{
    for (uint32_t i = 0; i < self->pair_count; i++) {
        uint32_t caller = self->pairs[i].caller;
        self->pairs[i].caller = self->pairs[i].callee;
        self->pairs[i].callee = caller;
    }
    qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_pairs);
}

int
snd_calls_is_used(const snd_calls_numbers *numbers)
{
    return numbers->count != 0 || numbers->self_ns != 0 || numbers->total_ns != 0 || numbers->resumes != 0;
}
