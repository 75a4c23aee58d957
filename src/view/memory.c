/* The memory of a profile by line. */
#include "view/memory.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST SND_METRIC_ALLOC_PYTHON

int
snd_memory_view_exists(const snd_profile *profile)
{
    const char *probes = snd_profile_info(profile, "probes");

    for (unsigned metric = FIRST; metric < SND_METRIC_GPU; metric++)
        if (profile->columns[metric] != NULL)
            return 1;
    return (probes != NULL && strstr(probes, "memory") != NULL) || snd_profile_series(profile, "heap") != NULL;
}

/* ---- numbers ---- */

uint64_t
snd_memory_view_whole(const snd_memory_view_numbers *numbers, snd_metric metric)
{
    return numbers->values[metric - FIRST].whole;
}

uint64_t
snd_memory_view_allocated(const snd_memory_view_numbers *numbers)
{
    return snd_memory_view_whole(numbers, SND_METRIC_ALLOC_PYTHON) +
           snd_memory_view_whole(numbers, SND_METRIC_ALLOC_NATIVE);
}

uint64_t
snd_memory_view_error(const snd_memory_view_numbers *numbers, snd_metric variance)
{
    double square = numbers->values[variance - FIRST].real;

    return square > 0 ? snd_bytes_of(sqrt(square)) : 0;
}

void
snd_memory_view_add(snd_memory_view_numbers *sum, const snd_memory_view_numbers *more)
{
    for (unsigned i = 0; i < SND_MEMORY_METRICS; i++)
        if (i == SND_METRIC_GPU_MEMORY - FIRST) /* all lines see the same memory of the GPU */
            sum->values[i].whole =
                sum->values[i].whole > more->values[i].whole ? sum->values[i].whole : more->values[i].whole;
        else if (snd_metric_get((snd_metric)(FIRST + i))->is_real)
            sum->values[i].real += more->values[i].real;
        else
            sum->values[i].whole += more->values[i].whole;
}

/* One that ended earlier stays as it was. */
void
snd_memory_view_add_history(snd_history *sum, const snd_history *more)
{
    static const snd_history_point nothing;
    uint32_t count = sum->count > more->count ? sum->count : more->count;

    if (count > SND_HISTORY_POINTS || more->count == 0)
        return;
    for (uint32_t i = sum->count; i < count; i++)
        sum->points[i] = sum->count == 0 ? nothing : sum->points[sum->count - 1];
    for (uint32_t i = 0; i < count; i++) {
        const snd_history_point *point = &more->points[i < more->count ? i : more->count - 1];
        sum->points[i].live += point->live;
        sum->points[i].taken += point->taken;
        sum->points[i].freed += point->freed;
    }
    sum->count = count;
}

double
snd_memory_view_share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static int
read_node(const snd_profile *profile, uint32_t node, snd_memory_view_numbers *out)
{
    int is_there = snd_profile_history(profile, node) != NULL;

    for (unsigned i = 0; i < SND_MEMORY_METRICS; i++) {
        snd_metric metric = (snd_metric)(FIRST + i);
        out->values[i].whole = 0;
        if (snd_metric_get(metric)->is_real)
            out->values[i].real = snd_profile_real(profile, node, metric);
        else
            out->values[i].whole = snd_profile_whole(profile, node, metric);
        is_there |= snd_profile_has(profile, node, metric);
    }
    return is_there;
}

/* ---- lines ---- */

/* A node before its line has a number. */
typedef struct entry {
    const char *file; /* NULL: none */
    const char *name;
    uint32_t line;
    uint32_t function;
    uint32_t node;
} entry;

/* Whether a frame is of the import system: modules are loaded once, and stay. */
static int
is_import(const snd_profile_site *site)
{
    return site->kind == SND_SITE_LINE &&
           (strstr(site->file, "importlib._bootstrap") != NULL || strstr(site->file, "importlib/_bootstrap") != NULL ||
            strstr(site->file, "<frozen zipimport") != NULL);
}

/* Per node: it stands below the import system. NULL when memory runs out. */
static unsigned char *
mark_imports(const snd_profile *profile)
{
    unsigned char *marks = snd_calloc((size_t)profile->node_count + 1, 1);

    for (uint32_t i = 0; i < profile->node_count && marks != NULL; i++) {
        uint32_t parent = profile->nodes[i].parent; /* smaller than its child: known already */
        marks[i] = is_import(&profile->sites[profile->nodes[i].site]) || (parent != SND_NONE && marks[parent]);
    }
    return marks;
}

static entry
entry_of(const snd_samples *samples, uint32_t node)
{
    const snd_profile *profile = samples->profile;
    uint32_t charged = samples->charged[node];
    const snd_profile_site *site = &profile->sites[profile->nodes[charged != SND_NONE ? charged : node].site];

    if (charged != SND_NONE)
        return (entry){site->file, site->name, site->line, snd_samples_function_of(samples, charged), node};
    return (entry){NULL, site->kind == SND_SITE_OTHER ? site->name : SND_MEMORY_OUTSIDE, 0, SND_NONE, node};
}

static const char *
key_of(const entry *self)
{
    return self->file != NULL ? self->file : self->name != NULL ? self->name : "";
}

/* By file and line, then without a file by name. */
static int
compare_places(const entry *x, const entry *y)
{
    if ((x->file == NULL) != (y->file == NULL))
        return x->file == NULL ? 1 : -1;
    const char *left = key_of(x), *right = key_of(y);
    int difference = left == right ? 0 : strcmp(left, right);
    if (difference != 0)
        return difference;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int
compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int difference = compare_places(x, y);

    return difference != 0 ? difference : x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t
list_entries(const snd_samples *samples, entry *entries)
{
    snd_memory_view_numbers numbers;
    uint32_t count = 0;

    for (uint32_t i = 0; i < samples->profile->node_count; i++)
        if (samples->is_taken[i] && read_node(samples->profile, i, &numbers))
            entries[count++] = entry_of(samples, i);
    if (count != 0)
        qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}

/* `imports`: as marked above; NULL where no leaks are looked for. */
static void
add_history(const snd_profile *profile, uint32_t node, const unsigned char *imports, snd_memory_view_line *line)
{
    const snd_history *history = snd_profile_history(profile, node);
    int is_judged = imports != NULL && !imports[node];

    line->is_import &= !is_judged;
    if (history != NULL)
        snd_memory_view_add_history(&line->history, history);
    if (history != NULL && is_judged)
        snd_memory_view_add_history(&line->judged, history);
}

/* The entries of one line, from the first on, into it. Returns how many they are. */
static uint32_t
merge_line(const snd_profile *profile, const entry *entries, uint32_t count, const unsigned char *imports,
           snd_memory_view_line *line)
{
    uint64_t most = 0, most_live = 0;
    uint32_t used = 0;

    *line = (snd_memory_view_line){.file = entries->file, .line = entries->line, .is_import = imports != NULL};
    for (; used < count && compare_places(&entries[used], entries) == 0; used++) {
        snd_memory_view_numbers numbers;
        read_node(profile, entries[used].node, &numbers);
        snd_memory_view_add(&line->numbers, &numbers);
        add_history(profile, entries[used].node, imports, line);
        uint64_t allocated = snd_memory_view_allocated(&numbers),
                 live = snd_memory_view_whole(&numbers, SND_METRIC_LIVE);
        if (used == 0 || allocated > most) {
            most = allocated;
            line->name = entries[used].name;
            line->function = entries[used].function;
        }
        if (used == 0 || live > most_live) {
            most_live = live;
            line->node = entries[used].node;
        }
    }
    return used;
}

static uint32_t
count_lines(const entry *entries, uint32_t count)
{
    uint32_t lines = count == 0 ? 0 : 1;

    for (uint32_t i = 1; i < count; i++)
        lines += compare_places(&entries[i - 1], &entries[i]) != 0;
    return lines;
}

static snd_status
merge(const snd_profile *profile, const entry *entries, uint32_t count, const unsigned char *imports,
      snd_memory_view *out)
{
    snd_memory_view self = {.lines = snd_malloc(((size_t)count_lines(entries, count) + 1) * sizeof *self.lines)};

    if (self.lines == NULL)
        return SND_NO_MEMORY;
    for (uint32_t i = 0; i < count; self.count++) {
        snd_memory_view_line *line = &self.lines[self.count];
        i += merge_line(profile, entries + i, count - i, imports, line);
        snd_memory_view_add(&self.all, &line->numbers);
    }
    *out = self;
    return SND_OK;
}

snd_status
snd_memory_view_make(const snd_samples *samples, int for_leaks, snd_memory_view *out)
{
    entry *entries = snd_malloc(((size_t)samples->profile->node_count + 1) * sizeof *entries);
    unsigned char *imports = for_leaks ? mark_imports(samples->profile) : NULL;
    snd_status status = SND_NO_MEMORY;

    if (entries != NULL && (imports != NULL || !for_leaks)) {
        uint32_t count = list_entries(samples, entries);
        status = merge(samples->profile, entries, count, imports, out);
    }
    snd_free(entries);
    snd_free(imports);
    return status;
}

void
snd_memory_view_free(snd_memory_view *self)
{
    snd_free(self->lines);
    *self = (snd_memory_view){0};
}

const snd_memory_view_line *
snd_memory_view_find(const snd_memory_view *self, const char *file, uint32_t line)
{
    const entry wanted = {.file = file, .line = line};
    uint32_t from = 0, to = self->count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const snd_memory_view_line *at = &self->lines[middle];
        int difference = compare_places(&(entry){.file = at->file, .name = at->name, .line = at->line}, &wanted);
        if (difference == 0)
            return at;
        if (difference < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}
