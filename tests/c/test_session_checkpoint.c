/* What the checkpoints of a long run write, and what failing memory does to them. */
#include "base/alloc.h"
#include "check.h"
#include "collect/session.h"
#include "fixture.h"
#include "probe/counter/counter.h"
#include "probe/region/region.h"
#include "sonde.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
start(const char *path, int timeline)
{
    REQUIRE(sonde_start(&(sonde_options){.recording = path, .timeline = timeline}) == 0);
}

static int
is_written(const char *path)
{
    snd_profile *profile = read_recording(path);
    int written = profile->node_count > 1;
    snd_profile_free(profile);
    return written;
}

static void
a_checkpoint_comes_about_once_a_second(void)
{
    const char *path = temp_path("second.sonde");

    start(path, 0);
    enter_named("early", 3);
    CHECK(wait_until(is_written, path));
    check_count(path, "early", 3);
    snd_profile *profile = read_recording(path);
    CHECK_TEXT(snd_profile_info(profile, "complete"), "0");
    snd_profile_free(profile);
    enter_named("early", 2);
    CHECK(sonde_stop() == 0);
    check_count(path, "early", 5);
}

/* A new node in the timeline makes the collector look at all nodes between two checkpoints; what changed until then
 * must still be written. */
static void
what_changed_before_a_new_node_appeared_is_written(void)
{
    const char *path = temp_path("forgotten.sonde");

    start(path, 1);
    enter_named("old", 10);
    CHECK(wait_until(is_written, path));
    check_count(path, "old", 10);
    enter_named("old", 5);
    enter_named("new", 1);
    sleep_ms(100); /* sleeps: for a look between two checkpoints */
    CHECK(sonde_stop() == 0);
    check_count(path, "new", 1);
    check_count(path, "old", 15);
}

static void
a_reset_with_a_counter_does_not_cost_the_recording(void)
{
    const char *path = temp_path("reset.sonde");

    start(path, 0);
    SONDE_COUNTER_SET("before the reset", 5);
    snd_session_reset();
    enter_named("after", 2);
    CHECK(sonde_stop() == 0);
    CHECK_TEXT(sonde_error(), "");
    check_count(path, "after", 2);
}

static void
a_recording_after_one_with_a_counter_is_saved(void)
{
    const char *path = temp_path("again.sonde");

    for (int i = 0; i < 2; i++) {
        start(path, 0);
        if (i == 0)
            SONDE_COUNTER_SET("in the first", 5);
        enter_named("in both", 2);
        CHECK(sonde_stop() == 0);
        check_count(path, "in both", 2);
    }
}

static void
a_counter_that_is_not_a_number_does_not_cost_the_recording(void)
{
    const char *path = temp_path("nan.sonde");

    start(path, 0);
    SONDE_COUNTER_SET("no number", NAN);
    enter_named("beside it", 2);
    CHECK(sonde_stop() == 0);
    check_count(path, "beside it", 2);
}

/* ---- failing memory ---- */

static snd_status
start_and_stop(void *context)
{
    snd_buffer message = {0};
    snd_session_options options = {.recording = context, .timeline = 1, .own_cost_ns = 1};
    snd_status status = snd_session_start(&options, &message);

    if (status == SND_OK) {
        enter_named("lucky", 2);
        status = snd_session_stop(&message, NULL);
    }
    CHECK(!snd_session_is_running());
    snd_buffer_free(&message);
    return status;
}

static void
every_failing_allocation_is_reported_and_nothing_runs_after_it(void)
{
    char path[512];

    strcpy(path, temp_path("no memory.sonde"));
    CHECK(fail_each_allocation(start_and_stop, path) > 10);
    check_count(path, "lucky", 2);
}

static snd_status
profile_again(void *context)
{
    snd_profile *profile = NULL;
    snd_status status = snd_session_profile(&profile);

    (void)context;
    CHECK((status == SND_OK) == (profile != NULL));
    snd_profile_free(profile);
    return status;
}

static void
a_profile_that_finds_no_memory_says_so(void)
{
    REQUIRE(sonde_start(NULL) == 0);
    enter_named("counted", 3);
    CHECK(fail_each_allocation(profile_again, NULL) > 10);
    CHECK(sonde_stop() == 0);
}

/* Nodes that came while memory was short: the last checkpoint fails, or holds them. */
static void
memory_that_is_short_at_the_end_is_reported(void)
{
    const char *path = temp_path("short.sonde");
    char name[32];

    for (long n = 0; n < 40; n += 3) {
        start(path, 0);
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "node %ld %d", n, i);
            enter_named(name, 1);
        }
        snd_alloc_fail_after(n);
        int status = sonde_stop();
        snd_alloc_fail_after(-1);
        CHECK(status == 0 || strstr(sonde_error(), snd_status_text(SND_NO_MEMORY)) != NULL);
        CHECK(!snd_session_is_running());
    }
}

int
main(void)
{
    RUN(a_checkpoint_comes_about_once_a_second);
    RUN(every_failing_allocation_is_reported_and_nothing_runs_after_it);
    RUN(a_profile_that_finds_no_memory_says_so);
    RUN(memory_that_is_short_at_the_end_is_reported);
    RUN(what_changed_before_a_new_node_appeared_is_written);
    RUN(a_reset_with_a_counter_does_not_cost_the_recording);
    RUN(a_recording_after_one_with_a_counter_is_saved);
    RUN(a_counter_that_is_not_a_number_does_not_cost_the_recording);
    return check_report();
}
