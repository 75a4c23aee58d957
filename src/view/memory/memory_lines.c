/* The memory of a profile by line. */
#include "view/memory/memory_lines.h"

#include "base/alloc.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST SND_METRIC_ALLOC_PYTHON

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
    for (unsigned i = 0; i < SND_MEMORY_METRICS; i++) {
        snd_metric metric = (snd_metric)(FIRST + i);
        sum->values[i] = snd_metric_combine(metric, snd_metric_get(metric)->rule, sum->values[i], more->values[i]);
    }
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

/* ---- lines ---- */

/* Whether a frame is of the import system: modules are loaded once, and stay. Older recordings have its lines. */
static int
is_import(const snd_profile_site *site)
{
    return snd_site_is_import(site) ||
           (site->kind == SND_SITE_LINE &&
            (strstr(site->file, "importlib._bootstrap") != NULL || strstr(site->file, "importlib/_bootstrap") != NULL ||
             strstr(site->file, "<frozen zipimport") != NULL));
}

/* Per node: it stands below the import system. */
static unsigned char *
mark_imports(const snd_profile *profile)
{
    unsigned char *marks = snd_calloc((size_t)profile->node_count + 1, 1);

    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t parent = profile->nodes[i].parent; /* smaller than its child: known already */
        marks[i] = is_import(&profile->sites[profile->nodes[i].site]) || (parent != SND_NONE && marks[parent]);
    }
    return marks;
}

/* The line that a node's memory belongs to, or what stands for it: its site. */
static const snd_profile_site *
place_of(const snd_samples *samples, uint32_t node)
{
    static const snd_profile_site outside = {.kind = SND_SITE_OTHER, .name = SND_SAMPLES_OUTSIDE};
    const snd_profile *profile = samples->profile;
    uint32_t charged = samples->charged[node];
    const snd_profile_site *site = &profile->sites[profile->nodes[charged != SND_NONE ? charged : node].site];

    return charged == SND_NONE && site->kind != SND_SITE_OTHER ? &outside : site;
}

static snd_metric_set
counted(const snd_rollup *rows, uint32_t node)
{
    (void)rows;
    (void)node;
    return (SND_METRIC_BIT(SND_MEMORY_METRICS) - 1) << FIRST;
}

static uint32_t
row_of_node(const snd_rollup *rows, uint32_t node)
{
    const snd_samples *samples = rows->context;
    const snd_profile *profile = rows->profile;
    const snd_profile_site *place = place_of(samples, node);
    int is_line = samples->charged[node] != SND_NONE;
    const uint64_t key[] = {(uintptr_t)(is_line ? place->file : place->name), is_line ? place->line + UINT64_C(1) : 0};

    if (!samples->is_taken[node] ||
        ((profile->nodes[node].present & counted(rows, node)) == 0 && snd_profile_history(profile, node) == NULL))
        return SND_NONE;
    return snd_rollup_key(rows, key, sizeof key);
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

static snd_memory_view_line
start_line(const snd_rollup *rows, uint32_t row, int for_leaks)
{
    const snd_samples *samples = rows->context;
    uint32_t node = rows->first[row];
    const snd_profile_site *place = place_of(samples, node);
    int is_line = samples->charged[node] != SND_NONE;
    snd_memory_view_line line = {.file = is_line ? place->file : NULL,
                                 .line = is_line ? place->line : 0,
                                 .is_import = for_leaks,
                                 .node = SND_NONE};

    for (unsigned i = 0; i < SND_MEMORY_METRICS; i++)
        if (rows->columns[FIRST + i] != NULL)
            line.numbers.values[i] = rows->columns[FIRST + i][row];
    return line;
}

static uint64_t
allocated_at(const snd_profile *profile, uint32_t node)
{
    return snd_profile_whole(profile, node, SND_METRIC_ALLOC_PYTHON) +
           snd_profile_whole(profile, node, SND_METRIC_ALLOC_NATIVE);
}

/* The function of a line is that of the node with the most memory, `*most`. */
static void
name_line(const snd_samples *samples, uint32_t node, uint64_t *most, snd_memory_view_line *line)
{
    const snd_profile *profile = samples->profile;
    uint32_t charged = samples->charged[node];
    uint64_t allocated = allocated_at(profile, node);

    if (line->name == NULL || allocated > *most) {
        *most = allocated;
        line->name = place_of(samples, node)->name;
        line->function = charged == SND_NONE ? SND_NONE : snd_samples_function_of(samples, charged);
    }
    if (line->node == SND_NONE ||
        snd_profile_whole(profile, node, SND_METRIC_LIVE) > snd_profile_whole(profile, line->node, SND_METRIC_LIVE))
        line->node = node;
}

/* By file and line, then without a file by name. */
static int
compare_lines(const void *a, const void *b)
{
    const snd_memory_view_line *x = a, *y = b;

    if ((x->file == NULL) != (y->file == NULL))
        return x->file == NULL ? 1 : -1;
    int difference = x->file == NULL ? strcmp(x->name, y->name) : strcmp(x->file, y->file);
    return difference != 0 ? difference : (x->line > y->line) - (x->line < y->line);
}

void
snd_memory_view_make(const snd_samples *samples, int for_leaks, snd_memory_view *out)
{
    const snd_profile *profile = samples->profile;
    unsigned char *imports = for_leaks ? mark_imports(profile) : NULL;
    snd_memory_view self = {0};
    snd_rollup rows;

    snd_rollup_make(profile, row_of_node, counted, (void *)samples, &rows);
    uint64_t *most = snd_new(rows.count, sizeof *most);
    self.lines = snd_new(rows.count, sizeof *self.lines);
    for (; self.count < rows.count; self.count++)
        self.lines[self.count] = start_line(&rows, self.count, for_leaks);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t row = rows.row_of[i];
        if (row == SND_NONE)
            continue;
        name_line(samples, i, &most[row], &self.lines[row]);
        add_history(profile, i, imports, &self.lines[row]);
    }
    qsort(self.lines, self.count, sizeof *self.lines, compare_lines);
    for (uint32_t i = 0; i < self.count; i++)
        snd_memory_view_add(&self.all, &self.lines[i].numbers);
    *out = self;
}

const snd_memory_view_line *
snd_memory_view_find(const snd_memory_view *self, const char *file, uint32_t line)
{
    const snd_memory_view_line wanted = {.file = file, .line = line};

    return self->count == 0 ? NULL : bsearch(&wanted, self->lines, self->count, sizeof wanted, compare_lines);
}
