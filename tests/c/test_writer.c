/* Writing recordings, and reading them again. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "store/writer.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void
check_file(const char *path, const snd_profile *wanted)
{
    snd_profile *got = read_recording(path);
    CHECK(profiles_are_equal(wanted, got));
    snd_profile_free(got);
}

static snd_writer *
open_writer(const char *path)
{
    snd_writer *writer = NULL;
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    return writer;
}

static void
a_profile_comes_back_as_it_was(void)
{
    const char *path = temp_path("same.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    profile->tracks[0].dropped_entries = 3;
    profile->tracks[0].dropped_events = 5;
    CHECK_TEXT(snd_writer_path(writer), path);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(path, profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
names_of_every_kind_come_back(void)
{
    const char *path = temp_path("names.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    add_region(profile, 0, "quote \" ' comma , newline \n tab \t", 1, 5, 5);
    add_region(profile, 0, "\xe6\xb8\xac\xe5\xae\x9a \xc3\xa9 \xf0\x9f\x9a\x80", 1, 5, 5);
    add_region(profile, 0, "not UTF-8: \xff\xc3(", 1, 5, 5);
    add_region(profile, 0, "", 1, 5, 5);
    add_region(profile, 0, "'; drop table node; --", UINT64_C(1) << 62, 1, 0);
    set_info(profile, "arguments", "[\"a\\nb\"]");
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(path, profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_second_checkpoint_brings_changes_and_new_nodes(void)
{
    const char *path = temp_path("second.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    unsigned char *changed = calloc(profile->node_count + 1, 1);
    uint32_t load = find_node(profile, "main", "load");
    set_whole(profile, load, SND_METRIC_COUNT, 3);
    changed[load] = 1;
    add_region(profile, load, "late", 1, 70, 70);
    set_info(profile, "length_ns", "20000000");
    CHECK(snd_writer_checkpoint(writer, profile, changed) == SND_OK);
    check_file(path, profile);
    free(changed);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_node_that_is_not_marked_is_not_written_again(void)
{
    const char *path = temp_path("unmarked.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    unsigned char *changed = calloc(profile->node_count, 1);
    set_whole(profile, find_node(profile, "main", "load"), SND_METRIC_COUNT, 99);
    CHECK(snd_writer_checkpoint(writer, profile, changed) == SND_OK);
    snd_profile *got = read_recording(path);
    CHECK_NUMBER(node_whole(got, "main", "load", SND_METRIC_COUNT), 2);
    snd_profile_free(got);
    free(changed);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_file_removed_between_checkpoints_is_written_anew_and_whole(void)
{
    const char *path = temp_path("removed.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    REQUIRE(unlink(path) == 0);
    unsigned char *changed = calloc(profile->node_count, 1);
    CHECK(snd_writer_checkpoint(writer, profile, changed) == SND_OK);
    check_file(path, profile);
    free(changed);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

/* A checkpoint that found its folder gone is owed to the next one. */
static void
what_a_failed_checkpoint_should_have_written_is_written_later(void)
{
    const char *folder = temp_path("moved"), *away = temp_path("moved away");
    const char *path = temp_path("moved/run.sonde");
    snd_profile *profile = small_profile();

    REQUIRE(mkdir(folder, 0777) == 0);
    snd_writer *writer = open_writer(path);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    REQUIRE(rename(folder, away) == 0);
    unsigned char *changed = calloc(profile->node_count, 1);
    uint32_t load = find_node(profile, "main", "load");
    set_whole(profile, load, SND_METRIC_COUNT, 3);
    changed[load] = 1;
    errno = 0;
    CHECK(snd_writer_checkpoint(writer, profile, changed) == SND_SYSTEM);
    CHECK_NUMBER(errno, ENOENT);
    changed[load] = 0;
    REQUIRE(rename(away, folder) == 0);
    CHECK(snd_writer_checkpoint(writer, profile, changed) == SND_OK);
    check_file(path, profile);
    free(changed);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
an_older_recording_is_replaced(void)
{
    const char *path = temp_path("older.sonde");
    snd_profile *profile = small_profile(), *empty = snd_profile_new();
    snd_writer *writer = open_writer(path);

    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_writer_free(writer);
    writer = open_writer(path);
    CHECK(snd_writer_checkpoint(writer, empty, NULL) == SND_OK);
    check_file(path, empty);
    snd_writer_free(writer);
    snd_profile_free(profile);
    snd_profile_free(empty);
}

static void
an_empty_file_is_replaced(void)
{
    const char *path = temp_path("empty.sonde");

    write_file(path, "", 0);
    snd_writer *writer = open_writer(path);
    snd_writer_free(writer);
    snd_profile_free(read_recording(path));
}

static void
check_refused(const char *path, const void *bytes, size_t size)
{
    snd_writer *writer = NULL;
    size_t left;

    write_file(path, bytes, size);
    CHECK(snd_writer_open(path, &writer) == SND_NOT_A_RECORDING);
    CHECK(writer == NULL);
    char *kept = read_file(path, &left);
    CHECK(left == size && memcmp(kept, bytes, size) == 0);
    free(kept);
}

static void
a_file_of_another_kind_is_not_touched(void)
{
    check_refused(temp_path("thesis.txt"), "do not lose me\n", 15);
    check_refused(temp_path("short"), "x", 1);
    check_refused(temp_path("nearly"), "SQLite format 4\0 and more", 25);
}

static void
a_database_of_another_program_is_not_touched(void)
{
    const char *path = temp_path("bookmarks.sqlite");
    sqlite3 *db = NULL;
    snd_writer *writer = NULL;
    size_t before, after;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "CREATE TABLE bookmark (address TEXT)", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    char *original = read_file(path, &before);
    CHECK(snd_writer_open(path, &writer) == SND_NOT_A_RECORDING);
    char *kept = read_file(path, &after);
    CHECK(before == after && memcmp(original, kept, before) == 0);
    free(original);
    free(kept);
    snd_writer_free(writer);
}

static int
open_pipe(void)
{
    snd_writer *writer = NULL;

    alarm(100); /* opening one would wait for its other end for ever */
    return snd_writer_open(temp_path("pipe"), &writer) != SND_NOT_A_RECORDING;
}

static void
a_device_and_a_pipe_are_not_replaced(void)
{
    const char *device = temp_path("null");
    struct stat about;
    snd_writer *writer = NULL;

    REQUIRE(mkfifo(temp_path("pipe"), 0666) == 0);
    CHECK_NUMBER(run_in_child(open_pipe), 0);
    if (mknod(device, S_IFCHR | 0666, makedev(1, 3)) != 0)
        return; /* only root may make one, and only root could lose it */
    CHECK(snd_writer_open(device, &writer) == SND_NOT_A_RECORDING);
    CHECK(stat(device, &about) == 0 && S_ISCHR(about.st_mode));
}

static void
a_place_that_cannot_be_written_says_why(void)
{
    snd_writer *writer = NULL;

    errno = 0;
    CHECK(snd_writer_open(temp_path("no/such/folder/run.sonde"), &writer) == SND_SYSTEM);
    CHECK_NUMBER(errno, ENOENT);
    const char *folder = temp_path("a folder");
    REQUIRE(mkdir(folder, 0777) == 0);
    CHECK(snd_writer_open(folder, &writer) != SND_OK);
    CHECK(writer == NULL);
}

/* ---- values that SQLite has no number for ---- */

static void
a_counter_that_is_not_a_number_does_not_cost_the_recording(void)
{
    const char *path = temp_path("nan.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    set_real(profile, find_node(profile, "main", "queue"), SND_METRIC_VALUE_LAST, NAN);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_profile *got = read_recording(path);
    CHECK_NUMBER(node_whole(got, "main", "load", SND_METRIC_COUNT), 2);
    snd_profile_free(got);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
an_infinite_counter_comes_back(void)
{
    const char *path = temp_path("infinite.sonde");
    snd_profile *profile = small_profile();
    snd_writer *writer = open_writer(path);

    set_real(profile, find_node(profile, "main", "queue"), SND_METRIC_VALUE_MAX, INFINITY);
    set_real(profile, find_node(profile, "main", "queue"), SND_METRIC_VALUE_MIN, -INFINITY);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(path, profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

/* ---- failing allocations ---- */

typedef struct attempt {
    const char *path;
    snd_writer *writer;
    snd_profile *profile;
    snd_chunk *chunk;
} attempt;

static snd_status
open_again(void *context)
{
    attempt *self = context;
    return snd_writer_open(self->path, &self->writer);
}

static snd_status
checkpoint_again(void *context)
{
    attempt *self = context;
    return snd_writer_checkpoint(self->writer, self->profile, NULL);
}

static snd_status
add_chunk_again(void *context)
{
    attempt *self = context;
    size_t before = snd_writer_pending(self->writer);
    snd_status status = snd_writer_add_chunk(self->writer, 0, self->chunk);
    if (status != SND_OK)
        CHECK_NUMBER(snd_writer_pending(self->writer), before);
    return status;
}

static void
every_failing_allocation_is_reported_and_a_later_try_succeeds(void)
{
    snd_chunk chunk = {0};
    attempt self = {.path = temp_path("no memory.sonde"), .profile = small_profile(), .chunk = &chunk};

    snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = 1, .duration_ns = 2, .node = 1});
    CHECK(fail_each_allocation(open_again, &self) > 0);
    CHECK(fail_each_allocation(add_chunk_again, &self) > 0);
    CHECK(fail_each_allocation(checkpoint_again, &self) > 0);
    CHECK_NUMBER(snd_writer_pending(self.writer), 0);
    check_file(self.path, self.profile);
    snd_writer_free(self.writer);
    snd_profile_free(self.profile);
    snd_chunk_free(&chunk);
}

int
main(void)
{
    RUN(a_profile_comes_back_as_it_was);
    RUN(names_of_every_kind_come_back);
    RUN(a_second_checkpoint_brings_changes_and_new_nodes);
    RUN(a_node_that_is_not_marked_is_not_written_again);
    RUN(a_file_removed_between_checkpoints_is_written_anew_and_whole);
    RUN(what_a_failed_checkpoint_should_have_written_is_written_later);
    RUN(an_older_recording_is_replaced);
    RUN(an_empty_file_is_replaced);
    RUN(a_file_of_another_kind_is_not_touched);
    RUN(a_database_of_another_program_is_not_touched);
    RUN(a_device_and_a_pipe_are_not_replaced);
    RUN(a_place_that_cannot_be_written_says_why);
    RUN(a_counter_that_is_not_a_number_does_not_cost_the_recording);
    RUN(an_infinite_counter_comes_back);
    RUN(every_failing_allocation_is_reported_and_a_later_try_succeeds);
    return check_report();
}
