/* The view of ranks: how the time of a region or a function differs between the processes that have it. */
#include "base/alloc.h"
#include "base/text.h"
#include "model/processes.h"
#include "model/rollup.h"
#include "view/core/own_code.h"
#include "view/core/view.h"
#include "view/sampled/sample_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An outlier is farther from the median than so many median absolute deviations, and than this share of the median.
 * Fewer processes than that have no outliers. */
#define DEVIATIONS 3.0
#define LEAST_SHARE 0.05
#define LEAST_PROCESSES 4u
#define NAMED 3u

/* Rows with less than this share of the longest are small. */
#define SMALL_SHARE 0.01

enum { KIND, NAME, PROCESSES, MIN, MEDIAN, MAX, SPREAD, MAX_AT, OUTLIERS, OUTLIER_COUNT, PLACE, COLUMN_COUNT };

#define SHOWN SND_COLUMN_SHOWN

static const snd_column columns[] = {
    [KIND] = {"kind", "kind", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
    [NAME] = {"name", "name", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [PROCESSES] = {"processes", "in", SND_UNIT_COUNT, SHOWN},
    [MIN] = {"min_ns", "min", SND_UNIT_NS, SHOWN},
    [MEDIAN] = {"median_ns", "median", SND_UNIT_NS, SHOWN},
    [MAX] = {"max_ns", "max", SND_UNIT_NS, SHOWN},
    [SPREAD] = {"spread_percent", "spread", SND_UNIT_PERCENT, SHOWN},
    [MAX_AT] = {"max_at", "max at", SND_UNIT_TEXT, SHOWN},
    [OUTLIERS] = {"outliers", "outliers", SND_UNIT_TEXT, SHOWN | SND_COLUMN_NO_EMPTY},
    [OUTLIER_COUNT] = {"outlier_count", "outliers", SND_UNIT_COUNT, 0},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
};

/* A region, a function that was called, or one that was sampled. */
typedef struct row {
    const snd_profile_site *site;
    uint32_t count;  /* of the processes that have it */
    uint64_t *times; /* per process; 0: it has none */
    uint64_t min, median, max;
    uint32_t max_at;
} row;

typedef struct maker {
    const snd_profile *profile;
    int cpu_only;
    snd_own own;
    snd_rollup nodes; /* whose row each node is */
    row *rows;
    uint32_t row_count;
    uint64_t *sampled;  /* per node, of the process at hand: in it and below */
    uint64_t *measured; /* per node: as it was measured */
    uint64_t *sorted;   /* the times of a row */
} maker;

/* ---- rows ---- */

static const snd_profile_site *
site_of(const snd_profile *profile, uint32_t node)
{
    return &profile->sites[profile->nodes[node].site];
}

/* Calls below the root stand for all of a function, those below them for pairs; signatures are part of theirs. */
static int
has_row(const snd_profile *profile, uint32_t node)
{
    const snd_profile_site *site = site_of(profile, node);
    uint32_t parent = profile->nodes[node].parent;

    if (snd_site_is_call(site->kind))
        return parent != SND_NONE && profile->nodes[parent].parent == SND_NONE && *site->detail == '\0';
    return site->kind == SND_SITE_REGION || snd_site_is_sampled(site->kind);
}

/* Lines of one function are one row. */
static uint32_t
line_of(const snd_profile_site *site)
{
    return site->kind == SND_SITE_LINE ? site->first_line : site->kind == SND_SITE_NATIVE ? 0 : site->line;
}

static uint32_t
row_of_node(const snd_rollup *self, uint32_t node)
{
    const snd_profile_site *site = site_of(self->profile, node);
    const uint64_t key[] = {(uint64_t)site->kind << 32 | line_of(site), (uintptr_t)site->name, (uintptr_t)site->file};

    return has_row(self->profile, node) ? snd_rollup_key(self, key, sizeof key) : SND_NONE;
}

/* What each process had is no metric. */
static snd_metric_set
no_metric(const snd_rollup *self, uint32_t node)
{
    (void)self;
    (void)node;
    return 0;
}

/* ---- times ---- */

static void
take_part(maker *self, uint32_t process)
{
    const snd_profile *profile = self->profile;
    const snd_part *part = &profile->parts[process];

    memset(self->sampled, 0, profile->node_count * sizeof *self->sampled);
    memset(self->measured, 0, profile->node_count * sizeof *self->measured);
    for (uint32_t i = 0; i < part->count; i++) {
        const snd_part_entry *entry = &part->entries[i];
        if (snd_site_is_sampled(site_of(profile, entry->node)->kind))
            self->sampled[entry->node] += self->cpu_only ? entry->self_ns : entry->total_ns;
        else
            self->measured[entry->node] += entry->total_ns;
    }
    snd_profile_add_below(profile, self->sampled);
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_sampled(site_of(profile, i)->kind))
            self->measured[i] = self->sampled[i];
    const uint64_t *times = snd_rollup_outermost(&self->nodes, self->measured);
    for (uint32_t i = 0; i < self->row_count; i++)
        self->rows[i].times[process] = times[i];
}

static int
compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of two in the middle their mean. */
static uint64_t
median_of(uint64_t *times, uint32_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return count % 2 != 0 ? times[count / 2] : times[count / 2 - 1] / 2 + times[count / 2] / 2;
}

static void
sum_up(maker *self, row *one)
{
    for (uint32_t i = 0; i < self->profile->process_count; i++) {
        uint64_t time = one->times[i];
        if (time == 0)
            continue;
        if (one->count == 0 || time < one->min)
            one->min = time;
        if (time > one->max) {
            one->max = time;
            one->max_at = i;
        }
        self->sorted[one->count++] = time;
    }
    one->median = one->count == 0 ? 0 : median_of(self->sorted, one->count);
}

static uint64_t
apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* How far from the median a process may be. */
static double
bound_of(maker *self, const row *one)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < self->profile->process_count; i++)
        if (one->times[i] != 0)
            self->sorted[count++] = apart(one->times[i], one->median);
    double deviation = DEVIATIONS * (double)median_of(self->sorted, count), share = LEAST_SHARE * (double)one->median;
    return deviation > share ? deviation : share;
}

/* "rank 3 +45%, rank 7 -20%", the farthest first. */
static uint32_t
put_outliers(maker *self, const row *one, snd_buffer *out)
{
    double bound = bound_of(self, one), before = INFINITY;
    uint32_t count = 0, last = SND_NONE;

    for (uint32_t i = 0; i < self->profile->process_count; i++)
        count += one->times[i] != 0 && (double)apart(one->times[i], one->median) > bound;
    for (uint32_t named = 0; named < count && named < NAMED; named++) {
        uint32_t best = SND_NONE;
        for (uint32_t i = 0; i < self->profile->process_count; i++) {
            double off = (double)apart(one->times[i], one->median);
            if (one->times[i] == 0 || off <= bound || off > before || (off >= before && i <= last))
                continue;
            if (best == SND_NONE || off > (double)apart(one->times[best], one->median))
                best = i;
        }
        if (best == SND_NONE)
            break;
        last = best;
        before = (double)apart(one->times[best], one->median);
        snd_buffer_text(out, named == 0 ? "" : ", ");
        snd_process_name(self->profile, best, out);
        snd_buffer_printf(out, " %+.0f%%",
                          100.0 * ((double)one->times[best] - (double)one->median) / (double)one->median);
    }
    if (count > NAMED)
        snd_buffer_printf(out, " and %u more", count - NAMED);
    return count;
}

/* ---- the table ---- */

static const char *
kind_text(const snd_profile_site *site)
{
    return site->kind == SND_SITE_REGION ? "region" : snd_site_is_call(site->kind) ? "called" : "sampled";
}

static void
add_row(maker *self, const row *one, snd_table *table)
{
    snd_buffer name = {0}, place = {0}, at = {0}, outliers = {0};
    snd_cell *cells = snd_table_row(table, 0);
    uint32_t count = one->count < LEAST_PROCESSES ? 0 : put_outliers(self, one, &outliers);
    snd_buffer_text(&name, one->site->name);
    snd_place_text(&self->own, one->site, &place);
    snd_process_name(self->profile, one->max_at, &at);
    snd_set_text(table, &cells[KIND], kind_text(one->site));
    snd_set_buffer(table, &cells[NAME], &name);
    snd_set_whole(&cells[PROCESSES], one->count);
    snd_set_whole(&cells[MIN], one->min);
    snd_set_whole(&cells[MEDIAN], one->median);
    snd_set_whole(&cells[MAX], one->max);
    snd_set_share(&cells[SPREAD], 100.0 * (double)(one->max - one->min) / (double)one->max);
    snd_set_buffer(table, &cells[MAX_AT], &at);
    snd_set_buffer(table, &cells[OUTLIERS], &outliers);
    snd_set_whole(&cells[OUTLIER_COUNT], count);
    snd_set_buffer(table, &cells[PLACE], &place);
    snd_table_last(table)->colour = count == 0 ? SND_COLOUR_PLAIN : SND_COLOUR_HOT;
}

/* What differs most comes first. */
static int
compare_rows(const void *a, const void *b)
{
    const row *x = a, *y = b;
    uint64_t spread_x = x->max - x->min, spread_y = y->max - y->min;

    if (spread_x != spread_y)
        return spread_x > spread_y ? -1 : 1;
    if (x->max != y->max)
        return x->max > y->max ? -1 : 1;
    int order = strcmp(x->site->name, y->site->name);
    return order != 0 ? order : strcmp(x->site->file, y->site->file);
}

static void
set_footer(const maker *self, uint32_t small, snd_table *table)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "%u process%s; each row covers the processes that have it; spread: (max - min) / max",
                      self->profile->process_count, self->profile->process_count == 1 ? "" : "es");
    snd_buffer_printf(&text,
                      "\noutliers: more than %.0f median absolute deviations and %.0f%% from the median of %u or"
                      " more processes",
                      DEVIATIONS, 100 * LEAST_SHARE, LEAST_PROCESSES);
    if (small != 0)
        snd_buffer_printf(&text, "\n%u row%s below %.0f%% of the longest hidden; show with --show-all", small,
                          small == 1 ? "" : "s", 100 * SMALL_SHARE);
    snd_work_need(snd_table_set_footer(table, snd_buffer_str(&text)));
}

static void
add_rows(maker *self, int show_all, snd_table *table)
{
    uint64_t longest = 0;
    uint32_t small = 0;

    for (uint32_t i = 0; i < self->row_count; i++) {
        sum_up(self, &self->rows[i]);
        longest = self->rows[i].max > longest ? self->rows[i].max : longest;
    }
    if (self->row_count != 0)
        qsort(self->rows, self->row_count, sizeof *self->rows, compare_rows);
    for (uint32_t i = 0; i < self->row_count; i++) {
        const row *one = &self->rows[i];
        if (one->count == 0)
            continue;
        if (!show_all && (double)one->max < SMALL_SHARE * (double)longest)
            small++;
        else
            add_row(self, one, table);
    }
    if (table->row_count == 0)
        snd_work_end(SND_NO_DATA);
    set_footer(self, small, table);
}

static void
make(maker *self, int show_all, snd_table *table)
{
    size_t room = self->profile->node_count + (size_t)1;

    self->sampled = snd_malloc(room * sizeof *self->sampled);
    self->measured = snd_malloc(room * sizeof *self->measured);
    self->sorted = snd_malloc((self->profile->process_count + 1u) * sizeof *self->sorted);
    snd_rollup_make(self->profile, row_of_node, no_metric, NULL, &self->nodes);
    self->rows = snd_new(self->nodes.count, sizeof *self->rows);
    for (; self->row_count < self->nodes.count; self->row_count++)
        self->rows[self->row_count] = (row){.site = site_of(self->profile, self->nodes.first[self->row_count]),
                                            .times = snd_new(self->profile->process_count, sizeof(uint64_t))};
    for (uint32_t i = 0; i < self->profile->process_count; i++)
        take_part(self, i);
    add_rows(self, show_all, table);
}

static void
ask_ranks(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {.profile = profile, .cpu_only = options->cpu_only};

    if (profile->parts == NULL)
        snd_work_end(SND_NO_DATA);
    snd_own_start(&self.own, profile, options);
    snd_table *table = snd_table_new("ranks", columns, COLUMN_COUNT);
    make(&self, options->show_all, table);
    *out = table;
}

SND_VIEW(ranks, ask_ranks)
