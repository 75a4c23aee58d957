/* Samples by line. */
#include "view/lines/lines.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* The rows of the roll-up: a line for each site, then what is without a place, for each site, then code of others. */
static uint32_t
row_of_node(const snd_rollup *rows, uint32_t node)
{
    const snd_profile *profile = rows->profile;
    uint32_t line = ((const snd_samples *)rows->context)->charged[node], site = profile->nodes[node].site;

    if (line != SND_NONE)
        return profile->nodes[line].site;
    return profile->sites[site].kind == SND_SITE_OTHER ? profile->site_count + site : 2 * profile->site_count;
}

static snd_samples_numbers
numbers_of(const snd_rollup *rows, uint32_t row)
{
    return row < rows->count ? snd_samples_row(rows, row) : (snd_samples_numbers){0};
}

/* ---- lines of one site each, put together ---- */

/* A line before its file has a number. */
typedef struct entry {
    const char *file;
    uint32_t line;
    uint32_t function;
    uint64_t time;
    uint32_t site; /* SND_NONE: it has memory, and is here without time */
} entry;

/* By file and line; of one line the function with the most time first. */
static int
compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int difference = x->file == y->file ? 0 : strcmp(x->file, y->file);

    if (difference != 0)
        return difference;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static uint32_t
list_entries(const snd_samples *samples, const snd_memory_view *memory, const snd_rollup *rows, entry *entries)
{
    const snd_profile *profile = samples->profile;
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->site_count; i++) {
        const snd_profile_site *site = &profile->sites[i];
        snd_samples_numbers numbers = numbers_of(rows, i);
        if (snd_samples_is_any(&numbers))
            entries[count++] =
                (entry){site->file, site->line, samples->functions_by_site[i], snd_samples_time(&numbers), i};
    }
    for (uint32_t i = 0; i < memory->count; i++) {
        const snd_memory_view_line *line = &memory->lines[i];
        if (line->file != NULL)
            entries[count++] = (entry){line->file, line->line, line->function, 0, SND_NONE};
    }
    if (count != 0)
        qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}

/* Room is for as many lines and files as there are entries. */
static void
merge_entries(const entry *entries, uint32_t count, const snd_rollup *rows, snd_lines *self)
{
    for (uint32_t i = 0; i < count; i++) {
        int is_new_file = i == 0 || strcmp(entries[i].file, entries[i - 1].file) != 0;
        if (is_new_file)
            self->files[self->file_count++] = (snd_line_file){.name = entries[i].file, .first = self->line_count};
        snd_line_file *file = &self->files[self->file_count - 1];
        if (is_new_file || entries[i].line != entries[i - 1].line) {
            self->lines[self->line_count++] =
                (snd_line){.file = self->file_count - 1, .line = entries[i].line, .function = entries[i].function};
            file->count++;
        }
        if (entries[i].site == SND_NONE)
            continue;
        snd_samples_numbers numbers = numbers_of(rows, entries[i].site);
        snd_samples_add(&self->lines[self->line_count - 1].numbers, &numbers);
        snd_samples_add(&file->numbers, &numbers);
    }
}

static int
compare_files(const void *a, const void *b, void *samples)
{
    const snd_line_file *x = a, *y = b;
    int difference = snd_samples_compare(samples, &x->numbers, &y->numbers);

    if (difference != 0)
        return difference;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void
order_files(const snd_samples *samples, snd_lines *self)
{
    if (self->file_count != 0)
        qsort_r(self->files, self->file_count, sizeof *self->files, compare_files, (void *)samples);
    for (uint32_t i = 0; i < self->file_count; i++)
        for (uint32_t line = 0; line < self->files[i].count; line++)
            self->lines[self->files[i].first + line].file = i;
}

/* ---- the rest ---- */

static int
compare_rests(const void *a, const void *b, void *samples)
{
    const snd_line_rest *x = a, *y = b;
    int difference = snd_samples_compare(samples, &x->numbers, &y->numbers);

    if (difference != 0)
        return difference;
    return strcmp(x->name == NULL ? "" : x->name, y->name == NULL ? "" : y->name);
}

/* There are as many as there are sites without a place: a few. */
static snd_line_rest *
find_rest(snd_lines *self, const char *name)
{
    for (uint32_t i = 0; i < self->rest_count; i++)
        if (self->rests[i].name != NULL && strcmp(self->rests[i].name, name) == 0)
            return &self->rests[i];
    self->rests[self->rest_count] = (snd_line_rest){.name = name};
    return &self->rests[self->rest_count++];
}

/* The names of sites without a place are few; where a file has very many, the others have no name. */
static void
list_rests(const snd_samples *samples, const snd_rollup *rows, snd_lines *self)
{
    enum { NAMED = 32 };
    const snd_profile *profile = samples->profile;
    snd_samples_numbers others = numbers_of(rows, 2 * profile->site_count);

    self->rests = snd_calloc(NAMED + 1, sizeof *self->rests);
    for (uint32_t i = 0; i < profile->site_count; i++) {
        snd_samples_numbers numbers = numbers_of(rows, profile->site_count + i);
        if (!snd_samples_is_any(&numbers))
            continue;
        snd_line_rest *rest = self->rest_count < NAMED ? find_rest(self, profile->sites[i].name) : NULL;
        snd_samples_add(rest == NULL ? &others : &rest->numbers, &numbers);
    }
    if (snd_samples_is_any(&others))
        self->rests[self->rest_count++] = (snd_line_rest){NULL, others};
    qsort_r(self->rests, self->rest_count, sizeof *self->rests, compare_rests, (void *)samples);
}

void
snd_lines_make(const snd_samples *samples, const snd_memory_view *memory, snd_lines *out)
{
    entry *entries = snd_new((size_t)samples->profile->site_count + memory->count, sizeof *entries);
    snd_lines self = {0};
    snd_rollup rows;

    snd_samples_rollup(samples, row_of_node, &rows);
    uint32_t count = list_entries(samples, memory, &rows, entries);
    self.lines = snd_new(count, sizeof *self.lines);
    self.files = snd_new(count, sizeof *self.files);
    merge_entries(entries, count, &rows, &self);
    order_files(samples, &self);
    list_rests(samples, &rows, &self);
    *out = self;
}
