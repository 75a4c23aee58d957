/* Several recordings as one: the sum does not depend on order or grouping, and every process can be had back. */
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "model/processes.h"
#include "store/merge/merge_files.h"
#include "store/reader.h"

#include <errno.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUTS 6u
#ifdef __SANITIZE_ADDRESS__ /* three times as slow */
#define TIMES 2u
#else
#define TIMES 8u
#endif

static void
merge_all(const char *out, const path_text *paths, const uint32_t *which, uint32_t count)
{
    const char *list[INPUTS];
    snd_merge_result result;

    for (uint32_t i = 0; i < count; i++)
        list[i] = paths[which[i]];
    REQUIRE(snd_merge_files(out, list, count, &result) == SND_OK);
    CHECK(result.twice == 0);
}

static void
write_inputs(uint64_t seed, path_text *paths)
{
    for (uint32_t i = 0; i < INPUTS; i++) {
        snd_profile *profile = random_profile(seed * INPUTS + i);
        name_path(paths[i], "input", i);
        write_profile(paths[i], profile, i % 2 == 0 ? 3 : 0);
        snd_profile_free(profile);
    }
}

static void
check_sums(const char *a, const char *b)
{
    snd_profile *left = read_recording(a), *right = read_recording(b);

    CHECK(sums_are_equal(left, right));
    snd_profile_free(left);
    snd_profile_free(right);
}

static void
shuffle(uint32_t *order, uint64_t *state)
{
    for (uint32_t i = INPUTS; i-- > 1;) {
        uint32_t other = (uint32_t)draw(state, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void
a_sum_does_not_depend_on_the_order(void)
{
    path_text paths[INPUTS], all, other;
    uint64_t state = 5;

    name_path(all, "all", 0);
    name_path(other, "other", 0);
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        uint32_t order[INPUTS] = {0, 1, 2, 3, 4, 5};
        write_inputs(seed, paths);
        merge_all(all, paths, order, INPUTS);
        shuffle(order, &state);
        merge_all(other, paths, order, INPUTS);
        check_sums(all, other);
    }
}

/* ((a b) (c d)) e f and the like: a part that is merged already counts as its processes do. */
static void
a_sum_does_not_depend_on_the_grouping(void)
{
    path_text paths[INPUTS], all, groups[INPUTS], out;
    uint64_t state = 77;

    name_path(all, "all", 1);
    name_path(out, "out", 1);
    for (uint64_t seed = 100; seed < 100 + TIMES; seed++) {
        uint32_t order[INPUTS] = {0, 1, 2, 3, 4, 5}, group = 0;
        write_inputs(seed, paths);
        merge_all(all, paths, order, INPUTS);
        shuffle(order, &state);
        for (uint32_t at = 0; at < INPUTS; group++) {
            uint32_t size = 1 + (uint32_t)draw(&state, 3);
            size = size < INPUTS - at ? size : INPUTS - at;
            name_path(groups[group], "group", group);
            merge_all(groups[group], paths, order + at, size);
            at += size;
        }
        /* all groups but the last, and then that */
        const uint32_t every[INPUTS] = {0, 1, 2, 3, 4, 5}, both[] = {0, 1};
        path_text last[2];
        name_path(last[0], "most", 0);
        memcpy(last[1], groups[group - 1], sizeof last[1]);
        if (group > 1)
            merge_all(last[0], groups, every, group - 1);
        merge_all(out, group > 1 ? last : last + 1, both, group > 1 ? 2 : 1);
        check_sums(all, out);
    }
}

/* ---- single processes ---- */

static snd_profile *
read_process(const char *path, const char *which)
{
    snd_reader *reader = NULL;
    snd_profile *outline = NULL, *profile = NULL;
    uint32_t found;

    REQUIRE(snd_reader_open(path, &reader) == SND_OK && snd_reader_outline(reader, &outline) == SND_OK);
    uint32_t process = snd_process_find(outline, which, &found);
    REQUIRE(process != SND_NONE && snd_reader_only(reader, process) == SND_OK);
    REQUIRE(snd_reader_profile(reader, &profile) == SND_OK);
    snd_status status = snd_reader_events(reader, profile);
    CHECK(status == SND_OK || status == SND_NO_TIMELINE);
    snd_profile_free(outline);
    snd_reader_free(reader);
    return profile;
}

static int
events_are_equal(const snd_profile *a, const snd_profile *b)
{
    size_t i = 0;

    /* by field: the bytes behind the last one are anything */
    for (; i < a->event_count && i < b->event_count; i++) {
        const snd_profile_event *one = &a->events[i], *other = &b->events[i];
        if (one->start_ns != other->start_ns || one->duration_ns != other->duration_ns || one->node != other->node ||
            one->task != other->task || one->track != other->track)
            return 0;
    }
    return i == a->event_count && i == b->event_count;
}

static void
check_process(const char *merged, const char *path)
{
    snd_profile *own = read_recording(path), *timed, *back;
    const char *pid = snd_profile_info(own, "process_id");

    timed = read_process(path, pid);
    back = read_process(merged, pid);
    CHECK(profiles_are_equal(own, back));
    CHECK(memory_is_equal(own, back));
    CHECK(events_are_equal(timed, back));
    CHECK_NUMBER(back->process_count, 1);
    snd_profile_free(own);
    snd_profile_free(timed);
    snd_profile_free(back);
}

static void
every_process_comes_back_as_it_was(void)
{
    const uint32_t all[INPUTS] = {0, 1, 2, 3, 4, 5}, half[] = {3, 1, 5}, rest[] = {0, 1, 2, 3};
    path_text paths[INPUTS], merged, inputs[4];

    name_path(merged, "all", 2);
    for (uint64_t seed = 200; seed < 200 + TIMES; seed++) {
        write_inputs(seed, paths);
        merge_all(merged, paths, all, INPUTS);
        for (uint32_t i = 0; i < INPUTS; i++)
            check_process(merged, paths[i]);
        /* also when it was merged twice */
        name_path(inputs[0], "half", 0);
        merge_all(inputs[0], paths, half, 3);
        memcpy(inputs[1], paths[0], sizeof inputs[1]);
        memcpy(inputs[2], paths[2], sizeof inputs[2]);
        memcpy(inputs[3], paths[4], sizeof inputs[3]);
        merge_all(merged, inputs, rest, 4);
        for (uint32_t i = 0; i < INPUTS; i++)
            check_process(merged, paths[i]);
    }
}

/* ---- what cannot be merged ---- */

static unsigned
count_files(void)
{
    char pattern[sizeof(path_text) + 8];
    glob_t found = {0};

    snprintf(pattern, sizeof pattern, "%s*", temp_path(""));
    int result = glob(pattern, 0, NULL, &found);
    unsigned count = result == 0 ? (unsigned)found.gl_pathc : 0;
    globfree(&found);
    return count;
}

/* `bad` beside a good recording: the status, and that nothing changed. */
static snd_status
status_with(const char *bad)
{
    path_text good, out;
    snd_merge_result result;
    snd_profile *profile = process_profile("h", 1, 1, 1);
    size_t size, size_after;

    name_path(good, "good", 0);
    name_path(out, "kept", 0);
    write_profile(good, profile, 0);
    write_profile(out, profile, 0);
    char *before = read_file(out, &size);
    unsigned files = count_files();
    const char *paths[] = {good, bad};
    snd_status status = snd_merge_files(out, paths, 2, &result);
    int saved = errno;
    if (status != SND_OK)
        CHECK_TEXT(result.failed, bad);
    char *after = read_file(out, &size_after);
    CHECK(size == size_after && memcmp(before, after, size) == 0);
    CHECK_NUMBER(count_files(), files);
    free(before);
    free(after);
    snd_profile_free(profile);
    errno = saved;
    return status;
}

static void
change(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void
what_is_no_recording_is_refused_and_nothing_written(void)
{
    path_text path;
    size_t size;
    snd_profile *profile = process_profile("h", 2, 2, 2);

    name_path(path, "bad", 0);
    CHECK(status_with(path) == SND_SYSTEM && errno == ENOENT);
    write_file(path, "text\n", 5);
    CHECK(status_with(path) == SND_NOT_A_RECORDING);
    CHECK(status_with(temp_path("")) == SND_SYSTEM && errno == EISDIR);
    unlink(path);
    write_profile(path, profile, 0);
    change(path, "PRAGMA user_version = 999");
    CHECK(status_with(path) == SND_NEWER);
    write_profile(path, profile, 0);
    char *bytes = read_file(path, &size);
    write_file(path, bytes, size / 2);
    CHECK(status_with(path) == SND_DAMAGED);
    free(bytes);
    snd_profile_free(profile);
}

static void
recordings_of_different_kinds_are_refused(void)
{
    path_text paths[3], out;
    snd_merge_result result;
    static const char *const probes[] = {"region, sample, memory", "region", "region, call"};

    name_path(out, "kinds", 0);
    unlink(out);
    for (uint32_t i = 0; i < 3; i++) {
        snd_profile *profile = process_profile("h", 1 + i, 1 + i, 1 + i);
        name_path(paths[i], "kind", i);
        set_info(profile, "probes", probes[i]);
        write_profile(paths[i], profile, 0);
        snd_profile_free(profile);
    }
    const char *list[] = {paths[0], paths[1], paths[2]};
    CHECK(snd_merge_files(out, list, 3, &result) == SND_OTHER_KIND);
    CHECK_TEXT(result.failed, paths[2]);
    CHECK(access(out, F_OK) != 0);
    CHECK(snd_merge_files(out, list, 2, &result) == SND_OK); /* regions alone go with everything */
    CHECK(snd_merge_files(out, list + 1, 2, &result) == SND_OK);
}

static void
a_file_that_is_no_recording_is_not_replaced(void)
{
    path_text path, out;
    snd_merge_result result;
    snd_profile *profile = process_profile("h", 1, 1, 1);

    name_path(path, "one", 0);
    name_path(out, "mine", 0);
    write_profile(path, profile, 0);
    write_file(out, "mine\n", 5);
    const char *list[] = {path};
    CHECK(snd_merge_files(out, list, 1, &result) == SND_NOT_A_RECORDING);
    CHECK_TEXT(result.failed, out);
    char *text = read_file(out, NULL);
    CHECK_TEXT(text, "mine\n");
    free(text);
    CHECK(snd_merge_files(temp_path(""), list, 1, &result) == SND_SYSTEM && errno == EISDIR);
    CHECK(snd_merge_files(temp_path("no/folder.sonde"), list, 1, &result) == SND_SYSTEM);
    snd_profile_free(profile);
}

static void
a_process_that_stands_twice_counts_once_and_longest(void)
{
    path_text paths[2], out;
    snd_merge_result result;

    name_path(out, "once", 0);
    for (uint32_t i = 0; i < 2; i++) {
        snd_profile *profile = process_profile("h", 7, 5, 5);
        name_path(paths[i], "same", i);
        REQUIRE(snd_profile_set_info_number(profile, "length_ns", 1000 + i) == SND_OK);
        write_profile(paths[i], profile, 0);
        snd_profile_free(profile);
    }
    const char *list[] = {paths[0], paths[1], paths[0]};
    REQUIRE(snd_merge_files(out, list, 3, &result) == SND_OK);
    CHECK_NUMBER(result.processes, 1);
    CHECK_NUMBER(result.twice, 2);
    CHECK_TEXT(result.twice_path, paths[1]);
    snd_profile *sum = read_recording(out), *one = read_recording(paths[1]);
    CHECK_NUMBER(sum->processes[0].length_ns, 1001);
    CHECK_NUMBER(node_whole(sum, "main", "load", SND_METRIC_COUNT), node_whole(one, "main", "load", SND_METRIC_COUNT));
    snd_profile_free(sum);
    snd_profile_free(one);
}

static void
what_is_written_may_be_one_of_those_that_are_read(void)
{
    path_text paths[2];
    snd_merge_result result;

    for (uint32_t i = 0; i < 2; i++) {
        snd_profile *profile = process_profile("h", 1 + i, 5 + i, 5 + i);
        name_path(paths[i], "into", i);
        write_profile(paths[i], profile, 2);
        snd_profile_free(profile);
    }
    const char *list[] = {paths[0], paths[1]};
    REQUIRE(snd_merge_files(paths[0], list, 2, &result) == SND_OK);
    snd_profile *sum = read_recording(paths[0]);
    CHECK_NUMBER(sum->process_count, 2);
    snd_profile_free(sum);
}

typedef struct attempt {
    const char *out;
    const char *paths[2];
} attempt;

static snd_status
try_to_merge(void *context)
{
    const attempt *self = context;
    snd_merge_result result;
    return snd_merge_files(self->out, self->paths, 2, &result);
}

static void
merging_without_memory_leaves_what_there_was(void)
{
    path_text paths[2], merged, out;
    const uint32_t first[] = {0};

    for (uint32_t i = 0; i < 2; i++) {
        snd_profile *profile = process_profile("h", 1 + i, 5 + i, 5 + i);
        name_path(paths[i], "poor", i);
        write_profile(paths[i], profile, 1);
        snd_profile_free(profile);
    }
    name_path(merged, "poor", 2);
    name_path(out, "poor", 3);
    merge_all(merged, paths, first, 1);
    attempt tried = {out, {merged, paths[1]}};
    CHECK(fail_each_allocation(try_to_merge, &tried) > 20);
    snd_profile *sum = read_recording(out);
    CHECK_NUMBER(sum->process_count, 2);
    snd_profile_free(sum);
}

int
main(void)
{
    RUN(a_sum_does_not_depend_on_the_order);
    RUN(a_sum_does_not_depend_on_the_grouping);
    RUN(every_process_comes_back_as_it_was);
    RUN(what_is_no_recording_is_refused_and_nothing_written);
    RUN(recordings_of_different_kinds_are_refused);
    RUN(a_file_that_is_no_recording_is_not_replaced);
    RUN(a_process_that_stands_twice_counts_once_and_longest);
    RUN(what_is_written_may_be_one_of_those_that_are_read);
    RUN(merging_without_memory_leaves_what_there_was);
    return check_report();
}
