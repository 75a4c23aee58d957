/* Functions and pairs of a profile, added up over its tracks. */
#include "view/calls.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>

/* What making needs beside its result. */
typedef struct maker {
    const snd_profile *profile;
    snd_calls calls;
    snd_map rows_by_place;
    uint32_t *rows_by_site; /* SND_NONE: not looked up yet */
    unsigned char *is_met;  /* per row: it has a node of its own */
    uint32_t row_capacity;
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

/* The profile interns its texts: equal ones are one. */
static int
is_same_place(const snd_profile_site *a, const snd_profile_site *b)
{
    return a->kind == b->kind && a->line == b->line && a->name == b->name && a->file == b->file &&
           a->detail == b->detail;
}

static uint64_t
hash_place(const snd_profile_site *site)
{
    const uintptr_t parts[] = {(uintptr_t)site->kind, site->line, (uintptr_t)site->name, (uintptr_t)site->file,
                               (uintptr_t)site->detail};
    return snd_hash(parts, sizeof parts, 0);
}

static snd_status
make_row_room(maker *self)
{
    if (self->calls.row_count < self->row_capacity)
        return SND_OK;
    uint32_t capacity = self->row_capacity == 0 ? 64 : self->row_capacity * 2;
    snd_calls_row *rows = snd_realloc(self->calls.rows, capacity * sizeof *rows);
    if (rows == NULL)
        return SND_NO_MEMORY;
    self->calls.rows = rows;
    unsigned char *is_met = snd_realloc(self->is_met, capacity);
    if (is_met == NULL)
        return SND_NO_MEMORY;
    self->is_met = is_met;
    self->row_capacity = capacity;
    return SND_OK;
}

static snd_status
find_row(maker *self, const snd_profile_site *site, uint32_t *row)
{
    uint64_t key = hash_place(site);
    uint32_t cursor = 0;

    while ((*row = snd_map_next(&self->rows_by_place, key, &cursor)) != SND_MAP_NONE)
        if (is_same_place(&self->calls.rows[*row].site, site))
            return SND_OK;
    snd_status status = make_row_room(self);
    if (status == SND_OK)
        status = snd_map_add(&self->rows_by_place, key, self->calls.row_count);
    if (status != SND_OK)
        return status;
    *row = self->calls.row_count++;
    self->is_met[*row] = 0;
    self->calls.rows[*row] = (snd_calls_row){.site = *site, .function = *row};
    return SND_OK;
}

static snd_status
find_function(maker *self, uint32_t row)
{
    snd_profile_site site = self->calls.rows[row].site;
    uint32_t function;

    if (site.detail == no_detail || self->calls.rows[row].function != row)
        return SND_OK;
    site.detail = no_detail;
    snd_status status = find_row(self, &site, &function);
    if (status == SND_OK) {
        self->calls.rows[row].function = function;
        self->calls.rows[function].signature_count++;
    }
    return status;
}

static snd_status
row_of_site(maker *self, uint32_t id, uint32_t *row)
{
    snd_profile_site site = self->profile->sites[id];

    *row = self->rows_by_site[id];
    if (*row != SND_NONE)
        return SND_OK;
    if (site.detail[0] == '\0')
        site.detail = no_detail;
    snd_status status = find_row(self, &site, row);
    if (status == SND_OK)
        status = find_function(self, *row);
    if (status == SND_OK)
        self->rows_by_site[id] = *row;
    return status;
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

static snd_status
take_node(maker *self, uint32_t node)
{
    const snd_profile_node *nodes = self->profile->nodes;
    role as = role_of(self->profile, node);
    uint32_t row, caller;

    if (as == NO_CALL)
        return SND_OK;
    snd_calls_numbers numbers = read_numbers(self->profile, node);
    snd_status status = row_of_site(self, nodes[node].site, &row);
    if (status == SND_OK && as == FUNCTION) {
        self->is_met[row] = 1;
        add_numbers(&self->calls.rows[row].numbers, &numbers);
    }
    else if (status == SND_OK) {
        status = row_of_site(self, nodes[nodes[node].parent].site, &caller);
        if (status == SND_OK)
            self->calls.pairs[self->calls.pair_count++] = (snd_calls_pair){caller, row, numbers};
    }
    return status;
}

/* A function whose own node had no room is at least the sum of its signatures. */
static void
complete_functions(maker *self)
{
    for (uint32_t i = 0; i < self->calls.row_count; i++) {
        const snd_calls_row *row = &self->calls.rows[i];
        if (row->function != i && !self->is_met[row->function])
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

static snd_status
make_room(maker *self)
{
    size_t sites = self->profile->site_count;
    uint32_t pairs = 0;

    for (uint32_t i = 0; i < self->profile->node_count; i++)
        pairs += role_of(self->profile, i) == PAIR;
    self->rows_by_site = snd_malloc((sites + 1) * sizeof *self->rows_by_site);
    self->calls.pairs = snd_calloc((size_t)pairs + 1, sizeof *self->calls.pairs);
    if (self->rows_by_site == NULL || self->calls.pairs == NULL)
        return SND_NO_MEMORY;
    for (size_t i = 0; i < sites; i++)
        self->rows_by_site[i] = SND_NONE;
    return make_row_room(self);
}

snd_status
snd_calls_make(const snd_profile *profile, snd_calls *out)
{
    maker self = {.profile = profile};
    snd_status status = make_room(&self);

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++)
        status = take_node(&self, i);
    if (status == SND_OK) {
        complete_functions(&self);
        merge_pairs(&self.calls);
    }
    snd_map_free(&self.rows_by_place);
    snd_free(self.rows_by_site);
    snd_free(self.is_met);
    if (status == SND_OK)
        *out = self.calls;
    else
        snd_calls_free(&self.calls);
    return status;
}

void
snd_calls_free(snd_calls *self)
{
    snd_free(self->rows);
    snd_free(self->pairs);
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
