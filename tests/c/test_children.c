/* Children of a measured process: where they write, what is put together in the end, and what is left. */
#include "base/alloc.h"
#include "check.h"
#include "collect/children.h"
#include "collect/session.h"
#include "fixture.h"
#include "probe/region/region.h"
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 4194305u /* above the largest number that a process can have */

static char whole[512], folder[528];

/* An empty folder of parts, beside a recording of process 100. */
static void
write_recording(const char *path, const char *process, const char *start_ns, int is_complete)
{
    snd_profile *profile = small_profile();

    set_info(profile, "process_id", process);
    set_info(profile, "start_monotonic_ns", start_ns);
    set_info(profile, "process_cpu_ns", "5000");
    set_info(profile, "process_cpu_before_ns", "2000");
    set_info(profile, "complete", is_complete ? "1" : "0");
    write_profile(path, profile, 0);
    snd_profile_free(profile);
}

static void
make_folder(const char *name)
{
    snprintf(whole, sizeof whole, "%s", temp_path(name));
    snprintf(folder, sizeof folder, "%s" SND_PARTS_SUFFIX, whole);
    write_recording(whole, "100", "1000", 1);
    REQUIRE(mkdir(folder, 0777) == 0);
}

static const char *
in_folder(uint32_t process, const char *rest)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%u%s", folder, process, rest);
    return path;
}

static void
empty_folder(void)
{
    (void)unlink(in_folder(NOBODY, "-1.sonde"));
    (void)unlink(in_folder((uint32_t)getpid(), "-1.sonde"));
    (void)unlink(in_folder(NOBODY, ".txt"));
    REQUIRE(rmdir(folder) == 0);
}

static void
parts_of_ended_and_killed_processes_are_put_together(void)
{
    snd_parts_gathered found;
    snd_buffer message = {0};

    make_folder("ended.sonde");
    write_recording(in_folder(NOBODY, "-1.sonde"), "101", "2000", 1);
    write_recording(in_folder(NOBODY, "-2.sonde"), "102", "3000", 0);
    CHECK(snd_parts_look(folder, &found) == SND_OK);
    CHECK_NUMBER(found.parts, 2);
    CHECK(snd_parts_gather(folder, &found, &message) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&message), "");
    CHECK_NUMBER(found.parts, 2);
    CHECK_NUMBER(found.running, 0);
    CHECK_NUMBER(found.measured_ns, 6000);
    CHECK(access(folder, F_OK) != 0);
    snd_profile *all = read_recording(whole);
    CHECK_TEXT(snd_profile_info(all, "processes"), "3");
    CHECK_NUMBER(node_whole(all, "main", "load", SND_METRIC_COUNT), 6);
    snd_profile_free(all);
    snd_buffer_free(&message);
}

static void
a_folder_that_cannot_be_emptied_is_named(void)
{
    snd_buffer message = {0};

    make_folder("others.sonde");
    write_recording(in_folder(NOBODY, "-1.sonde"), "101", "2000", 1);
    write_file(in_folder(NOBODY, ".txt"), "mine", 4);
    CHECK(snd_parts_clear(whole, &message) == SND_NOT_OURS);
    CHECK(strstr(snd_buffer_str(&message), "others.sonde.parts: an earlier run is still writing there or left other "
                                           "files; choose another name for the recording") != NULL);
    CHECK(access(in_folder(NOBODY, ".txt"), F_OK) == 0);
    CHECK(access(in_folder(NOBODY, "-1.sonde"), F_OK) != 0);
    REQUIRE(unlink(in_folder(NOBODY, ".txt")) == 0);
    CHECK(snd_parts_clear(whole, &message) == SND_OK);
    CHECK(access(folder, F_OK) != 0);
    snd_buffer_free(&message);
}

static void
the_part_of_a_running_process_is_left(void)
{
    snd_parts_gathered found;
    snd_buffer message = {0};

    make_folder("running.sonde");
    write_recording(in_folder((uint32_t)getpid(), "-1.sonde"), "101", "2000", 0);
    CHECK(snd_parts_gather(folder, &found, &message) == SND_OK);
    CHECK_NUMBER(found.parts, 0);
    CHECK_NUMBER(found.running, 1);
    CHECK(access(in_folder((uint32_t)getpid(), "-1.sonde"), F_OK) == 0);
    empty_folder();
    snd_buffer_free(&message);
}

static void
what_is_no_recording_is_removed_when_its_process_has_ended(void)
{
    snd_parts_gathered found;
    snd_buffer message = {0};

    make_folder("lost.sonde");
    write_file(in_folder(NOBODY, "-1.sonde"), "text", 4);
    write_file(in_folder(NOBODY, ".txt"), "mine", 4);
    CHECK(snd_parts_gather(folder, &found, &message) == SND_OK);
    CHECK_NUMBER(found.lost, 1);
    CHECK(access(in_folder(NOBODY, "-1.sonde"), F_OK) != 0);
    CHECK(access(in_folder(NOBODY, ".txt"), F_OK) == 0);
    empty_folder();
    snd_buffer_free(&message);
}

static void
where_there_is_no_folder_there_is_nothing_to_do(void)
{
    snd_parts_gathered found = {.parts = 7};
    snd_buffer message = {0};

    CHECK(snd_parts_gather(temp_path("none.sonde.parts"), &found, &message) == SND_OK);
    CHECK_NUMBER(found.parts, 0);
    snd_buffer_free(&message);
}

static void
parts_stay_when_they_cannot_be_merged(void)
{
    snd_parts_gathered found;
    snd_buffer message = {0};

    make_folder("stays.sonde");
    write_recording(in_folder(NOBODY, "-1.sonde"), "101", "2000", 1);
    REQUIRE(unlink(whole) == 0);
    CHECK(snd_parts_gather(folder, &found, &message) != SND_OK);
    CHECK(strstr(snd_buffer_str(&message), ": cannot merge: ") != NULL);
    CHECK(access(in_folder(NOBODY, "-1.sonde"), F_OK) == 0);
    empty_folder();
    snd_buffer_free(&message);
}

static snd_status
look(void *context)
{
    return snd_parts_look(folder, context);
}

/* A part that cannot be read for want of memory is one whose content is unknown, not a failure. */
static void
a_look_without_memory_says_so_or_misses_a_part(void)
{
    snd_parts_gathered found;

    make_folder("memory.sonde");
    write_recording(in_folder(NOBODY, "-1.sonde"), "101", "2000", 1);
    snd_alloc_fail_after(0);
    CHECK(look(&found) == SND_NO_MEMORY);
    snd_alloc_fail_after(-1);
    CHECK(look(&found) == SND_OK);
    CHECK_NUMBER(found.parts, 1);
    empty_folder();
}

/* ---- forked children ---- */

static void
run_with_a_child(const snd_session_options *options, snd_parts_gathered *found)
{
    snd_buffer message = {0};
    int status = -1;

    REQUIRE(snd_session_start(options, &message) == SND_OK);
    enter_and_leave("in parent");
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        enter_and_leave("in child");
        snd_session_save();
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
    CHECK(snd_session_stop(&message, NULL) == SND_OK);
    CHECK(snd_children_gather(found, &message) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&message), "");
    snd_buffer_free(&message);
}

static void
a_forked_child_writes_a_part_which_its_parent_takes(void)
{
    snd_parts_gathered found;
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("parent.sonde"));
    run_with_a_child(&(snd_session_options){.recording = path, .children = SND_CHILDREN_PARTS, .gathers = 1}, &found);
    CHECK_NUMBER(found.parts, 1);
    snd_profile *all = read_recording(path);
    CHECK_TEXT(snd_profile_info(all, "processes"), "2");
    CHECK_NUMBER(node_whole(all, "main", "in parent", SND_METRIC_COUNT), 1);
    CHECK_NUMBER(node_whole(all, "main", "in child", SND_METRIC_COUNT), 1);
    snd_profile_free(all);
}

static void
a_child_that_is_not_to_be_followed_writes_nothing(void)
{
    snd_parts_gathered found;
    char path[512];

    snprintf(path, sizeof path, "%s", temp_path("alone.sonde"));
    run_with_a_child(&(snd_session_options){.recording = path, .children = SND_CHILDREN_NONE}, &found);
    CHECK_NUMBER(found.parts, 0);
    CHECK(snd_children_parts() == NULL);
    snd_profile *all = read_recording(path);
    CHECK(find_node(all, "main", "in child") == SND_NONE);
    snd_profile_free(all);
}

int
main(void)
{
    RUN(parts_of_ended_and_killed_processes_are_put_together);
    RUN(a_folder_that_cannot_be_emptied_is_named);
    RUN(the_part_of_a_running_process_is_left);
    RUN(what_is_no_recording_is_removed_when_its_process_has_ended);
    RUN(where_there_is_no_folder_there_is_nothing_to_do);
    RUN(parts_stay_when_they_cannot_be_merged);
    RUN(a_look_without_memory_says_so_or_misses_a_part);
    RUN(a_forked_child_writes_a_part_which_its_parent_takes);
    RUN(a_child_that_is_not_to_be_followed_writes_nothing);
    return check_report();
}
