/* What becomes of each metric, of memory over time and of clocks where two recordings become one. */
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "model/processes.h"
#include "store/merge/merge_files.h"

static void
merge_two(snd_profile *a, snd_profile *b, path_text out)
{
    path_text paths[2];
    const char *list[] = {paths[0], paths[1]};
    snd_merge_result result;

    name_path(paths[0], "two", 0);
    name_path(paths[1], "two", 1);
    name_path(out, "both", 0);
    write_profile(paths[0], a, 0);
    write_profile(paths[1], b, 0);
    REQUIRE(snd_merge_files(out, list, 2, &result) == SND_OK);
    CHECK(result.twice == 0);
    snd_profile_free(a);
    snd_profile_free(b);
}

static void
each_metric_follows_its_rule(void)
{
    snd_profile *a = process_profile("h", 1, 1000, 1000), *b = process_profile("h", 2, 1500, 1500);
    uint32_t in_a = find_node(a, "main", "load"), in_b = find_node(b, "main", "load");
    uint32_t queue_a = find_node(a, "main", "queue"), queue_b = find_node(b, "main", "queue");
    path_text out;

    set_whole(a, in_a, SND_METRIC_TOTAL, 70);
    set_whole(b, in_b, SND_METRIC_TOTAL, 30);
    set_whole(a, in_a, SND_METRIC_MIN, 5);
    set_whole(b, in_b, SND_METRIC_MIN, 9);
    set_whole(a, in_a, SND_METRIC_MAX, 5);
    set_whole(b, in_b, SND_METRIC_MAX, 9);
    set_whole(a, in_a, SND_METRIC_LIVE_AVERAGE, 300); /* for 1000 of 1500 ns */
    set_whole(a, in_a, SND_METRIC_GRAPH_GONE, 1);
    set_whole(a, queue_a, SND_METRIC_GRAPH_GONE, 1);
    set_whole(b, queue_b, SND_METRIC_GRAPH_GONE, 1);
    set_real(a, queue_a, SND_METRIC_VALUE_LAST, 90); /* b's tracks end later */
    set_real(b, queue_b, SND_METRIC_VALUE_LAST, 4);
    merge_two(a, b, out);
    snd_profile *sum = read_recording(out);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_TOTAL), 100);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_MIN), 5);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_MAX), 9);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_LIVE_AVERAGE), 200);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_GRAPH_GONE), 0);
    CHECK_NUMBER(node_whole(sum, "main", "queue", SND_METRIC_GRAPH_GONE), 1);
    CHECK(node_real(sum, "main", "queue", SND_METRIC_VALUE_LAST) == 4);
    CHECK_NUMBER(snd_profile_info_number(sum, "length_ns"), 1500);
    snd_profile_free(sum);
}

/* A region that was never entered has no shortest entry. */
static void
what_was_not_entered_is_not_the_least(void)
{
    snd_profile *a = process_profile("h", 1, 1000, 1000), *b = process_profile("h", 2, 1500, 1500);
    uint32_t in_a = find_node(a, "main", "load");
    uint64_t least = node_whole(b, "main", "load", SND_METRIC_MIN);
    path_text out;

    set_whole(a, in_a, SND_METRIC_COUNT, 0);
    set_whole(a, in_a, SND_METRIC_OPEN, 0);
    set_whole(a, in_a, SND_METRIC_MIN, 0);
    merge_two(a, b, out);
    snd_profile *sum = read_recording(out);
    CHECK(least != 0);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_MIN), least);
    snd_profile_free(sum);
}

/* Killed before its first checkpoint. */
static void
processes_without_a_length_are_merged(void)
{
    snd_profile *pair[] = {process_profile("h", 1, 1000, 1000), process_profile("h", 2, 1000, 1000)};
    const snd_point points[] = {{0, 10}, {5, 20}};
    path_text out;

    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE(snd_profile_set_info_number(pair[i], "length_ns", 0) == SND_OK);
        REQUIRE(snd_profile_set_series(pair[i], "heap", "bytes", points, 2) == SND_OK);
    }
    merge_two(pair[0], pair[1], out);
    snd_profile *sum = read_recording(out);
    const snd_series *heap = snd_profile_series(sum, "heap");
    REQUIRE(heap != NULL && heap->count == 1);
    CHECK(heap->points[0].value == 20);
    snd_profile_free(sum);
}

/* Both at their own steps: 0 to 1000 and 500 to 1500 ns of the sum. */
static void
memory_is_added_at_the_same_moments(void)
{
    snd_profile *a = process_profile("h", 1, 1000, 1000), *b = process_profile("h", 2, 1500, 1500);
    const uint64_t second = UINT64_C(1000000000);
    const snd_point of_a[] = {{0, 10}, {second, 30}}, of_b[] = {{0, 5}, {second, 7}};
    path_text out;

    REQUIRE(snd_profile_set_info_number(a, "length_ns", 2 * second) == SND_OK);
    REQUIRE(snd_profile_set_info_number(b, "length_ns", 2 * second) == SND_OK);
    REQUIRE(snd_profile_set_info_number(b, "start_monotonic_ns", 1000 + second / 2) == SND_OK);
    REQUIRE(snd_profile_set_info_number(b, "start_realtime_ns", 1000 + second / 2) == SND_OK);
    REQUIRE(snd_profile_set_series(a, "heap", "bytes", of_a, 2) == SND_OK);
    REQUIRE(snd_profile_set_series(b, "heap", "bytes", of_b, 2) == SND_OK);
    merge_two(a, b, out);
    snd_profile *sum = read_recording(out);
    const snd_series *heap = snd_profile_series(sum, "heap");
    REQUIRE(heap != NULL && heap->count > 40);
    for (uint32_t i = 0; i < heap->count; i++) {
        uint64_t at = heap->points[i].at_ns;
        double in_a = at > 2 * second ? 0 : at >= second ? 30 : 10;
        double in_b = at < second / 2 ? 0 : at >= 3 * second / 2 ? 7 : 5;
        CHECK(heap->points[i].value == in_a + in_b);
    }
    CHECK_NUMBER(snd_profile_info_number(sum, "peak_together_bytes"), 37);
    snd_profile_free(sum);
}

/* b has 100 bytes from its first second on and 300 at its end; it starts half a second after a. */
static void
the_memory_of_a_node_is_added_at_the_same_moments(void)
{
    const uint64_t second = UINT64_C(1000000000);
    snd_profile *a = process_profile("h", 1, 1000, 1000),
                *b = process_profile("h", 2, 1000 + second / 2, 1000 + second / 2);
    snd_history history = {.count = 2, .points = {{100, 5, 1}, {300, 9, 2}}};
    path_text out;

    REQUIRE(snd_profile_set_info_number(a, "length_ns", second) == SND_OK);
    REQUIRE(snd_profile_set_info_number(b, "length_ns", 2 * second) == SND_OK);
    REQUIRE(snd_profile_set_info_number(b, "history_step_ns", second) == SND_OK);
    REQUIRE(snd_profile_set_history(b, find_node(b, "main", "load"), &history) == SND_OK);
    merge_two(a, b, out);
    snd_profile *sum = read_recording(out);
    const snd_history *found = snd_profile_history(sum, find_node(sum, "main", "load"));
    uint64_t step = snd_profile_info_number(sum, "history_step_ns");
    REQUIRE(found != NULL && found->count == SND_HISTORY_POINTS);
    CHECK(step * SND_HISTORY_POINTS >= 5 * second / 2);
    for (uint32_t i = 0; i < found->count; i++) {
        uint64_t at = (i + 1) * step;
        CHECK_NUMBER(found->points[i].live, at < 3 * second / 2 ? 0 : at < 5 * second / 2 ? 100 : 300);
    }
    CHECK_NUMBER(found->points[SND_HISTORY_POINTS - 1].taken, 9);
    snd_profile_free(sum);
}

static uint64_t
offset_between(const char *host, uint64_t realtime_ns, uint64_t monotonic_ns)
{
    path_text out;
    const uint64_t day = UINT64_C(1700000000000000000);

    merge_two(process_profile("one", 1, day, 5000), process_profile(host, 2, day + realtime_ns, monotonic_ns), out);
    snd_profile *sum = read_recording(out);
    uint32_t found, second = snd_process_find(sum, "2", &found), first = snd_process_find(sum, "1", &found);
    REQUIRE(second != SND_NONE && first != SND_NONE);
    CHECK_NUMBER(sum->processes[first].offset_ns, 0);
    uint64_t offset = sum->processes[second].offset_ns;
    for (uint32_t i = 0; i < sum->track_count; i++) /* its tracks moved with it */
        if (sum->tracks[i].summed_on != 0 && sum->tracks[i].process == second)
            CHECK(sum->tracks[i].start_ns >= offset);
    snd_profile_free(sum);
    return offset;
}

static void
clocks_of_one_host_are_compared_by_the_monotonic_one(void)
{
    CHECK_NUMBER(offset_between("one", 700, 5300), 300);
}

static void
clocks_of_two_hosts_are_compared_by_the_time_of_day(void)
{
    CHECK_NUMBER(offset_between("two", 700, 5300), 700);
}

static void
a_host_that_was_started_anew_has_another_clock(void)
{
    CHECK_NUMBER(offset_between("one", UINT64_C(86400000000000), 5300), UINT64_C(86400000000000));
}

int
main(void)
{
    RUN(each_metric_follows_its_rule);
    RUN(what_was_not_entered_is_not_the_least);
    RUN(processes_without_a_length_are_merged);
    RUN(memory_is_added_at_the_same_moments);
    RUN(the_memory_of_a_node_is_added_at_the_same_moments);
    RUN(clocks_of_one_host_are_compared_by_the_monotonic_one);
    RUN(clocks_of_two_hosts_are_compared_by_the_time_of_day);
    RUN(a_host_that_was_started_anew_has_another_clock);
    return check_report();
}
