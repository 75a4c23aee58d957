/* The view of ranks: how the time of a region or a function differs between the processes that have it. */
#include "base/alloc.h"
#include "base/duration.h"
#include "base/map.h"
#include "model/process.h"
#include "view/own.h"
#include "view/sample_table.h"
#include "view/view.h"

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
    row *rows;
    uint32_t row_count, row_capacity;
    snd_map map;
    uint32_t *of_node;       /* the row of a node; SND_NONE: it has none */
    unsigned char *is_inner; /* per node: a node above it has the same row, and its time already */
    uint64_t *sampled;       /* per node, of the process at hand: in it and below */
    uint64_t *measured;      /* per node: as it was measured */
    uint64_t *sorted;        /* the times of a row */
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

static int
is_same(const snd_profile_site *a, const snd_profile_site *b)
{
    return a->kind == b->kind && line_of(a) == line_of(b) && strcmp(a->name, b->name) == 0 &&
           strcmp(a->file, b->file) == 0;
}

static snd_status
find_row(maker *self, const snd_profile_site *site, uint32_t *id)
{
    const uint64_t key[] = {site->kind, line_of(site), snd_hash(site->name, strlen(site->name), 0),
                            snd_hash(site->file, strlen(site->file), 0)};
    uint64_t hash = snd_hash(key, sizeof key, 0);
    uint32_t cursor = 0;

    while ((*id = snd_map_next(&self->map, hash, &cursor)) != SND_MAP_NONE)
        if (is_same(self->rows[*id].site, site))
            return SND_OK;
    if (!snd_make_room(&self->rows, self->row_count + 1, &self->row_capacity, sizeof *self->rows))
        return SND_NO_MEMORY;
    uint64_t *times = snd_calloc(self->profile->process_count + 1u, sizeof *times);
    if (times == NULL)
        return SND_NO_MEMORY;
    *id = self->row_count++;
    self->rows[*id] = (row){.site = site, .times = times};
    return snd_map_add(&self->map, hash, *id);
}

static snd_status
place_nodes(maker *self)
{
    const snd_profile *profile = self->profile;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < profile->node_count && status == SND_OK; i++) {
        self->of_node[i] = SND_NONE;
        if (!has_row(profile, i))
            continue;
        status = find_row(self, site_of(profile, i), &self->of_node[i]);
        uint32_t above = profile->nodes[i].parent;
        while (above != SND_NONE && self->of_node[above] != self->of_node[i])
            above = profile->nodes[above].parent;
        self->is_inner[i] = above != SND_NONE;
    }
    return status;
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
    for (uint32_t i = profile->node_count; i-- > 0;) {
        uint32_t id = self->of_node[i], parent = profile->nodes[i].parent;
        if (parent != SND_NONE)
            self->sampled[parent] += self->sampled[i];
        if (id != SND_NONE && !self->is_inner[i])
            self->rows[id].times[process] +=
                snd_site_is_sampled(site_of(profile, i)->kind) ? self->sampled[i] : self->measured[i];
    }
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

static snd_status
add_row(maker *self, const row *one, snd_table *table)
{
    snd_buffer name = {0}, place = {0}, at = {0}, outliers = {0};
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
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
    snd_table_last(table)->look = count == 0 ? SND_LOOK_PLAIN : SND_LOOK_HOT;
    return snd_table_check(table, cells);
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

static snd_status
set_footer(const maker *self, uint32_t small, snd_table *table)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "%u process%s; a row is over those that have it; spread: (max - min) / max",
                      self->profile->process_count, self->profile->process_count == 1 ? "" : "es");
    snd_buffer_printf(&text,
                      "\noutliers: more than %.0f median absolute deviations and %.0f%% from the median of %u or"
                      " more processes",
                      DEVIATIONS, 100 * LEAST_SHARE, LEAST_PROCESSES);
    if (small != 0)
        snd_buffer_printf(&text, "\n%u row%s below %.0f%% of the longest; --show-all shows them", small,
                          small == 1 ? "" : "s", 100 * SMALL_SHARE);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_table_set_footer(table, snd_buffer_str(&text));
    snd_buffer_free(&text);
    return status;
}

static snd_status
add_rows(maker *self, int show_all, snd_table *table)
{
    uint64_t longest = 0;
    uint32_t small = 0;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->row_count; i++) {
        sum_up(self, &self->rows[i]);
        longest = self->rows[i].max > longest ? self->rows[i].max : longest;
    }
    if (self->row_count != 0)
        qsort(self->rows, self->row_count, sizeof *self->rows, compare_rows);
    for (uint32_t i = 0; i < self->row_count && status == SND_OK; i++) {
        const row *one = &self->rows[i];
        if (one->count == 0)
            continue;
        if (!show_all && (double)one->max < SMALL_SHARE * (double)longest)
            small++;
        else
            status = add_row(self, one, table);
    }
    if (status == SND_OK && table->row_count == 0)
        status = SND_NO_DATA;
    return status == SND_OK ? set_footer(self, small, table) : status;
}

static snd_status
make(maker *self, int show_all, snd_table *table)
{
    size_t room = self->profile->node_count + (size_t)1;

    self->of_node = snd_malloc(room * sizeof *self->of_node);
    self->is_inner = snd_calloc(room, 1);
    self->sampled = snd_malloc(room * sizeof *self->sampled);
    self->measured = snd_malloc(room * sizeof *self->measured);
    self->sorted = snd_malloc((self->profile->process_count + 1u) * sizeof *self->sorted);
    if (self->of_node == NULL || self->is_inner == NULL || self->sampled == NULL || self->measured == NULL ||
        self->sorted == NULL || table == NULL)
        return SND_NO_MEMORY;
    snd_status status = place_nodes(self);
    for (uint32_t i = 0; i < self->profile->process_count && status == SND_OK; i++)
        take_part(self, i);
    return status == SND_OK ? add_rows(self, show_all, table) : status;
}

static void
free_maker(maker *self)
{
    for (uint32_t i = 0; i < self->row_count; i++)
        snd_free(self->rows[i].times);
    snd_free(self->rows);
    snd_map_free(&self->map);
    snd_free(self->of_node);
    snd_free(self->is_inner);
    snd_free(self->sampled);
    snd_free(self->measured);
    snd_free(self->sorted);
}

snd_status
snd_view_ranks(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {.profile = profile, .cpu_only = options->cpu_only};

    if (profile->parts == NULL)
        return SND_NO_DATA;
    snd_own_start(&self.own, profile, options);
    snd_table *table = snd_table_new("ranks", columns, COLUMN_COUNT);
    snd_status status = make(&self, options->show_all, table);
    free_maker(&self);
    if (status != SND_OK) {
        snd_table_free(table);
        return status;
    }
    *out = table;
    return SND_OK;
}
