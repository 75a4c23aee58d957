/* Reading what may not be a recording, or not a whole one. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_version.h"
#include "store/reader.h"
#include "store/writer.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS 50u

/* A recording of small_profile with a timeline on track 0. */
static void
make_recording(const char *path)
{
    snd_profile *profile = small_profile();
    snd_chunk chunk = {0};
    snd_writer *writer = NULL;

    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    for (uint32_t i = 0; i < EVENTS; i++)
        snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = i * 1000u, .duration_ns = 10 + i, .node = 1 + i % 3});
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_chunk_free(&chunk);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static snd_status
open_status(const char *path)
{
    snd_reader *reader = NULL;
    snd_status status = snd_reader_open(path, &reader);
    CHECK((status == SND_OK) == (reader != NULL));
    snd_reader_free(reader);
    return status;
}

static snd_status
count_event(void *context, const snd_profile_event *event)
{
    (void)event;
    ++*(uint32_t *)context;
    return SND_OK;
}

static void
a_file_that_is_not_there_is_an_error_of_the_system(void)
{
    errno = 0;
    CHECK(open_status(temp_path("nothing here.sonde")) == SND_SYSTEM);
    CHECK_NUMBER(errno, ENOENT);
    CHECK(access(temp_path("nothing here.sonde"), F_OK) != 0);
}

static void
a_folder_is_said_to_be_one(void)
{
    const char *folder = temp_path("folder.sonde");

    REQUIRE(mkdir(folder, 0777) == 0);
    errno = 0;
    CHECK(open_status(folder) == SND_SYSTEM);
    CHECK_NUMBER(errno, EISDIR);
}

/* Opening one would wait for a writer for ever. */
static int
open_pipe(void)
{
    alarm(100);
    return open_status(temp_path("pipe.sonde")) == SND_OK;
}

static void
a_pipe_is_not_waited_for(void)
{
    REQUIRE(mkfifo(temp_path("pipe.sonde"), 0666) == 0);
    CHECK_NUMBER(run_in_child(open_pipe), 0);
}

static void
other_files_are_not_recordings(void)
{
    const char *path = temp_path("other");
    static const char zeros[8192];

    write_file(path, "", 0);
    CHECK(open_status(path) == SND_EMPTY);
    write_file(path, "just some text, and quite a bit of it\n", 38);
    CHECK(open_status(path) == SND_NOT_A_RECORDING);
    write_file(path, zeros, sizeof zeros);
    CHECK(open_status(path) == SND_EMPTY);
    unlink(path);
    change_file(path, "CREATE TABLE bookmark (address TEXT)");
    CHECK(open_status(path) == SND_NOT_A_RECORDING);
}

static void
a_newer_recording_is_refused_as_such(void)
{
    const char *path = temp_path("newer.sonde");

    make_recording(path);
    change_file(path, "PRAGMA user_version = 999");
    CHECK(open_status(path) == SND_NEWER);
    change_file(path, "DROP VIEW counter; DROP VIEW mark; DROP VIEW graph; DROP VIEW op; DROP VIEW region; DROP VIEW "
                      "call; DROP VIEW sample; DROP VIEW "
                      "measure; DROP TABLE value");
    CHECK(open_status(path) == SND_NEWER);
}

/* What version 5 did not have: compiled graphs, and their view. */
static void
a_recording_of_version_6_has_the_process_that_its_facts_tell_of(void)
{
    const char *path = temp_path("six.sonde");

    make_recording(path);
    make_version(path, 6);
    change_file(path, "INSERT OR REPLACE INTO info VALUES ('process_id', '77'), ('host', 'there'), ('rank', '3')");
    snd_profile *profile = read_recording(path);
    REQUIRE(profile->process_count == 1);
    CHECK_NUMBER(profile->processes[0].process_id, 77);
    CHECK_NUMBER(profile->processes[0].rank, 3);
    CHECK_TEXT(profile->processes[0].host, "there");
    CHECK_NUMBER(profile->tracks[0].process, 0);
    CHECK_NUMBER(profile->tracks[0].summed_on, 0);
    snd_profile_free(profile);
}

static void
a_recording_of_version_5_is_read_as_ever(void)
{
    const char *path = temp_path("version 5.sonde");
    snd_profile *wanted = small_profile();

    make_recording(path);
    make_version(path, 5);
    CHECK(read_status(path) == SND_OK);
    snd_profile *profile = read_recording(path);
    CHECK(profiles_are_equal(profile, wanted));
    snd_profile_free(profile);
    snd_profile_free(wanted);
}

/* What version 4 did not have: operators, and their view. */
static void
a_recording_of_version_4_is_read_as_ever(void)
{
    const char *path = temp_path("version 4.sonde");
    snd_profile *wanted = small_profile();

    make_recording(path);
    make_version(path, 4);
    CHECK(read_status(path) == SND_OK);
    snd_profile *profile = read_recording(path);
    CHECK(profiles_are_equal(profile, wanted));
    snd_profile_free(profile);
    snd_profile_free(wanted);
}

/* What version 2 did not have: first lines, sources and the view of samples. */
static void
a_recording_of_version_2_is_read_as_ever(void)
{
    const char *path = temp_path("version 2.sonde");
    snd_profile *wanted = small_profile();

    make_recording(path);
    make_version(path, 2);
    CHECK(read_status(path) == SND_OK);
    snd_profile *profile = read_recording(path);
    CHECK(profiles_are_equal(profile, wanted));
    snd_profile_free(profile);
    snd_profile_free(wanted);
}

/* What version 1 did not have besides: details of sites and the view of calls. */
static void
a_recording_of_version_1_is_read_as_ever(void)
{
    const char *path = temp_path("version 1.sonde");
    snd_profile *wanted = small_profile();

    make_recording(path);
    make_version(path, 1);
    CHECK(read_status(path) == SND_OK);
    snd_profile *profile = read_recording(path);
    CHECK(profiles_are_equal(profile, wanted));
    snd_profile_free(profile);
    snd_profile_free(wanted);
}

static void
calls_and_their_signatures_are_read_as_they_were(void)
{
    const char *path = temp_path("calls.sonde");
    snd_profile *wanted[] = {calls_profile(), signatures_profile()};

    for (size_t i = 0; i < 2; i++) {
        snd_writer *writer = NULL;
        unlink(path);
        REQUIRE(snd_writer_open(path, &writer) == SND_OK);
        REQUIRE(snd_writer_checkpoint(writer, wanted[i], NULL) == SND_OK);
        snd_writer_free(writer);
        snd_profile *profile = read_recording(path);
        CHECK(profiles_are_equal(profile, wanted[i]));
        snd_profile_free(profile);
        snd_profile_free(wanted[i]);
    }
}

static void
a_recording_without_one_of_its_tables_is_damaged(void)
{
    static const char *const changes[] = {
        "DROP TABLE info",
        "DROP TABLE timeline",
        "DROP TABLE histogram",
        "DROP TABLE source",
        "ALTER TABLE track RENAME TO old_track; CREATE VIEW track AS SELECT * FROM old_track",
        "ALTER TABLE track RENAME COLUMN name TO title",
    };
    const char *path = temp_path("tables.sonde");

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_recording(path);
        change_file(path, "DROP VIEW counter; DROP VIEW mark; DROP VIEW graph; DROP VIEW op; DROP VIEW region; DROP "
                          "VIEW call; DROP VIEW sample; "
                          "DROP VIEW measure");
        change_file(path, changes[i]);
        CHECK(read_status(path) == SND_DAMAGED);
    }
}

static void
numbers_that_lead_nowhere_are_damage(void)
{
    static const char *const changes[] = {
        "UPDATE node SET parent = id",
        "UPDATE node SET parent = 5 WHERE id = 1",
        "UPDATE node SET parent = -1 WHERE id = 1",
        "UPDATE node SET parent = 'x' WHERE id = 1",
        "UPDATE node SET track = 9",
        "UPDATE node SET site = 4294967295",
        "UPDATE node SET id = id + 1000000",
        "UPDATE site SET id = id + 1000000",
        "UPDATE site SET kind = 'planet'",
        "UPDATE site SET line = -1",
        "UPDATE site SET first_line = -1",
        "UPDATE track SET id = id + 7",
        "UPDATE value SET node = node + 1000",
        "UPDATE value SET metric = metric + 1000",
        "UPDATE metric SET id = id + 1000",
        "UPDATE histogram SET node = 999 WHERE node = 1",
        "UPDATE histogram SET buckets = x'0100'",
        "UPDATE histogram SET buckets = 'odd'",
        "UPDATE timeline SET track = 2",
        "UPDATE timeline SET size = size + 1",
        "UPDATE timeline SET size = -1",
        "UPDATE timeline SET size = 9223372036854775807",
        "UPDATE timeline SET data = x''",
        "UPDATE timeline SET data = x'78da'",
        "DELETE FROM node WHERE id = (SELECT max(id) FROM node)",
    };
    const char *path = temp_path("numbers.sonde");

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_recording(path);
        change_file(path, changes[i]);
        snd_status status = read_status(path);
        if (status != SND_DAMAGED)
            fprintf(stderr, "%s: %s\n", changes[i], snd_status_text(status));
        CHECK(status == SND_DAMAGED);
    }
}

static void
a_metric_that_we_do_not_know_is_passed_over(void)
{
    const char *path = temp_path("metric.sonde");

    make_recording(path);
    change_file(
        path, "INSERT INTO metric VALUES (77, 'joules', 'J', 'from the future'); INSERT INTO value VALUES (1, 77, 3)");
    CHECK(read_status(path) == SND_OK);
}

static void
a_recording_without_a_timeline_says_so(void)
{
    const char *path = temp_path("no timeline.sonde");
    snd_reader *reader = NULL;
    uint64_t events = 77;

    make_recording(path);
    change_file(path, "DELETE FROM timeline");
    CHECK(read_status(path) == SND_NO_TIMELINE);
    REQUIRE(snd_reader_open(path, &reader) == SND_OK);
    CHECK(snd_reader_event_count(reader, &events) == SND_OK);
    CHECK_NUMBER(events, 0);
    snd_reader_free(reader);
}

static void
every_event_of_the_timeline_is_given(void)
{
    const char *path = temp_path("events.sonde");
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;
    uint32_t given = 0;
    uint64_t counted = 0;

    make_recording(path);
    REQUIRE(snd_reader_open(path, &reader) == SND_OK);
    REQUIRE(snd_reader_profile(reader, &profile) == SND_OK);
    CHECK(snd_reader_event_count(reader, &counted) == SND_OK);
    CHECK_NUMBER(counted, EVENTS);
    CHECK(snd_reader_timeline(reader, profile, count_event, &given) == SND_OK);
    CHECK_NUMBER(given, EVENTS);
    snd_profile_free(profile);
    snd_reader_free(reader);
}

static void
every_beginning_of_a_recording_is_refused(void)
{
    const char *path = temp_path("whole.sonde"), *cut = temp_path("cut.sonde");
    size_t size;

    make_recording(path);
    char *bytes = read_file(path, &size);
    for (size_t left = 0; left < size; left += left < 600 ? 61 : 1777) {
        write_file(cut, bytes, left);
        snd_status status = read_status(cut);
        CHECK(status == (left == 0 ? SND_EMPTY : SND_DAMAGED) || (left != 0 && status == SND_NOT_A_RECORDING));
    }
    write_file(cut, bytes, size - 1); /* which nobody would miss */
    CHECK(read_status(cut) == SND_DAMAGED);
    free(bytes);
}

/* Whatever comes out, nothing crashes and nothing else than a status is said. */
static void
flipped_bytes_are_survived(void)
{
    const char *path = temp_path("good.sonde"), *bad = temp_path("bad.sonde");
    uint64_t state = 7;
    size_t size;

    make_recording(path);
    char *bytes = read_file(path, &size);
    for (int i = 0; i < 400; i++) {
        size_t at = (size_t)draw(&state, size);
        char kept = bytes[at];
        bytes[at] = (char)(state >> 24);
        write_file(bad, bytes, size);
        CHECK((unsigned)read_status(bad) < SND_STATUS_COUNT);
        bytes[at] = kept;
    }
    free(bytes);
}

static snd_status
read_all(void *context)
{
    return read_status(context);
}

static void
every_failing_allocation_is_reported(void)
{
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("no memory.sonde"));
    make_recording(path);
    CHECK(fail_each_allocation(read_all, path) > 20);
}

int
main(void)
{
    RUN(a_recording_of_version_6_has_the_process_that_its_facts_tell_of);
    RUN(a_file_that_is_not_there_is_an_error_of_the_system);
    RUN(a_folder_is_said_to_be_one);
    RUN(a_pipe_is_not_waited_for);
    RUN(other_files_are_not_recordings);
    RUN(a_newer_recording_is_refused_as_such);
    RUN(a_recording_of_version_5_is_read_as_ever);
    RUN(a_recording_of_version_4_is_read_as_ever);
    RUN(a_recording_of_version_2_is_read_as_ever);
    RUN(a_recording_of_version_1_is_read_as_ever);
    RUN(calls_and_their_signatures_are_read_as_they_were);
    RUN(a_recording_without_one_of_its_tables_is_damaged);
    RUN(numbers_that_lead_nowhere_are_damage);
    RUN(a_metric_that_we_do_not_know_is_passed_over);
    RUN(a_recording_without_a_timeline_says_so);
    RUN(every_event_of_the_timeline_is_given);
    RUN(every_beginning_of_a_recording_is_refused);
    RUN(flipped_bytes_are_survived);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
