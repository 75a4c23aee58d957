/* A measurement across fork, signals, kill and exit. */
#include "check.h"
#include "collect/session.h"
#include "fixture.h"
#include "format/trace/chrome.h"
#include "os/clock.h"
#include "sonde.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int
is_complete(const char *path)
{
    snd_profile *profile = read_recording(path);
    int complete = strcmp(snd_profile_info(profile, "complete"), "1") == 0;
    snd_profile_free(profile);
    return complete;
}

static int
exit_status(pid_t child)
{
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

static int ready[2];

static pid_t
fork_quietly(void)
{
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    return child;
}

/* ---- fork ---- */

static const char *
path_of_child(const char *stem, pid_t child, const char *end)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%d%s", stem, (int)child, end);
    return temp_path(name);
}

static void
a_forked_child_writes_its_own_files_and_starts_empty(void)
{
    char path[512], trace[512];

    strcpy(path, temp_path("fork.sonde"));
    strcpy(trace, temp_path("fork.json"));
    REQUIRE(sonde_start(&(sonde_options){.recording = path, .chrome_trace = trace}) == 0);
    enter_named("before", 5);
    pid_t child = fork_quietly();
    if (child == 0) {
        enter_named("in child", 3);
        _exit(sonde_stop() == 0 ? 0 : 1);
    }
    CHECK_NUMBER(exit_status(child), 0);
    enter_named("after", 2);
    CHECK(sonde_stop() == 0);
    check_count(path, "before", 5);
    check_count(path, "after", 2);
    check_count(path, "in child", 0);
    const char *childs = path_of_child("fork", child, ".sonde");
    check_count(childs, "in child", 3);
    check_count(childs, "before", 0);
    CHECK(is_complete(childs));
    char *text = read_file(path_of_child("fork", child, ".json"), NULL);
    CHECK_NUMBER(count_text(text, "\"ph\": \"X\""), 3);
    free(text);
    text = read_file(trace, NULL);
    CHECK_NUMBER(count_text(text, "\"ph\": \"X\""), 7);
    free(text);
}

static void
a_name_with_the_process_in_it_is_expanded_in_the_child(void)
{
    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("by-pid-%p.sonde")}) == 0);
    pid_t child = fork_quietly();
    if (child == 0) {
        enter_named("in child", 1);
        _exit(sonde_stop() == 0 ? 0 : 1);
    }
    CHECK_NUMBER(exit_status(child), 0);
    CHECK(sonde_stop() == 0);
    check_count(path_of_child("by-pid", child, ".sonde"), "in child", 1);
    check_count(path_of_child("by-pid", getpid(), ".sonde"), "in child", 0);
}

static void
a_child_that_enters_nothing_writes_nothing(void)
{
    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("idle.sonde")}) == 0);
    enter_named("before", 1);
    pid_t child = fork_quietly();
    if (child == 0)
        exit(4);
    int status = exit_status(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    CHECK(access(path_of_child("idle", child, ".sonde"), F_OK) != 0);
    CHECK(sonde_stop() == 0);
    check_count(temp_path("idle.sonde"), "before", 1);
}

static void
a_region_open_across_a_fork_counts_in_the_child_from_the_fork(void)
{
    static sonde_site site = SONDE_SITE("across");

    REQUIRE(pipe(ready) == 0);
    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("across.sonde")}) == 0);
    sonde_span *span = sonde_enter(&site);
    sleep_ms(200); /* sleeps: time that is not the child's */
    uint64_t length = snd_clock_monotonic_ns();
    pid_t child = fork_quietly();
    if (child == 0) {
        enter_named("inside", 1);
        sonde_leave(span);
        length = snd_clock_monotonic_ns() - length;
        if (write(ready[1], &length, sizeof length) != (ssize_t)sizeof length)
            _exit(97);
        _exit(sonde_stop() == 0 ? 0 : 1);
    }
    REQUIRE(read(ready[0], &length, sizeof length) == (ssize_t)sizeof length);
    close(ready[0]);
    close(ready[1]);
    CHECK_NUMBER(exit_status(child), 0);
    sonde_leave(span);
    CHECK(sonde_stop() == 0);
    snd_profile *profile = read_recording(path_of_child("across", child, ".sonde"));
    CHECK_NUMBER(node_whole(profile, "main", "across", SND_METRIC_COUNT), 1);
    CHECK(node_whole(profile, "main", "across", SND_METRIC_TOTAL) < length + length / 100 + 1000000); /* two clocks */
    CHECK_NUMBER(node_whole(profile, "main", "across/inside", SND_METRIC_COUNT), 1);
    snd_profile_free(profile);
    profile = read_recording(temp_path("across.sonde"));
    CHECK(node_whole(profile, "main", "across", SND_METRIC_TOTAL) >= 200000000);
    snd_profile_free(profile);
}

static _Atomic int helper_may_end;
static _Atomic int helper_is_warm; /* it allocates no more: AddressSanitizer's heap does not survive a fork within it */

static void *
help(void *context)
{
    (void)context;
    sonde_thread_name("helper");
    while (!atomic_load(&helper_may_end)) {
        enter_named("helping", 10);
        atomic_store(&helper_is_warm, 1);
    }
    return NULL;
}

static void
threads_of_the_parent_are_not_in_the_child(void)
{
    pthread_t helper;

    atomic_store(&helper_may_end, 0);
    REQUIRE(sonde_start(&(sonde_options){.recording = temp_path("lonely.sonde"), .timeline = 1}) == 0);
    REQUIRE(pthread_create(&helper, NULL, help, NULL) == 0);
    while (!atomic_load(&helper_is_warm))
        sleep_ms(1);
    for (int i = 0; i < 10; i++) {
        sleep_ms(5);
        pid_t child = fork_quietly();
        if (child == 0) {
            enter_named("alone", 1);
            _exit(sonde_stop() == 0 ? 0 : 1);
        }
        CHECK_NUMBER(exit_status(child), 0);
        snd_profile *profile = read_recording(path_of_child("lonely", child, ".sonde"));
        CHECK_NUMBER(profile->track_count, 1);
        CHECK(find_track(profile, "helper") == SND_NONE);
        CHECK_NUMBER(node_whole(profile, "main", "alone", SND_METRIC_COUNT), 1);
        snd_profile_free(profile);
    }
    atomic_store(&helper_may_end, 1);
    pthread_join(helper, NULL);
    CHECK(sonde_stop() == 0);
    snd_profile *profile = read_recording(temp_path("lonely.sonde"));
    CHECK(node_whole(profile, "helper", "helping", SND_METRIC_COUNT) > 0);
    snd_profile_free(profile);
}

/* ---- kill, signals and exit: in children that start a session of their own ---- */

typedef void child_main(const char *path);

/* Returns when the child has said that it is ready, or has ended. */
static pid_t
start_child(const char *path, child_main *main_of_child)
{
    char byte;

    REQUIRE(pipe(ready) == 0);
    pid_t child = fork_quietly();
    if (child == 0) {
        main_of_child(path);
        _exit(99);
    }
    close(ready[1]);
    ssize_t size = read(ready[0], &byte, 1);
    CHECK(size == 0 || size == 1);
    close(ready[0]);
    return child;
}

static void
say_ready(void)
{
    if (write(ready[1], "x", 1) != 1)
        _exit(97);
}

static void
record_and_wait(const char *path)
{
    if (sonde_start(&(sonde_options){.recording = path, .timeline = 1}) != 0)
        _exit(98);
    enter_named("recorded", 7);
    say_ready();
    for (;;)
        pause();
}

static void
record_without_a_pause(const char *path)
{
    if (sonde_start(&(sonde_options){.recording = path, .timeline = 1}) != 0)
        _exit(98);
    say_ready();
    for (;;)
        enter_named("busy", 1000);
}

static int
has_a_checkpoint(const char *path)
{
    snd_profile *profile = read_recording(path);
    int has_nodes = node_whole(profile, "main", "recorded", SND_METRIC_COUNT) != 0;
    snd_profile_free(profile);
    return has_nodes;
}

static void
a_killed_process_leaves_what_the_last_checkpoint_had(void)
{
    char path[512];

    strcpy(path, temp_path("killed.sonde"));
    pid_t child = start_child(path, record_and_wait);
    CHECK(wait_until(has_a_checkpoint, path));
    kill(child, SIGKILL);
    int status = exit_status(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    check_count(path, "recorded", 7);
    CHECK(!is_complete(path));
}

/* Sooner or later one of these is killed within a checkpoint. */
static void
a_process_killed_at_any_moment_leaves_a_readable_recording(void)
{
    char paths[4][512], name[32];
    pid_t children[4];

    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "busy%u.sonde", i);
        strcpy(paths[i], temp_path(name));
        children[i] = start_child(paths[i], record_without_a_pause);
    }
    sleep_ms(2150); /* sleeps: for some checkpoints */
    for (unsigned i = 0; i < 4; i++) {
        sleep_ms(83); /* sleeps: another moment each time */
        kill(children[i], SIGKILL);
        exit_status(children[i]);
        snd_profile_free(read_recording(paths[i]));
    }
}

static void
a_process_that_is_told_to_end_saves_first_and_ends_by_that_signal(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    char path[512];

    for (size_t i = 0; i < 3; i++) {
        strcpy(path, temp_path("told.sonde"));
        signal(signals[i], SIG_DFL); /* a shell's background job starts with some ignored */
        pid_t child = start_child(path, record_and_wait);
        kill(child, signals[i]);
        int status = exit_status(child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        check_count(path, "recorded", 7);
        CHECK(is_complete(path));
    }
}

static void
end_in_handler(int number)
{
    (void)number;
    exit(7);
}

static void
record_with_a_handler(const char *path)
{
    signal(SIGTERM, end_in_handler);
    record_and_wait(path);
}

static void
record_and_ignore(const char *path)
{
    signal(SIGHUP, SIG_IGN);
    record_and_wait(path);
}

static void
the_programs_own_handlers_stay(void)
{
    char path[512];

    strcpy(path, temp_path("handled.sonde"));
    pid_t child = start_child(path, record_with_a_handler);
    kill(child, SIGTERM);
    int status = exit_status(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check_count(path, "recorded", 7);
    CHECK(is_complete(path));
    child = start_child(path, record_and_ignore);
    kill(child, SIGHUP);
    sleep_ms(100); /* sleeps: it would have ended */
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    kill(child, SIGTERM);
    status = exit_status(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void
record_and_exit(const char *path)
{
    if (sonde_start(&(sonde_options){.recording = path}) != 0)
        _exit(98);
    sonde_begin_named("left open");
    enter_named("recorded", 7);
    exit(3);
}

static void
a_process_that_exits_without_stopping_is_saved(void)
{
    char path[512];

    strcpy(path, temp_path("exit.sonde"));
    int status = exit_status(start_child(path, record_and_exit));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    check_count(path, "left open/recorded", 7);
    CHECK(is_complete(path));
}

int
main(void)
{
    /* before any session: these children start from nothing */
    RUN(a_killed_process_leaves_what_the_last_checkpoint_had);
    RUN(a_process_killed_at_any_moment_leaves_a_readable_recording);
    RUN(a_process_that_is_told_to_end_saves_first_and_ends_by_that_signal);
    RUN(the_programs_own_handlers_stay);
    RUN(a_process_that_exits_without_stopping_is_saved);
    RUN(a_forked_child_writes_its_own_files_and_starts_empty);
    RUN(a_name_with_the_process_in_it_is_expanded_in_the_child);
    RUN(a_child_that_enters_nothing_writes_nothing);
    RUN(a_region_open_across_a_fork_counts_in_the_child_from_the_fork);
    RUN(threads_of_the_parent_are_not_in_the_child);
    return check_report();
}
