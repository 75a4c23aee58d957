/* A larger profile of samples, with libraries, threads and sources, made by hand. */
#include "fixture_walk.h"

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u

static const char walk_source[] = "\"\"\"Random walks.\"\"\"\n"
                                  "import json\n"
                                  "import threading\n"
                                  "\n"
                                  "import numpy\n"
                                  "\n"
                                  "from lib import points\n"
                                  "\n"
                                  "\n"
                                  "def step(n):\n"
                                  "\ttotal = 0\n"
                                  "\tfor i in range(n):\n"
                                  "\t\ttotal += i * i\n"
                                  "\treturn total\n"
                                  "\n"
                                  "\n"
                                  "def walk(n):\n"
                                  "    if n == 0:\n"
                                  "        return step(1000)\n"
                                  "    return walk(n - 1)\n"
                                  "\n"
                                  "\n"
                                  "def load(path):\n"
                                  "    with open(path) as file:\n"
                                  "        rows = json.load(file)\n"
                                  "    return numpy.sort(rows)\n"
                                  "\n"
                                  "\n"
                                  "# one\n"
                                  "# two\n"
                                  "# three\n"
                                  "# four\n"
                                  "\n"
                                  "def main():\n"
                                  "    thread = threading.Thread(target=work)\n"
                                  "    thread.start()\n"
                                  "    load(\"rows.json\")\n"
                                  "    walk(3)\n"
                                  "    thread.join()\n"
                                  "\n"
                                  "\n"
                                  "main()\n";

static uint32_t
add_node(snd_profile *profile, uint32_t parent, const snd_profile_site *site)
{
    uint32_t id = 0, node;

    while (id < profile->site_count &&
           (profile->sites[id].kind != site->kind || profile->sites[id].line != site->line ||
            strcmp(profile->sites[id].name, site->name) != 0 || strcmp(profile->sites[id].file, site->file) != 0))
        id++;
    if (id == profile->site_count)
        REQUIRE(snd_profile_add_site(profile, site, &id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, id, &node) == SND_OK);
    return node;
}

uint32_t
add_walk_line(snd_profile *profile, uint32_t parent, const char *place)
{
    char file[128], name[128];
    unsigned first, line;

    REQUIRE(sscanf(place, "%127[^:]:%127[^:]:%u:%u", file, name, &first, &line) == 4);
    return add_node(profile, parent, &(snd_profile_site){SND_SITE_LINE, name, file, line, "", 0, first});
}

uint32_t
add_walk_symbol(snd_profile *profile, uint32_t parent, snd_site_kind kind, const char *name, const char *file)
{
    return add_node(profile, parent, &(snd_profile_site){kind, name, file, 0, "", 0, 0});
}

void
add_time(snd_profile *profile, uint32_t node, snd_metric metric, uint64_t ms)
{
    set_whole(profile, node, metric, snd_profile_whole(profile, node, metric) + ms * MS);
    set_whole(profile, node, SND_METRIC_SAMPLES, snd_profile_whole(profile, node, SND_METRIC_SAMPLES) + ms);
}

void
add_cpu(snd_profile *profile, uint32_t node, uint64_t python_ms, uint64_t native_ms, uint64_t system_ms)
{
    add_time(profile, node, SND_METRIC_PYTHON, python_ms);
    add_time(profile, node, SND_METRIC_NATIVE, native_ms);
    add_time(profile, node, SND_METRIC_SYSTEM, system_ms);
}

static int
compare_events(const void *a, const void *b)
{
    const snd_profile_event *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

void
add_events(snd_profile *profile)
{
    enum { SLICE = 5 * MS, ROOM = 100000 };
    uint64_t *now = calloc(profile->track_count, sizeof *now);

    profile->events = snd_calloc(ROOM, sizeof *profile->events);
    REQUIRE(now != NULL && profile->events != NULL);
    for (uint32_t i = 0; i < profile->track_count; i++)
        now[i] = profile->tracks[i].start_ns;
    for (uint32_t i = 0; i < profile->node_count; i++)
        for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
            uint64_t left = snd_profile_whole(profile, i, SND_SAMPLE_METRIC(state));
            uint64_t *at = &now[profile->nodes[i].track];
            while (left > 0) {
                uint64_t part = left < SLICE ? left : SLICE;
                REQUIRE(profile->event_count < ROOM);
                profile->events[profile->event_count++] =
                    (snd_profile_event){*at, {part}, i, {state}, profile->nodes[i].track};
                left -= part;
                *at += part;
            }
        }
    free(now);
    qsort(profile->events, profile->event_count, sizeof *profile->events, compare_events);
}

/* What leads to the program's own code, as an interpreter started by us has it. */
static uint32_t
add_main(snd_profile *profile, uint32_t above)
{
    uint32_t runner = add_walk_line(profile, above, "/usr/lib/python3.11/runpy.py:run_path:200:291");
    uint32_t module = add_walk_line(profile, runner, "/app/walk.py:<module>:1:42");

    return module;
}

static void
add_load(snd_profile *profile, uint32_t root)
{
    uint32_t region = add_region(profile, root, "load", 1, 400 * MS, 400 * MS);
    uint32_t main_line = add_walk_line(profile, add_main(profile, region), "/app/walk.py:main:34:37");
    uint32_t json_line = add_walk_line(profile, main_line, "/app/walk.py:load:23:25");
    uint32_t load = add_walk_line(profile, json_line, "/usr/lib/python3.11/json/__init__.py:load:274:293");
    uint32_t loads = add_walk_line(profile, load, "/usr/lib/python3.11/json/__init__.py:loads:299:346");
    uint32_t decode = add_walk_line(profile, loads, "/usr/lib/python3.11/json/decoder.py:JSONDecoder.decode:332:337");
    uint32_t sort_line = add_walk_line(profile, main_line, "/app/walk.py:load:23:26");
    uint32_t sort =
        add_walk_line(profile, sort_line, "/usr/lib/python3/dist-packages/numpy/core/fromnumeric.py:sort:850:1017");
    uint32_t native = add_walk_symbol(profile, sort, SND_SITE_NATIVE, "quicksort_double", "/usr/lib/_multiarray.so");

    add_cpu(profile, json_line, 10, 0, 0);
    add_time(profile, json_line, SND_METRIC_WAIT_IO, 40);
    add_cpu(profile, load, 0, 0, 50);
    add_cpu(profile, decode, 100, 50, 0);
    add_cpu(profile, native, 0, 150, 0);
}

static void
add_walk(snd_profile *profile, uint32_t root)
{
    uint32_t module = add_main(profile, root);
    uint32_t main_line = add_walk_line(profile, module, "/app/walk.py:main:34:38");
    uint32_t walk = add_walk_line(profile, main_line, "/app/walk.py:walk:17:20");
    uint32_t join = add_walk_line(profile, module, "/app/walk.py:main:34:39");

    walk = add_walk_line(profile, walk, "/app/walk.py:walk:17:20");
    add_cpu(profile, walk, 5, 0, 0);
    walk = add_walk_line(profile, walk, "/app/walk.py:walk:17:19");
    add_cpu(profile, add_walk_line(profile, walk, "/app/walk.py:step:10:12"), 150, 0, 0);
    add_cpu(profile, add_walk_line(profile, walk, "/app/walk.py:step:10:13"), 650, 0, 0);
    add_time(profile, add_walk_line(profile, join, "/usr/lib/python3.11/threading.py:Thread.join:1080:1112"),
             SND_METRIC_WAIT_LOCK, 300);
    add_cpu(profile, add_walk_line(profile, root, "<frozen importlib._bootstrap>:_find_and_load:1165:1178"), 20, 0, 5);
}

static void
add_worker(snd_profile *profile)
{
    uint32_t track = add_track(profile, "worker", 107, 200 * MS, 1600 * MS);
    uint32_t root = add_root(profile, track, 1400 * MS, 0);
    uint32_t run = add_walk_line(profile, root, "/usr/lib/python3.11/threading.py:Thread._bootstrap:990:995");
    uint32_t work = add_walk_line(profile, run, "/app/lib/points.py:work:3:9");
    uint32_t lock = add_walk_line(profile, run, "/app/lib/points.py:work:3:8");

    add_cpu(profile, work, 300, 0, 100);
    add_time(profile, work, SND_METRIC_WAIT_GIL, 200);
    add_time(profile, work, SND_METRIC_WAIT_SLEEP, 500);
    add_time(profile, lock, SND_METRIC_WAIT_LOCK, 270);
    for (unsigned i = 0; i < 20; i++) {
        char place[64];
        snprintf(place, sizeof place, "/app/model/part_%02u.py:part:1:%u", i, i + 2);
        add_cpu(profile, add_walk_line(profile, work, place), 1, 0, 0);
    }
}

snd_profile *
walk_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 1530 * MS), 1530 * MS, 0);
    add_load(profile, root);
    add_walk(profile, root);
    add_worker(profile);
    uint32_t native = add_root(profile, add_track(profile, "blas", 108, 100 * MS, 900 * MS), 800 * MS, 0);
    uint32_t gemm = add_walk_symbol(profile, native, SND_SITE_NATIVE, "dgemm_kernel", "/usr/lib/libopenblas.so.0");
    add_cpu(profile, gemm, 0, 250, 0);
    add_time(profile, gemm, SND_METRIC_WAIT_LOCK, 550);
    uint32_t own = add_root(profile, add_track(profile, "sonde", 109, 0, 1600 * MS), 1600 * MS, 0);
    add_cpu(profile, add_walk_symbol(profile, own, SND_SITE_OTHER, "[sonde]", ""), 0, 10, 0);
    REQUIRE(snd_profile_add_source(profile, "/app/walk.py", walk_source, strlen(walk_source)) == SND_OK);
    add_events(profile);
    set_info(profile, "program", "walk.py");
    set_info(profile, "arguments", "[\"walk.py\", \"--steps\", \"1000\"]");
    set_info(profile, "program_path", "/app/walk.py");
    set_info(profile, "library_paths", "/usr/lib/python3.11\n/usr/lib/python3/dist-packages");
    set_info(profile, "process_id", "100");
    set_info(profile, "length_ns", "1600000000");
    set_info(profile, "sample_rate_hz", "1000");
    set_info(profile, "samples_missed", "3");
    set_info(profile, "interrupted_calls", "2");
    set_info(profile, "cpu_ns", "1870000000");
    set_info(profile, "own_cpu_ns", "10000000");
    set_info(profile, "own_sample_cost_ns", "1200");
    set_info(profile, "probes", "region, sample");
    set_info(profile, "complete", "1");
    return profile;
}

snd_profile *
deep_profile(uint32_t depth)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t node =
        add_root(profile, add_track(profile, "main", 100, 0, depth * (uint64_t)MS), depth * (uint64_t)MS, 0);
    for (uint32_t i = 0; i < depth; i++) {
        node = add_walk_line(profile, node, i % 2 == 0 ? "/app/deep.py:down:1:2" : "/app/deep.py:up:5:6");
        add_cpu(profile, node, 1, 0, 0);
    }
    return profile;
}
