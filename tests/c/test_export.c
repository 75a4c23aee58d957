/* Whole recordings for other programs: folded stacks, speedscope, pprof, pstats, callgrind, traces. The folder of
 * golden files is the first argument. */
#include "base/alloc.h"
#include "check.h"
#include "collect/trace_file.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_golden.h"
#include "fixture_merge.h"
#include "fixture_samples.h"
#include "format/stacks/callgraph.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* A recording of the samples, open, with its events. */
typedef struct opened {
    snd_reader *reader;
    snd_profile *profile;
} opened;

static opened
open_recording(const char *path, int with_timeline)
{
    opened self = {0};

    REQUIRE(snd_reader_open(path, &self.reader) == SND_OK);
    REQUIRE(snd_reader_profile(self.reader, &self.profile) == SND_OK);
    REQUIRE(!with_timeline || snd_reader_events(self.reader, self.profile) == SND_OK);
    return self;
}

static opened
open_samples(int with_timeline)
{
    const char *path = temp_path("samples.sonde");

    write_samples(path, with_timeline);
    return open_recording(path, with_timeline);
}

static void
close_samples(opened *self)
{
    snd_profile_free(self->profile);
    snd_reader_free(self->reader);
}

static snd_status
export_to(const char *path, const char *format, const opened *from, const snd_export_options *options)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    REQUIRE(file >= 0);
    snd_status status = snd_format_find(format)->write_recording(from->reader, from->profile, options, file);
    close(file);
    return status;
}

/* The text of a profile in a format; the caller frees it. */
static char *
exported(const char *format, snd_profile *profile)
{
    const char *path = temp_path("exported");
    CHECK(export_to(path, format, &(opened){.profile = profile}, &(snd_export_options){0}) == SND_OK);
    return read_file(path, NULL);
}

/* gzread() gives the bytes of what is not packed as they are. */
static void
check_export(const char *name, const char *format, const opened *from, const snd_export_options *options)
{
    const char *path = temp_path("golden");
    static char bytes[1 << 20];
    char file[64];

    CHECK(export_to(path, format, from, options) == SND_OK);
    gzFile packed = gzopen(path, "rb");
    int size = gzread(packed, bytes, sizeof bytes);
    gzclose(packed);
    REQUIRE(size > 0 && size < (int)sizeof bytes);
    snprintf(file, sizeof file, "recordings/%s.%s", name, format);
    if (strcmp(format, "pprof") == 0 || strcmp(format, "pstats") == 0 || strcmp(format, "perfetto") == 0)
        check_golden_bytes(file, bytes, (size_t)size);
    else
        check_golden(file, bytes, (size_t)size);
}

static void
every_format_writes_a_recording_as_it_did(void)
{
    opened from = open_samples(1);

    for (unsigned i = 0; i < snd_format_count; i++)
        if (snd_formats[i].write_recording != NULL)
            check_export("samples", snd_formats[i].name, &from, &(snd_export_options){0});
    close_samples(&from);
}

static void
every_format_writes_hostile_names_as_it_did(void)
{
    const char *path = temp_path("hostile.sonde");
    snd_profile *profile = hostile_profile();

    write_profile(path, profile, 2);
    opened from = open_recording(path, 1);
    for (unsigned i = 0; i < snd_format_count; i++)
        if (snd_formats[i].write_recording != NULL)
            check_export("hostile", snd_formats[i].name, &from, &(snd_export_options){0});
    close_samples(&from);
    snd_profile_free(profile);
}

static void
options_choose_what_is_exported(void)
{
    const snd_export_options lines = {.by_line = 1, .cpu_only = 1};
    opened over_time = open_samples(1), in_sum = open_samples(0);

    check_export("lines", "collapsed", &in_sum, &lines);
    check_export("lines", "speedscope", &over_time, &lines);
    check_export("sums", "speedscope", &in_sum, &(snd_export_options){0});
    close_samples(&over_time);
    close_samples(&in_sum);
}

static void
no_golden_file_is_left_over(void)
{
    check_golden_used("recordings");
}

static void
regions_alone_are_stacks_too(void)
{
    snd_profile *profile = small_profile();
    char *folded = exported("collapsed", profile), *drawn = exported("speedscope", profile);

    CHECK_TEXT(folded, "main 1500\nmain;load 7000\nmain;load;parse 1000\nmain;write 500\nworker 5400\n"
                       "worker;parse 1600\n");
    CHECK(strstr(drawn, "\"samples\": [[],[0],[0,1],[2]],\n   \"weights\": [1500000,7000000,1000000,500000]}") != NULL);
    free(folded);
    free(drawn);
    snd_profile_free(profile);
}

static void
a_trace_needs_a_timeline_and_stacks_need_something(void)
{
    opened in_sum = open_samples(0), only_calls = {.profile = calls_profile()};
    const char *path = temp_path("nothing");

    CHECK(export_to(path, "chrome", &in_sum, &(snd_export_options){0}) == SND_NO_TIMELINE);
    CHECK(snd_stacks_main_cost(only_calls.profile, 0) == SND_COST_COUNT);
    CHECK(snd_stacks_main_cost(in_sum.profile, 0) == SND_COST_WALL);
    set_whole(in_sum.profile, 2, SND_METRIC_PYTHON, 1);
    CHECK(export_to(path, "collapsed", &in_sum, &(snd_export_options){.cpu_only = 1}) == SND_OK);
    close_samples(&in_sum);
    close_samples(&only_calls);
}

static void
a_profile_whose_times_are_all_0_has_nothing(void)
{
    opened empty = {.profile = snd_profile_new()};
    const char *path = temp_path("zero");

    add_region(empty.profile, add_root(empty.profile, add_track(empty.profile, "main", 1, 0, 0), 0, 0), "r", 1, 0, 0);
    CHECK(export_to(path, "collapsed", &empty, &(snd_export_options){0}) == SND_NO_DATA);
    CHECK(export_to(path, "speedscope", &empty, &(snd_export_options){0}) == SND_NO_DATA);
    close_samples(&empty);
}

/* UBSan sees whoever sorts or copies nothing through a NULL pointer. */
static void
a_profile_with_nothing_in_it_harms_no_format(void)
{
    snd_profile *profile = snd_profile_new();
    const char *recording = temp_path("empty.sonde"), *path = temp_path("empty");

    for (int turn = 0; turn < 2; turn++) {
        opened empty = {.profile = profile};
        write_profile(recording, profile, 0);
        REQUIRE(snd_reader_open(recording, &empty.reader) == SND_OK);
        for (unsigned i = 0; i < snd_format_count; i++) {
            if (snd_formats[i].write_recording == NULL)
                continue;
            snd_status status = export_to(path, snd_formats[i].name, &empty, &(snd_export_options){0});
            CHECK(status == SND_OK || status == SND_NO_DATA || status == SND_NO_TIMELINE);
        }
        snd_reader_free(empty.reader);
        add_root(profile, add_track(profile, "main", 1, 0, 0), 0, 0);
    }
    snd_profile_free(profile);
}

/* ---- names and depths ---- */

static void
a_name_cannot_end_a_frame_or_a_line(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "a;b\nc", 1, 0, 9), 0, 0);

    add_region(profile, root, "x;y \r\n \"\\ 7", 1, 2000, 2000);
    char *folded = exported("collapsed", profile), *drawn = exported("speedscope", profile);
    CHECK_TEXT(folded, "a,b c;x,y    \"\\ 7 2\n");
    CHECK(strstr(drawn, "{\"name\": \"x;y \\u000d\\u000a \\\"\\\\ 7\"") != NULL);
    free(folded);
    free(drawn);
    snd_profile_free(profile);
}

static void
threads_of_one_name_are_folded_into_one(void)
{
    snd_profile *profile = snd_profile_new();

    for (uint32_t i = 0; i < 3; i++) {
        uint32_t track = add_track(profile, i == 1 ? "main" : "pool", 1 + i, 0, 9);
        add_region(profile, add_root(profile, track, 0, 0), "work", 1, 2000, 2000);
    }
    char *folded = exported("collapsed", profile), *drawn = exported("speedscope", profile);
    CHECK_TEXT(folded, "main;work 2\npool;work 4\n");
    CHECK_NUMBER(count_text(drawn, "\"name\": \"pool\""), 2);
    free(folded);
    free(drawn);
    snd_profile_free(profile);
}

static void
times_are_rounded_to_microseconds(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 1, 0, 9), 0, 0);

    add_region(profile, root, "a", 1, 499, 499);
    add_region(profile, root, "b", 1, 500, 500);
    add_region(profile, root, "c", 1, 1499, 1499);
    char *folded = exported("collapsed", profile);
    CHECK_TEXT(folded, "main;b 1\nmain;c 1\n");
    free(folded);
    snd_profile_free(profile);
}

static void
a_stack_that_is_too_deep_is_cut(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t node = add_root(profile, add_track(profile, "main", 1, 0, 9), 0, 0);
    snd_profile_site site = {.kind = SND_SITE_LINE, .name = "f", .file = "a.py", .line = 2, .detail = ""};

    for (uint32_t i = 0; i < 3 * SND_STACK_DEPTH; i++)
        node = add_frame(profile, node, &site);
    set_whole(profile, node, SND_METRIC_WAIT_LOCK, 5000);
    set_whole(profile, node, SND_METRIC_PYTHON, 2000);
    char *folded = exported("collapsed", profile), *drawn = exported("speedscope", profile);
    CHECK_NUMBER(count_text(folded, ";f (a.py)"), SND_STACK_DEPTH);
    CHECK_TEXT(folded + strlen(folded) - 12, ";f (a.py) 7\n");
    CHECK_NUMBER(count_text(folded, "\n"), 1);
    CHECK(strstr(drawn, "\"weights\": [7000]}") != NULL);
    free(folded);
    free(drawn);
    snd_profile_free(profile);
}

/* ---- functions and pairs ---- */

static void
recursion_counts_once_in_totals(void)
{
    snd_profile *profile = snd_profile_new();
    uint32_t root = add_root(profile, add_track(profile, "main", 1, 0, 9), 0, 0);
    uint32_t f = add_region(profile, root, "f", 1, 10, 1);
    uint32_t g = add_region(profile, f, "g", 2, 4, 2);
    snd_callgraph graph;

    add_region(profile, add_region(profile, g, "f", 3, 2, 3), "g", 1, 1, 4);
    snd_callgraph_make(profile, &(snd_callgraph_options){0}, &graph);
    CHECK_NUMBER(graph.function_count, 2);
    CHECK_NUMBER(graph.pair_count, 2);
    CHECK_NUMBER(graph.functions[0].numbers.count, 4);
    CHECK_NUMBER(graph.functions[0].numbers.primitive, 1);
    CHECK_NUMBER(graph.functions[0].numbers.self.of[SND_COST_TIME], 1 + 3);
    CHECK_NUMBER(graph.functions[0].numbers.total.of[SND_COST_TIME], 1 + 2 + 3 + 4);
    CHECK_NUMBER(graph.functions[1].numbers.total.of[SND_COST_TIME], 2 + 3 + 4);
    CHECK_NUMBER(graph.pairs[0].numbers.total.of[SND_COST_TIME], 2 + 3 + 4);
    CHECK_NUMBER(graph.pairs[1].numbers.total.of[SND_COST_TIME], 3 + 4);
    CHECK_NUMBER(graph.all.of[SND_COST_TIME], 1 + 2 + 3 + 4);
    snd_profile_free(profile);
}

static void
a_function_has_the_costs_of_its_lines(void)
{
    snd_profile *profile = samples_profile();
    snd_callgraph graph;
    uint64_t wall = 0, cpu = 0;

    snd_callgraph_make(profile, &(snd_callgraph_options){.by_line = 1}, &graph);
    for (uint32_t i = 0; i < graph.line_count; i++) {
        wall += graph.lines[i].self.of[SND_COST_WALL];
        cpu += graph.lines[i].self.of[SND_COST_CPU];
    }
    CHECK_NUMBER(wall, 17500000);
    CHECK_NUMBER(cpu, 6500000);
    CHECK_NUMBER(graph.all.of[SND_COST_WALL], wall);
    for (uint32_t i = 0; i < graph.function_count; i++)
        if (strcmp(graph.functions[i].name, "f") == 0) {
            CHECK_NUMBER(graph.functions[i].line, 8);
            CHECK_NUMBER(graph.functions[i].numbers.self.of[SND_COST_WALL], 3000000);
            CHECK_NUMBER(graph.functions[i].numbers.total.of[SND_COST_WALL], 6000000);
        }
    snd_profile_free(profile);
}

/* ---- the trace that grows ---- */

static void
a_trace_that_grows_has_the_slices_of_the_export(void)
{
    const char *path = temp_path("growing.json");
    snd_profile *profile = samples_profile();
    snd_trace_file *file = NULL;

    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    for (uint32_t track = 0; track < 2; track++) {
        unsigned count;
        const snd_profile_event *events = samples_events(track, &count);
        for (unsigned i = 0; i < count; i++)
            CHECK(snd_trace_file_add(file, profile, &events[i]));
    }
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    char *text = read_file(path, NULL);
    check_golden("recordings/samples.chrome", text, strlen(text));
    free(text);
    snd_trace_file_free(file);
    snd_profile_free(profile);
}

/* ---- slices ---- */

static char *
slices_of(const snd_profile_event *events, unsigned count)
{
    const char *path = temp_path("slices.json");
    snd_profile *profile = samples_profile();
    snd_trace_file *file = NULL;

    REQUIRE(snd_trace_file_open(path, profile, &file) == SND_OK);
    for (unsigned i = 0; i < count; i++)
        CHECK(snd_trace_file_add(file, profile, &events[i]));
    CHECK(snd_trace_file_write(file, profile) == SND_OK);
    snd_trace_file_free(file);
    snd_profile_free(profile);
    return read_file(path, NULL);
}

static void
a_slice_does_not_reach_over_a_long_gap(void)
{
    static const snd_profile_event events[] = {
        {0, {1000000}, 2, {0}, 0}, {2500000, {1000000}, 2, {0}, 0}, {9000000, {1000000}, 2, {0}, 0}};
    char *text = slices_of(events, 3);

    CHECK_NUMBER(count_text(text, "\"name\": \"f\""), 2);
    CHECK_NUMBER(count_text(text, "\"ts\": 0.000, \"dur\": 3500.000"), 2);
    CHECK_NUMBER(count_text(text, "\"ts\": 9000.000, \"dur\": 1000.000"), 2);
    free(text);
}

static void
samples_that_overlap_are_drawn_one_after_the_other(void)
{
    static const snd_profile_event events[] = {
        {1000, {5000}, 2, {0}, 0}, {2000, {1000}, 4, {0}, 0}, {0, {UINT64_MAX}, 2, {0}, 0}, {500, {20}, 4, {0}, 0}};
    char *text = slices_of(events, 4);

    CHECK_NUMBER(count_text(text, "\"name\": \"compress\""), 2);
    CHECK_NUMBER(count_text(text, "\"ts\": 6.000, \"dur\": 0.000"), 1);
    free(text);
}

/* ---- what fails ---- */

typedef struct attempt {
    const char *format;
    opened from;
} attempt;

static snd_status
export_again(void *context)
{
    attempt *self = context;
    return export_to("/dev/null", self->format, &self->from, &(snd_export_options){0});
}

static void
every_failing_allocation_is_reported(void)
{
    for (unsigned i = 0; i < snd_format_count; i++) {
        if (snd_formats[i].write_recording == NULL)
            continue;
        attempt self = {snd_formats[i].name, open_samples(1)};
        CHECK(fail_each_allocation(export_again, &self) > 5);
        close_samples(&self.from);
    }
}

static void
a_full_disk_is_reported(void)
{
    opened from = open_samples(1);

    for (unsigned i = 0; i < snd_format_count; i++)
        if (snd_formats[i].write_recording != NULL)
            CHECK(export_to("/dev/full", snd_formats[i].name, &from, &(snd_export_options){0}) == SND_SYSTEM);
    close_samples(&from);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    golden_folder = argv[1];
    RUN(every_format_writes_a_recording_as_it_did);
    RUN(every_format_writes_hostile_names_as_it_did);
    RUN(options_choose_what_is_exported);
    RUN(no_golden_file_is_left_over);
    RUN(regions_alone_are_stacks_too);
    RUN(a_trace_needs_a_timeline_and_stacks_need_something);
    RUN(a_profile_whose_times_are_all_0_has_nothing);
    RUN(a_profile_with_nothing_in_it_harms_no_format);
    RUN(a_name_cannot_end_a_frame_or_a_line);
    RUN(threads_of_one_name_are_folded_into_one);
    RUN(times_are_rounded_to_microseconds);
    RUN(a_stack_that_is_too_deep_is_cut);
    RUN_WORK(recursion_counts_once_in_totals);
    RUN_WORK(a_function_has_the_costs_of_its_lines);
    RUN(a_trace_that_grows_has_the_slices_of_the_export);
    RUN(a_slice_does_not_reach_over_a_long_gap);
    RUN(samples_that_overlap_are_drawn_one_after_the_other);
    RUN(every_failing_allocation_is_reported);
    RUN(a_full_disk_is_reported);
    return check_report();
}
