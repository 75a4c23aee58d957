/* A profile of samples, made by hand. */
#include "fixture_samples.h"

#include "check.h"
#include "fixture.h"
#include "store/writer.h"

#include <string.h>

/* The nodes in the order in which samples_profile adds them. */
enum { MAIN_ROOT, MAIN_3, F_10, F_11, COMPRESS, LOAD, MAIN_4, NOT_SEEN, WORKER_ROOT, WORK_20 };

#define MS 1000000u
#define STATE(metric) (SND_METRIC_##metric - SND_METRIC_PYTHON)

static const char source[] = "def main():\n    for i in range(3):\n        f(i)\n    load()\n\n\ndef f(i):\n";

uint32_t
add_frame(snd_profile *profile, uint32_t parent, const snd_profile_site *site)
{
    uint32_t place = 0, node;

    while (place < profile->site_count &&
           (profile->sites[place].kind != site->kind || profile->sites[place].line != site->line ||
            strcmp(profile->sites[place].name, site->name) != 0 ||
            strcmp(profile->sites[place].detail, site->detail) != 0))
        place++;
    if (place == profile->site_count)
        REQUIRE(snd_profile_add_site(profile, site, &place) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, parent, profile->nodes[parent].track, place, &node) == SND_OK);
    return node;
}

static uint32_t
add_line(snd_profile *profile, uint32_t parent, const char *function, uint32_t line, uint32_t first_line)
{
    snd_profile_site site = {
        .kind = SND_SITE_LINE, .name = function, .file = "/app/prog.py", .line = line, .first_line = first_line};
    site.detail = "";
    return add_frame(profile, parent, &site);
}

static void
set_samples(snd_profile *profile, uint32_t node, uint64_t samples, snd_metric metric, uint64_t ns)
{
    set_whole(profile, node, SND_METRIC_SAMPLES, samples);
    set_whole(profile, node, metric, ns);
}

static void
add_main(snd_profile *profile)
{
    static const snd_profile_site native = {
        .kind = SND_SITE_NATIVE, .name = "compress", .file = "libz.so", .detail = ""};
    static const snd_profile_site unseen = {.kind = SND_SITE_OTHER, .name = "[not seen]", .file = "", .detail = ""};
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 11 * MS), 11 * MS, 7 * MS);
    uint32_t main_3 = add_line(profile, root, "main", 3, 1);
    set_samples(profile, add_line(profile, main_3, "f", 10, 8), 3, SND_METRIC_PYTHON, 3 * MS);
    uint32_t compress = add_frame(profile, add_line(profile, main_3, "f", 11, 8), &native);
    set_samples(profile, compress, 3, SND_METRIC_NATIVE, 2 * MS);
    set_whole(profile, compress, SND_METRIC_SYSTEM, 1 * MS);
    uint32_t load = add_region(profile, root, "load", 1, 4 * MS, 4 * MS);
    set_samples(profile, add_line(profile, load, "main", 4, 1), 4, SND_METRIC_WAIT_IO, 4 * MS);
    set_samples(profile, add_frame(profile, root, &unseen), 0, SND_METRIC_PYTHON, MS / 2);
}

snd_profile *
samples_profile(void)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    add_main(profile);
    uint32_t root = add_root(profile, add_track(profile, "worker", 107, 2 * MS, 9 * MS), 7 * MS, 7 * MS);
    set_samples(profile, add_line(profile, root, "Pool.work", 20, 19), 7, SND_METRIC_WAIT_SLEEP, 7 * MS);
    REQUIRE(snd_profile_add_source(profile, "/app/prog.py", source, strlen(source)) == SND_OK);
    set_info(profile, "program", "prog.py");
    set_info(profile, "process_id", "100");
    set_info(profile, "probes", "region, sample");
    set_info(profile, "sample_rate_hz", "1000");
    set_info(profile, "samples", "17");
    set_info(profile, "samples_missed", "2");
    set_info(profile, "interrupted_calls", "1");
    set_info(profile, "cpu_ns", "6500000");
    set_info(profile, "own_cpu_ns", "40000");
    set_info(profile, "own_sample_cost_ns", "1500");
    set_info(profile, "length_ns", "11000000");
    set_info(profile, "complete", "1");
    return profile;
}

const snd_profile_event *
samples_events(uint32_t track, unsigned *count)
{
    static const snd_profile_event of_main[] = {
        {0 * MS, {MS}, F_10, {STATE(PYTHON)}, 0},
        {1 * MS, {MS}, F_10, {STATE(PYTHON)}, 0},
        {2 * MS, {MS}, COMPRESS, {STATE(NATIVE)}, 0},
        {3 * MS, {MS}, COMPRESS, {STATE(SYSTEM)}, 0},
        {4 * MS, {MS}, COMPRESS, {STATE(NATIVE)}, 0},
        {5 * MS, {MS}, F_10, {STATE(PYTHON)}, 0},
        {6 * MS, {MS}, MAIN_4, {STATE(WAIT_IO)}, 0},
        {7 * MS, {MS}, MAIN_4, {STATE(WAIT_IO)}, 0},
        {8 * MS, {MS}, MAIN_4, {STATE(WAIT_IO)}, 0},
        {9 * MS, {MS}, MAIN_4, {STATE(WAIT_IO)}, 0},
        {6 * MS, {4 * MS}, LOAD, {0}, 0},
    };
    static const snd_profile_event of_worker[] = {
        {2 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1}, {3 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1},
        {4 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1}, {5 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1},
        {6 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1}, {7 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1},
        {8 * MS, {MS}, WORK_20, {STATE(WAIT_SLEEP)}, 1},
    };

    *count = track == 0 ? sizeof of_main / sizeof of_main[0] : sizeof of_worker / sizeof of_worker[0];
    return track == 0 ? of_main : of_worker;
}

void
write_samples(const char *path, int with_timeline)
{
    snd_profile *profile = samples_profile();
    snd_writer *writer = NULL;

    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    for (uint32_t track = 0; track < 2 && with_timeline; track++) {
        snd_chunk chunk = {0};
        unsigned count;
        const snd_profile_event *events = samples_events(track, &count);
        for (unsigned i = 0; i < count; i++)
            snd_chunk_add(&chunk, &events[i]);
        REQUIRE(snd_writer_add_chunk(writer, track, &chunk) == SND_OK);
        snd_chunk_free(&chunk);
    }
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

snd_profile *
hostile_profile(void)
{
    static const snd_profile_site sites[] = {
        {SND_SITE_LINE, "</script><script>alert(\"1\")//", "/app/a;b \"c\"\n'd' &amp;.py", 3, "", 0, 1},
        {SND_SITE_LINE, "f(x)=1\ncalls=9 9\n* 7", "fn=(1) \\evil\t.py", 4, "g;\"h\"\n<i>\xff", 0, 2},
        {SND_SITE_NATIVE, "operator<<(char const*) \033[2J \xff\xc3(", "lib\xe2\x80\xae.so", 0, "", 0, 0},
    };
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "a;b\nc \"\\ \x1b]0;x\a", 100, 0, 9 * MS), 9 * MS, 0);
    uint32_t node = add_region(profile, root, "x;y \r\n \"\\ 7 \xe6\xb8\xac", 1, 9 * MS, 9 * MS);
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        node = add_frame(profile, node, &sites[i]);
        set_samples(profile, node, i + 1, SND_METRIC_PYTHON, (i + 1) * MS);
    }
    set_info(profile, "program", "evil\n\"prog\".py");
    set_info(profile, "process_id", "100");
    set_info(profile, "sample_rate_hz", "1000");
    set_info(profile, "length_ns", "9000000");
    return profile;
}
