/* A running measurement from sonde.h's side: files, threads, mistakes. */
#include "check.h"
#include "collect/session.h"
#include "fixture.h"
#include "format/trace/chrome.h"
#include "sonde.h"
#include "store/reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
start(const sonde_options *options)
{
    int status = sonde_start(options);
    CHECK_TEXT(sonde_error(), "");
    REQUIRE(status == 0);
}

static void
stop(void)
{
    CHECK(sonde_stop() == 0);
    CHECK_TEXT(sonde_error(), "");
}

static void
work(void)
{
    SONDE_REGION("work");
    for (int i = 0; i < 10; i++) {
        SONDE_REGION("step");
        SONDE_COUNTER_SET("level", i);
    }
}

static void *
work_in_thread(void *context)
{
    (void)context;
    sonde_thread_name("helper");
    for (int i = 0; i < 100; i++)
        work();
    return NULL;
}

static void
work_on_two_threads(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, work_in_thread, NULL) == 0);
    for (int i = 0; i < 50; i++)
        work();
    pthread_join(thread, NULL);
}

static void
check_work(const snd_profile *profile)
{
    CHECK_NUMBER(node_whole(profile, "main", "work", SND_METRIC_COUNT), 50);
    CHECK_NUMBER(node_whole(profile, "main", "work/step", SND_METRIC_COUNT), 500);
    CHECK_NUMBER(node_whole(profile, "helper", "work", SND_METRIC_COUNT), 100);
    CHECK_NUMBER(node_whole(profile, "helper", "work/step", SND_METRIC_COUNT), 1000);
    CHECK_NUMBER(node_whole(profile, "helper", "level", SND_METRIC_COUNT), 1000);
    CHECK(node_real(profile, "helper", "level", SND_METRIC_VALUE_MAX) == 9);
    CHECK(node_real(profile, "main", "level", SND_METRIC_VALUE_SUM) == 50 * 45);
    CHECK_TEXT(snd_profile_info(profile, "complete"), "1");
    CHECK_TEXT(snd_profile_info(profile, "sonde"), sonde_version());
    CHECK_NUMBER(snd_profile_info_number(profile, "process_id"), getpid());
    CHECK(snd_profile_info_number(profile, "length_ns") > 0);
    CHECK(snd_profile_info_number(profile, "own_cost_ns") > 0);
    CHECK_TEXT(snd_profile_info(profile, "program"), "test_session");
}

static void
regions_of_two_threads_are_in_the_recording(void)
{
    const char *path = temp_path("threads.sonde");

    start(&(sonde_options){.recording = path});
    CHECK_TEXT(snd_session_recording_path(), path);
    work_on_two_threads();
    stop();
    snd_profile *profile = read_recording(path);
    check_work(profile);
    snd_profile_free(profile);
}

static snd_status
count_event(void *context, const snd_profile_event *event)
{
    (void)event;
    ++*(uint64_t *)context;
    return SND_OK;
}

static void
a_timeline_has_every_entry_and_every_update(void)
{
    const char *path = temp_path("timeline.sonde");
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;
    uint64_t events = 0;

    start(&(sonde_options){.recording = path, .timeline = 1});
    work_on_two_threads();
    stop();
    REQUIRE(snd_reader_open(path, &reader) == SND_OK && snd_reader_profile(reader, &profile) == SND_OK);
    check_work(profile);
    CHECK(snd_reader_timeline(reader, profile, count_event, &events) == SND_OK);
    CHECK_NUMBER(events, 150 + 1500 + 1500);
    CHECK_NUMBER(snd_profile_info_number(profile, "lost_events"), 0);
    snd_profile_free(profile);
    snd_reader_free(reader);
}

/* Starts and ends as it must, and has a line for every event: a region or counter, or a name. */
static void
check_trace(const char *path, unsigned complete, unsigned counters)
{
    char *text = read_file(path, NULL);

    CHECK(strncmp(text, SND_CHROME_HEAD "{", strlen(SND_CHROME_HEAD "{")) == 0);
    CHECK_TEXT(text + strlen(text) - 5, "}\n]}\n");
    CHECK_NUMBER(count_text(text, "\"ph\": \"X\""), complete);
    CHECK_NUMBER(count_text(text, "\"ph\": \"C\""), counters);
    CHECK_NUMBER(count_text(text, "},\n{") + 1, count_text(text, "\"ph\":"));
    free(text);
}

static void
a_trace_is_written_beside_the_recording(void)
{
    const char *path = temp_path("both.sonde"), *trace = temp_path("both.json");

    start(&(sonde_options){.recording = path, .chrome_trace = trace});
    CHECK_TEXT(snd_session_trace_path(), trace);
    check_trace(trace, 0, 0);
    work_on_two_threads();
    stop();
    check_trace(trace, 150 + 1500, 1500);
    snd_profile *profile = read_recording(path);
    check_work(profile);
    snd_profile_free(profile);
}

static int
has_events(const char *path)
{
    char *text = read_file(path, NULL);
    unsigned count = count_text(text, "\"ph\": \"X\"");
    free(text);
    return count != 0;
}

static void
a_trace_is_whole_while_the_program_runs(void)
{
    const char *trace = temp_path("running.json");

    start(&(sonde_options){.chrome_trace = trace});
    work();
    CHECK(wait_until(has_events, trace));
    check_trace(trace, 11, 10);
    work();
    stop();
    check_trace(trace, 22, 20);
}

static void
nothing_is_measured_and_nothing_crashes_when_nothing_runs(void)
{
    static sonde_site site = SONDE_SITE("nothing");

    CHECK(sonde_enter(&site) == NULL);
    sonde_leave(NULL);
    sonde_begin(&site);
    sonde_begin_named("nothing");
    sonde_end();
    sonde_counter_set(&site, 1);
    sonde_counter_add(&site, 1);
    work();
    CHECK(sonde_stop() == -1);
    CHECK_TEXT(sonde_error(), snd_status_text(SND_NOT_RUNNING));
    CHECK(snd_session_recording_path() == NULL || !snd_session_is_running());
}

static void
a_second_start_is_refused(void)
{
    start(NULL);
    CHECK(sonde_start(NULL) == -1);
    CHECK_TEXT(sonde_error(), snd_status_text(SND_ALREADY));
    stop();
}

static void
a_place_that_cannot_be_written_is_named(void)
{
    const char *path = temp_path("no/such/folder/run.sonde"), *text_file = temp_path("thesis.txt");
    const char *trace = temp_path("no/such/trace.json"), *recording = temp_path("fine.sonde");

    CHECK(sonde_start(&(sonde_options){.recording = path}) == -1);
    CHECK(strstr(sonde_error(), path) != NULL);
    CHECK(strstr(sonde_error(), "No such file or directory") != NULL);
    CHECK(strchr(sonde_error(), '\n') == NULL);
    CHECK(!snd_session_is_running());
    CHECK(sonde_start(&(sonde_options){.recording = recording, .chrome_trace = trace}) == -1);
    CHECK(strstr(sonde_error(), trace) != NULL);
    write_file(text_file, "keep me", 7);
    CHECK(sonde_start(&(sonde_options){.recording = text_file}) == -1);
    CHECK(strstr(sonde_error(), text_file) != NULL);
    start(NULL);
    stop();
}

static void
a_recording_that_cannot_be_finished_is_named_at_the_end(void)
{
    const char *folder = temp_path("vanishing"), *path = temp_path("vanishing/run.sonde");

    REQUIRE(mkdir(folder, 0777) == 0);
    start(&(sonde_options){.recording = path});
    work();
    REQUIRE(unlink(path) == 0 && rmdir(folder) == 0);
    CHECK(sonde_stop() == -1);
    CHECK(strstr(sonde_error(), path) != NULL);
    CHECK(!snd_session_is_running());
}

static void
regions_without_a_handle_are_left_in_turn(void)
{
    snd_profile *profile = NULL;

    start(NULL);
    sonde_end();
    sonde_begin_named("outer");
    SONDE_BEGIN("inner");
    SONDE_END();
    sonde_end();
    sonde_end();
    REQUIRE(snd_session_profile(&profile) == SND_OK);
    CHECK_NUMBER(node_whole(profile, "main", "outer/inner", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(profile, "main", "outer", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(profile, "main", "outer", SND_METRIC_OPEN), 0);
    snd_profile_free(profile);
    stop();
}

/* SONDE_END belongs to SONDE_BEGIN: it does not end a region that a handle or a scope will end. */
static void
ending_does_not_leave_a_region_with_a_handle(void)
{
    static sonde_site site = SONDE_SITE("with a handle");
    snd_profile *profile = NULL;

    start(NULL);
    sonde_span *span = sonde_enter(&site);
    sonde_end();
    REQUIRE(snd_session_profile(&profile) == SND_OK);
    CHECK_NUMBER(node_whole(profile, "main", "with a handle", SND_METRIC_OPEN), 1);
    sonde_leave(span);
    snd_profile_free(profile);
    stop();
}

static void
a_reset_starts_from_nothing(void)
{
    snd_profile *profile = NULL;

    CHECK(snd_session_profile(&profile) == SND_NOT_RUNNING);
    start(NULL);
    work();
    snd_session_reset();
    work();
    REQUIRE(snd_session_profile(&profile) == SND_OK);
    CHECK_NUMBER(node_whole(profile, "main", "work", SND_METRIC_COUNT), 1);
    CHECK_TEXT(snd_profile_info(profile, "complete"), "0");
    snd_profile_free(profile);
    stop();
}

static void
cpu_time_is_recorded_when_asked_for(void)
{
    const char *path = temp_path("cpu.sonde");

    start(&(sonde_options){.recording = path, .cpu = 1});
    work();
    stop();
    snd_profile *profile = read_recording(path);
    CHECK(node_whole(profile, "main", "work", SND_METRIC_CPU) > 0);
    CHECK_TEXT(snd_profile_info(profile, "probes"), "region, cpu");
    snd_profile_free(profile);
}

static void
check_note(const char *noted, const char *expected)
{
    const char *path = temp_path("notes.sonde");
    snd_session_options options = {.recording = path, .python_note = "one of a kind"};
    snd_buffer message = {0};

    REQUIRE(snd_session_start(&options, &message) == SND_OK);
    snd_session_note(noted);
    CHECK(snd_session_stop(&message, NULL) == SND_OK);
    snd_profile *profile = read_recording(path);
    CHECK_TEXT(snd_profile_info(profile, "note"), expected);
    snd_profile_free(profile);
    snd_buffer_free(&message);
}

static void
what_is_known_of_the_interpreter_stands_before_another_note(void)
{
    check_note(NULL, "one of a kind");
    check_note("something failed", "one of a kind; something failed");
}

int
main(void)
{
    RUN(nothing_is_measured_and_nothing_crashes_when_nothing_runs);
    RUN(regions_of_two_threads_are_in_the_recording);
    RUN(a_timeline_has_every_entry_and_every_update);
    RUN(a_trace_is_written_beside_the_recording);
    RUN(a_trace_is_whole_while_the_program_runs);
    RUN(a_second_start_is_refused);
    RUN(a_place_that_cannot_be_written_is_named);
    RUN(a_recording_that_cannot_be_finished_is_named_at_the_end);
    RUN(regions_without_a_handle_are_left_in_turn);
    RUN(ending_does_not_leave_a_region_with_a_handle);
    RUN(a_reset_starts_from_nothing);
    RUN(cpu_time_is_recorded_when_asked_for);
    RUN(what_is_known_of_the_interpreter_stands_before_another_note);
    return check_report();
}
