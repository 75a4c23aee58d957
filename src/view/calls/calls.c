/* Functions and pairs of a profile, added up over its tracks. */
#include "view/calls/calls.h"

#include "base/alloc.h"
#include "base/intern.h"

#include <stdlib.h>

/* What making needs beside its result. */
typedef struct maker {
    const snd_profile *profile;
    snd_calls calls;
    snd_intern *places; /* of the rows */
    uint32_t row_capacity, pair_capacity;
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

/* A call is recursive from its start on: the open ones are among those. */
static snd_calls_numbers
read_numbers(const snd_profile *profile, uint32_t node)
{
    uint64_t open = snd_profile_whole(profile, node, SND_METRIC_OPEN);
    uint64_t started = snd_profile_whole(profile, node, SND_METRIC_COUNT) + open;
    uint64_t recursive = snd_profile_whole(profile, node, SND_METRIC_RECURSIVE);

    return (snd_calls_numbers){
        .count = started,
        .primitive = started > recursive ? started - recursive : 0,
        .open = open,
        .resumes = snd_profile_whole(profile, node, SND_METRIC_RESUMES),
        .self_ns = snd_profile_whole(profile, node, SND_METRIC_SELF),
        .total_ns = snd_profile_whole(profile, node, SND_METRIC_TOTAL),
        .suspended_ns = snd_profile_whole(profile, node, SND_METRIC_SUSPENDED),
    };
}

static void
add_numbers(snd_calls_numbers *sum, const snd_calls_numbers *more)
{
    sum->count += more->count;
    sum->primitive += more->primitive;
    sum->open += more->open;
    sum->resumes += more->resumes;
    sum->self_ns += more->self_ns;
    sum->total_ns += more->total_ns;
    sum->suspended_ns += more->suspended_ns;
}

static void
take_node(maker *self, uint32_t node)
{
    const snd_profile_node *nodes = self->profile->nodes;
    role as = role_of(self->profile, node);
    uint32_t row, caller;

    if (as == NO_CALL)
        return;
    snd_calls_numbers numbers = read_numbers(self->profile, node);
    row_of_site(self, nodes[node].site, &row);
    if (as == FUNCTION) {
        self->calls.rows[row].is_met = 1;
        add_numbers(&self->calls.rows[row].numbers, &numbers);
    }
    else {
        row_of_site(self, nodes[nodes[node].parent].site, &caller);
        snd_need_room(&self->calls.pairs, self->calls.pair_count + 1, &self->pair_capacity, sizeof *self->calls.pairs);
        self->calls.pairs[self->calls.pair_count++] = (snd_calls_pair){caller, row, numbers};
    }
}

/* A function whose own node had no room is at least the sum of its signatures. */
static void
complete_functions(maker *self)
{
    for (uint32_t i = 0; i < self->calls.row_count; i++) {
        const snd_calls_row *row = &self->calls.rows[i];
        if (row->function != i && !self->calls.rows[row->function].is_met)
            add_numbers(&self->calls.rows[row->function].numbers, &row->numbers);
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

/* Sorting, not hashing: a file may hold any pairs, and many of them. */
static void
merge_pairs(snd_calls *self)
{
    uint32_t count = 0;

    if (self->pair_count != 0)
        qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_pairs);
    for (uint32_t i = 0; i < self->pair_count; i++) {
        if (count != 0 && compare_pairs(&self->pairs[count - 1], &self->pairs[i]) == 0)
            add_numbers(&self->pairs[count - 1].numbers, &self->pairs[i].numbers);
        else
            self->pairs[count++] = self->pairs[i];
    }
    self->pair_count = count;
}

static void
make_calls(const snd_profile *profile, snd_calls *out)
{
    maker self = {.profile = profile, .places = snd_intern_new()};

    for (uint32_t i = 0; i < profile->node_count; i++)
        take_node(&self, i);
    complete_functions(&self);
    merge_pairs(&self.calls);
    *out = self.calls;
}

SND_DOOR_1(snd_calls_make, snd_calls, make_calls, const snd_profile *)

void
snd_calls_free(snd_calls *self)
{
    snd_pool_free(self->pool);
    *self = (snd_calls){0};
}

void
snd_calls_fold_pairs(snd_calls *self)
{
    for (uint32_t i = 0; i < self->pair_count; i++) {
        self->pairs[i].caller = self->rows[self->pairs[i].caller].function;
        self->pairs[i].callee = self->rows[self->pairs[i].callee].function;
    }
    merge_pairs(self);
}

void
snd_calls_turn_pairs(snd_calls *self)
{
    for (uint32_t i = 0; i < self->pair_count; i++) {
        uint32_t caller = self->pairs[i].caller;
        self->pairs[i].caller = self->pairs[i].callee;
        self->pairs[i].callee = caller;
    }
    merge_pairs(self);
}

int
snd_calls_is_used(const snd_calls_numbers *numbers)
{
    return numbers->count != 0 || numbers->self_ns != 0 || numbers->total_ns != 0 || numbers->resumes != 0;
}
