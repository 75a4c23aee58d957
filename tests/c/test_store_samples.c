/* Samples, sources and the whole timeline in a recording. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "fixture_samples.h"
#include "fixture_version.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy that outlives temp_path's. */
static char path[512];

static const char *
make_recording(const char *name, int with_timeline)
{
    snprintf(path, sizeof path, "%s", temp_path(name));
    write_samples(path, with_timeline);
    return path;
}

/* The first cell of the first row of an answer that SQLite itself gives; "" for an answer without rows. */
static const char *
ask(const char *sql)
{
    static char answer[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    answer[0] = '\0';
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    if (sqlite3_step(statement) == SQLITE_ROW)
        snprintf(answer, sizeof answer, "%s", sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    return answer;
}

static snd_status
read_events(snd_profile **out)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;
    snd_status status = snd_reader_open(path, &reader);

    if (status == SND_OK)
        status = snd_reader_profile(reader, &profile);
    if (status == SND_OK)
        status = snd_reader_events(reader, profile);
    snd_reader_free(reader);
    if (status == SND_OK && out != NULL)
        *out = profile;
    else
        snd_profile_free(profile);
    return status;
}

static void
samples_and_their_sources_come_back_as_they_were(void)
{
    snd_profile *wanted = samples_profile(), *got = read_recording(make_recording("same.sonde", 0));

    CHECK(profiles_are_equal(wanted, got));
    CHECK(got->events == NULL && got->event_count == 0);
    snd_profile_free(wanted);
    snd_profile_free(got);
}

static void
the_view_of_samples_has_a_row_for_every_frame(void)
{
    make_recording("view.sonde", 0);
    CHECK_TEXT(ask("SELECT count(*) FROM sample"), "7");
    CHECK_TEXT(ask("SELECT group_concat(name || ':' || line || ':' || first_line || ':' || samples || ':' || python_ns"
                   " || ':' || native_ns || ':' || system_ns || ':' || wait_io_ns || ':' || kind, ' ')"
                   " FROM sample WHERE thread = 'main' AND name <> '[not seen]'"),
               "main:3:1:0:0:0:0:0:line f:10:8:3:3000000:0:0:0:line f:11:8:0:0:0:0:0:line"
               " compress:0:0:3:0:2000000:1000000:0:native main:4:1:4:0:0:0:4000000:line");
    CHECK_TEXT(
        ask("SELECT sum(python_ns + native_ns + system_ns + wait_cpu_ns + wait_lock_ns + wait_gil_ns + wait_io_ns"
            " + wait_sleep_ns + wait_other_ns) FROM sample"),
        "17500000");
    CHECK_TEXT(ask("SELECT parent FROM sample WHERE name = 'compress'"), "3");
}

static void
the_whole_timeline_comes_by_start(void)
{
    snd_profile *profile = NULL;

    make_recording("events.sonde", 1);
    REQUIRE(read_events(&profile) == SND_OK);
    CHECK_NUMBER(profile->event_count, 18);
    for (uint64_t i = 1; i < profile->event_count; i++)
        CHECK(profile->events[i - 1].start_ns <= profile->events[i].start_ns);
    CHECK_NUMBER(profile->events[2].node, 4);
    CHECK_NUMBER(profile->events[2].state, SND_METRIC_NATIVE - SND_METRIC_PYTHON);
    snd_profile_free(profile);
}

static void
a_recording_without_a_timeline_has_no_events(void)
{
    make_recording("none.sonde", 0);
    CHECK(read_events(NULL) == SND_NO_TIMELINE);
}

static void
a_second_reading_replaces_the_first(void)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;

    make_recording("twice.sonde", 1);
    REQUIRE(snd_reader_open(path, &reader) == SND_OK && snd_reader_profile(reader, &profile) == SND_OK);
    CHECK(snd_reader_events(reader, profile) == SND_OK);
    CHECK(snd_reader_events(reader, profile) == SND_OK);
    CHECK_NUMBER(profile->event_count, 18);
    snd_profile_free(profile);
    snd_reader_free(reader);
}

static snd_status
read_all(void *context)
{
    (void)context;
    return read_events(NULL);
}

static void
every_failing_allocation_is_reported(void)
{
    make_recording("no memory.sonde", 1);
    CHECK(fail_each_allocation(read_all, NULL) > 20);
}

/* ---- what a file may hold that no writer of ours wrote ---- */

static void
change(const char *sql)
{
    ask(sql);
}

static void
a_state_that_there_is_not_is_damage(void)
{
    snd_chunk chunk = {0};
    snd_profile *profile = samples_profile();
    snd_writer *writer = NULL;

    snprintf(path, sizeof path, "%s", temp_path("state.sonde"));
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    snd_chunk_add(&chunk, &(snd_profile_event){.duration_ns = 1, .node = 2, .state = SND_SAMPLE_STATES});
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    CHECK(read_events(NULL) == SND_DAMAGED);
    snd_chunk_free(&chunk);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
sources_that_are_not_what_they_say_are_damage(void)
{
    static const char *const changes[] = {
        "UPDATE source SET size = size + 1", "UPDATE source SET size = size - 1",
        "UPDATE source SET size = -1",       "UPDATE source SET size = 'x'",
        "UPDATE source SET text = x''",      "UPDATE source SET text = 'def f(): pass'",
        "UPDATE source SET size = 4194304",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_recording("source.sonde", 1);
        change(changes[i]);
        snd_status status = read_events(NULL);
        if (status != SND_DAMAGED)
            fprintf(stderr, "%s: %s\n", changes[i], snd_status_text(status));
        CHECK(status == SND_DAMAGED);
    }
}

/* What is known of a file whose text is not kept. */
static snd_source
known_file(const char *file, size_t size)
{
    snd_source source = {.file = file, .size = size};

    for (unsigned i = 0; i < SND_SHA256_SIZE; i++)
        source.sha256[i] = (unsigned char)(7 * i);
    return source;
}

static void
make_known_file(void)
{
    snd_profile *profile = samples_profile();
    snd_source source = known_file("/lib/module.py", 4000000000);

    snprintf(path, sizeof path, "%s", temp_path("known.sonde"));
    REQUIRE(snd_profile_copy_source(profile, &source) == SND_OK);
    write_profile(path, profile, 0);
    snd_profile_free(profile);
}

static void
a_file_without_its_text_is_known_by_size_and_digest(void)
{
    make_known_file();
    snd_profile *got = read_recording(path);
    snd_source source = known_file("/lib/module.py", 4000000000);
    const snd_source *kept = snd_profile_source(got, "/lib/module.py");
    REQUIRE(kept != NULL);
    CHECK(kept->text == NULL && snd_source_equal(kept, &source));
    snd_profile_free(got);
    CHECK_TEXT(ask("SELECT hex(sha256) FROM source WHERE text IS NULL"),
               "00070E151C232A31383F464D545B626970777E858C939AA1A8AFB6BDC4CBD2D9");
    CHECK_TEXT(ask("SELECT length(sha256) FROM source WHERE text IS NOT NULL"), "32");
}

static void
an_older_recording_has_texts_only(void)
{
    make_known_file();
    change("DELETE FROM source WHERE text IS NULL"); /* it knew texts, and no digests */
    make_version(path, 7);
    snd_profile *got = read_recording(path);
    CHECK_NUMBER(got->source_count, 1);
    CHECK(got->sources[0].text != NULL);
    snd_profile_free(got);
}

static void
a_digest_that_is_none_is_damage(void)
{
    static const char *const changes[] = {"UPDATE source SET sha256 = x'00' WHERE text IS NULL",
                                          "UPDATE source SET sha256 = zeroblob(33) WHERE text IS NULL",
                                          "UPDATE source SET sha256 = 'x' WHERE text IS NULL"};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_known_file();
        change(changes[i]);
        CHECK(read_events(NULL) == SND_DAMAGED);
    }
}

static void
a_source_that_is_too_large_is_passed_over(void)
{
    make_recording("large.sonde", 1);
    change("UPDATE source SET size = 4194305");
    snd_profile *profile = read_recording(path);
    CHECK_NUMBER(profile->source_count, 0);
    snd_profile_free(profile);
}

/* ---- writing sources ---- */

static snd_writer *
open_writer(const char *name)
{
    snd_writer *writer = NULL;

    snprintf(path, sizeof path, "%s", temp_path(name));
    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    return writer;
}

static void
add_source(snd_profile *profile, const char *file, const char *text)
{
    REQUIRE(snd_profile_add_source(profile, file, text, strlen(text)) == SND_OK);
}

static void
check_file(const snd_profile *wanted)
{
    snd_profile *got = read_recording(path);
    CHECK(profiles_are_equal(wanted, got));
    snd_profile_free(got);
}

static void
new_and_changed_sources_are_written_and_no_others(void)
{
    snd_profile *profile = samples_profile();
    snd_writer *writer = open_writer("changed.sonde");

    add_source(profile, "empty.py", "");
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(profile);
    change("DELETE FROM source WHERE file = 'empty.py'");
    add_source(profile, "/app/prog.py", "pass\n");
    add_source(profile, "<ipython-input-1>", "1 / 0\n");
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    CHECK_TEXT(ask("SELECT group_concat(file || size, ' ') FROM (SELECT * FROM source ORDER BY file)"),
               "/app/prog.py5 <ipython-input-1>6");
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
a_file_that_was_removed_gets_its_sources_again(void)
{
    snd_profile *profile = samples_profile();
    snd_writer *writer = open_writer("removed.sonde");

    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    REQUIRE(remove(path) == 0);
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    check_file(profile);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
more_source_than_a_reader_takes_is_not_written(void)
{
    size_t size = SND_SOURCE_LIMIT + 1;
    char *text = malloc(size), name[16];
    snd_profile *profile = samples_profile();
    snd_writer *writer = open_writer("limits.sonde");

    memset(text, '#', size);
    REQUIRE(snd_profile_add_source(profile, "too large.py", text, size) == SND_OK);
    for (int i = 0; i < 17; i++) {
        snprintf(name, sizeof name, "%d.py", i);
        REQUIRE(snd_profile_add_source(profile, name, text, size - 1) == SND_OK);
    }
    CHECK(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_profile *got = read_recording(path);
    CHECK_NUMBER(got->source_count, 16);
    CHECK(snd_profile_source(got, "too large.py") == NULL && snd_profile_source(got, "14.py") != NULL);
    snd_profile_free(got);
    snd_profile_free(profile);
    snd_writer_free(writer);
    free(text);
}

typedef struct attempt {
    snd_writer *writer;
    snd_profile *profile;
} attempt;

static snd_status
checkpoint_again(void *context)
{
    attempt *self = context;
    return snd_writer_checkpoint(self->writer, self->profile, NULL);
}

static void
a_checkpoint_without_memory_is_made_up_for(void)
{
    attempt self = {open_writer("memory.sonde"), samples_profile()};

    CHECK(fail_each_allocation(checkpoint_again, &self) > 2);
    check_file(self.profile);
    snd_writer_free(self.writer);
    snd_profile_free(self.profile);
}

int
main(void)
{
    RUN(samples_and_their_sources_come_back_as_they_were);
    RUN(the_view_of_samples_has_a_row_for_every_frame);
    RUN(the_whole_timeline_comes_by_start);
    RUN(a_recording_without_a_timeline_has_no_events);
    RUN(a_second_reading_replaces_the_first);
    RUN(every_failing_allocation_is_reported);
    RUN(a_state_that_there_is_not_is_damage);
    RUN(sources_that_are_not_what_they_say_are_damage);
    RUN(a_file_without_its_text_is_known_by_size_and_digest);
    RUN(an_older_recording_has_texts_only);
    RUN(a_digest_that_is_none_is_damage);
    RUN(a_source_that_is_too_large_is_passed_over);
    RUN(new_and_changed_sources_are_written_and_no_others);
    RUN(a_file_that_was_removed_gets_its_sources_again);
    RUN(more_source_than_a_reader_takes_is_not_written);
    RUN(a_checkpoint_without_memory_is_made_up_for);
    return check_report();
}
