/* What a library of compiled graphs measured of its functions, in the running measurement. */
#include "probe/graph/graph.h"

#include "base/alloc.h"
#include "os/process.h"
#include "probe/core/reported.h"

/* Under the lock of the reported nodes. */
static const snd_track *place;
static uint32_t place_process; /* a child has tracks of its own */

/* A track that its thread has not seen since the last reset is in no profile. */
static int
is_good(const snd_track *track, uint32_t process)
{
    return track != NULL && place_process == process && SND_GET(track->epoch) == SND_GET(snd_track_epoch);
}

/* The lock, and the track; NULL, without the lock, when memory runs out. A thread that is not the first gets no track
 * for this, and one that gets its track must not have the lock. */
static const snd_track *
lock_place(void)
{
    uint32_t process = snd_process_id();

    snd_reported_lock();
    if (is_good(place, process))
        return place;
    snd_reported_unlock();
    const snd_track *mine = snd_track_get();
    if (mine == NULL)
        return NULL;
    snd_reported_lock();
    if (!is_good(place, process)) /* else another thread was faster */
        place = mine;
    place_process = process;
    return place;
}

static int
is_of_graph(uint32_t reported)
{
    return snd_site_is_graph(snd_site_kind_get(snd_reported_get(reported)->site));
}

/* Old numbers must not stay where no new ones come. */
static void
clear_old(void)
{
    for (uint32_t i = 0; i < snd_reported_count(); i++) {
        const snd_reported *node = snd_reported_get(i);
        for (uint32_t k = 0; k < node->value_count && is_of_graph(i); k++)
            snd_reported_value(i, (snd_metric)node->metrics[k])->whole = 0; /* of a real number, too */
    }
}

/* Those of the first `count` that did not come again. */
static void
mark_gone(const unsigned char *is_there, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        snd_value *gone = is_there[i] || !is_of_graph(i) ? NULL : snd_reported_value(i, SND_METRIC_GRAPH_GONE);
        if (gone != NULL)
            gone->whole = 1;
    }
}

/* SND_NONE: there is no room for it. */
static uint32_t
report_node(const snd_profile *profile, uint32_t node, const uint32_t *reported, const snd_track *track)
{
    const snd_profile_node *about = &profile->nodes[node];
    uint32_t above = about->parent == SND_NONE ? SND_NONE : reported[about->parent];
    uint32_t site = snd_site_add_placed(&profile->sites[about->site]);
    int is_first =
        about->parent == SND_NONE || !snd_site_is_graph(profile->sites[profile->nodes[about->parent].site].kind);

    if (above == SND_NONE && !is_first)
        return SND_NONE;
    uint32_t id = is_first ? snd_reported_to(track, 0, site) : snd_reported_below(above, site);
    for (unsigned metric = 0; metric < SND_METRIC_COUNT_OF && id != SND_NONE; metric++) {
        snd_value *value = snd_profile_has(profile, node, metric) ? snd_reported_value(id, metric) : NULL;
        if (value != NULL)
            *value = profile->columns[metric][node];
    }
    return id;
}

/* Under the lock. `reported` has room for every node of the profile, `is_there` for what is reported already. */
static snd_status
replace(const snd_profile *profile, const snd_track *track, uint32_t *reported, unsigned char *is_there)
{
    uint32_t count = snd_reported_count();
    snd_status status = SND_OK;

    clear_old();
    for (uint32_t i = 0; i < profile->node_count; i++) {
        reported[i] = SND_NONE;
        if (!snd_site_is_graph(profile->sites[profile->nodes[i].site].kind))
            continue;
        reported[i] = report_node(profile, i, reported, track);
        if (reported[i] == SND_NONE)
            status = SND_NO_MEMORY;
        else if (reported[i] < count)
            is_there[reported[i]] = 1;
    }
    mark_gone(is_there, count);
    return status;
}

snd_status
snd_graph_attach(const snd_profile *profile)
{
    const snd_track *track = lock_place();
    if (track == NULL)
        return SND_NO_MEMORY;
    uint32_t *reported = snd_malloc(((size_t)profile->node_count + 1) * sizeof *reported);
    unsigned char *is_there = snd_calloc((size_t)snd_reported_count() + 1, 1);
    snd_status status = SND_NO_MEMORY;

    if (reported != NULL && is_there != NULL)
        status = replace(profile, track, reported, is_there);
    snd_reported_unlock();
    snd_free(reported);
    snd_free(is_there);
    return status;
}

SND_PROBE_ON_TRACKS(snd_graph_probe, "graph", wishes->graphs, NULL)
