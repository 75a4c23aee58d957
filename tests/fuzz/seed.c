/* A small recording, from which seeds are made. */
#include "seed.h"

#include "base/alloc.h"
#include "model/processes.h"
#include "store/merge/merge_files.h"
#include "store/merge/parts.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
seed_require(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "the seed cannot be made: %s\n", what);
    exit(1);
}

/* A node with a value for every metric, and its site. */
static void
add_node(snd_profile *profile, uint32_t parent, const snd_profile_site *site)
{
    uint32_t site_id, id;

    REQUIRE(snd_profile_add_site(profile, site, &site_id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, parent, 0, site_id, &id) == SND_OK);
    for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++) {
        snd_value value = {.whole = m == SND_METRIC_OPEN         ? id == 3
                                    : m == SND_METRIC_GRAPH_GONE ? id == 25
                                                                 : 1000 * id + m};
        if (snd_metric_get((snd_metric)m)->is_real)
            value.real = 0.5 * id;
        REQUIRE(snd_profile_set(profile, id, (snd_metric)m, value) == SND_OK);
    }
}

/* Nodes 5 to 8: a function, one of its signatures, and below that what it called. */
static void
add_calls(snd_profile *profile)
{
    static const struct {
        uint32_t parent;
        snd_profile_site site;
    } calls[] = {
        {0, {SND_SITE_FUNCTION, "Point.move", "/a/point.py", 7, "", 0, 0}},
        {0, {SND_SITE_FUNCTION, "Point.move", "/a/point.py", 7, "Point.move(self:Point, by:int)", 0, 0}},
        {6, {SND_SITE_FUNCTION, "Point.move", "/a/point.py", 7, "Point.move(self:Point, by:int)", 0, 0}},
        {6, {SND_SITE_BUILTIN, "<built-in method builtins.len>", "", 0, "", 0, 0}},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        add_node(profile, calls[i].parent, &calls[i].site);
}

/* Nodes 9 to 13: a line, below it a line and a native symbol; a line inside a region; time that nobody saw. */
static void
add_samples(snd_profile *profile)
{
    static const char source[] = "def main():\n    work()\n\n\ndef work():\n    pass\n";
    static const struct {
        uint32_t parent;
        snd_profile_site site;
    } samples[] = {
        {0, {SND_SITE_LINE, "main", "/a/run.py", 2, "", 0, 1}},
        {9, {SND_SITE_LINE, "work", "/a/run.py", 6, "", 0, 5}},
        {10, {SND_SITE_NATIVE, "compress", "libz.so", 0, "", 0, 0}},
        {1, {SND_SITE_LINE, "work", "/a/run.py", 6, "", 0, 5}},
        {0, {SND_SITE_OTHER, "[not seen]", "", 0, "", 0, 0}},
    };

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        add_node(profile, samples[i].parent, &samples[i].site);
    REQUIRE(snd_profile_add_source(profile, "/a/run.py", source, sizeof source - 1) == SND_OK);
    REQUIRE(snd_profile_add_source(profile, "/a/empty.py", "", 0) == SND_OK);
    REQUIRE(snd_profile_set_info(profile, "sample_rate_hz", "1000") == SND_OK);
    REQUIRE(snd_profile_set_info(profile, "program_path", "/a/run.py") == SND_OK);
    REQUIRE(snd_profile_set_info(profile, "library_paths", "/usr/lib/python3\n/a/lib") == SND_OK);
}

/* Memory of nodes 9 to 11, of the process, and by size. */
static void
add_memory(snd_profile *profile)
{
    static const char *const facts[][2] = {{"probes", "region, call, sample, memory"},
                                           {"history_step_ns", "100000000"},
                                           {"memory_interval_bytes", "131072"},
                                           {"peak_bytes", "36000000"},
                                           {"peak_at_ns", "900000000"}};
    snd_point points[8];
    snd_history history = {.count = 12};
    snd_block_size sizes[SND_BLOCK_SIZES] = {[5] = {1000, 48000, 0, 0}, [20] = {1, 1 << 20, 3, 5 << 20}};

    for (uint32_t i = 0; i < 8; i++)
        points[i] = (snd_point){100000000u * i, 1e6 * i};
    REQUIRE(snd_profile_set_series(profile, "heap", "bytes", points, 8) == SND_OK);
    REQUIRE(snd_profile_set_series(profile, "rss", "bytes", points, 8) == SND_OK);
    for (uint32_t i = 0; i < 12; i++)
        history.points[i] = (snd_history_point){1000000 * i, 10 * i, 3 * i};
    for (uint32_t node = 9; node < 12; node++)
        REQUIRE(snd_profile_set_history(profile, node, &history) == SND_OK);
    REQUIRE(snd_profile_set_sizes(profile, sizes) == SND_OK);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        REQUIRE(snd_profile_set_info(profile, facts[i][0], facts[i][1]) == SND_OK);
}

/* Nodes 14 to 25: a compiled function with everything that one has, another one inside it, and one that is gone. */
static void
add_graphs(snd_profile *profile)
{
    static const struct {
        uint32_t parent;
        snd_profile_site site;
    } graphs[] = {
        {0, {SND_SITE_GRAPH, "train", "", 0, "", 0, 0}},
        {14, {SND_SITE_GRAPH_CLASS, "Scan", "", 0, "scan.op.Scan", 0, 0}},
        {15, {SND_SITE_GRAPH_OP, "for{cpu}", "", 0, "", 0, 0}},
        {16, {SND_SITE_GRAPH_APPLY, "for{cpu}(n)", "", 0, "#3 Py", 0, 0}},
        {17, {SND_SITE_GRAPH_VARIABLE, "input 0", "", 0, "int64 ()", 0, 0}},
        {17, {SND_SITE_GRAPH, "step", "", 0, "", 0, 0}},
        {14, {SND_SITE_GRAPH_PHASE, "compile", "", 0, "", 0, 0}},
        {20, {SND_SITE_GRAPH_PHASE, "a", "", 0, "node", 0, 0}},
        {20, {SND_SITE_GRAPH_REWRITER, "merge", "", 0, "", 0, 0}},
        {22, {SND_SITE_GRAPH_PHASE, "validation", "", 0, "", 0, 0}},
        {14, {SND_SITE_GRAPH_MEMORY, "peak", "", 0, "", 0, 0}},
        {0, {SND_SITE_GRAPH, "old", "", 0, "", 0, 0}},
    };

    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        add_node(profile, graphs[i].parent, &graphs[i].site);
    REQUIRE(snd_profile_set_info(profile, "graph_note_1", "a note") == SND_OK);
}

static snd_profile *
make_profile(void)
{
    static const char *const names[] = {"main", "load", "parse \"x\"", "\xe6\xb8\xac\xe5\xae\x9a", "queue"};
    snd_profile *profile = snd_profile_new();
    snd_profile_track track = {.process_id = 7, .thread_id = 7, .thread_count = 1, .name = "main", .end_ns = 10000};
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {[20] = 2, [40] = 1};
    uint32_t id;

    REQUIRE(profile != NULL && snd_profile_add_track(profile, &track, &id) == SND_OK);
    for (uint32_t i = 0; i < 5; i++) {
        snd_site_kind kind = i == 0 ? SND_SITE_THREAD : i == 4 ? SND_SITE_COUNTER : SND_SITE_REGION;
        snd_profile_site site = {kind, names[i], i == 0 ? "" : "a.py", i, "", 0, 0};
        add_node(profile, i == 0 ? SND_NONE : i == 2 ? 1 : 0, &site);
        if (kind == SND_SITE_REGION)
            REQUIRE(snd_profile_set_histogram(profile, i, counts) == SND_OK);
    }
    add_calls(profile);
    add_samples(profile);
    add_memory(profile);
    add_graphs(profile);
    REQUIRE(snd_profile_set_info(profile, "program", "seed") == SND_OK);
    REQUIRE(snd_profile_set_info(profile, "complete", "1") == SND_OK);
    return profile;
}

static void
make_chunk(snd_chunk *chunk)
{
    for (uint32_t i = 0; i < 12; i++)
        snd_chunk_add(chunk,
                      &(snd_profile_event){.start_ns = 1000 * i, .value = 10 + i, .node = 1 + i % 4, .task = i % 3});
    for (uint32_t i = 0; i < 20; i++)
        snd_chunk_add(chunk, &(snd_profile_event){.start_ns = 1000000 * i,
                                                  .value = 1000000,
                                                  .node = 9 + i / 3 % 5,
                                                  .task = i % SND_SAMPLE_STATES});
}

static void
shrink(const char *path)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "UPDATE metric SET meaning = ''; PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) ==
            SQLITE_OK);
    sqlite3_close(db);
}

void
seed_recording(const char *path)
{
    snd_profile *profile = make_profile();
    snd_writer *writer = NULL;
    snd_chunk chunk = {0};

    unlink(path);
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    make_chunk(&chunk);
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    shrink(path);
    snd_chunk_free(&chunk);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

snd_merger *
seed_merger(snd_buffer *part)
{
    snd_profile *profile = make_profile();
    snd_merger *merger = snd_merger_new();
    snd_process process = snd_process_describe(profile);
    uint32_t *sites = snd_malloc((profile->site_count + 1u) * sizeof *sites);
    uint32_t *nodes = snd_malloc((profile->node_count + 1u) * sizeof *nodes);
    uint32_t id;

    REQUIRE(merger != NULL && sites != NULL && nodes != NULL);
    REQUIRE(snd_merger_add_process(merger, &process, &id) == SND_OK);
    for (uint32_t i = 0; i < profile->track_count; i++)
        REQUIRE(snd_merger_add_track(merger, id, &profile->tracks[i]) == SND_OK);
    REQUIRE(snd_merger_start(merger) == SND_OK);
    REQUIRE(snd_merger_add(merger, id, profile, sites, nodes) == SND_OK);
    if (part != NULL)
        snd_part_encode(profile, merger, sites, nodes, part);
    REQUIRE(snd_merger_finish(merger) == SND_OK);
    snd_free(sites);
    snd_free(nodes);
    snd_profile_free(profile);
    return merger;
}

static void
change(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

void
seed_merged(const char *path)
{
    char other[256];
    snd_merge_result result;
    const char *const paths[] = {path, other};

    snprintf(other, sizeof other, "%s.other", path);
    seed_recording(path);
    seed_recording(other);
    change(other, "UPDATE process SET process_id = 8, rank = 1, start_realtime_ns = 5000");
    REQUIRE(snd_merge_files(path, paths, 2, &result) == SND_OK && result.processes == 2);
    shrink(path);
    unlink(other);
}
