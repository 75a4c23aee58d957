/* Profiles made by hand, and questions to profiles. */
#include "fixture.h"

#include "check.h"
#include "store/reader.h"
#include "store/writer.h"

#include <stdio.h>
#include <string.h>

void
set_whole(snd_profile *profile, uint32_t node, snd_metric metric, uint64_t value)
{
    REQUIRE(snd_profile_set(profile, node, metric, (snd_value){.whole = value}) == SND_OK);
}

void
set_real(snd_profile *profile, uint32_t node, snd_metric metric, double value)
{
    REQUIRE(snd_profile_set(profile, node, metric, (snd_value){.real = value}) == SND_OK);
}

void
set_info(snd_profile *profile, const char *key, const char *value)
{
    REQUIRE(snd_profile_set_info(profile, key, value) == SND_OK);
}

uint32_t
add_site(snd_profile *profile, snd_site_kind kind, const char *name)
{
    snd_profile_site site = {kind, name, kind == SND_SITE_THREAD ? "" : "work.c", kind == SND_SITE_THREAD ? 0 : 12, "",
                             0,    0};
    uint32_t id;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    return id;
}

uint32_t
add_track(snd_profile *profile, const char *name, uint32_t thread_id, uint64_t start_ns, uint64_t end_ns)
{
    snd_profile_track track = {.process_id = 100,
                               .thread_id = thread_id,
                               .thread_count = 1,
                               .name = name,
                               .start_ns = start_ns,
                               .end_ns = end_ns};
    uint32_t id;

    REQUIRE(snd_profile_add_track(profile, &track, &id) == SND_OK);
    return id;
}

uint32_t
add_root(snd_profile *profile, uint32_t track, uint64_t total_ns, uint64_t self_ns)
{
    uint32_t site = add_site(profile, SND_SITE_THREAD, profile->tracks[track].name);
    uint32_t node;

    REQUIRE(snd_profile_add_node(profile, SND_NONE, track, site, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_COUNT, 1);
    set_whole(profile, node, SND_METRIC_TOTAL, total_ns);
    set_whole(profile, node, SND_METRIC_SELF, self_ns);
    set_whole(profile, node, SND_METRIC_MIN, total_ns);
    set_whole(profile, node, SND_METRIC_MAX, total_ns);
    return node;
}

uint32_t
add_region(snd_profile *profile, uint32_t parent, const char *name, uint64_t count, uint64_t each_ns, uint64_t self_ns)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    uint32_t site = add_site(profile, SND_SITE_REGION, name);
    uint32_t node;

    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, site, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_COUNT, count);
    set_whole(profile, node, SND_METRIC_TOTAL, count * each_ns);
    set_whole(profile, node, SND_METRIC_SELF, self_ns);
    set_whole(profile, node, SND_METRIC_MIN, each_ns);
    set_whole(profile, node, SND_METRIC_MAX, each_ns);
    set_real(profile, node, SND_METRIC_SQUARE, (double)count * (double)each_ns * (double)each_ns);
    counts[snd_histogram_bucket(each_ns)] = count;
    if (count > 1)
        REQUIRE(snd_profile_set_histogram(profile, node, counts) == SND_OK);
    return node;
}

static void
add_counter(snd_profile *profile, uint32_t root, const char *name)
{
    uint32_t site = add_site(profile, SND_SITE_COUNTER, name);
    uint32_t node;

    REQUIRE(snd_profile_add_node(profile, root, profile->nodes[root].track, site, &node) == SND_OK);
    set_whole(profile, node, SND_METRIC_COUNT, 4);
    set_real(profile, node, SND_METRIC_VALUE_LAST, 2.5);
    set_real(profile, node, SND_METRIC_VALUE_MIN, -1);
    set_real(profile, node, SND_METRIC_VALUE_MAX, 7);
    set_real(profile, node, SND_METRIC_VALUE_SUM, 10);
}

snd_profile *
small_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t main_root = add_root(profile, add_track(profile, "main", 100, 0, 10000000), 10000000, 1500000);
    uint32_t load = add_region(profile, main_root, "load", 2, 4000000, 7000000);
    add_region(profile, load, "parse", 10, 100000, 1000000);
    add_region(profile, main_root, "write", 1, 500000, 500000);
    add_counter(profile, main_root, "queue");
    uint32_t worker = add_root(profile, add_track(profile, "worker", 107, 2000000, 9000000), 7000000, 5400000);
    uint32_t parse = add_region(profile, worker, "parse", 3, 400000, 1600000);
    set_whole(profile, parse, SND_METRIC_TOTAL, 1600000);
    set_whole(profile, parse, SND_METRIC_OPEN, 1);
    set_info(profile, "program", "work");
    set_info(profile, "process_id", "100");
    set_info(profile, "own_cost_ns", "50");
    set_info(profile, "length_ns", "10000000");
    set_info(profile, "complete", "1");
    return profile;
}

uint32_t
find_track(const snd_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->track_count; i++)
        if (strcmp(profile->tracks[i].name, name) == 0)
            return i;
    return SND_NONE;
}

static uint32_t
find_child(const snd_profile *profile, uint32_t track, uint32_t parent, const char *name, size_t len)
{
    for (uint32_t i = 0; i < profile->node_count; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        const char *other = profile->sites[node->site].name;
        if (node->track != track || node->parent != parent)
            continue;
        if (parent == SND_NONE || (strncmp(other, name, len) == 0 && other[len] == '\0'))
            return i;
    }
    return SND_NONE;
}

uint32_t
find_node(const snd_profile *profile, const char *track, const char *path)
{
    uint32_t on = find_track(profile, track);
    uint32_t node = on == SND_NONE ? SND_NONE : find_child(profile, on, SND_NONE, "", 0);

    while (node != SND_NONE && *path != '\0') {
        size_t len = strcspn(path, "/");
        node = find_child(profile, on, node, path, len);
        path += len + (path[len] == '/');
    }
    return node;
}

uint64_t
node_whole(const snd_profile *profile, const char *track, const char *path, snd_metric metric)
{
    uint32_t node = find_node(profile, track, path);
    return node == SND_NONE ? 0 : snd_profile_whole(profile, node, metric);
}

double
node_real(const snd_profile *profile, const char *track, const char *path, snd_metric metric)
{
    uint32_t node = find_node(profile, track, path);
    return node == SND_NONE ? 0 : snd_profile_real(profile, node, metric);
}

uint64_t
self_sum(const snd_profile *profile, uint32_t track)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].track == track)
            sum += snd_profile_whole(profile, i, SND_METRIC_SELF);
    return sum;
}

uint64_t
thread_count(const snd_profile *profile)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < profile->track_count; i++)
        count += profile->tracks[i].thread_count;
    return count;
}

/* ---- recordings ---- */

void
write_profile(const char *path, const snd_profile *profile, unsigned events)
{
    snd_writer *writer = NULL;

    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    for (uint32_t track = 0; track < profile->track_count && events != 0; track++) {
        snd_chunk chunk = {0};
        for (uint32_t i = 0; i < profile->node_count; i++)
            if (profile->nodes[i].track == track)
                for (unsigned k = 0; k < events; k++)
                    snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = 100u * i + k, .duration_ns = k, .node = i});
        REQUIRE(snd_writer_add_chunk(writer, track, &chunk) == SND_OK);
        snd_chunk_free(&chunk);
    }
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_writer_free(writer);
}

static snd_status
pass_over(void *context, const snd_profile_event *event)
{
    (void)context, (void)event;
    return SND_OK;
}

snd_status
read_status(const char *path)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;
    uint64_t counted;
    snd_status status = snd_reader_open(path, &reader);

    if (status == SND_OK)
        status = snd_reader_profile(reader, &profile);
    if (status == SND_OK)
        status = snd_reader_event_count(reader, &counted);
    if (status == SND_OK)
        status = snd_reader_timeline(reader, profile, pass_over, NULL);
    snd_profile_free(profile);
    snd_reader_free(reader);
    return status;
}

void
check_count(const char *path, const char *name, uint64_t wanted)
{
    snd_profile *profile = read_recording(path);
    CHECK_NUMBER(node_whole(profile, "main", name, SND_METRIC_COUNT), wanted);
    snd_profile_free(profile);
}

snd_profile *
read_recording(const char *path)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;
    snd_status status = snd_reader_open(path, &reader);

    if (status == SND_OK)
        status = snd_reader_profile(reader, &profile);
    CHECK_TEXT(snd_status_text(status), snd_status_text(SND_OK));
    REQUIRE(status == SND_OK);
    snd_reader_free(reader);
    return profile;
}

/* ---- equality ---- */

static int
differ(const char *what, uint32_t id)
{
    fprintf(stderr, "the profiles differ in %s %u\n", what, id);
    return 0;
}

static int
sites_are_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->site_count; i++) {
        const snd_profile_site *x = &a->sites[i], *y = &b->sites[i];
        if (x->kind != y->kind || x->line != y->line || x->first_line != y->first_line ||
            strcmp(x->name, y->name) != 0 || strcmp(x->file, y->file) != 0 || strcmp(x->detail, y->detail) != 0)
            return differ("site", i);
    }
    return 1;
}

static int
tracks_are_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->track_count; i++) {
        const snd_profile_track *x = &a->tracks[i], *y = &b->tracks[i];
        if (x->process_id != y->process_id || x->thread_id != y->thread_id || x->thread_count != y->thread_count ||
            strcmp(x->name, y->name) != 0 || x->start_ns != y->start_ns || x->end_ns != y->end_ns ||
            x->dropped_entries != y->dropped_entries || x->dropped_events != y->dropped_events)
            return differ("track", i);
    }
    return 1;
}

static int
histograms_are_equal(const snd_profile *a, const snd_profile *b, uint32_t node)
{
    const uint64_t *x = a->histograms == NULL ? NULL : a->histograms[node];
    const uint64_t *y = b->histograms == NULL ? NULL : b->histograms[node];

    if (x == NULL || y == NULL)
        return x == y;
    return memcmp(x, y, SND_HISTOGRAM_BUCKETS * sizeof *x) == 0;
}

static int
nodes_are_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->node_count; i++) {
        const snd_profile_node *x = &a->nodes[i], *y = &b->nodes[i];
        if (x->parent != y->parent || x->track != y->track || x->site != y->site || x->present != y->present)
            return differ("node", i);
        for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++)
            if ((x->present >> m & 1) != 0 && a->columns[m][i].whole != b->columns[m][i].whole)
                return differ(snd_metric_get((snd_metric)m)->name, i);
        if (!histograms_are_equal(a, b, i))
            return differ("the histogram of node", i);
    }
    return 1;
}

static int
sources_are_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->source_count; i++) {
        const snd_source *x = &a->sources[i], *y = snd_profile_source(b, x->file);
        if (y == NULL || !snd_source_equal(x, y))
            return differ("source", i);
    }
    return 1;
}

int
profiles_are_equal(const snd_profile *a, const snd_profile *b)
{
    if (a->site_count != b->site_count || a->track_count != b->track_count || a->node_count != b->node_count ||
        a->info_count != b->info_count || a->source_count != b->source_count)
        return differ("the counts of profile", 0);
    for (uint32_t i = 0; i < a->info_count; i++) {
        const char *other = snd_profile_info(b, a->infos[i].key);
        if (other == NULL || strcmp(other, a->infos[i].value) != 0)
            return differ("info", i);
    }
    return sites_are_equal(a, b) && tracks_are_equal(a, b) && nodes_are_equal(a, b) && sources_are_equal(a, b);
}
