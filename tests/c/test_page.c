/* The data of the report page: packed, decoded again, and compared with the profile. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_memory.h"
#include "fixture_ops.h"
#include "fixture_samples.h"
#include "format/page/page.h"
#include "os/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MS 1000000u

/* ---- reading a page's data ---- */

static unsigned
digit_of(char letter)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, letter);

    REQUIRE(letter != '\0' && at != NULL);
    return (unsigned)(at - digits);
}

static size_t
decode_base64(const char *text, size_t size, unsigned char *out)
{
    size_t count = 0;

    REQUIRE(size % 4 == 0);
    for (size_t i = 0; i < size; i += 4) {
        unsigned bits = digit_of(text[i]) << 18 | digit_of(text[i + 1]) << 12;
        bits |= text[i + 2] == '=' ? 0 : digit_of(text[i + 2]) << 6;
        bits |= text[i + 3] == '=' ? 0 : digit_of(text[i + 3]);
        out[count++] = (unsigned char)(bits >> 16);
        if (text[i + 2] != '=')
            out[count++] = (unsigned char)(bits >> 8);
        if (text[i + 3] != '=')
            out[count++] = (unsigned char)bits;
    }
    return count;
}

/* The JSON; the caller frees it. */
static char *
unpack(const snd_buffer *page)
{
    unsigned char *packed = malloc(page->size);
    size_t capacity = 64u << 20;
    char *json = malloc(capacity);
    z_stream stream = {0};

    REQUIRE(packed != NULL && json != NULL);
    stream.next_in = packed;
    stream.avail_in = (uInt)decode_base64(page->data, page->size, packed);
    stream.next_out = (Bytef *)json;
    stream.avail_out = (uInt)capacity - 1;
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    json[stream.total_out] = '\0';
    inflateEnd(&stream);
    free(packed);
    return json;
}

static char *
data_with(const snd_profile *profile, snd_page_options options)
{
    snd_buffer page = {0};

    REQUIRE(snd_page_data(profile, NULL, &options, &page) == SND_OK);
    char *json = unpack(&page);
    snd_buffer_free(&page);
    return json;
}

static char *
data_of(const snd_profile *profile)
{
    return data_with(profile, (snd_page_options){0});
}

/* The numbers of the list that stands behind `key`, such as "\"python\":{\"node\":[". */
static unsigned
numbers(const char *json, const char *key, int64_t *out, unsigned capacity)
{
    const char *at = strstr(json, key);
    unsigned count = 0;

    REQUIRE(at != NULL);
    for (at += strlen(key); *at != ']' && count < capacity; at += *at == ',')
        out[count++] = strtoll(at, (char **)(uintptr_t)&at, 10);
    return count;
}

static int64_t
sum_of(const char *json, const char *metric)
{
    static int64_t values[4096];
    char key[64];
    int64_t sum = 0;

    snprintf(key, sizeof key, "\"%s\":{\"node\":[", metric);
    const char *from = strstr(json, key);
    REQUIRE(from != NULL);
    unsigned count = numbers(from, "\"value\":[", values, 4096);
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* The events of both tracks, sorted by start. */
static void
give_events(snd_profile *profile)
{
    unsigned counts[2];
    const snd_profile_event *lists[] = {samples_events(0, &counts[0]), samples_events(1, &counts[1])};

    profile->events = snd_calloc(counts[0] + counts[1], sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (unsigned t = 0; t < 2; t++)
        for (unsigned i = 0; i < counts[t]; i++)
            profile->events[profile->event_count++] = lists[t][i];
}

/* ---- tests ---- */

static void
nodes_stand_in_columns(void)
{
    snd_profile *profile = samples_profile();
    char *json = data_of(profile);
    int64_t parents[16];

    CHECK_NUMBER(numbers(json, "\"nodes\":{\"parent\":[", parents, 16), profile->node_count);
    for (uint32_t i = 0; i < profile->node_count; i++)
        CHECK(parents[i] == (profile->nodes[i].parent == SND_NONE ? -1 : (int64_t)profile->nodes[i].parent));
    CHECK_NUMBER(sum_of(json, "python"), 3 * MS + MS / 2);
    CHECK_NUMBER(sum_of(json, "wait_sleep"), 7 * MS);
    CHECK_NUMBER(sum_of(json, "samples"), 17);
    CHECK_HAS(json, "\"length_ns\":\"11000000\"");
    CHECK_HAS(json, "\"events\":null");
    CHECK_HAS(json, "\"pruned\":null}");
    free(json);
    snd_profile_free(profile);
}

static void
only_views_with_an_answer_are_there(void)
{
    snd_profile *samples = samples_profile(), *calls = signatures_profile(), *memory = memory_profile(),
                *ops = ops_profile();
    char *json = data_of(samples);

    CHECK_HAS(json, "{\"view\":\"lines\",\"variant\":\"\"");
    CHECK_HAS(json, "{\"view\":\"regions\"");
    CHECK(strstr(json, "{\"view\":\"ops\"") == NULL && strstr(json, "{\"view\":\"leaks\"") == NULL);
    free(json);
    json = data_of(calls);
    CHECK_HAS(json, "{\"view\":\"signatures\"");
    CHECK(strstr(json, "{\"view\":\"lines\"") == NULL && strstr(json, "{\"view\":\"regions\"") == NULL);
    free(json);
    json = data_of(memory);
    CHECK_HAS(json, "{\"view\":\"leaks\"");
    CHECK_HAS(json, "{\"name\":\"heap\",\"unit\":\"bytes\",\"at_ns\":[");
    CHECK_HAS(json, "\"histories\":{\"step_ns\":100000000,\"node\":[");
    CHECK_NUMBER(sum_of(json, "live_peak"), 412 * MIB);
    free(json);
    json = data_of(ops);
    CHECK_HAS(json, "{\"view\":\"ops\",\"variant\":\"by_shape\"");
    CHECK_HAS(json, "{\"view\":\"ops\",\"variant\":\"by_line\"");
    free(json);
    snd_profile_free(samples);
    snd_profile_free(calls);
    snd_profile_free(memory);
    snd_profile_free(ops);
}

static void
neighbouring_samples_become_one_event(void)
{
    snd_profile *profile = samples_profile();
    int64_t gaps[16], values[16], nodes[16];

    give_events(profile);
    char *json = data_of(profile);
    CHECK_HAS(json, "{\"kind\":\"samples\",\"unit_ns\":50000,\"gap\":[");
    const char *block = strstr(json, "\"kind\":\"samples\"");
    CHECK_NUMBER(numbers(block, "\"gap\":[", gaps, 16), 7);
    CHECK_NUMBER(numbers(block, "\"value\":[", values, 16), 7);
    CHECK_NUMBER(numbers(block, "\"node\":[", nodes, 16), 7);
    CHECK(gaps[0] == 0 && values[0] == 40 && nodes[0] == 2);
    CHECK(gaps[5] == 0 && values[5] == 80);   /* four samples that waited */
    CHECK(gaps[6] == 40 && values[6] == 140); /* the other thread starts anew */
    CHECK_HAS(json,
              "{\"kind\":\"spans\",\"unit_ns\":1,\"gap\":[6000000],\"value\":[4000000],\"node\":[5],\"task\":[0]}");
    free(json);
    snd_profile_free(profile);
}

static void
inner_spans_step_back(void)
{
    snd_profile *profile = small_profile();
    static const snd_profile_event events[] = {{100, {50}, 1, {0}, 0}, {110, {10}, 2, {0}, 0}, {125, {5}, 2, {3}, 0}};
    int64_t gaps[4];

    profile->events = snd_calloc(3, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    memcpy(profile->events, events, sizeof events);
    profile->event_count = 3;
    char *json = data_of(profile);
    CHECK_NUMBER(numbers(json, "\"gap\":[", gaps, 4), 3);
    CHECK(gaps[0] == 100 && gaps[1] == -40 && gaps[2] == 5);
    CHECK_HAS(json, "\"task\":[0,0,3]");
    free(json);
    snd_profile_free(profile);
}

static void
counters_become_series(void)
{
    snd_profile *profile = small_profile();
    uint32_t node = find_node(profile, "main", "queue");
    double values[] = {2.5, -1};

    REQUIRE(node != SND_NONE);
    profile->events = snd_calloc(2, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (unsigned i = 0; i < 2; i++) {
        profile->events[i] = (snd_profile_event){.start_ns = 10 + 5 * i, .node = node};
        profile->events[i].value = values[i];
    }
    profile->event_count = 2;
    char *json = data_of(profile);
    CHECK_HAS(json, "{\"name\":\"queue\",\"unit\":\"\",\"at_ns\":[10,5],\"value\":[2.5,-1]}");
    CHECK_HAS(json, "\"events\":[],");
    free(json);
    snd_profile_free(profile);
}

static void
a_counter_with_too_many_values_says_so(void)
{
    enum { MANY = 3 * 2048 };
    snd_profile *profile = small_profile();
    uint32_t node = find_node(profile, "main", "queue");

    profile->events = snd_calloc(MANY, sizeof *profile->events);
    REQUIRE(profile->events != NULL && node != SND_NONE);
    for (unsigned i = 0; i < MANY; i++)
        profile->events[i] = (snd_profile_event){.start_ns = 10 * i, .node = node};
    profile->event_count = MANY;
    char *json = data_of(profile);
    CHECK_HAS(json, "The timeline shows 1536 of a counter's 6144 values.");
    free(json);
    snd_profile_free(profile);
}

static void
too_many_marks_are_left_out_and_that_is_said(void)
{
    enum { MANY = 50 };
    snd_profile *profile = small_profile();
    const snd_profile_site site = {.kind = SND_SITE_MARK, .name = "often", .file = "", .detail = ""};
    uint32_t id, node;

    REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    REQUIRE(snd_profile_add_node(profile, 0, 0, id, &node) == SND_OK);
    profile->events = snd_calloc(MANY, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (unsigned i = 0; i < MANY; i++)
        profile->events[i] = (snd_profile_event){.start_ns = 10 * (i + 1), .node = node};
    profile->event_count = MANY;
    char *json = data_with(profile, (snd_page_options){.event_limit = 4});
    CHECK_HAS(json, "46 of 50 marks in the timeline were left out.");
    CHECK_HAS(json, "{\"kind\":\"marks\",\"unit_ns\":1,\"gap\":[10,10,10,10],\"value\":[0,0,0,0]");
    free(json);
    snd_profile_free(profile);
}

/* A chain of calls below a root, each `width` times, the later the smaller. */
static snd_profile *
wide_profile(uint32_t width)
{
    snd_profile *profile = samples_profile();
    uint32_t root = 0;

    for (uint32_t i = 0; i < width; i++) {
        snd_profile_site site = {
            .kind = SND_SITE_LINE, .name = "g", .file = "/app/prog.py", .line = 100 + i, .first_line = 99};
        site.detail = "";
        uint32_t node = add_frame(profile, i % 3 == 0 ? root : profile->node_count - 1, &site);
        set_whole(profile, node, SND_METRIC_PYTHON, 1000 + (width - i));
        set_whole(profile, node, SND_METRIC_SAMPLES, 1);
    }
    return profile;
}

static void
small_nodes_are_added_to_their_callers(void)
{
    snd_profile *profile = wide_profile(600);
    char *whole = data_of(profile), *pruned = data_with(profile, (snd_page_options){.node_limit = 50});
    int64_t parents[1024];

    unsigned count = numbers(pruned, "\"nodes\":{\"parent\":[", parents, 1024);
    CHECK(count <= 52 && count >= 30); /* the roots of both threads stay in any case */
    for (unsigned i = 0; i < count; i++)
        CHECK(parents[i] < (int64_t)i);
    CHECK(sum_of(whole, "python") == sum_of(pruned, "python") && sum_of(whole, "samples") == sum_of(pruned, "samples"));
    CHECK_HAS(pruned, " smallest of 610 places in the call tree were merged into their callers");
    free(whole);
    free(pruned);
    snd_profile_free(profile);
}

static void
a_table_with_too_many_rows_says_so(void)
{
    snd_profile *profile = small_profile();
    uint32_t root = find_node(profile, "main", "");
    char name[16];

    for (unsigned i = 0; i < 6000; i++) {
        snprintf(name, sizeof name, "r%u", i);
        add_region(profile, root, name, 1, 10, 10);
    }
    char *json = data_of(profile);
    CHECK_HAS(json, "The table of regions shows the first 5000 of 6006 rows.");
    free(json);
    snd_profile_free(profile);
}

static void
too_many_events_are_thinned_out(void)
{
    static int64_t values[2048];
    snd_profile *profile = wide_profile(40);
    uint32_t first = profile->node_count - 40;
    int64_t sum = 0;

    profile->events = snd_calloc(2000, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (uint32_t i = 0; i < 2000; i++)
        profile->events[i] = (snd_profile_event){.start_ns = i * MS, .duration_ns = MS, .node = first + i % 40};
    profile->event_count = 2000;
    char *json = data_with(profile, (snd_page_options){.event_limit = 100});
    unsigned count = numbers(strstr(json, "\"kind\":\"samples\""), "\"value\":[", values, 2048);
    CHECK(count <= 100 && count > 50);
    for (unsigned i = 0; i < count; i++)
        sum += values[i];
    CHECK_NUMBER(sum, 2000 * 20);
    CHECK_HAS(json, " of 2000 samples, one for every 20.");
    free(json);
    for (uint32_t i = 0; i < 2000; i++)
        profile->events[i] = (snd_profile_event){.start_ns = i * 100, .duration_ns = i % 50, .node = 5}; /* a region */
    json = data_with(profile, (snd_page_options){.event_limit = 100});
    CHECK(numbers(strstr(json, "\"kind\":\"spans\""), "\"value\":[", values, 2048) <= 100);
    CHECK_HAS(json, " of 2000 regions and calls in the timeline, all shorter than ");
    free(json);
    snd_profile_free(profile);
}

static void
sources_are_the_programs_own(void)
{
    snd_profile *profile = samples_profile();
    uint32_t root = 0;
    snd_profile_site other = {.kind = SND_SITE_LINE, .name = "loads", .line = 3, .detail = ""};

    other.file = "/usr/lib/python3.11/json/__init__.py";
    add_frame(profile, root, &other);
    REQUIRE(snd_profile_add_source(profile, other.file, "library_text = 1\n", 17) == SND_OK);
    set_info(profile, "all_code", "1");
    char *json = data_of(profile);
    CHECK_HAS(json, "for i in range(3)");
    CHECK(strstr(json, "library_text") == NULL);
    free(json);
    json = data_with(profile, (snd_page_options){.no_source = 1});
    CHECK(strstr(json, "for i in range(3)") == NULL && strstr(json, "f(i)") == NULL);
    CHECK_HAS(json, "\"sources\":[],");
    free(json);
    snd_profile_free(profile);
}

/* A recording may come from anybody. */
static void
a_recording_gets_no_other_file_into_the_page(void)
{
    snd_profile *profile = samples_profile();
    const char *secret = temp_path("secret.py"), *module = temp_path("module.py"), *changed = temp_path("changed.py");
    const char *const files[] = {secret, module, changed};
    snd_profile_site site = {.kind = SND_SITE_LINE, .line = 1, .detail = ""};

    profile->load_text = snd_file_load;
    write_file(secret, "keep_this_secret\n", 17);
    write_file(module, "a_line_of_python\n", 17);
    write_file(changed, "another_line_of_python\n", 23);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snd_source source = {.file = files[i], .size = 17};
        site.file = site.name = files[i];
        add_frame(profile, 0, &site);
        snd_sha256("a_line_of_python\n", 17, source.sha256);
        if (files[i] != secret)
            REQUIRE(snd_profile_copy_source(profile, &source) == SND_OK);
    }
    char *json = data_of(profile);
    CHECK(strstr(json, "keep_this_secret") == NULL && strstr(json, "another_line") == NULL);
    CHECK_HAS(json, "a_line_of_python");
    CHECK_HAS(json, "\"missing\":\"the file was changed or removed after it was recorded\"");
    CHECK_HAS(json, "\"missing\":\"the recording does not contain it\"");
    free(json);
    snd_profile_free(profile);
}

static void
names_are_texts_whatever_they_are(void)
{
    static const char *const names[] = {
        "</script><script>alert(1)</script>",
        "a \"quoted\" \\ name",
        "\xe2\x80\xaertl \xd7\xa9\xd7\x9c",
        "\xf0\x9f\x90\x8d snake",
        "control \x01\x1b[31m\n\ttext",
        "not utf-8: \xff\xfe\xc3\x28 \xed\xa0\x80",
        "<!--sonde-data-->",
    };
    snd_profile *profile = samples_profile();
    char *longest = malloc(10001);

    REQUIRE(longest != NULL);
    memset(longest, 'n', 10000);
    longest[10000] = '\0';
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++)
        add_region(profile, 0, i < sizeof names / sizeof names[0] ? names[i] : longest, 1, 10, 10);
    char *json = data_of(profile);
    CHECK_HAS(json, "\"</script><script>alert(1)</script>\"");
    CHECK_HAS(json, "\"a \\\"quoted\\\" \\\\ name\"");
    CHECK_HAS(json, "\"control \\u0001\\u001b[31m\\u000a\\u0009text\"");
    CHECK_HAS(json, "\"not utf-8: \\ufffd\\ufffd\\ufffd( \\ufffd");
    CHECK_HAS(json, "\xf0\x9f\x90\x8d snake");
    CHECK_HAS(json, longest);
    free(json);
    free(longest);
    snd_profile_free(profile);
}

static void
times_that_no_clock_shows_are_left_out(void)
{
    snd_profile *profile = samples_profile();
    int64_t gaps[4];

    profile->events = snd_calloc(2, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    profile->events[0] = (snd_profile_event){.start_ns = 5 * MS, .duration_ns = UINT64_MAX, .node = 2};
    profile->events[1] = (snd_profile_event){.start_ns = 7 * MS, .duration_ns = MS, .node = 2};
    profile->event_count = 2;
    char *json = data_of(profile);
    CHECK_NUMBER(numbers(json, "\"gap\":[", gaps, 4), 1);
    CHECK(gaps[0] == 140);
    free(json);
    snd_profile_free(profile);
}

static snd_status
make_data(void *context)
{
    snd_buffer page = {0};
    snd_status status = snd_page_data(context, context, &(snd_page_options){.node_limit = 6, .event_limit = 3}, &page);

    snd_buffer_free(&page);
    return status;
}

static void
it_fails_without_a_trace_when_memory_runs_out(void)
{
    snd_profile *profile = memory_only_profile(), *samples = samples_profile();

    give_events(samples);
    CHECK(fail_each_allocation(make_data, profile) > 50);
    CHECK(fail_each_allocation(make_data, samples) > 50);
    snd_profile_free(profile);
    snd_profile_free(samples);
}

static void
the_page_is_around_the_data_or_is_missed(void)
{
    snd_profile *profile = samples_profile();
    const snd_profile *both[] = {profile, profile};
    snd_buffer page = {0};
    snd_status status = snd_page_write(both, 2, &(snd_page_options){0}, &page);

    if (!snd_page_exists()) {
        CHECK(status == SND_NO_DATA && page.size == 0);
    }
    else {
        CHECK(status == SND_OK);
        CHECK_NUMBER(count_text(snd_buffer_str(&page), "<script id=\"sonde-data\" type=\"application/octet-stream\">"),
                     1);
        CHECK_NUMBER(count_text(snd_buffer_str(&page), "<script id=\"sonde-data-2\" "), 1);
        CHECK_NUMBER(count_text(snd_buffer_str(&page), "<!--sonde-data-->"), 0);
    }
    snd_buffer_free(&page);
    snd_profile_free(profile);
}

static void
a_file_is_replaced_as_a_whole(void)
{
    const char *path = temp_path("page.html"), *link = temp_path("link.html");
    struct stat about;

    CHECK(snd_file_replace(path, "first", 5) == SND_OK);
    CHECK(symlink(path, link) == 0);
    CHECK(snd_file_replace(link, "second", 6) == SND_OK);
    CHECK(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    char *text = read_file(path, NULL);
    CHECK_TEXT(text, "second");
    free(text);
    CHECK(snd_file_replace("/nowhere/page.html", "x", 1) == SND_SYSTEM && errno == ENOENT);
    CHECK(snd_file_replace("/dev/full", "x", 1) == SND_SYSTEM && errno == ENOSPC);
    CHECK(snd_file_replace("/tmp", "x", 1) == SND_SYSTEM && errno == EISDIR);
    CHECK(snd_file_replace("/dev/null", "x", 1) == SND_OK);
}

int
main(void)
{
    RUN(nodes_stand_in_columns);
    RUN(only_views_with_an_answer_are_there);
    RUN(neighbouring_samples_become_one_event);
    RUN(inner_spans_step_back);
    RUN(counters_become_series);
    RUN(a_counter_with_too_many_values_says_so);
    RUN(too_many_marks_are_left_out_and_that_is_said);
    RUN(small_nodes_are_added_to_their_callers);
    RUN(a_table_with_too_many_rows_says_so);
    RUN(too_many_events_are_thinned_out);
    RUN(sources_are_the_programs_own);
    RUN(a_recording_gets_no_other_file_into_the_page);
    RUN(names_are_texts_whatever_they_are);
    RUN(times_that_no_clock_shows_are_left_out);
    RUN(it_fails_without_a_trace_when_memory_runs_out);
    RUN(the_page_is_around_the_data_or_is_missed);
    RUN(a_file_is_replaced_as_a_whole);
    return check_report();
}
