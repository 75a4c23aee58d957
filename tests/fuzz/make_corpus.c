/* Makes the seeds of tests/fuzz/corpus: make_corpus FOLDER. Run by hand when the recording's layout changes. */
#include "base/varint.h"
#include "format/format.h"
#include "model/histogram.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root;

static void
require(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "make_corpus: %s\n", what);
    exit(1);
}
#define REQUIRE(x) require((x) != 0, #x)

static const char *
path_of(const char *target, const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", root, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", root, target, name);
    return path;
}

static void
put_file(const char *target, const char *name, const void *data, size_t size)
{
    FILE *file = fopen(path_of(target, name), "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(data, 1, size, file) == size);
    REQUIRE(fclose(file) == 0);
}

/* ---- recordings ---- */

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
        snd_profile_site site = {kind, names[i], i == 0 ? "" : "a.py", i};
        REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
        REQUIRE(snd_profile_add_node(profile, i == 0 ? SND_NONE : i == 2 ? 1 : 0, 0, i, &id) == SND_OK);
        for (unsigned m = 0; m < SND_METRIC_COUNT_OF; m++) {
            snd_value value = {.whole = 1000 * i + m};
            if (snd_metric_get((snd_metric)m)->is_real)
                value.real = 0.5 * i;
            REQUIRE(snd_profile_set(profile, id, (snd_metric)m, value) == SND_OK);
        }
        if (kind == SND_SITE_REGION)
            REQUIRE(snd_profile_set_histogram(profile, id, counts) == SND_OK);
    }
    REQUIRE(snd_profile_set_info(profile, "program", "seed") == SND_OK);
    REQUIRE(snd_profile_set_info(profile, "complete", "1") == SND_OK);
    return profile;
}

static void
make_chunk(snd_chunk *chunk)
{
    for (uint32_t i = 0; i < 12; i++)
        snd_chunk_add(chunk, &(snd_chunk_event){.start_ns = 1000 * i, .value = 10 + i, .node = 1 + i % 4, .task = i % 3});
}

/* Pages of 512 bytes: a whole recording is then some 20 KB, and a mutation more likely meets something. */
static void
shrink(const char *path)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "UPDATE metric SET meaning = ''; PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) ==
            SQLITE_OK);
    sqlite3_close(db);
}

static void
spoil_recordings(const char *whole)
{
    static unsigned char data[1 << 18];
    char name[32];
    FILE *file = fopen(whole, "rb");
    REQUIRE(file != NULL);
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    for (size_t part = 1; part <= 3; part++) {
        snprintf(name, sizeof name, "cut-%zu", part);
        put_file("fuzz_recording", name, data, size * part / 4);
    }
    for (size_t i = 0; i < 6; i++) {
        size_t at = 100 + (size - 100) / 6 * i + 37 * i;
        data[at] ^= (unsigned char)(1 << i);
        snprintf(name, sizeof name, "flipped-%zu", i);
        put_file("fuzz_recording", name, data, size);
        data[at] ^= (unsigned char)(1 << i);
    }
}

static void
make_recordings(void)
{
    char whole[4096];
    snd_profile *profile = make_profile();
    snd_writer *writer = NULL;
    snd_chunk chunk = {0};

    snprintf(whole, sizeof whole, "%s", path_of("fuzz_recording", "whole"));
    unlink(whole);
    REQUIRE(snd_writer_open(whole, &writer) == SND_OK);
    make_chunk(&chunk);
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    shrink(whole);
    spoil_recordings(whole);
    put_file("fuzz_recording", "text", "this is no recording\n", 21);
    snd_chunk_free(&chunk);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

/* ---- the others ---- */

static void
make_chunks(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0}, seed = {0};

    make_chunk(&chunk);
    REQUIRE(snd_chunk_pack(&chunk, &packed) == SND_OK);
    uint32_t size = (uint32_t)chunk.bytes.size;
    snd_buffer_char(&seed, 0);
    snd_buffer_put(&seed, &size, sizeof size);
    snd_buffer_put(&seed, packed.data, packed.size);
    put_file("fuzz_chunk", "packed", seed.data, seed.size);
    put_file("fuzz_chunk", "packed-cut", seed.data, seed.size / 2);
    snd_buffer_clear(&seed);
    snd_buffer_char(&seed, 1);
    snd_buffer_put(&seed, chunk.bytes.data, chunk.bytes.size);
    put_file("fuzz_chunk", "contents", seed.data, seed.size);
    put_file("fuzz_chunk", "contents-cut", seed.data, seed.size - 1);
    put_file("fuzz_chunk", "contents-large", "\1\377\377\377\377\017\377\377\377\377\017\377\377\377\377\377\377\377\377\377\1\1", 22);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
    snd_buffer_free(&seed);
}

static void
make_histograms(void)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS] = {0};
    snd_buffer bytes = {0};

    counts[0] = 1;
    counts[100] = 1000000;
    counts[SND_HISTOGRAM_BUCKETS - 1] = UINT64_MAX;
    snd_histogram_encode(counts, &bytes);
    put_file("fuzz_histogram", "sparse", bytes.data, bytes.size);
    put_file("fuzz_histogram", "sparse-cut", bytes.data, bytes.size - 1);
    snd_buffer_clear(&bytes);
    for (uint32_t i = 0; i < SND_HISTOGRAM_BUCKETS; i++)
        counts[i] = i + 1;
    snd_histogram_encode(counts, &bytes);
    put_file("fuzz_histogram", "full", bytes.data, bytes.size);
    put_file("fuzz_histogram", "too-far", "\310\2\1", 3);
    snd_buffer_free(&bytes);
}

static void
make_texts(void)
{
    static const struct {
        const char *name, *text;
    } texts[] = {
        {"plain", "load()"},
        {"quotes", "a \"name\", with\n\t\\ and more"},
        {"controls", "\033[2J\a\b\r \xc2\x9b \x7f"},
        {"wide", "\xe6\xb8\xac\xe5\xae\x9a caf\xc3\xa9 e\xcc\x81 \xf0\x9f\x9a\x80"},
        {"direction", "\xe2\x80\xae\xe2\x81\xa6 \xe2\x80\xa8"},
        {"bad", "\xff\xfe \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe4\xb8"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        put_file("fuzz_utf8", texts[i].name, texts[i].text, strlen(texts[i].text));
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    root = argv[1];
    mkdir(root, 0777);
    make_recordings();
    make_chunks();
    make_histograms();
    make_texts();
    return 0;
}
