/* Chrome traces: event by event, from a recording, and as a file that grows. */
#include "base/alloc.h"
#include "check.h"
#include "collect/trace_file.h"
#include "fixture.h"
#include "format/table/format.h"
#include "format/trace/chrome.h"
#include "store/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
check_event(const snd_profile *profile, snd_profile_event event, const char *wanted)
{
    snd_buffer text = {0};

    snd_chrome_event(profile, &event, &text);
    CHECK_TEXT(snd_buffer_str(&text), wanted);
    snd_buffer_free(&text);
}

static void
regions_are_complete_events_in_microseconds(void)
{
    snd_profile *profile = small_profile();
    uint32_t load = find_node(profile, "main", "load");

    check_event(profile, (snd_profile_event){.start_ns = 1234567, .duration_ns = 89, .node = load},
                "{\"name\": \"load\", \"ph\": \"X\", \"pid\": 100, \"tid\": 100, \"ts\": 1234.567, \"dur\": 0.089}");
    check_event(profile, (snd_profile_event){.start_ns = 0, .duration_ns = 1000000000000, .node = load},
                "{\"name\": \"load\", \"ph\": \"X\", \"pid\": 100, \"tid\": 100, \"ts\": 0.000, \"dur\": "
                "1000000000.000}");
    snd_profile_free(profile);
}

static void
regions_of_a_task_are_asynchronous_events(void)
{
    snd_profile *profile = small_profile();
    uint32_t load = find_node(profile, "main", "load");

    check_event(profile, (snd_profile_event){.start_ns = 5000, .duration_ns = 2500, .node = load, .task = 7},
                "{\"name\": \"load\", \"ph\": \"b\", \"pid\": 100, \"tid\": 100, \"ts\": 5.000, \"cat\": \"task\", "
                "\"id\": \"100.7\"},\n"
                "{\"name\": \"load\", \"ph\": \"e\", \"pid\": 100, \"tid\": 100, \"ts\": 7.500, \"cat\": \"task\", "
                "\"id\": \"100.7\"}");
    snd_profile_free(profile);
}

static void
counters_carry_their_value(void)
{
    snd_profile *profile = small_profile();
    uint32_t queue = find_node(profile, "main", "queue");

    check_event(profile, (snd_profile_event){.start_ns = 1000, .value = -2.5, .node = queue},
                "{\"name\": \"queue\", \"ph\": \"C\", \"pid\": 100, \"tid\": 100, \"ts\": 1.000, \"id\": 100, "
                "\"args\": {\"value\": "
                "-2.5}}");
    check_event(profile, (snd_profile_event){.start_ns = 1000, .value = NAN, .node = queue},
                "{\"name\": \"queue\", \"ph\": \"C\", \"pid\": 100, \"tid\": 100, \"ts\": 1.000, \"id\": 100, "
                "\"args\": {\"value\": "
                "0}}");
    snd_profile_free(profile);
}

static void
marks_are_moments_with_their_detail(void)
{
    snd_profile *profile = small_profile();
    const snd_profile_site site = {.kind = SND_SITE_MARK, .name = "deployed", .file = "", .detail = "version=\"2\""};
    uint32_t id, node;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, 0, 0, id, &node) == SND_OK);
    check_event(profile, (snd_profile_event){.start_ns = 1500, .node = node},
                "{\"name\": \"deployed\", \"ph\": \"i\", \"pid\": 100, \"tid\": 100, \"ts\": 1.500, \"s\": \"p\", "
                "\"args\": {\"detail\": \"version=\\\"2\\\"\"}}");
    snd_profile_free(profile);
}

#define HEAD                                             \
    "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n" \
    "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 100, \"args\": {\"name\": \"work\"}}"
#define THREADS                                                                                                 \
    ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 100, \"tid\": 100, \"args\": {\"name\": \"main\"}}" \
    ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 100, \"tid\": 107, \"args\": {\"name\": \"worker\"}}"
#define EVENT ",\n{\"name\": \"load\", \"ph\": \"X\", \"pid\": 100, \"tid\": 100, \"ts\": 1.000, \"dur\": 0.002}"
#define TAIL "\n]}\n"

static const snd_profile_event one_event = {.start_ns = 1000, .duration_ns = 2, .node = 1};

static void
a_recording_is_exported_whole(void)
{
    const char *path = temp_path("run.sonde"), *out = temp_path("run.json");
    snd_profile *profile = small_profile(), *read = NULL;
    snd_writer *writer = NULL;
    snd_reader *reader = NULL;
    snd_chunk chunk = {0};

    REQUIRE(snd_writer_open(path, &writer) == SND_OK);
    snd_chunk_add(&chunk, &one_event);
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    REQUIRE(snd_reader_open(path, &reader) == SND_OK && snd_reader_profile(reader, &read) == SND_OK);
    int file = open(out, O_WRONLY | O_CREAT, 0666);
    CHECK(snd_format_chrome(reader, read, &(snd_export_options){0}, file) == SND_OK);
    close(file);
    char *text = read_file(out, NULL);
    CHECK_TEXT(text, HEAD THREADS EVENT TAIL);
    free(text);
    file = open("/dev/full", O_WRONLY);
    CHECK(snd_format_chrome(reader, read, &(snd_export_options){0}, file) == SND_SYSTEM);
    close(file);
    snd_chunk_free(&chunk);
    snd_reader_free(reader);
    snd_writer_free(writer);
    snd_profile_free(read);
    snd_profile_free(profile);
}

/* ---- the file that grows ---- */

static void
check_file(const char *path, const char *wanted)
{
    char *text = read_file(path, NULL);
    CHECK_TEXT(text, wanted);
    free(text);
}

static void
a_trace_file_is_whole_after_every_write(void)
{
    const char *path = temp_path("growing.json");
    snd_profile *profile = small_profile();
    snd_trace_file *file = NULL;

    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    CHECK_TEXT(snd_trace_file_path(file), path);
    check_file(path, HEAD TAIL);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    check_file(path, HEAD THREADS TAIL);
    snd_trace_file_add(file, profile, &one_event);
    CHECK(snd_trace_file_pending(file) > 0);
    check_file(path, HEAD THREADS TAIL);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    CHECK_NUMBER(snd_trace_file_pending(file), 0);
    check_file(path, HEAD THREADS EVENT TAIL);
    snd_trace_file_add(file, profile, &one_event);
    snd_trace_file_add(file, profile, &one_event);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    check_file(path, HEAD THREADS EVENT EVENT EVENT TAIL);
    snd_trace_file_free(file);
    snd_trace_file_free(NULL);
    snd_profile_free(profile);
}

static void
the_growing_file_and_the_export_agree(void)
{
    const char *path = temp_path("agree.json");
    snd_profile *profile = small_profile();
    snd_trace_file *file = NULL;
    snd_buffer wanted = {0};

    snd_buffer_text(&wanted, HEAD THREADS);
    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    for (uint32_t i = 0; i < 60; i++) {
        snd_profile_event event = {
            .start_ns = i * 7777u, .duration_ns = i * i, .node = 1 + i % 4, .task = i % 5 == 0 ? i : 0};
        snd_trace_file_add(file, profile, &event);
        snd_buffer_text(&wanted, SND_CHROME_COMMA);
        snd_chrome_event(profile, &event, &wanted);
        if (i % 13 == 0)
            CHECK(snd_trace_file_write(file, profile) == SND_OK);
    }
    snd_buffer_text(&wanted, SND_CHROME_TAIL);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    check_file(path, snd_buffer_str(&wanted));
    snd_buffer_free(&wanted);
    snd_trace_file_free(file);
    snd_profile_free(profile);
}

static void
events_wait_for_a_file_that_cannot_be_written_now(void)
{
    const char *path = temp_path("away.json"), *away = temp_path("away.kept");
    snd_profile *profile = small_profile();
    snd_trace_file *file = NULL;

    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    REQUIRE(rename(path, away) == 0);
    snd_trace_file_add(file, profile, &one_event);
    errno = 0;
    CHECK(snd_trace_file_write(file, profile) == SND_SYSTEM);
    CHECK_NUMBER(errno, ENOENT);
    REQUIRE(rename(away, path) == 0);
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    check_file(path, HEAD THREADS EVENT TAIL);
    CHECK(snd_trace_file_open(temp_path("no/such/folder.json"), profile, &file) == SND_SYSTEM);
    snd_trace_file_free(file);
    snd_profile_free(profile);
}

/* Memory that runs out costs the events of that moment, not those that come later. */
static void
a_trace_goes_on_after_memory_ran_out(void)
{
    const char *path = temp_path("no memory.json");
    snd_profile *profile = small_profile();
    snd_trace_file *file = NULL;

    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    snd_trace_file_add(file, profile, &one_event);
    REQUIRE(snd_trace_file_write(file, profile) == SND_OK);
    snd_alloc_fail_after(0);
    for (int i = 0; i < 1000; i++)
        snd_trace_file_add(file, profile, &one_event);
    snd_alloc_fail_after(-1);
    snd_status status = snd_trace_file_write(file, profile);
    CHECK(status == SND_OK || status == SND_NO_MEMORY);
    snd_trace_file_add(file, profile, &(snd_profile_event){.start_ns = 5000, .duration_ns = 7, .node = 3});
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    char *text = read_file(path, NULL);
    CHECK_NUMBER(count_text(text, "\"ts\": 5.000"), 1);
    CHECK_TEXT(text + strlen(text) - 5, "}" TAIL);
    free(text);
    snd_trace_file_free(file);
    snd_profile_free(profile);
}

typedef struct attempt {
    const snd_profile *profile;
    const char *path;
} attempt;

static snd_status
open_and_write(void *context)
{
    attempt *self = context;
    snd_trace_file *file = NULL;
    snd_status status = snd_trace_file_open(self->path, self->profile, &file);

    for (int i = 0; i < 20 && status == SND_OK; i++)
        status = snd_trace_file_add(file, self->profile, &one_event) ? SND_OK : SND_NO_MEMORY;
    if (status == SND_OK)
        status = snd_trace_file_write(file, self->profile);
    snd_trace_file_free(file);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *profile = small_profile();
    attempt self = {profile, temp_path("failing.json")};

    CHECK(fail_each_allocation(open_and_write, &self) > 5);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(regions_are_complete_events_in_microseconds);
    RUN(regions_of_a_task_are_asynchronous_events);
    RUN(counters_carry_their_value);
    RUN(marks_are_moments_with_their_detail);
    RUN(a_recording_is_exported_whole);
    RUN(a_trace_file_is_whole_after_every_write);
    RUN(the_growing_file_and_the_export_agree);
    RUN(events_wait_for_a_file_that_cannot_be_written_now);
    RUN(a_trace_goes_on_after_memory_ran_out);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
