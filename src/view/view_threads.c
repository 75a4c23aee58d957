/* The view of threads: a row a track. */
#include "base/alloc.h"
#include "view/fold.h"
#include "view/sample_table.h"
#include "view/tree.h"
#include "view/view.h"

enum { NAME, LIFE, IN_REGIONS, ENTRIES, THREADS, START, THREAD_ID, PROCESS_ID, DROPPED, COLUMN_COUNT };

static const snd_column columns[] = {
    [NAME] = {"name", "thread", SND_UNIT_TEXT, 1},
    [LIFE] = {"life_ns", "measured", SND_UNIT_NS, 1},
    [IN_REGIONS] = {"in_regions_ns", "in regions", SND_UNIT_NS, 1},
    [ENTRIES] = {"entries", "entries", SND_UNIT_COUNT, 1},
    [THREADS] = {"threads", "threads", SND_UNIT_COUNT, 1},
    [START] = {"start_ns", "start", SND_UNIT_NS, 1},
    [THREAD_ID] = {"thread_id", "thread id", SND_UNIT_COUNT, 1},
    [PROCESS_ID] = {"process_id", "process id", SND_UNIT_COUNT, 0},
    [DROPPED] = {"dropped", "dropped", SND_UNIT_COUNT, 1},
};

static snd_cell
whole(uint64_t value)
{
    return (snd_cell){.is_there = 1, .whole = (int64_t)value};
}

static snd_status
add_row(const snd_profile *profile, snd_table *table, uint32_t node, const uint64_t *entries)
{
    uint32_t id = profile->nodes[node].track;
    const snd_profile_track *track = &profile->tracks[id];
    uint64_t life = track->end_ns > track->start_ns ? track->end_ns - track->start_ns : 0;
    uint64_t outside = snd_profile_whole(profile, node, SND_METRIC_SELF);
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
    cells[NAME] = (snd_cell){.is_there = 1, .text = snd_table_text(table, track->name)};
    cells[LIFE] = whole(life);
    cells[IN_REGIONS] = whole(life > outside ? life - outside : 0);
    cells[ENTRIES] = whole(entries[id]);
    cells[THREADS] = whole(track->thread_count);
    cells[START] = whole(track->start_ns);
    cells[THREAD_ID] = whole(track->thread_id);
    cells[PROCESS_ID] = whole(track->process_id);
    cells[DROPPED] = whole(track->dropped_entries + track->dropped_events);
    return cells[NAME].text == NULL ? SND_NO_MEMORY : SND_OK;
}

/* How often each track entered a region; the caller frees it. NULL when memory runs out. */
static uint64_t *
entries_by_track(const snd_profile *profile)
{
    uint64_t *entries = snd_calloc(profile->track_count, sizeof *entries);

    for (uint32_t i = 0; entries != NULL && i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            entries[profile->nodes[i].track] +=
                snd_profile_whole(profile, i, SND_METRIC_COUNT) + snd_profile_whole(profile, i, SND_METRIC_OPEN);
    return entries;
}

/* A row for every track of a profile without operators. */
static snd_status
add_rows(const snd_profile *profile, snd_table *table)
{
    snd_tree tree;
    snd_status status = snd_tree_make(profile, SND_SITE_THREAD, SND_METRIC_TOTAL, &tree);
    if (status != SND_OK)
        return status;
    uint64_t *entries = entries_by_track(profile);
    status = entries == NULL ? SND_NO_MEMORY : SND_OK;
    for (uint32_t i = 0; i < tree.count && status == SND_OK; i++)
        status = add_row(profile, table, tree.rows[i].node, entries);
    snd_free(entries);
    snd_tree_free(&tree);
    return status;
}

snd_status
snd_view_threads(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_profile *folded;
    if (snd_samples_exist(profile))
        return snd_view_sampled_threads(profile, options, out);
    if (profile->track_count == 0)
        return SND_NO_DATA;
    snd_status status = snd_fold_ops(profile, &folded);
    if (status != SND_OK)
        return status;
    snd_table *table = snd_table_new("threads", columns, COLUMN_COUNT);
    status = table == NULL ? SND_NO_MEMORY : add_rows(folded == NULL ? profile : folded, table);
    snd_profile_free(folded);
    if (status != SND_OK) {
        snd_table_free(table);
        return status;
    }
    *out = table;
    return SND_OK;
}
