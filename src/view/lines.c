/* Samples by line. */
#include "view/lines.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Per site: what was found at it or, for a line, charged to it. */
typedef struct by_site {
    snd_samples_numbers *charged;
    snd_samples_numbers *rests; /* of sites without a place */
    snd_samples_numbers others; /* code of others */
} by_site;

static int
is_there(const snd_samples_numbers *numbers)
{
    return numbers->samples != 0 || snd_samples_time(numbers) != 0;
}

static void
charge(const snd_samples *samples, by_site *sums)
{
    const snd_profile *profile = samples->profile;
    snd_samples_numbers numbers;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t line = samples->charged[i], site = profile->nodes[i].site;
        if (!snd_samples_read(samples, i, &numbers))
            continue;
        if (line != SND_NONE)
            snd_samples_add(&sums->charged[profile->nodes[line].site], &numbers);
        else if (profile->sites[site].kind == SND_SITE_OTHER)
            snd_samples_add(&sums->rests[site], &numbers);
        else
            snd_samples_add(&sums->others, &numbers);
    }
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
list_entries(const snd_samples *samples, const snd_memory_view *memory, const by_site *sums, entry *entries)
{
    const snd_profile *profile = samples->profile;
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->site_count; i++) {
        const snd_profile_site *site = &profile->sites[i];
        if (is_there(&sums->charged[i]))
            entries[count++] =
                (entry){site->file, site->line, samples->functions_by_site[i], snd_samples_time(&sums->charged[i]), i};
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
merge_entries(const entry *entries, uint32_t count, const by_site *sums, snd_lines *self)
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
        snd_samples_add(&self->lines[self->line_count - 1].numbers, &sums->charged[entries[i].site]);
        snd_samples_add(&file->numbers, &sums->charged[entries[i].site]);
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
static snd_status
list_rests(const snd_samples *samples, by_site *sums, snd_lines *self)
{
    enum { NAMED = 32 };
    const snd_profile *profile = samples->profile;

    self->rests = snd_calloc(NAMED + 1, sizeof *self->rests);
    if (self->rests == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < profile->site_count; i++) {
        if (!is_there(&sums->rests[i]))
            continue;
        snd_line_rest *rest = self->rest_count < NAMED ? find_rest(self, profile->sites[i].name) : NULL;
        snd_samples_add(rest == NULL ? &sums->others : &rest->numbers, &sums->rests[i]);
    }
    if (is_there(&sums->others))
        self->rests[self->rest_count++] = (snd_line_rest){NULL, sums->others};
    qsort_r(self->rests, self->rest_count, sizeof *self->rests, compare_rests, (void *)samples);
    return SND_OK;
}

static snd_status
make(const snd_samples *samples, const snd_memory_view *memory, by_site *sums, entry *entries, snd_lines *self)
{
    charge(samples, sums);
    uint32_t count = list_entries(samples, memory, sums, entries);
    self->lines = snd_malloc(((size_t)count + 1) * sizeof *self->lines);
    self->files = snd_malloc(((size_t)count + 1) * sizeof *self->files);
    if (self->lines == NULL || self->files == NULL)
        return SND_NO_MEMORY;
    merge_entries(entries, count, sums, self);
    order_files(samples, self);
    return list_rests(samples, sums, self);
}

snd_status
snd_lines_make(const snd_samples *samples, const snd_memory_view *memory, snd_lines *out)
{
    size_t room = (size_t)samples->profile->site_count + 1;
    by_site sums = {
        snd_calloc(room, sizeof(snd_samples_numbers)), snd_calloc(room, sizeof(snd_samples_numbers)), {{0}, 0}};
    entry *entries = snd_malloc((room + memory->count) * sizeof *entries);
    snd_lines self = {0};
    snd_status status = SND_NO_MEMORY;

    if (sums.charged != NULL && sums.rests != NULL && entries != NULL)
        status = make(samples, memory, &sums, entries, &self);
    snd_free(sums.charged);
    snd_free(sums.rests);
    snd_free(entries);
    if (status == SND_OK)
        *out = self;
    else
        snd_lines_free(&self);
    return status;
}

void
snd_lines_free(snd_lines *self)
{
    snd_free(self->files);
    snd_free(self->lines);
    snd_free(self->rests);
    *self = (snd_lines){0};
}
