#include "fixture_merge.h"

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "model/processes.h"
#include "store/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a profile ---- */

static void
add_facts(snd_profile *profile, uint64_t *state)
{
    static const char *const numbers[] = {"samples",          "cpu_ns",      "own_cost_ns",       "peak_bytes",
                                          "peak_error_bytes", "lost_events", "alloc_error_bytes", "memory_exact"};
    char text[64];

    set_info(profile, "host", draw(state, 2) == 0 ? "left" : "right");
    set_info(profile, "program", draw(state, 2) == 0 ? "a.py" : "b.py");
    set_info(profile, "probes", draw(state, 2) == 0 ? "region, sample, memory" : "region, sample");
    set_info(profile, "library_paths", draw(state, 2) == 0 ? "/usr/lib\n/opt" : "/usr/lib");
    set_info(profile, "note", draw(state, 3) == 0 ? "something did not work" : "");
    set_info(profile, "complete", draw(state, 4) == 0 ? "0" : "1");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (draw(state, 4) != 0)
            REQUIRE(snd_profile_set_info_number(profile, numbers[i], draw(state, 1000000)) == SND_OK);
    REQUIRE(snd_profile_set_info_number(profile, "process_id", 1000 + draw(state, 1000000)) == SND_OK);
    uint64_t start = UINT64_C(5000000000) + draw(state, 3000000000);
    REQUIRE(snd_profile_set_info_number(profile, "start_monotonic_ns", start) == SND_OK);
    snprintf(text, sizeof text, "%llu",
             (unsigned long long)(UINT64_C(1700000000000000000) + start + draw(state, 2000)));
    set_info(profile, "start_realtime_ns", text);
    REQUIRE(snd_profile_set_info_number(profile, "length_ns", 1000000 + draw(state, 4000000000)) == SND_OK);
    REQUIRE(snd_profile_set_info_number(profile, "history_step_ns", 10000000 + draw(state, 90000000)) == SND_OK);
}

static uint32_t
random_site(snd_profile *profile, uint64_t *state)
{
    static const snd_site_kind kinds[] = {SND_SITE_REGION,  SND_SITE_LINE,        SND_SITE_FUNCTION,
                                          SND_SITE_COUNTER, SND_SITE_GRAPH_APPLY, SND_SITE_OP};
    static const char *const names[] = {"load", "parse", "write"};
    snd_profile_site site = {
        .kind = kinds[draw(state, sizeof kinds / sizeof kinds[0])],
        .name = names[draw(state, 3)],
        .file = draw(state, 2) == 0 ? "a.py" : "b.py",
        .line = (uint32_t)draw(state, 3),
        .detail = draw(state, 8) == 0 ? "f(a:int)" : "",
    };
    uint32_t id;

    site.first_line = site.kind == SND_SITE_LINE ? 1 : 0;
    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    return id;
}

static int
has_child(const snd_profile *profile, uint32_t parent, uint32_t site)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].parent == parent && profile->nodes[i].site == site)
            return 1;
    return 0;
}

static void
add_values(snd_profile *profile, uint32_t node, uint64_t *state)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};

    for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++) {
        if (draw(state, 3) != 0)
            continue;
        if (snd_metric_get((snd_metric)m)->is_real)
            set_real(profile, node, (snd_metric)m, (double)draw(state, 1000000) / 7 - 50);
        else
            set_whole(profile, node, (snd_metric)m,
                      m == SND_METRIC_GRAPH_GONE ? draw(state, 2) : draw(state, 1u << 30));
    }
    for (unsigned i = 0; i < 5; i++)
        counts[draw(state, SND_HISTOGRAM_BUCKETS)] += 1 + draw(state, 100);
    if (draw(state, 3) == 0)
        REQUIRE(snd_profile_set_histogram(profile, node, counts) == SND_OK);
}

/* Several threads of one name, and sites with the same texts, are wanted. */
static void
add_nodes(snd_profile *profile, uint64_t *state)
{
    uint32_t sites[12], id;
    uint32_t pid = (uint32_t)snd_profile_info_number(profile, "process_id"), tracks = 1 + (uint32_t)draw(state, 4);

    for (uint32_t i = 0; i < 12; i++)
        sites[i] = random_site(profile, state);
    for (uint32_t i = 0; i < tracks; i++) {
        snd_profile_track track = {.process_id = pid,
                                   .thread_id = i == 0 ? pid : pid + i,
                                   .thread_count = 1,
                                   .name = i == 0       ? "main"
                                           : i % 2 == 0 ? "pool"
                                                        : "worker",
                                   .start_ns = draw(state, 1000),
                                   .end_ns = 1000 + draw(state, 100000),
                                   .dropped_entries = draw(state, 3)};
        REQUIRE(snd_profile_add_track(profile, &track, &id) == SND_OK);
        uint32_t site = add_site(profile, SND_SITE_THREAD, draw(state, 2) == 0 ? track.name : "Thread-1");
        REQUIRE(snd_profile_add_node(profile, SND_NONE, id, site, &id) == SND_OK);
        add_values(profile, id, state);
    }
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t parent = (uint32_t)draw(state, profile->node_count), which = sites[draw(state, 12)];
        if (has_child(profile, parent, which))
            continue;
        REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, which, &id) == SND_OK);
        if (draw(state, 8) != 0)
            add_values(profile, id, state);
    }
}

static void
add_memory(snd_profile *profile, uint64_t *state)
{
    snd_block_size sizes[SND_BLOCK_SIZES] = {0};
    snd_point points[30];
    uint64_t at = 0;

    for (uint32_t i = 0; i < 30; i++)
        points[i] = (snd_point){at += 1000000 + draw(state, 100000000), (double)draw(state, 1u << 30)};
    REQUIRE(snd_profile_set_series(profile, "heap", "bytes", points, 1 + (uint32_t)draw(state, 30)) == SND_OK);
    if (draw(state, 2) == 0)
        REQUIRE(snd_profile_set_series(profile, "gpu", "%", points, 1 + (uint32_t)draw(state, 30)) == SND_OK);
    for (uint32_t node = 0; node < profile->node_count; node++) {
        snd_history history = {.count = (uint32_t)draw(state, SND_HISTORY_POINTS + 1)};
        for (uint32_t i = 0; i < history.count; i++)
            history.points[i] = (snd_history_point){draw(state, 1u << 20), 2 * i + 1, i};
        if (draw(state, 4) == 0)
            REQUIRE(snd_profile_set_history(profile, node, &history) == SND_OK);
    }
    for (uint32_t i = 0; i < 10; i++)
        sizes[draw(state, SND_BLOCK_SIZES)] = (snd_block_size){1 + draw(state, 9), draw(state, 999), 2, 3};
    REQUIRE(snd_profile_set_sizes(profile, sizes) == SND_OK);
}

snd_profile *
random_profile(uint64_t seed)
{
    snd_profile *profile = snd_profile_new();
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;

    REQUIRE(profile != NULL);
    add_facts(profile, &state);
    add_nodes(profile, &state);
    if (draw(&state, 4) != 0)
        add_memory(profile, &state);
    REQUIRE(snd_profile_add_source(profile, "a.py", seed % 3 == 0 ? "x\n" : "y = 1\n", seed % 3 == 0 ? 2 : 6) ==
            SND_OK);
    REQUIRE(snd_profile_copy_source(profile, &(snd_source){.file = "lib.py", .size = 9, .sha256 = {seed % 2, 7}}) ==
            SND_OK);
    return profile;
}

/* ---- ranks ---- */

enum { ROOT, STEP, MAIN, SOLVE, SOLVE_AGAIN, LOAD, LOAD_PAIR };

static void
add_rank_nodes(snd_profile *profile)
{
    static const struct {
        uint32_t parent;
        snd_profile_site site;
    } nodes[] = {
        {SND_NONE, {SND_SITE_THREAD, "main", "", 0, "", 0, 0}},
        {ROOT, {SND_SITE_REGION, "step", "job.py", 3, "", 0, 0}},
        {STEP, {SND_SITE_LINE, "main", "job.py", 12, "", 0, 10}},
        {MAIN, {SND_SITE_LINE, "solve", "job.py", 22, "", 0, 20}},
        {SOLVE, {SND_SITE_LINE, "solve", "job.py", 23, "", 0, 20}},
        {ROOT, {SND_SITE_FUNCTION, "load", "job.py", 30, "", 0, 0}},
        {LOAD, {SND_SITE_FUNCTION, "load", "job.py", 30, "", 0, 0}},
    };
    uint32_t id, site;

    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        REQUIRE(snd_profile_add_site(profile, &nodes[i].site, &site) == SND_OK);
        REQUIRE(snd_profile_add_node(profile, nodes[i].parent, 0, site, &id) == SND_OK);
    }
}

static void
add_entry(snd_part *part, uint32_t node, uint64_t total_ms, uint64_t self_ms)
{
    if (part->entries == NULL)
        REQUIRE((part->entries = snd_calloc(8, sizeof *part->entries)) != NULL);
    part->entries[part->count++] = (snd_part_entry){node, total_ms * 1000000, self_ms * 1000000};
}

snd_profile *
ranks_profile(void)
{
    snd_profile *profile = snd_profile_new();
    snd_profile_track track = {.thread_count = 6, .name = "main", .process = SND_NONE};
    uint32_t id;

    REQUIRE(profile != NULL && snd_profile_add_track(profile, &track, &id) == SND_OK);
    add_rank_nodes(profile);
    profile->parts = snd_calloc(7, sizeof *profile->parts);
    REQUIRE(profile->parts != NULL);
    for (uint32_t i = 0; i < 6; i++) {
        snd_process process = {
            .host = i < 3 ? "left" : "right",
            .program = "job.py",
            .arguments = "[\"job.py\"]",
            .probes = "region, sample",
            .process_id = 100 + i,
            .parent_id = 50,
            .has_rank = 1,
            .rank = i,
            .has_cpu = 1,
            .cpu_ns = (i == 3 ? 190 : 90 + i) * UINT64_C(1000000),
            .length_ns = (i == 3 ? 210 : 110 + i) * UINT64_C(1000000),
            .offset_ns = (6 - i) * UINT64_C(1000000),
            .is_complete = i != 5,
        };
        snd_part *part = &profile->parts[i];
        REQUIRE(snd_profile_add_process(profile, &process, &id) == SND_OK);
        add_entry(part, STEP, i == 3 ? 200 : 100 + i, 0);
        add_entry(part, MAIN, 10, 4);
        add_entry(part, SOLVE, i == 3 ? 100 : 50, 30);
        add_entry(part, SOLVE_AGAIN, 20, 10);
        if (i < 2) {
            add_entry(part, LOAD, 40 + i, 1);
            add_entry(part, LOAD_PAIR, 5, 1); /* is in it */
        }
    }
    return profile;
}

/* ---- comparing ---- */

static int
differ(const char *what, uint32_t which)
{
    fprintf(stderr, "%s %u differs\n", what, which);
    return 0;
}

static int
has_same_texts(const snd_profile_site *a, const snd_profile_site *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->file, b->file) == 0 && a->line == b->line &&
           strcmp(a->detail, b->detail) == 0 && a->first_line == b->first_line;
}

/* The how-manieth with its texts it is. */
static uint32_t
twin_of(const snd_profile *profile, uint32_t site)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < site; i++)
        count += has_same_texts(&profile->sites[i], &profile->sites[site]) ? 1 : 0;
    return count;
}

static int
is_main(const snd_profile_track *track)
{
    return track->process_id == track->thread_id;
}

static int
is_same_track(const snd_profile_track *a, const snd_profile_track *b)
{
    return strcmp(a->name, b->name) == 0 && is_main(a) == is_main(b) && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns && a->thread_count == b->thread_count && a->process_id == b->process_id &&
           a->thread_id == b->thread_id && a->dropped_entries == b->dropped_entries;
}

static uint32_t
match_node(const snd_profile *a, uint32_t node, const snd_profile *b, const uint32_t *matches)
{
    const snd_profile_node *wanted = &a->nodes[node];
    uint32_t parent = wanted->parent == SND_NONE ? SND_NONE : matches[wanted->parent];

    for (uint32_t i = 0; i < b->node_count; i++) {
        const snd_profile_node *other = &b->nodes[i];
        if (other->parent != parent || !is_same_track(&a->tracks[wanted->track], &b->tracks[other->track]))
            continue;
        if (parent == SND_NONE || (has_same_texts(&a->sites[wanted->site], &b->sites[other->site]) &&
                                   twin_of(a, wanted->site) == twin_of(b, other->site)))
            return i;
    }
    return SND_NONE;
}

static int
is_near(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static int
values_are_equal(const snd_profile *a, uint32_t x, const snd_profile *b, uint32_t y)
{
    if (a->nodes[x].present != b->nodes[y].present)
        return 0;
    for (snd_metric_set left = a->nodes[x].present; left != 0; left &= left - 1) {
        snd_metric metric = snd_metric_first(left);
        if (snd_metric_get(metric)->is_real ? !is_near(snd_profile_real(a, x, metric), snd_profile_real(b, y, metric))
                                            : snd_profile_whole(a, x, metric) != snd_profile_whole(b, y, metric))
            return 0;
    }
    const uint64_t *left = a->histograms == NULL ? NULL : a->histograms[x];
    const uint64_t *right = b->histograms == NULL ? NULL : b->histograms[y];
    if ((left == NULL) != (right == NULL))
        return 0;
    return left == NULL || memcmp(left, right, SND_HISTOGRAM_BUCKETS * sizeof *left) == 0;
}

static int
histories_are_equal(const snd_history *a, const snd_history *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->count == b->count && memcmp(a->points, b->points, a->count * sizeof *a->points) == 0;
}

static int
nodes_are_equal(const snd_profile *a, const snd_profile *b)
{
    uint32_t *matches = malloc((a->node_count + 1u) * sizeof *matches);
    int is_equal = 1;

    REQUIRE(matches != NULL);
    for (uint32_t i = 0; i < a->node_count && is_equal; i++) {
        matches[i] = match_node(a, i, b, matches);
        is_equal = matches[i] != SND_NONE && values_are_equal(a, i, b, matches[i]) &&
                   histories_are_equal(snd_profile_history(a, i), snd_profile_history(b, matches[i]));
        if (!is_equal)
            differ("node", i);
    }
    free(matches);
    return is_equal;
}

static int
series_are_equal(const snd_profile *a, const snd_profile *b)
{
    if (a->memory.series_count != b->memory.series_count)
        return differ("the count of series", 0);
    for (uint32_t i = 0; i < a->memory.series_count; i++) {
        const snd_series *x = &a->memory.series[i], *y = snd_profile_series(b, x->name);
        if (y == NULL || x->count != y->count || strcmp(x->unit, y->unit) != 0)
            return differ("series", i);
        for (uint32_t k = 0; k < x->count; k++)
            if (x->points[k].at_ns != y->points[k].at_ns || !is_near(x->points[k].value, y->points[k].value))
                return differ("point", k);
    }
    return 1;
}

static int
sizes_are_equal(const snd_profile *a, const snd_profile *b)
{
    const snd_block_size *x = a->memory.sizes, *y = b->memory.sizes;
    return x == NULL || y == NULL ? x == y : memcmp(x, y, SND_BLOCK_SIZES * sizeof *x) == 0;
}

int
memory_is_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->node_count; i++)
        if (!histories_are_equal(snd_profile_history(a, i), snd_profile_history(b, i)))
            return differ("history", i);
    return series_are_equal(a, b) && (sizes_are_equal(a, b) || differ("the sizes of", 0));
}

static int
infos_are_equal(const snd_profile *a, const snd_profile *b)
{
    for (uint32_t i = 0; i < a->info_count; i++) {
        const char *other = snd_profile_info(b, a->infos[i].key);
        if (other == NULL || strcmp(other, a->infos[i].value) != 0) {
            fprintf(stderr, "%s: %s, %s\n", a->infos[i].key, a->infos[i].value, other == NULL ? "none" : other);
            return 0;
        }
    }
    return 1;
}

int
sums_are_equal(const snd_profile *a, const snd_profile *b)
{
    if (a->node_count != b->node_count || a->track_count != b->track_count || a->site_count != b->site_count ||
        a->process_count != b->process_count || a->info_count != b->info_count || a->source_count != b->source_count)
        return differ("the counts of sum", 0);
    return infos_are_equal(a, b) && nodes_are_equal(a, b) && series_are_equal(a, b) &&
           (sizes_are_equal(a, b) || differ("the sizes of", 0));
}

void
name_path(path_text path, const char *name, uint32_t number)
{
    char text[64];

    snprintf(text, sizeof text, "%s-%u.sonde", name, number);
    snprintf(path, sizeof(path_text), "%s", temp_path(text));
}

snd_profile *
process_profile(const char *host, uint32_t pid, uint64_t realtime_ns, uint64_t monotonic_ns)
{
    snd_profile *profile = small_profile();

    set_info(profile, "host", host);
    REQUIRE(snd_profile_set_info_number(profile, "process_id", pid) == SND_OK);
    REQUIRE(snd_profile_set_info_number(profile, "start_realtime_ns", realtime_ns) == SND_OK);
    REQUIRE(snd_profile_set_info_number(profile, "start_monotonic_ns", monotonic_ns) == SND_OK);
    REQUIRE(snd_profile_set_info_number(profile, "length_ns", 1000) == SND_OK);
    return profile;
}
