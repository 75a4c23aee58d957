/* Room: views of regions and counters. */
/* The view of regions: a row a node, in the order of the tree. */
#include "base/buffer.h"
#include "model/rollup.h"
#include "view/core/own_code.h"
#include "view/core/view.h"
#include "view/sampled/tree.h"

#include <math.h>
#include <string.h>

enum {
    NAME,
    TOTAL,
    PERCENT,
    COUNT,
    MIN,
    AVERAGE,
    MAX,
    SELF,
    P50,
    P90,
    P99,
    DEVIATION,
    SUSPENDED,
    CPU,
    OPEN,
    THREAD,
    PLACE,
    ID,
    PARENT_ID,
    PARENT_NAME,
    COLUMN_COUNT
};

static const snd_column columns[] = {
    [NAME] = {"name", "name", SND_UNIT_TEXT, 1},
    [TOTAL] = {"total_ns", "total", SND_UNIT_NS, 1},
    [PERCENT] = {"percent_of_total", "% of total", SND_UNIT_PERCENT, 1},
    [COUNT] = {"count", "count", SND_UNIT_COUNT, 1},
    [MIN] = {"min_ns", "min", SND_UNIT_NS, 1 | SND_COLUMN_OPTIONAL},
    [AVERAGE] = {"average_ns", "average", SND_UNIT_NS, 1},
    [MAX] = {"max_ns", "max", SND_UNIT_NS, 1},
    [SELF] = {"self_ns", "self", SND_UNIT_NS, 0},
    [P50] = {"p50_ns", "p50", SND_UNIT_NS, 0},
    [P90] = {"p90_ns", "p90", SND_UNIT_NS, 0},
    [P99] = {"p99_ns", "p99", SND_UNIT_NS, 0},
    [DEVIATION] = {"deviation_ns", "deviation", SND_UNIT_NS, 0},
    [SUSPENDED] = {"suspended_ns", "suspended", SND_UNIT_NS, 0},
    [CPU] = {"cpu_ns", "cpu", SND_UNIT_NS, 0},
    [OPEN] = {"open", "open", SND_UNIT_COUNT, 0},
    [THREAD] = {"thread", "thread", SND_UNIT_TEXT, 0},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, 0},
    [ID] = {"id", "id", SND_UNIT_COUNT, 0},
    [PARENT_ID] = {"parent_id", "parent id", SND_UNIT_COUNT, 0},
    [PARENT_NAME] = {"parent_name", "parent name", SND_UNIT_TEXT, 0},
};

static void
set_name(const snd_profile *profile, snd_table *table, uint32_t node, snd_cell *cell)
{
    const snd_profile_node *about = &profile->nodes[node];

    if (about->parent != SND_NONE) {
        snd_set_text(table, cell, profile->sites[about->site].name);
        return;
    }
    const snd_profile_track *track = &profile->tracks[about->track];
    snd_buffer text = {0};
    snd_buffer_printf(&text, "<%s>", track->name);
    if (track->thread_count > 1)
        snd_buffer_printf(&text, " and %u more", track->thread_count - 1);
    snd_set_buffer(table, cell, &text);
}

static void
set_place(const snd_own *own, const snd_profile_site *site, snd_table *table, snd_cell *cell)
{
    snd_buffer text = {0};

    if (site->file[0] == '\0')
        return;
    snd_buffer_printf(&text, "%s:%u", snd_own_name(own, site->file), site->line);
    snd_set_buffer(table, cell, &text);
}

/* Percentiles: of one entry they are that entry, else from the histogram. */
static void
set_percentiles(const snd_profile *profile, uint32_t node, snd_cell *cells)
{
    static const struct {
        int column;
        double rank;
    } wanted[] = {{P50, 0.50}, {P90, 0.90}, {P99, 0.99}};
    const uint64_t *counts = profile->histograms == NULL ? NULL : profile->histograms[node];
    uint64_t min = snd_profile_whole(profile, node, SND_METRIC_MIN);
    uint64_t max = snd_profile_whole(profile, node, SND_METRIC_MAX);
    uint64_t count = snd_profile_whole(profile, node, SND_METRIC_COUNT);

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (count == 1)
            snd_set_whole(&cells[wanted[i].column], max);
        else if (count > 1 && counts != NULL)
            snd_set_whole(&cells[wanted[i].column], snd_histogram_quantile(counts, wanted[i].rank, min, max));
    }
}

static void
set_deviation(const snd_profile *profile, uint32_t node, snd_cell *cell)
{
    double count = (double)snd_profile_whole(profile, node, SND_METRIC_COUNT);
    double total = (double)snd_profile_whole(profile, node, SND_METRIC_TOTAL);

    if (count < 1 || snd_profile_whole(profile, node, SND_METRIC_OPEN) != 0)
        return; /* an open entry is in the total but not in the squares */
    double variance = snd_profile_real(profile, node, SND_METRIC_SQUARE) / count - total / count * (total / count);
    double deviation = count >= 2 && variance > 0 ? sqrt(variance) : 0;
    if (deviation < (double)INT64_MAX) /* a damaged file may hold any number */
        snd_set_whole(cell, (uint64_t)(deviation + 0.5));
}

/* What was counted per region, where it was, stands behind all other columns. */
static void
set_counted(const snd_profile *profile, const snd_table *table, uint32_t node, snd_cell *cells)
{
    for (uint32_t i = COLUMN_COUNT; i < table->column_count; i++) {
        snd_metric metric = snd_metric_find(table->columns[i].name);
        if (snd_profile_has(profile, node, metric))
            snd_set_whole(&cells[i], snd_profile_whole(profile, node, metric));
    }
}

static void
set_numbers(const snd_profile *profile, uint32_t node, uint64_t whole_run, snd_cell *cells)
{
    uint64_t total = snd_profile_whole(profile, node, SND_METRIC_TOTAL);
    uint64_t open = snd_profile_whole(profile, node, SND_METRIC_OPEN);
    uint64_t entered = snd_profile_whole(profile, node, SND_METRIC_COUNT) + open;

    snd_set_whole(&cells[TOTAL], total);
    if (whole_run != 0)
        cells[PERCENT] = (snd_cell){.is_there = 1, .real = 100.0 * (double)total / (double)whole_run};
    snd_set_whole(&cells[COUNT], entered);
    snd_set_whole(&cells[MIN], snd_profile_whole(profile, node, SND_METRIC_MIN));
    if (entered != 0)
        snd_set_whole(&cells[AVERAGE], total / entered);
    snd_set_whole(&cells[MAX], snd_profile_whole(profile, node, SND_METRIC_MAX));
    snd_set_whole(&cells[SELF], snd_profile_whole(profile, node, SND_METRIC_SELF));
    snd_set_whole(&cells[SUSPENDED], snd_profile_whole(profile, node, SND_METRIC_SUSPENDED));
    if (snd_profile_has(profile, node, SND_METRIC_CPU))
        snd_set_whole(&cells[CPU], snd_profile_whole(profile, node, SND_METRIC_CPU));
    snd_set_whole(&cells[OPEN], open);
    set_percentiles(profile, node, cells);
    set_deviation(profile, node, &cells[DEVIATION]);
}

static void
add_row(const snd_profile *profile, const snd_own *own, snd_table *table, const snd_tree *tree, uint32_t row,
        uint64_t whole_run)
{
    const snd_tree_row *at = &tree->rows[row];
    const snd_profile_node *node = &profile->nodes[at->node];
    snd_cell *cells = snd_table_row(table, at->depth);
    set_name(profile, table, at->node, &cells[NAME]);
    set_numbers(profile, at->node, whole_run, cells);
    set_counted(profile, table, at->node, cells);
    snd_set_text(table, &cells[THREAD], profile->tracks[node->track].name);
    set_place(own, &profile->sites[node->site], table, &cells[PLACE]);
    snd_set_whole(&cells[ID], row);
    if (at->parent_row != SND_NONE) {
        snd_set_whole(&cells[PARENT_ID], at->parent_row);
        set_name(profile, table, tree->rows[at->parent_row].node, &cells[PARENT_NAME]);
    }
}

/* Whether any node has a metric; without a profile it may. */
static int
is_counted(const snd_profile *profile, snd_metric metric)
{
    for (uint32_t i = 0; profile != NULL && i < profile->node_count; i++)
        if (snd_profile_has(profile, i, metric))
            return 1;
    return profile == NULL;
}

/* Without rows; with the counters that the profile has, or all where there is none. */
static snd_table *
make_table(const snd_profile *profile)
{
    static const struct {
        snd_metric metric;
        const char *title;
    } counters[] = {
        {SND_METRIC_PAGE_FAULTS, "page faults"},     {SND_METRIC_CONTEXT_SWITCHES, "switches"},
        {SND_METRIC_MIGRATIONS, "migrations"},       {SND_METRIC_CYCLES, "cycles"},
        {SND_METRIC_INSTRUCTIONS, "instructions"},   {SND_METRIC_BRANCHES, "branches"},
        {SND_METRIC_BRANCH_MISSES, "branch misses"}, {SND_METRIC_CACHE_REFERENCES, "cache references"},
        {SND_METRIC_CACHE_MISSES, "cache misses"},
    };
    enum { COUNTERS = sizeof counters / sizeof counters[0] };
    snd_column all[COLUMN_COUNT + COUNTERS];
    uint32_t count = COLUMN_COUNT;

    memcpy(all, columns, sizeof columns);
    for (unsigned i = 0; i < COUNTERS; i++)
        if (is_counted(profile, counters[i].metric))
            all[count++] = (snd_column){snd_metric_get(counters[i].metric)->name, counters[i].title, SND_UNIT_COUNT,
                                        SND_COLUMN_SHOWN};
    snd_table *table = snd_table_new("regions", all, count);
    if (table != NULL)
        table->is_tree = 1;
    return table;
}

snd_table *
snd_view_regions_empty(void)
{
    return make_table(NULL);
}

/* A row for every node of a profile without operators. */
static void
add_rows(const snd_profile *profile, const snd_own *own, uint32_t main_track, snd_table *table)
{
    uint32_t root = snd_tree_root(profile, main_track);
    uint64_t whole_run = root == SND_NONE ? 0 : snd_profile_whole(profile, root, SND_METRIC_TOTAL);
    snd_tree tree;
    snd_tree_make(profile, SND_SITE_REGION, SND_METRIC_TOTAL, &tree);
    for (uint32_t i = 0; i < tree.count; i++)
        add_row(profile, own, table, &tree, i, whole_run);
}

static void
ask_regions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    uint32_t main_track = snd_tree_main_track(profile);
    snd_own own;

    if (main_track == SND_NONE)
        snd_work_end(SND_NO_DATA);
    const snd_profile *regions = snd_profile_without_ops(profile);
    snd_own_rules(&own, profile, options);
    snd_table *table = make_table(profile);
    add_rows(regions == NULL ? profile : regions, &own, main_track, table);
    snd_view_add_footer(profile, table);
    *out = table;
}

SND_VIEW(regions, ask_regions)

/* ---- the view of counters: a row a counter and thread ---- */

enum {
    COUNTER_NAME,
    LAST,
    COUNTER_MIN,
    COUNTER_AVERAGE,
    COUNTER_MAX,
    UPDATES,
    COUNTER_THREAD,
    COUNTER_PLACE,
    COUNTER_COLUMN_COUNT
};

static const snd_column counter_columns[] = {
    [COUNTER_NAME] = {"name", "counter", SND_UNIT_TEXT, 1},
    [LAST] = {"last", "last", SND_UNIT_NUMBER, 1},
    [COUNTER_MIN] = {"min", "min", SND_UNIT_NUMBER, 1},
    [COUNTER_AVERAGE] = {"average", "average", SND_UNIT_NUMBER, 1},
    [COUNTER_MAX] = {"max", "max", SND_UNIT_NUMBER, 1},
    [UPDATES] = {"updates", "updates", SND_UNIT_COUNT, 1},
    [COUNTER_THREAD] = {"thread", "thread", SND_UNIT_TEXT, 1},
    [COUNTER_PLACE] = {"place", "place", SND_UNIT_TEXT, 0},
};

static snd_cell
real(double value)
{
    return (snd_cell){.is_there = 1, .real = value};
}

static void
counter_add_row(const snd_profile *profile, const snd_own *own, snd_table *table, uint32_t node, uint64_t updates)
{
    const snd_profile_site *site = &profile->sites[profile->nodes[node].site];
    snd_buffer place = {0};
    snd_cell *cells = snd_table_row(table, 0);
    if (site->file[0] != '\0')
        snd_buffer_printf(&place, "%s:%u", snd_own_name(own, site->file), site->line);
    cells[COUNTER_NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, site->name)};
    cells[LAST] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_LAST));
    cells[COUNTER_MIN] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_MIN));
    cells[COUNTER_AVERAGE] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_SUM) / (double)updates);
    cells[COUNTER_MAX] = real(snd_profile_real(profile, node, SND_METRIC_VALUE_MAX));
    cells[UPDATES] = (snd_cell){.is_there = 1, .whole = (int64_t)updates};
    cells[COUNTER_THREAD] =
        (snd_cell){.is_there = 1, .text = snd_table_text(table, profile->tracks[profile->nodes[node].track].name)};
    cells[COUNTER_PLACE] = (snd_cell){.is_there = 1, .text = snd_table_text(table, snd_buffer_str(&place))};
}

static void
ask_counters(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_table *table = snd_table_new("counters", counter_columns, COUNTER_COLUMN_COUNT);

    snd_own own;

    snd_own_rules(&own, profile, options);
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint64_t updates = snd_profile_whole(profile, i, SND_METRIC_COUNT);
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_COUNTER && updates != 0)
            counter_add_row(profile, &own, table, i, updates);
    }
    if (table->row_count == 0)
        snd_work_end(SND_NO_DATA);
    *out = table;
}

SND_VIEW(counters, ask_counters)

/* ---- the view of marks: a row a mark, in the order of time ---- */

enum { MARK_TIME, MARK_NAME, MARK_DETAIL, MARK_THREAD, MARK_COLUMN_COUNT };

static const snd_column mark_columns[] = {
    [MARK_TIME] = {"at_ns", "at", SND_UNIT_NS, 1},
    [MARK_NAME] = {"name", "mark", SND_UNIT_TEXT, 1},
    [MARK_DETAIL] = {"detail", "detail", SND_UNIT_TEXT, 1},
    [MARK_THREAD] = {"thread", "thread", SND_UNIT_TEXT, 1},
};

static void
mark_add_row(const snd_profile *profile, snd_table *table, const snd_profile_event *event)
{
    const snd_profile_site *site = &profile->sites[profile->nodes[event->node].site];
    snd_cell *cells = snd_table_row(table, 0);

    cells[MARK_TIME] = (snd_cell){.is_there = 1, .whole = (int64_t)event->start_ns};
    cells[MARK_NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, site->name)};
    cells[MARK_DETAIL] = (snd_cell){.is_there = 1, .text = snd_table_text(table, site->detail)};
    cells[MARK_THREAD] = (snd_cell){.is_there = 1, .text = snd_table_text(table, profile->tracks[event->track].name)};
}

static void
ask_marks(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_table *table = snd_table_new("marks", mark_columns, MARK_COLUMN_COUNT);

    (void)options;
    for (uint64_t i = 0; i < profile->event_count; i++)
        if (snd_profile_kind(profile, profile->events[i].node) == SND_SITE_MARK)
            mark_add_row(profile, table, &profile->events[i]);
    if (table->row_count == 0)
        snd_work_end(SND_NO_DATA);
    *out = table;
}

SND_VIEW(marks, ask_marks)
