/* A recording that somebody else uses, or used when it was killed. */
#include "check.h"
#include "fixture.h"
#include "store/reader.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[512];

static snd_writer *
make_recording(const char *name, const snd_profile *profile)
{
    snd_writer *writer = NULL;

    snprintf(path, sizeof path, "%s", temp_path(name));
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    return writer;
}

static void
check_file(const snd_profile *wanted)
{
    snd_reader *reader = NULL;
    snd_profile *got = NULL;
    snd_status status = snd_reader_open(path, &reader);

    CHECK_TEXT(snd_status_text(status), snd_status_text(SND_OK));
    REQUIRE(status == SND_OK && snd_reader_profile(reader, &got) == SND_OK);
    CHECK(profiles_are_equal(wanted, got));
    snd_profile_free(got);
    snd_reader_free(reader);
}

/* A checkpoint that has begun to change the file when its process ends: with a cache of one page SQLite writes early.
 */
static int
end_within_a_checkpoint(void)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA synchronous = OFF; PRAGMA cache_size = 1; BEGIN; UPDATE site SET name = 'half written';"
                     " UPDATE value SET value = 99; UPDATE info SET value = 'half'; DELETE FROM histogram",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 1;
    return sqlite3_db_cacheflush(db) == SQLITE_OK ? 0 : 2;
}

static void
what_a_killed_checkpoint_half_wrote_is_undone(void)
{
    snd_profile *profile = small_profile();
    char journal[600];
    size_t sizes[4];

    snd_writer_free(make_recording("half.sonde", profile));
    CHECK_NUMBER(run_in_child(end_within_a_checkpoint), 0);
    snprintf(journal, sizeof journal, "%s-journal", path);
    char *before[] = {read_file(path, &sizes[0]), read_file(journal, &sizes[1])};
    check_file(profile);
    char *after[] = {read_file(path, &sizes[2]), read_file(journal, &sizes[3])}; /* reading has changed neither */
    for (int i = 0; i < 2; i++) {
        CHECK(sizes[i] == sizes[i + 2] && memcmp(before[i], after[i], sizes[i]) == 0);
        free(before[i]);
        free(after[i]);
    }
    snd_profile_free(profile);
}

static void
the_next_checkpoint_undoes_it_too(void)
{
    snd_profile *profile = small_profile();
    snd_writer *writer = make_recording("half again.sonde", profile);

    CHECK_NUMBER(run_in_child(end_within_a_checkpoint), 0);
    set_info(profile, "length_ns", "77");
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_checkpoint_into_a_locked_file_waits_for_the_next_one(void)
{
    snd_profile *profile = small_profile();
    snd_writer *writer = make_recording("locked.sonde", profile);
    sqlite3 *other = NULL;

    REQUIRE(sqlite3_open(path, &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    set_whole(profile, find_node(profile, "main", "load"), SND_METRIC_COUNT, 5);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_BUSY);
    REQUIRE(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK);
    unsigned char unchanged[64] = {0};
    REQUIRE(profile->node_count <= sizeof unchanged);
    CHECK(snd_writer_checkpoint(writer, profile, unchanged) == SND_OK);
    check_file(profile);
    sqlite3_close(other);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_reader_that_stays_open_sees_the_next_checkpoint(void)
{
    snd_profile *profile = small_profile(), *got = NULL;
    snd_writer *writer = make_recording("watched.sonde", profile);
    snd_reader *reader = NULL;

    REQUIRE(snd_reader_open(path, &reader) == SND_OK);
    set_whole(profile, find_node(profile, "main", "load"), SND_METRIC_COUNT, 5);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    REQUIRE(snd_reader_profile(reader, &got) == SND_OK);
    CHECK(profiles_are_equal(profile, got));
    snd_reader_free(reader);
    snd_writer_free(writer);
    snd_profile_free(got);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(what_a_killed_checkpoint_half_wrote_is_undone);
    RUN(the_next_checkpoint_undoes_it_too);
    RUN(a_checkpoint_into_a_locked_file_waits_for_the_next_one);
    RUN(a_reader_that_stays_open_sees_the_next_checkpoint);
    return check_report();
}
