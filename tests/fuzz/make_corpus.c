/* Makes the seeds of tests/fuzz/corpus: make_corpus FOLDER. Run by hand when the recording's layout changes.
 * fuzz_recording/version-1 to -4 and -6 are none of them: older schemas wrote them, and they are kept. */
#include "model/histogram.h"
#include "seed.h"
#include "store/chunk.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *root;

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

/* A checkpoint of ours that was cut off: the pages as they were stand in the journal. */
static void
make_journals(void)
{
    static unsigned char data[1 << 18];
    static const unsigned char end[] = {0, 0, 0, 1, 'x', 0, 0, 0, 1, 0, 0, 0, 'x'};
    char path[4096], beside[4200];
    sqlite3 *db = NULL;

    snprintf(path, sizeof path, "%s", path_of("fuzz_journal", "made"));
    snprintf(beside, sizeof beside, "%s-journal", path);
    seed_recording(path);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "BEGIN; UPDATE site SET line = line + 1", NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(sqlite3_db_cacheflush(db) == SQLITE_OK);
    FILE *file = fopen(beside, "rb");
    REQUIRE(file != NULL);
    size_t size = fread(data + 1, 1, sizeof data - sizeof end - 1, file);
    fclose(file);
    sqlite3_close(db);
    remove(path);
    put_file("fuzz_journal", "half", data, size + 1);
    put_file("fuzz_journal", "cut", data, size / 2);
    put_file("fuzz_journal", "nothing", data, 1);
    memcpy(data + 1 + size, end, sizeof end); /* like the name of a super-journal */
    put_file("fuzz_journal", "named", data, size + 1 + sizeof end);
    put_file("fuzz_journal", "wal", "\1\x37\x7f\6\x82\0\x2d\xe2\x18\0\0\2\0", 13);
}

/* See fuzz_pairs.c. */
static void
make_pairs(void)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
    } seeds[] = {
        {"two", "\0\0", 2},
        {"three", "\1\0", 2},
        {"same", "\1\7", 2},
        {"merged", "\3\0", 2},
        {"no-facts", "\1\0\4\0\0\0\377\4\0\0\0\377\4\0\0\0\377", 17}, /* of none of them */
        {"one-without", "\0\0\4\0\0\0\377", 7},                       /* of the second only */
        {"no-processes", "\0\0\4\14\0\0\377", 7},
        {"no-tracks", "\0\0\10\4\0\0\377\2\0\0\377", 11},
        {"no-parts", "\2\0\4\15\0\0\377", 7},
    };

    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
        put_file("fuzz_pairs", seeds[i].name, seeds[i].bytes, seeds[i].size);
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

    snprintf(whole, sizeof whole, "%s", path_of("fuzz_recording", "whole"));
    seed_recording(whole);
    spoil_recordings(whole);
    put_file("fuzz_recording", "text", "this is no recording\n", 21);
    snprintf(whole, sizeof whole, "%s", path_of("fuzz_recording", "merged"));
    seed_merged(whole);
}

static void
make_parts(void)
{
    snd_buffer part = {0};

    snd_merger_free(seed_merger(&part));
    put_file("fuzz_part", "whole", part.data, part.size);
    put_file("fuzz_part", "cut", part.data, part.size / 2);
    part.data[part.size / 3] = (char)(part.data[part.size / 3] ^ 0x55);
    put_file("fuzz_part", "flipped", part.data, part.size);
    put_file("fuzz_part", "large", "\0\377\377\377\377\017", 6);
    snd_buffer_free(&part);
}

/* Table, column, row, kind of the value, value: see fuzz_cells.c. */
static void
make_cells(void)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
    } seeds[] = {
        {"nothing", "", 0},
        {"parent", "\4\1\3\0\2", 5},
        {"large", "\5\2\2\1\377\377\377\377\377\377\377\177", 12},
        {"infinite", "\5\2\56\2\0\0\0\0\0\0\360\177", 12},             /* the squares of node 1 */
        {"negative", "\5\2\54\1\377\377\377\377\377\377\377\377", 12}, /* the shortest entry of node 1 */
        {"text", "\3\2\1\3\4\33[2J", 9},
        {"blob", "\6\1\1\4\2\1\1", 7},
        {"missing", "\4\0\1\5", 4},
        {"function", "\3\1\1\3\10function", 13},                         /* a region becomes something that is called */
        {"region", "\3\1\5\3\6region", 11},                              /* and the other way round */
        {"root", "\4\1\6\5", 4},                                         /* a signature becomes a root */
        {"below", "\4\1\10\0\7", 5},                                     /* a pair below a pair */
        {"detail", "\3\5\5\3\12</td>\n\xff(x)", 15},                     /* a signature for what stands for all */
        {"recursive", "\5\2\326\1\377\377\377\377\377\377\377\177", 12}, /* more than there were calls */
        {"line", "\3\1\1\3\4line", 9},                                   /* a region becomes a line */
        {"sampled", "\3\1\13\3\6region", 11},                            /* and a line inside a region a region */
        {"first", "\3\6\11\1\377\377\377\377\377\377\377\177", 12},      /* a function that starts nowhere */
        {"source", "\10\1\0\1\0\0\100\0\0\0\0\0\10\2\1\4\2xy", 18},      /* a size that is not so, no text */
        {"size", "\7\5\0\0\100\7\6\0\4\3xyz", 14},
        {"series", "\11\2\3\1\377\377\377\377\377\377\377\177", 12}, /* far away */
        {"series-name", "\11\0\4\3\1x\11\1\5\3\0", 11}, /* a point of another series, and one without a unit */
        {"point", "\11\3\1\2\0\0\0\0\0\0\340\377", 12}, /* as little as can be */
        {"endless", "\11\3\1\2\0\0\0\0\0\0\360\177", 12},
        {"history", "\12\1\0\4\5\377\377\1\1\1", 10}, /* one large point */
        {"history-cut", "\12\1\1\4\2\1\377", 7},
        {"history-node", "\12\0\0\0\1", 5}, /* of a region */
        {"history-nobody", "\12\0\0\0\177", 5},
        {"freed", "\12\1\0\4\14\1\11\1\1\1\11\0\0\0\11\11\11", 17}, /* more than was taken, and less than before */
        {"power", "\13\0\0\0\77", 5},                               /* the largest */
        {"power-beyond", "\13\0\0\0\100", 5},
        {"blocks", "\13\1\0\1\377\377\377\377\377\377\377\377", 12},
        {"step", "\0\1\1\3\10", 5},                                                       /* histories without a time */
        {"peak", "\5\5\221\1\377\377\377\377\377\377\377\177", 12},                       /* of node 9 */
        {"variance", "\5\5\215\2\0\0\0\0\0\0\360\177\5\5\222\2\0\0\0\0\0\0\360\277", 24}, /* endless, and below 0 */
    };

    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
        put_file("fuzz_cells", seeds[i].name, seeds[i].bytes, seeds[i].size);
}

/* ---- the others ---- */

static void
make_chunks(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0}, seed = {0};

    for (uint32_t i = 0; i < 12; i++)
        snd_chunk_add(&chunk, &(snd_profile_event){1000 * i, 10 + i, 1 + i % 4, i % 3, 0});
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
    put_file("fuzz_chunk", "contents-large",
             "\1\377\377\377\377\017\377\377\377\377\017\377\377\377\377\377\377\377\377\377\1\1", 22);
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
    make_journals();
    make_pairs();
    make_cells();
    make_parts();
    make_chunks();
    make_histograms();
    make_texts();
    return 0;
}
