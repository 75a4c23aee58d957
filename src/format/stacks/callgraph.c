/* Functions and pairs: the list of functions, and those of calls. */
#include "format/stacks/callgraph.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "view/calls/calls.h"

#include <stdlib.h>
#include <string.h>

static const char *
name_of(const snd_callgraph *self, snd_site_kind kind, const char *name)
{
    const char *dot = strrchr(name, '.');
    int is_short = self->options.short_names && (kind == SND_SITE_FUNCTION || kind == SND_SITE_LINE);
    return is_short && dot != NULL ? dot + 1 : name;
}

void
snd_callgraph_find(snd_callgraph *self, snd_site_kind kind, const snd_callgraph_function *place, uint32_t *id)
{
    const char *name = name_of(self, kind, place->name);
    snd_buffer key = {0};

    snd_need_room(&self->functions, self->function_count + 1, &self->function_capacity, sizeof *self->functions);
    snd_buffer_put(&key, name, strlen(name) + 1);
    snd_buffer_put(&key, place->file, strlen(place->file) + 1);
    snd_buffer_number(&key, place->line);
    snd_work_need(snd_intern_add(self->places, key.data, key.size, id));
    if (*id == self->function_count) {
        self->functions[self->function_count] = *place;
        self->functions[self->function_count++].name = name;
    }
}

/* ---- from calls ---- */

static snd_callgraph_numbers
numbers_of(const snd_calls_numbers *from)
{
    return (snd_callgraph_numbers){
        .count = from->count,
        .primitive = from->primitive,
        .self.of[SND_COST_TIME] = from->self_ns,
        .total.of[SND_COST_TIME] = from->total_ns,
    };
}

static void
add_numbers(snd_callgraph_numbers *sum, const snd_callgraph_numbers *more)
{
    sum->count += more->count;
    sum->primitive += more->primitive;
    snd_cost_add(&sum->self, &more->self);
    snd_cost_add(&sum->total, &more->total);
}

static void
add_function(snd_callgraph *self, const snd_calls_row *row, uint32_t *id)
{
    int is_builtin = row->site.kind == SND_SITE_BUILTIN;
    const snd_callgraph_function place = {
        .name = row->site.name, .file = is_builtin ? "" : row->site.file, .line = is_builtin ? 0 : row->site.line};
    const snd_callgraph_numbers numbers = numbers_of(&row->numbers);

    snd_callgraph_find(self, row->site.kind, &place, id);
    snd_need_room(&self->lines, self->line_count + 1, &self->line_capacity, sizeof *self->lines);
    add_numbers(&self->functions[*id].numbers, &numbers);
    snd_cost_add(&self->all, &numbers.self);
    self->lines[self->line_count++] = (snd_callgraph_line){*id, place.line, numbers.self};
}

static void
add_pair(snd_callgraph *self, const snd_calls_pair *pair, const uint32_t *ids)
{
    snd_need_room(&self->pairs, self->pair_count + 1, &self->pair_capacity, sizeof *self->pairs);
    self->pairs[self->pair_count++] = (snd_callgraph_pair){.caller = ids[pair->caller],
                                                           .callee = ids[pair->callee],
                                                           .line = self->functions[ids[pair->caller]].line,
                                                           .numbers = numbers_of(&pair->numbers)};
}

static void
from_calls(snd_callgraph *self, const snd_calls *calls)
{
    uint32_t *ids = snd_malloc(((size_t)calls->row_count + 1) * sizeof *ids);

    for (uint32_t i = 0; i < calls->row_count; i++) {
        ids[i] = SND_NONE;
        if (calls->rows[i].function == i && snd_calls_is_used(&calls->rows[i].numbers))
            add_function(self, &calls->rows[i], &ids[i]);
    }
    for (uint32_t i = 0; i < calls->pair_count; i++) {
        const snd_calls_pair *pair = &calls->pairs[i];
        if (ids[pair->caller] != SND_NONE && ids[pair->callee] != SND_NONE && snd_calls_is_used(&pair->numbers))
            add_pair(self, pair, ids);
    }
}

int
snd_callgraph_is_used(const snd_callgraph_numbers *numbers)
{
    return numbers->count != 0 || snd_cost_is_any(&numbers->self) || snd_cost_is_any(&numbers->total);
}

/* ---- order ---- */

static int
compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int
compare_pairs(const void *left, const void *right)
{
    const snd_callgraph_pair *a = left, *b = right;
    int order = compare(a->caller, b->caller);

    if (order == 0)
        order = compare(a->callee, b->callee);
    return order != 0 ? order : compare(a->line, b->line);
}

static int
compare_turned(const void *left, const void *right)
{
    const snd_callgraph_pair *a = left, *b = right;
    int order = compare(a->callee, b->callee);

    if (order == 0)
        order = compare(a->caller, b->caller);
    return order != 0 ? order : compare(a->line, b->line);
}

void
snd_callgraph_turn(snd_callgraph *self)
{
    if (self->pair_count != 0)
        qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_turned);
}

static int
compare_lines(const void *left, const void *right)
{
    const snd_callgraph_line *a = left, *b = right;
    int order = compare(a->function, b->function);
    return order != 0 ? order : compare(a->line, b->line);
}

/* Sorts both lists and adds up what is equal: two code objects of one name at one place are one function. */
static void
arrange(snd_callgraph *self)
{
    uint32_t pairs = 0, lines = 0;

    if (self->pair_count != 0)
        qsort(self->pairs, self->pair_count, sizeof *self->pairs, compare_pairs);
    for (uint32_t i = 0; i < self->pair_count; i++) {
        if (pairs != 0 && compare_pairs(&self->pairs[pairs - 1], &self->pairs[i]) == 0)
            add_numbers(&self->pairs[pairs - 1].numbers, &self->pairs[i].numbers);
        else
            self->pairs[pairs++] = self->pairs[i];
    }
    self->pair_count = pairs;
    if (self->line_count != 0)
        qsort(self->lines, self->line_count, sizeof *self->lines, compare_lines);
    for (uint32_t i = 0; i < self->line_count; i++) {
        if (lines != 0 && compare_lines(&self->lines[lines - 1], &self->lines[i]) == 0)
            snd_cost_add(&self->lines[lines - 1].self, &self->lines[i].self);
        else
            self->lines[lines++] = self->lines[i];
    }
    self->line_count = lines;
}

void
snd_callgraph_make(const snd_profile *profile, const snd_callgraph_options *options, snd_callgraph *out)
{
    snd_callgraph self = {.options = *options, .places = snd_intern_new()};
    snd_calls calls;

    snd_work_need(snd_calls_make(profile, SND_PAIRS_OF_FUNCTIONS, &calls));
    from_calls(&self, &calls);
    self.is_of_calls = self.function_count != 0;
    if (self.function_count == 0)
        snd_callgraph_from_stacks(&self, profile);
    if (self.function_count == 0)
        snd_work_end(SND_NO_DATA);
    arrange(&self);
    *out = self;
}
