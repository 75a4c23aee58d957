/* The lines of a file and of an edited one, matched by Myers' greedy search for the shortest way from one to the other.
 */
#include "view/compare/line_match.h"

#include "base/alloc.h"
#include "base/map.h"

#define NOWHERE (INT32_MIN / 2)

/* Two files as numbers: equal lines have equal ones. Those at the start and the end that both have are matched already.
 */
typedef struct maker {
    uint64_t *from, *to;
    uint32_t from_count, to_count;
    uint32_t start, end; /* equal lines */
    uint32_t *matches;   /* per line of `from`, from 0 on: the line of `to` and 1; 0: none */
} maker;

static int
is_space(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

/* Code that was put into a block, or taken out of one, is the same code. */
static uint64_t
hash_line(const snd_source_lines *source, uint32_t line)
{
    const char *at = source->text + source->starts[line], *end = source->text + source->starts[line + 1];

    while (at < end && is_space(*at))
        at++;
    while (end > at && is_space(end[-1]))
        end--;
    return snd_hash(at, (size_t)(end - at), 0);
}

static uint64_t *
hash_lines(const snd_source_lines *source)
{
    uint64_t *hashes = snd_malloc(((size_t)source->count + 1) * sizeof *hashes);

    for (uint32_t i = 0; i < source->count && hashes != NULL; i++)
        hashes[i] = hash_line(source, i);
    return hashes;
}

static void
match_ends(maker *self)
{
    uint32_t least = self->from_count < self->to_count ? self->from_count : self->to_count;

    while (self->start < least && self->from[self->start] == self->to[self->start]) {
        self->matches[self->start] = self->start + 1;
        self->start++;
    }
    while (self->end < least - self->start &&
           self->from[self->from_count - self->end - 1] == self->to[self->to_count - self->end - 1]) {
        self->matches[self->from_count - self->end - 1] = self->to_count - self->end;
        self->end++;
    }
}

/* ---- the middle ---- */

/* For every number of edits d the farthest line of `from` that is reached on each diagonal (line of `from` less line of
 * `to`) from -d to d: rows[d * d + d + diagonal]. */
typedef struct search {
    const uint64_t *from, *to;
    int32_t from_count, to_count;
    int32_t *rows;
    uint32_t capacity;
} search;

static int32_t *
reached(const search *self, int32_t edits, int32_t diagonal)
{
    return &self->rows[(int64_t)edits * edits + edits + diagonal];
}

/* Whether the last edit before this diagonal put a line in, rather than taking one out. */
static int
puts_in(const search *self, int32_t edits, int32_t diagonal)
{
    if (diagonal == -edits)
        return 1;
    return diagonal != edits && *reached(self, edits - 1, diagonal - 1) < *reached(self, edits - 1, diagonal + 1);
}

/* Where the last edit before this diagonal led to. */
static int32_t
start_of(const search *self, int32_t edits, int32_t diagonal)
{
    if (edits == 0)
        return 0;
    return puts_in(self, edits, diagonal) ? *reached(self, edits - 1, diagonal + 1)
                                          : *reached(self, edits - 1, diagonal - 1) + 1;
}

/* The farthest line on a diagonal; 1 when that is the end. What lies outside of the files leads nowhere: another way
 * with as many edits has come farther. */
static int
go(search *self, int32_t edits, int32_t diagonal)
{
    int32_t x = start_of(self, edits, diagonal), y = x - diagonal;

    if (x < 0 || x > self->from_count || y < 0 || y > self->to_count) {
        *reached(self, edits, diagonal) = NOWHERE;
        return 0;
    }
    while (x < self->from_count && y < self->to_count && self->from[x] == self->to[y]) {
        x++;
        y++;
    }
    *reached(self, edits, diagonal) = x;
    return x == self->from_count && y == self->to_count;
}

/* The number of edits; -1: more than there may be. */
static void
find_way(search *self, int32_t *edits)
{
    int32_t most = self->from_count + self->to_count;

    for (int32_t d = 0; d <= most && d <= (int32_t)SND_LINE_MATCH_EDITS; d++) {
        snd_need_room(&self->rows, (uint32_t)(d + 1) * (uint32_t)(d + 1), &self->capacity, sizeof *self->rows);
        for (int32_t diagonal = -d; diagonal <= d; diagonal += 2)
            if (go(self, d, diagonal)) {
                *edits = d;
                return;
            }
    }
    *edits = -1;
}

/* Back from the end: between two edits stand lines that both have. */
static void
follow(const search *self, int32_t edits, uint32_t start, uint32_t *matches)
{
    int32_t x = self->from_count, y = self->to_count;

    for (int32_t d = edits; d >= 0; d--) {
        int32_t diagonal = x - y, from = start_of(self, d, diagonal);
        for (; x > from; x--, y--)
            matches[start + (uint32_t)x - 1] = start + (uint32_t)y;
        if (d != 0 && puts_in(self, d, diagonal))
            y--;
        else
            x--;
    }
}

static void
match_middle(maker *self)
{
    search middle = {
        .from = self->from + self->start,
        .to = self->to + self->start,
        .from_count = (int32_t)(self->from_count - self->start - self->end),
        .to_count = (int32_t)(self->to_count - self->start - self->end),
    };
    int32_t edits;
    find_way(&middle, &edits);

    if (edits >= 0)
        follow(&middle, edits, self->start, self->matches);
}

/* Lines between two matched ones, where both files have as many. */
static void
match_rewritten(maker *self)
{
    uint32_t next = 0; /* the line of `to` behind the last matched one */

    for (uint32_t i = 0; i < self->from_count; i++) {
        if (self->matches[i] != 0) {
            next = self->matches[i];
            continue;
        }
        uint32_t gap = 0;
        while (i + gap < self->from_count && self->matches[i + gap] == 0)
            gap++;
        uint32_t end = i + gap < self->from_count ? self->matches[i + gap] - 1 : self->to_count;
        for (uint32_t g = 0; g < gap && end - next == gap; g++)
            self->matches[i + g] = next + g + 1;
        i += gap - 1;
    }
}

/* ---- the answer ---- */

static void
make(maker *self, snd_line_match *out)
{
    self->matches = snd_calloc((size_t)self->from_count + 1, sizeof *self->matches);
    out->is_found = snd_calloc((size_t)self->to_count + 1, 1);
    match_ends(self);
    match_middle(self);
    match_rewritten(self);
    for (uint32_t i = 0; i < self->from_count; i++)
        if (self->matches[i] != 0)
            out->is_found[self->matches[i] - 1] = 1;
}

static void
make_match(const snd_source_lines *from, const snd_source_lines *to, snd_line_match *out)
{
    maker self = {hash_lines(from), hash_lines(to), from->count, to->count, 0, 0, NULL};
    snd_line_match made = {.count = from->count, .other_count = to->count};
    make(&self, &made);

    made.lines = self.matches;
    *out = made;
}

SND_DOOR_2(snd_line_match_make, snd_line_match, make_match, const snd_source_lines *, const snd_source_lines *)

void
snd_line_match_free(snd_line_match *self)
{
    snd_pool_free(self->pool);
    *self = (snd_line_match){0};
}

uint32_t
snd_line_match_find(const snd_line_match *self, uint32_t line)
{
    return self->lines == NULL || line == 0 || line > self->count ? line : self->lines[line - 1];
}

int
snd_line_match_has(const snd_line_match *self, uint32_t line)
{
    return self->is_found == NULL || line == 0 || line > self->other_count || self->is_found[line - 1];
}
