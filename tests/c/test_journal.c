/* Journals, logs and links beside a recording: what a reader undoes, what it refuses, and what a writer leaves alone.
 */
#include "check.h"
#include "fixture.h"
#include "store/reader.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRANGER 65534
#define MAGIC "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

static char path[512], journal[600];

static snd_writer *
make_recording(const char *name, const snd_profile *profile)
{
    snd_writer *writer = NULL;

    snprintf(path, sizeof path, "%s", temp_path(name));
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    return writer;
}

static snd_status
read_at(const char *name, snd_profile **out)
{
    snd_reader *reader = NULL;
    snd_status status = snd_reader_open(name, &reader);

    *out = NULL;
    if (status == SND_OK)
        status = snd_reader_profile(reader, out);
    snd_reader_free(reader);
    return status;
}

static void
check_reads(const snd_profile *wanted)
{
    snd_profile *got = NULL;
    snd_status status = read_at(path, &got);

    CHECK_TEXT(snd_status_text(status), snd_status_text(SND_OK));
    CHECK(status != SND_OK || profiles_are_equal(wanted, got));
    snd_profile_free(got);
}

/* ---- killed within a checkpoint ---- */

static const char *mode = "PRAGMA synchronous = OFF";

/* With a cache of one page SQLite writes early, and with a sync between pages it writes several heads. */
static int
end_within_a_checkpoint(void)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, mode, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA cache_size = 1; BEGIN; UPDATE site SET name = 'half written';"
                     " UPDATE value SET value = 99; UPDATE info SET value = 'half'; DELETE FROM histogram;"
                     " INSERT INTO info VALUES ('long', printf('%.*c', 99999, 'x'))",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 1;
    return sqlite3_db_cacheflush(db) == SQLITE_OK ? 0 : 2;
}

static void
what_is_undone_is_what_sqlite_itself_undoes(void)
{
    static const char *const modes[] = {"PRAGMA synchronous = OFF", "PRAGMA synchronous = FULL",
                                        "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = NORMAL"};
    snd_profile *profile = small_profile();

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mode = modes[i];
        snd_writer_free(make_recording("killed.sonde", profile));
        CHECK_NUMBER(run_in_child(end_within_a_checkpoint), 0);
        CHECK(access(journal, F_OK) == 0);
        check_reads(profile);
    }
    mode = modes[0];
    snd_profile_free(profile);
}

/* What SQLite makes of the two files, in a copy that it may write. */
static snd_status
read_after_recovery(const char *file, size_t file_size, const char *undo, size_t undo_size, snd_profile **out)
{
    char copy[512], copy_journal[600];
    sqlite3 *db = NULL;

    snprintf(copy, sizeof copy, "%s", temp_path("recovered.sonde"));
    snprintf(copy_journal, sizeof copy_journal, "%s-journal", copy);
    write_file(copy, file, file_size);
    write_file(copy_journal, undo, undo_size);
    REQUIRE(sqlite3_open(copy, &db) == SQLITE_OK);
    sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    sqlite3_close(db);
    unlink(copy_journal);
    return read_at(copy, out);
}

static void
a_journal_that_is_cut_off_undoes_as_much_as_sqlite_would(void)
{
    snd_profile *profile = small_profile();
    size_t file_size, undo_size;
    unsigned same = 0;

    snd_writer_free(make_recording("cut.sonde", profile));
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    char *file = read_file(path, &file_size), *undo = read_file(journal, &undo_size);
    for (size_t left = 0; left < undo_size + 997; left += 997) {
        snd_profile *got = NULL, *wanted = NULL;
        size_t size = left < undo_size ? left : undo_size;
        write_file(journal, undo, size);
        snd_status status = read_at(path, &got), other = read_after_recovery(file, file_size, undo, size, &wanted);
        CHECK_TEXT(snd_status_text(status), snd_status_text(other));
        if (status == SND_OK && other == SND_OK) {
            CHECK(profiles_are_equal(wanted, got));
            same++;
        }
        snd_profile_free(got);
        snd_profile_free(wanted);
    }
    CHECK(same > 2);
    free(file);
    free(undo);
    snd_profile_free(profile);
}

static snd_status
try_to_read(void *context)
{
    snd_profile *got = NULL;
    snd_status status = read_at(context, &got);

    snd_profile_free(got);
    return status;
}

static void
undoing_without_memory_leaves_nothing(void)
{
    snd_profile *profile = small_profile();

    snd_writer_free(make_recording("memory.sonde", profile));
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    CHECK(fail_each_allocation(try_to_read, path) > 10);
    snd_profile_free(profile);
}

/* ---- hostile neighbours of a recording that is read ---- */

static void
append(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "ab");
    REQUIRE(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* What makes SQLite delete the file `victim` when it rolls the journal back. */
static void
name_in_journal(const char *victim)
{
    unsigned char tail[16] = {0};
    uint32_t len = (uint32_t)strlen(victim), sum = 0;

    for (uint32_t i = 0; i < len; i++)
        sum += (unsigned char)victim[i];
    for (int i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(len >> (24 - 8 * i));
        tail[4 + i] = (unsigned char)(sum >> (24 - 8 * i));
    }
    memcpy(tail + 8, MAGIC, 8);
    append(journal, "\x00\x04\x00\x01", 4);
    append(journal, victim, len);
    append(journal, tail, sizeof tail);
}

static void
a_journal_that_names_another_file_is_refused_and_the_file_stays(void)
{
    snd_profile *profile = small_profile();
    char victim[512];

    snprintf(victim, sizeof victim, "%s", temp_path("victim"));
    snd_writer *writer = make_recording("gift.sonde", profile);
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    write_file(victim, "mine", 4); /* SQLite takes an empty file for one that does not exist */
    name_in_journal(victim);
    CHECK(try_to_read(path) == SND_FOREIGN_JOURNAL);
    CHECK(access(victim, F_OK) == 0 && access(journal, F_OK) == 0);
    (void)!snd_writer_checkpoint(writer, profile, NULL);
    CHECK(access(victim, F_OK) == 0);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_journal_that_is_a_link_is_not_followed(void)
{
    snd_profile *profile = small_profile();
    char elsewhere[512];

    snd_writer_free(make_recording("linked.sonde", profile));
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    snprintf(elsewhere, sizeof elsewhere, "%s", temp_path("elsewhere"));
    REQUIRE(rename(journal, elsewhere) == 0);
    snd_writer *writer = make_recording("linked.sonde", profile);
    REQUIRE(symlink(elsewhere, journal) == 0);
    check_reads(profile);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_SYSTEM);
    check_reads(profile);
    CHECK(access(elsewhere, F_OK) == 0);
    REQUIRE(unlink(journal) == 0);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
the_journal_of_another_user_is_left_alone(void)
{
    snd_profile *profile = small_profile();
    snd_writer *writer;
    size_t size;

    if (geteuid() != 0) {
        printf("skipped: the_journal_of_another_user_is_left_alone needs root\n");
        snd_profile_free(profile);
        return;
    }
    snd_writer_free(make_recording("shared.sonde", profile));
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    char *undo = read_file(journal, &size);
    writer = make_recording("shared.sonde", profile);
    set_info(profile, "length_ns", "78");
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    write_file(journal, undo, size);
    REQUIRE(chown(journal, STRANGER, STRANGER) == 0);
    check_reads(profile);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_SYSTEM);
    check_reads(profile);
    snd_writer *second = NULL;
    CHECK(snd_writer_open(path, &second) == SND_NOT_OURS);
    check_reads(profile);
    size_t size_now;
    char *now = read_file(journal, &size_now);
    CHECK(size_now == size && memcmp(now, undo, size) == 0);
    free(now);
    free(undo);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_write_ahead_log_is_neither_read_nor_removed(void)
{
    snd_profile *profile = small_profile();
    char log[600];
    size_t size;
    sqlite3 *db = NULL;

    snd_writer *writer = make_recording("log.sonde", profile);
    snprintf(log, sizeof log, "%s-wal", path);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "PRAGMA journal_mode = WAL; UPDATE info SET value = 'logged'", NULL, NULL, NULL) ==
            SQLITE_OK);
    char *logged = read_file(log, &size);
    CHECK(try_to_read(path) == SND_WAL);
    CHECK(access(log, F_OK) == 0);
    sqlite3_close(db);
    CHECK(try_to_read(path) == SND_WAL);
    CHECK(access(log, F_OK) != 0);
    snd_writer_free(writer);
    writer = make_recording("log.sonde", profile);
    write_file(log, logged, size); /* beside a file that has none */
    check_reads(profile);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_reads(profile);
    CHECK(access(log, F_OK) == 0);
    unlink(log);
    free(logged);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_name_that_looks_like_an_address_is_a_name(void)
{
    snd_profile *profile = small_profile(), *got = NULL;
    char here[512], folder[512];

    snd_writer_free(make_recording("other.sonde", profile));
    REQUIRE(getcwd(here, sizeof here) != NULL);
    snprintf(folder, sizeof folder, "%s", temp_path(""));
    REQUIRE(chdir(folder) == 0);
    write_file("file:other.sonde?immutable=1", "text\n", 5);
    CHECK(read_at("file:other.sonde?immutable=1", &got) == SND_NOT_A_RECORDING);
    unlink("file:other.sonde?immutable=1");
    REQUIRE(chdir(here) == 0);
    snd_profile_free(profile);
}

/* ---- what a writer finds in its place ---- */

static void
a_link_in_the_place_of_a_recording_is_replaced_and_not_followed(void)
{
    snd_profile *profile = small_profile();
    snd_writer *writer = NULL;
    struct stat about;
    char target[512];

    snprintf(target, sizeof target, "%s", temp_path("target"));
    snprintf(path, sizeof path, "%s", temp_path("link.sonde"));
    REQUIRE(symlink(target, path) == 0); /* to nothing */
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    CHECK(access(target, F_OK) != 0);
    CHECK(lstat(path, &about) == 0 && S_ISREG(about.st_mode));
    REQUIRE(rename(path, target) == 0 && symlink(target, path) == 0); /* behind the writer's back */
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_SYSTEM);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
the_journal_of_an_older_recording_goes_with_it(void)
{
    snd_profile *profile = small_profile();

    snd_writer_free(make_recording("older.sonde", profile));
    REQUIRE(run_in_child(end_within_a_checkpoint) == 0);
    snd_writer *writer = NULL;
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    CHECK(access(journal, F_OK) != 0);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_reads(profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(what_is_undone_is_what_sqlite_itself_undoes);
    RUN(a_journal_that_is_cut_off_undoes_as_much_as_sqlite_would);
    RUN(undoing_without_memory_leaves_nothing);
    RUN(a_journal_that_names_another_file_is_refused_and_the_file_stays);
    RUN(a_journal_that_is_a_link_is_not_followed);
    RUN(the_journal_of_another_user_is_left_alone);
    RUN(a_write_ahead_log_is_neither_read_nor_removed);
    RUN(a_name_that_looks_like_an_address_is_a_name);
    RUN(a_link_in_the_place_of_a_recording_is_replaced_and_not_followed);
    RUN(the_journal_of_an_older_recording_goes_with_it);
    return check_report();
}
