/* A profile with memory, made by hand. */
#include "fixture_memory.h"

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_walk.h"
#include "store/writer.h"

#include <string.h>

#define POINTS 32u
#define INTERVAL (128 * KIB)

static const char source[] = "import json\n"
                             "import pandas\n"
                             "\n"
                             "\n"
                             "def load(path):\n"
                             "    rows = json.load(open(path))\n"
                             "    return rows\n"
                             "\n"
                             "def build(n):\n"
                             "    return numpy.zeros(n)\n"
                             "\n"
                             "cache = {}\n"
                             "def remember(key, value):\n"
                             "    cache[key] = value.copy()\n"
                             "\n"
                             "\n"
                             "def double(rows):\n"
                             "    return sum([row * 2 for row in rows])\n"
                             "\n"
                             "\n"
                             "def work(queue, out):\n"
                             "    out[:] = bytes(queue.get())\n"
                             "\n"
                             "\n"
                             "def main():\n"
                             "    rows = load('rows.json')\n"
                             "    array = build(1 << 25)\n"
                             "    for row in rows:\n"
                             "        remember(row.key, row)\n"
                             "        double(rows)\n";

snd_history
new_history(void)
{
    return (snd_history){0};
}

void
add_step(snd_history *history, uint64_t taken, uint64_t freed, uint64_t size)
{
    snd_history_point last = history->count == 0 ? (snd_history_point){0} : history->points[history->count - 1];

    REQUIRE(history->count < SND_HISTORY_POINTS);
    history->points[history->count++] =
        (snd_history_point){last.live + (taken - freed) * size, last.taken + taken, last.freed + freed};
}

/* What was allocated at a node, in bytes; the standard errors are those of samples of INTERVAL bytes. */
typedef struct owned {
    uint64_t python, native, blocks, temporary, live, average, peak;
} owned;

static void
set_owned(snd_profile *profile, uint32_t node, owned of)
{
    set_whole(profile, node, SND_METRIC_ALLOC_PYTHON, of.python);
    set_whole(profile, node, SND_METRIC_ALLOC_NATIVE, of.native);
    set_whole(profile, node, SND_METRIC_ALLOC_BLOCKS, of.blocks);
    set_real(profile, node, SND_METRIC_ALLOC_VARIANCE, (double)(of.python + of.native) * (double)INTERVAL);
    set_whole(profile, node, SND_METRIC_TEMPORARY, of.temporary);
    set_whole(profile, node, SND_METRIC_LIVE, of.live);
    set_whole(profile, node, SND_METRIC_LIVE_AVERAGE, of.average);
    set_whole(profile, node, SND_METRIC_LIVE_PEAK, of.peak);
    set_real(profile, node, SND_METRIC_PEAK_VARIANCE, of.blocks == 1 ? 0 : (double)of.peak * (double)INTERVAL);
    set_whole(profile, node, SND_METRIC_TAKEN, (of.python + of.native) / INTERVAL);
    set_whole(profile, node, SND_METRIC_FREED, (of.python + of.native - of.live) / INTERVAL);
}

/* Blocks taken and freed in each of the steps from `from` on, before `to`. */
static void
set_history(snd_profile *profile, uint32_t node, uint32_t from, uint32_t to, uint64_t taken, uint64_t freed)
{
    snd_history history = new_history();

    for (uint32_t i = 0; i < POINTS; i++)
        add_step(&history, i >= from && i < to ? taken : 0, i >= from && i < to ? freed : 0, INTERVAL);
    REQUIRE(snd_profile_set_history(profile, node, &history) == SND_OK);
}

static void
add_main(snd_profile *profile)
{
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, POINTS * (uint64_t)MEMORY_STEP_NS), 0, 0);
    uint32_t module = add_walk_line(profile, root, "/app/prog.py:<module>:1:2");
    uint32_t import = add_walk_line(profile, module, "<frozen importlib._bootstrap>:_find_and_load:1165:1176");
    uint32_t pandas = add_walk_line(profile, import, "/usr/lib/python3.11/site-packages/pandas/core.py:<module>:1:7");
    uint32_t load =
        add_walk_line(profile, add_walk_line(profile, root, "/app/prog.py:main:25:26"), "/app/prog.py:load:5:6");
    uint32_t decode = add_walk_line(profile, load, "/usr/lib/python3.11/json/decoder.py:JSONDecoder.decode:332:337");
    uint32_t build =
        add_walk_line(profile, add_walk_line(profile, root, "/app/prog.py:main:25:27"), "/app/prog.py:build:9:10");
    uint32_t remember =
        add_walk_line(profile, add_walk_line(profile, root, "/app/prog.py:main:25:29"), "/app/prog.py:remember:13:14");
    uint32_t twice =
        add_walk_line(profile, add_walk_line(profile, root, "/app/prog.py:main:25:30"), "/app/prog.py:double:17:18");

    set_owned(profile, pandas, (owned){30 * MIB, 2 * MIB, 90000, MIB, 24 * MIB, 20 * MIB, 24 * MIB});
    set_history(profile, pandas, 0, POINTS, 7, 1);
    set_owned(profile, load, (owned){MIB, 0, 9000, MIB / 2, MIB / 2, MIB / 2, MIB / 2});
    set_owned(profile, decode, (owned){120 * MIB, 8 * MIB, 1200000, 30 * MIB, 0, 60 * MIB, 95 * MIB + MIB / 2});
    set_history(profile, decode, 2, 8, 160, 0);
    set_owned(profile, build, (owned){0, 256 * MIB, 1, 0, 256 * MIB, 190 * MIB, 256 * MIB});
    set_history(profile, build, 8, 9, 1, 0);
    set_owned(profile, remember, (owned){26 * MIB, 0, 40000, 2 * MIB, 24 * MIB, 13 * MIB, 20 * MIB});
    set_history(profile, remember, 2, POINTS, 7, 1);
    set_owned(profile, twice, (owned){2400 * MIB, 0, 5000000, 2395 * MIB, 0, 3 * MIB, 4 * MIB});
    set_history(profile, twice, 10, POINTS, 800, 800);
    add_cpu(profile, decode, 300, 500, 20);
    add_cpu(profile, remember, 400, 10, 0);
    add_cpu(profile, twice, 1700, 30, 10);
}

static void
add_others(snd_profile *profile)
{
    uint64_t end = POINTS * (uint64_t)MEMORY_STEP_NS;
    uint32_t worker = add_root(profile, add_track(profile, "worker", 107, 0, end), 0, 0);
    uint32_t work = add_walk_line(profile, worker, "/app/prog.py:work:21:22");
    uint32_t native = add_root(profile, add_track(profile, "pool", 108, 0, end), 0, 0);
    uint32_t unknown = add_walk_symbol(profile, native, SND_SITE_OTHER, "[native code]", "");

    set_owned(profile, work, (owned){64 * MIB, 0, 64, 60 * MIB, 0, MIB, 0});
    set_whole(profile, work, SND_METRIC_COPIED, 128 * MIB);
    set_whole(profile, work, SND_METRIC_COPIES, 128);
    set_real(profile, work, SND_METRIC_COPY_VARIANCE, 9.0 * MIB * MIB);
    set_owned(profile, unknown, (owned){0, 12 * MIB, 3000, 0, 12 * MIB, 12 * MIB, 12 * MIB});
    set_whole(profile, unknown, SND_METRIC_COPIED, 2 * MIB);
    set_whole(profile, unknown, SND_METRIC_COPIES, 5000);
    set_real(profile, unknown, SND_METRIC_COPY_VARIANCE, 0.25 * MIB * MIB);
    add_cpu(profile, work, 50, 10, 5);
}

static void
add_series(snd_profile *profile)
{
    static const unsigned heap_mib[POINTS] = {0,   24,  40,  60,  80,  100, 118, 120, 376, 378, 380,
                                              382, 384, 386, 388, 390, 392, 394, 396, 398, 400, 404,
                                              408, 411, 412, 316, 316, 317, 318, 318, 319, 320};
    snd_point heap[POINTS], rss[POINTS];

    for (uint32_t i = 0; i < POINTS; i++) {
        uint64_t at = i * (uint64_t)MEMORY_STEP_NS;
        heap[i] = (snd_point){at, (double)(heap_mib[i] * MIB)};
        rss[i] = (snd_point){at, (double)((30 + (i < 12 ? heap_mib[i] / 2 : heap_mib[i])) * MIB)};
    }
    REQUIRE(snd_profile_set_series(profile, "heap", "bytes", heap, POINTS) == SND_OK);
    REQUIRE(snd_profile_set_series(profile, "rss", "bytes", rss, POINTS) == SND_OK);
}

static void
add_sizes(snd_profile *profile)
{
    snd_block_size sizes[SND_BLOCK_SIZES] = {0};

    sizes[4] = (snd_block_size){400000, 8 * MIB, 100, 2 * KIB};
    sizes[5] = (snd_block_size){4000000, 160 * MIB, 0, 0};
    sizes[6] = (snd_block_size){1200000, 90 * MIB, 9000, MIB};
    sizes[9] = (snd_block_size){60000, 40 * MIB, 500, MIB / 2};
    sizes[20] = (snd_block_size){64, 64 * MIB, 6, 9 * MIB};
    sizes[22] = (snd_block_size){500, 2279 * MIB, 0, 0};
    sizes[28] = (snd_block_size){0, 0, 1, 256 * MIB};
    REQUIRE(snd_profile_set_sizes(profile, sizes) == SND_OK);
}

static void
add_facts(snd_profile *profile)
{
    static const char *const facts[][2] = {
        {"program", "prog.py"},
        {"program_path", "/app/prog.py"},
        {"arguments", "[\"prog.py\", \"rows.json\"]"},
        {"process_id", "100"},
        {"probes", "memory, sample"},
        {"sample_rate_hz", "1000"},
        {"cpu_ns", "3035000000"},
        {"length_ns", "3200000000"},
        {"complete", "1"},
        {"library_paths", "/usr/lib/python3.11"},
        {"memory_interval_bytes", "131072"},
        {"memory_exact", "0"},
        {"peak_bytes", "432013312"},
        {"peak_at_ns", "2400000000"},
        {"peak_error_bytes", "4521984"},
        {"live_bytes", "331874304"},
        {"alloc_bytes", "3060793344"},
        {"copied_bytes", "136314880"},
        {"copy_error_bytes", "3189210"},
        {"rss_peak_bytes", "463470592"},
        {"rss_start_bytes", "31457280"},
        {"history_step_ns", "100000000"},
        {"memory_unseen_bytes", "3145728"},
        {"own_memory_bytes", "8388608"},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        set_info(profile, facts[i][0], facts[i][1]);
}

snd_profile *
memory_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    add_main(profile);
    add_others(profile);
    add_series(profile);
    add_sizes(profile);
    add_facts(profile);
    REQUIRE(snd_profile_add_source(profile, "/app/prog.py", source, strlen(source)) == SND_OK);
    return profile;
}

snd_profile *
memory_only_profile(void)
{
    snd_profile *profile = memory_profile();

    for (unsigned metric = SND_METRIC_SAMPLES; metric <= SND_METRIC_WAIT_OTHER; metric++) {
        snd_free(profile->columns[metric]);
        profile->columns[metric] = NULL; /* what no node has is not there */
        for (uint32_t i = 0; i < profile->node_count; i++)
            profile->nodes[i].present &= ~SND_METRIC_BIT(metric);
    }
    return profile;
}

void
write_memory(const char *path)
{
    snd_profile *profile = memory_profile();

    write_profile(path, profile, 0);
    snd_profile_free(profile);
}
