/* The collector by itself, without a session. */
#include "base/alloc.h"
#include "check.h"
#include "collect/collector.h"
#include "fixture.h"
#include "probe/region/region.h"
#include "store/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[512];

static snd_status
describe(snd_profile *profile, uint64_t now, int is_last)
{
    (void)now;
    snd_alloc_fail_after(-1); /* memory is back between the update and the writing */
    return snd_profile_set_info(profile, "complete", is_last ? "1" : "0");
}

static snd_collector *
start(int with_timeline)
{
    snd_outputs outputs = {0};
    snd_collector *collector = NULL;

    snprintf(path, sizeof path, "%s", temp_path("collected.sonde"));
    REQUIRE(snd_writer_open(path, &outputs.recording) == SND_OK);
    REQUIRE(snd_collector_start(outputs, with_timeline, snd_clock_ticks(), describe, &collector) == SND_OK);
    return collector;
}

static snd_status
stop(snd_collector *collector, snd_buffer *message)
{
    snd_status status = snd_collector_finish(collector, message);
    snd_alloc_fail_after(-1);
    snd_collector_free(collector);
    return status;
}

static snd_status
count_event(void *context, const snd_profile_event *event)
{
    (void)event;
    ++*(uint32_t *)context;
    return SND_OK;
}

static snd_profile *
read_collected(uint32_t *events)
{
    snd_reader *reader = NULL;
    snd_profile *profile = NULL;

    REQUIRE(snd_reader_open(path, &reader) == SND_OK && snd_reader_profile(reader, &profile) == SND_OK);
    snd_status status = snd_reader_timeline(reader, profile, count_event, events);
    CHECK(status == SND_OK || status == SND_NO_TIMELINE);
    snd_reader_free(reader);
    return profile;
}

static void
nothing_is_lost_around_a_pause(void)
{
    snd_buffer message = {0};
    uint32_t events = 0;

    start_anew("main");
    snd_track_keep_timeline(1);
    snd_collector *collector = start(1);
    enter_and_leave("before");
    snd_collector_pause(collector);
    snd_collector_pause(collector);
    enter_and_leave("meanwhile");
    snd_collector_resume(collector);
    snd_collector_resume(collector);
    enter_and_leave("after");
    CHECK(stop(collector, &message) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&message), "");
    snd_track_keep_timeline(0);
    snd_profile *profile = read_collected(&events);
    CHECK_NUMBER(events, 3);
    CHECK_NUMBER(node_whole(profile, "main", "meanwhile", SND_METRIC_COUNT), 1);
    CHECK_TEXT(snd_profile_info(profile, "complete"), "1");
    snd_profile_free(profile);
}

static void
what_was_in_the_rings_before_is_not_part_of_it(void)
{
    snd_buffer message = {0};
    uint32_t events = 0;

    start_anew("main");
    snd_track_keep_timeline(1);
    enter_and_leave("too early");
    snd_collector *collector = start(1);
    enter_and_leave("in time");
    CHECK(stop(collector, &message) == SND_OK);
    snd_track_keep_timeline(0);
    snd_profile_free(read_collected(&events));
    CHECK_NUMBER(events, 1);
}

static void
a_collector_goes_on_after_it_has_finished(void)
{
    snd_buffer message = {0};
    uint32_t events = 0;

    start_anew("main");
    snd_collector *collector = start(0);
    enter_and_leave("first");
    CHECK(snd_collector_finish(collector, &message) == SND_OK);
    snd_profile *profile = read_collected(&events);
    CHECK_NUMBER(node_whole(profile, "main", "first", SND_METRIC_COUNT), 1);
    snd_profile_free(profile);
    snd_collector_resume(collector);
    enter_and_leave("first");
    CHECK(stop(collector, &message) == SND_OK);
    profile = read_collected(&events);
    CHECK_NUMBER(node_whole(profile, "main", "first", SND_METRIC_COUNT), 2);
    snd_profile_free(profile);
}

static void
a_collector_that_is_freed_touches_no_file(void)
{
    size_t before, after;

    start_anew("main");
    snd_collector *collector = start(0);
    enter_and_leave("forgotten");
    snd_collector_pause(collector);
    char *first = read_file(path, &before);
    snd_collector_free(collector);
    char *second = read_file(path, &after);
    CHECK(before == after && memcmp(first, second, before) == 0);
    free(first);
    free(second);
    snd_collector_free(NULL);
    CHECK(snd_collector_finish(NULL, NULL) == SND_OK);
}

static void
add_nodes(void)
{
    char name[24];

    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "one of many %d", i);
        enter_and_leave(name);
    }
}

/* The update ends in the middle of the nodes; what is written then is not more than it saw. */
static void
an_update_that_found_no_memory_is_written_as_far_as_it_came(void)
{
    unsigned failed = 0;

    start_anew("main");
    add_nodes();
    run_in_thread(add_nodes);
    for (long n = 0; n < 80; n++) {
        snd_buffer message = {0};
        uint32_t events = 0;
        snd_collector *collector = start(0);
        snd_alloc_fail_after(n);
        snd_status status = stop(collector, &message);
        failed += status != SND_OK;
        CHECK(status == SND_OK || strstr(snd_buffer_str(&message), snd_status_text(SND_NO_MEMORY)) != NULL);
        snd_profile_free(read_collected(&events));
        snd_buffer_free(&message);
    }
    CHECK(failed > 10 && failed < 80); /* all of them, to the last */
}

static snd_status
start_again(void *context)
{
    snd_outputs outputs = {0};
    snd_collector *collector = NULL;
    snd_status status = snd_collector_start(outputs, 0, 0, describe, &collector);

    (void)context;
    CHECK((status == SND_OK) == (collector != NULL));
    if (collector != NULL)
        snd_collector_pause(collector);
    snd_collector_free(collector);
    return status;
}

static void
every_failing_allocation_of_a_start_is_reported(void)
{
    CHECK(fail_each_allocation(start_again, NULL) >= 2);
}

int
main(void)
{
    RUN(nothing_is_lost_around_a_pause);
    RUN(what_was_in_the_rings_before_is_not_part_of_it);
    RUN(a_collector_goes_on_after_it_has_finished);
    RUN(a_collector_that_is_freed_touches_no_file);
    RUN(an_update_that_found_no_memory_is_written_as_far_as_it_came);
    RUN(every_failing_allocation_of_a_start_is_reported);
    return check_report();
}
