/* The view of threads: a row a track. */
#include "base/alloc.h"
#include "model/rollup.h"
#include "view/core/view.h"
#include "view/sampled/sample_table.h"
#include "view/sampled/tree.h"

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

static void
add_row(const snd_profile *profile, snd_table *table, uint32_t node, const uint64_t *entries)
{
    uint32_t id = profile->nodes[node].track;
    const snd_profile_track *track = &profile->tracks[id];
    uint64_t life = track->end_ns > track->start_ns ? track->end_ns - track->start_ns : 0;
    uint64_t outside = snd_profile_whole(profile, node, SND_METRIC_SELF);
    snd_cell *cells = snd_table_row(table, 0);
    snd_set_text(table, &cells[NAME], track->name);
    snd_set_whole(&cells[LIFE], life);
    snd_set_whole(&cells[IN_REGIONS], life > outside ? life - outside : 0);
    snd_set_whole(&cells[ENTRIES], entries[id]);
    snd_set_whole(&cells[THREADS], track->thread_count);
    snd_set_whole(&cells[START], track->start_ns);
    snd_set_whole(&cells[THREAD_ID], track->thread_id);
    snd_set_whole(&cells[PROCESS_ID], track->process_id);
    snd_set_whole(&cells[DROPPED], track->dropped_entries + track->dropped_events);
}

/* How often each track entered a region. */
static uint64_t *
entries_by_track(const snd_profile *profile)
{
    uint64_t *entries = snd_calloc(profile->track_count, sizeof *entries);

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->sites[profile->nodes[i].site].kind == SND_SITE_REGION)
            entries[profile->nodes[i].track] += snd_profile_entries(profile, i);
    return entries;
}

/* A row for every track of a profile without operators. */
static void
add_rows(const snd_profile *profile, snd_table *table)
{
    snd_tree tree;
    snd_tree_make(profile, SND_SITE_THREAD, SND_METRIC_TOTAL, &tree);
    uint64_t *entries = entries_by_track(profile);

    for (uint32_t i = 0; i < tree.count; i++)
        add_row(profile, table, tree.rows[i].node, entries);
}

static void
ask_threads(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    if (snd_profile_has_samples(profile)) {
        snd_work_need(snd_view_sampled_threads(profile, options, out));
        return;
    }
    if (profile->track_count == 0)
        snd_work_end(SND_NO_DATA);
    const snd_profile *regions = snd_profile_without_ops(profile);
    snd_table *table = snd_table_new("threads", columns, COLUMN_COUNT);
    add_rows(regions == NULL ? profile : regions, table);
    *out = table;
}

SND_VIEW(threads, ask_threads)
