/* Files of other profilers as profiles: what they say, what is refused, and bytes that are damaged. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_samples.h"
#include "format/stacks/import.h"
#include "format/table/format.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const snd_import_options us = {.unit = SND_IMPORT_us};

/* ---- help ---- */

/* The profile as a file of the format; the caller frees the bytes. */
static char *
exported(const char *format, const snd_profile *profile, size_t *size)
{
    const char *path = temp_path("exported");
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    REQUIRE(file >= 0);
    CHECK(snd_format_find(format)->write_recording(NULL, profile, &(snd_export_options){0}, file) == SND_OK);
    close(file);
    return read_file(path, size);
}

/* A copy of the exact size, so that AddressSanitizer sees a read behind it. */
static snd_status
import_bytes(const char *name, const char *data, size_t size, snd_profile *into, snd_buffer *problem)
{
    char *copy = malloc(size == 0 ? 1 : size);

    REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    snd_status status = snd_import_find(name)->read(copy, size, &us, into, problem);
    free(copy);
    return status;
}

static snd_profile *
imported(const char *name, const char *data, size_t size)
{
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0};

    CHECK(import_bytes(name, data, size, profile, &problem) == SND_OK);
    CHECK_TEXT(snd_buffer_str(&problem), "");
    snd_buffer_free(&problem);
    return profile;
}

static void
check_refused(const char *name, const char *data, size_t size, const char *wanted)
{
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0};

    CHECK(import_bytes(name, data, size, profile, &problem) == SND_BAD_ARGUMENT);
    CHECK_TEXT(snd_buffer_str(&problem), wanted);
    snd_buffer_free(&problem);
    snd_profile_free(profile);
}

static void
check_text_refused(const char *text, const char *wanted)
{
    check_refused("collapsed", text, strlen(text), wanted);
}

#define REFUSED(bytes, wanted) check_refused("pstats", bytes, sizeof(bytes) - 1, wanted)

/* ---- what comes back ---- */

static void
check_comes_back(const char *format, const snd_profile *profile)
{
    size_t size, again_size;
    char *bytes = exported(format, profile, &size);
    snd_profile *back = imported(format, bytes, size);
    char *again = exported(format, back, &again_size);

    CHECK_NUMBER(again_size, size);
    CHECK(size == again_size && memcmp(bytes, again, size) == 0);
    snd_profile_free(back);
    free(bytes);
    free(again);
}

static void
what_is_exported_comes_back(void)
{
    snd_profile *samples = samples_profile(), *regions = small_profile(), *calls = calls_profile();

    check_comes_back("collapsed", samples);
    check_comes_back("collapsed", regions);
    check_comes_back("pstats", calls);
    snd_profile_free(samples);
    snd_profile_free(regions);
    snd_profile_free(calls);
}

static void
a_folded_frame_says_what_it_is(void)
{
    static const char text[] = "main;f (a.py:3);compress (libz.so);kernel 7\n"
                               "main;f (a.py:3);[waiting for I/O] 2\n"
                               "Thread-1 (work);g 4\r\n\n"
                               "h (b.py:9);g 5";
    snd_profile *profile = imported("collapsed", text, strlen(text));

    CHECK_NUMBER(profile->track_count, 2);
    CHECK_NUMBER(node_whole(profile, "main", "f/compress/kernel", SND_METRIC_NATIVE), 7000);
    CHECK_NUMBER(node_whole(profile, "main", "f", SND_METRIC_WAIT_IO), 2000);
    CHECK_NUMBER(node_whole(profile, "Thread-1 (work)", "g", SND_METRIC_NATIVE), 4000);
    CHECK_NUMBER(node_whole(profile, "main", "h/g", SND_METRIC_NATIVE), 5000);
    const snd_profile_site *f = &profile->sites[profile->nodes[find_node(profile, "main", "f")].site];
    CHECK(f->kind == SND_SITE_LINE && f->line == 3 && f->first_line == 3);
    CHECK_TEXT(f->file, "a.py");
    const snd_profile_site *compress = &profile->sites[profile->nodes[find_node(profile, "main", "f/compress")].site];
    CHECK(compress->kind == SND_SITE_NATIVE && compress->line == 0);
    CHECK_TEXT(snd_profile_info(profile, "cpu_ns"), "16000");
    snd_profile_free(profile);
}

static void
numbers_are_what_the_unit_says(void)
{
    static const char text[] = "main;f 3\n";
    snd_profile *samples = snd_profile_new(), *bytes = snd_profile_new();
    snd_buffer problem = {0};

    CHECK(snd_import_collapsed(text, strlen(text), &(snd_import_options){.unit = SND_IMPORT_samples, .rate_hz = 100},
                               samples, &problem) == SND_OK);
    CHECK_NUMBER(node_whole(samples, "main", "main/f", SND_METRIC_SAMPLES), 3);
    CHECK_NUMBER(node_whole(samples, "main", "main/f", SND_METRIC_NATIVE), 30000000);
    CHECK(snd_import_collapsed(text, strlen(text), &(snd_import_options){.unit = SND_IMPORT_bytes}, bytes, &problem) ==
          SND_OK);
    CHECK_NUMBER(node_whole(bytes, "main", "main/f", SND_METRIC_ALLOC_NATIVE), 3);
    CHECK_NUMBER(node_whole(bytes, "main", "main/f", SND_METRIC_NATIVE), 0);
    snd_profile_free(samples);
    snd_profile_free(bytes);
}

/* Nothing tells a thread from a function: the first frame is both. */
static void
without_places_the_first_frames_are_kept(void)
{
    static const char text[] = "idle 9\n"
                               "start 5\n"
                               "start;parse;lex 40\n"
                               "start;parse;lex;read 12\n"
                               "start;render;[waiting for I/O] 30\n";
    snd_profile *profile = imported("collapsed", text, strlen(text));
    size_t size;
    char *again = exported("collapsed", profile, &size);

    CHECK_NUMBER(size, strlen(text));
    CHECK(size == strlen(text) && memcmp(again, text, size) == 0);
    CHECK_NUMBER(profile->track_count, 2);
    CHECK_NUMBER(node_whole(profile, "start", "start", SND_METRIC_NATIVE), 5000);
    CHECK_NUMBER(node_whole(profile, "start", "start/parse/lex/read", SND_METRIC_NATIVE), 12000);
    CHECK_NUMBER(node_whole(profile, "start", "start/render", SND_METRIC_WAIT_IO), 30000);
    CHECK_NUMBER(node_whole(profile, "idle", "idle", SND_METRIC_NATIVE), 9000);
    snd_profile_free(profile);
    free(again);
}

static void
contents_tell_the_format(void)
{
    CHECK(snd_import_guess("{(\3\0\0\0u", 7) == snd_import_find("pstats"));
    CHECK(snd_import_guess("\xfb\xa9\3\xfa", 4) == snd_import_find("pstats"));
    CHECK(snd_import_guess("{0", 2) == snd_import_find("pstats"));
    CHECK(snd_import_guess("a;b 3\nc 4\n", 10) == snd_import_find("collapsed"));
    CHECK(snd_import_guess("{a};b 3\r\n", 9) == snd_import_find("collapsed"));
    CHECK(snd_import_guess("SQLite format 3\0", 16) == NULL);
    CHECK(snd_import_guess("hello\n", 6) == NULL);
    CHECK(snd_import_guess("{\"a\": 1}", 8) == NULL);
    CHECK(snd_import_guess("", 0) == NULL);
}

/* ---- what is refused ---- */

static void
text_that_is_no_stacks_is_refused(void)
{
    check_text_refused("", "it has no stacks");
    check_text_refused("\n\n", "it has no stacks");
    check_text_refused("main;f 3\nmain;g\n", "line 2: no number after the stack");
    check_text_refused("main;f 3.5\n", "line 1: no whole number after the stack");
    check_text_refused("main;f -3\n", "line 1: no whole number after the stack");
    check_text_refused(" 3\n", "line 1: no number after the stack");
    check_text_refused("main;;f 3\n", "line 1: a frame has no name");
    check_text_refused("main;f 99999999999999999999\n", "line 1: the number is too large");
    check_text_refused("main;f 9000000000000000\nmain;f 9000000000000000\n", "line 2: the numbers are too large");
    check_refused("collapsed", "a\0b 3\n", 6, "line 1: this is not text");
}

static void
a_stack_that_is_too_deep_is_refused(void)
{
    snd_buffer text = {0};

    snd_buffer_text(&text, "main");
    for (unsigned i = 0; i < 10001; i++)
        snd_buffer_text(&text, ";f");
    snd_buffer_text(&text, " 1\n");
    check_text_refused(snd_buffer_str(&text), "line 1: the stack is too deep");
    snd_buffer_free(&text);
}

/* As the limit for a file is, which would take gigabytes. */
static void
more_stacks_than_may_be_are_refused(void)
{
    static const char text[] = "main;f 1\nmain;f;g 1\nmain;f 2\nmain;f;h 1\n";
    snd_import_options few = {.unit = SND_IMPORT_us, .node_limit = 4};
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0};

    CHECK(snd_import_collapsed(text, strlen(text), &few, profile, &problem) == SND_BAD_ARGUMENT);
    CHECK_TEXT(snd_buffer_str(&problem), "line 4: too many stacks");
    snd_buffer_free(&problem);
    snd_profile_free(profile);
}

#define NAME "(\3\0\0\0z\1ai\1\0\0\0z\1f"
#define TIMES "g\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0"
#define ONE "i\1\0\0\0"

static void
bytes_that_are_no_pstats_are_refused(void)
{
    REFUSED("{0", "it has no functions");
    REFUSED("i\1\0\0\0", "it is not a dictionary");
    REFUSED("", "it ends too early");
    REFUSED("{", "it ends too early");
    REFUSED("{(\3\0\0\0z\1a", "it ends too early");
    REFUSED("{u\xff\xff\xff\xff", "it ends too early");
    REFUSED("{c", "it has values that pstats files never have");
    REFUSED("{(\xff\xff\xff\xff(((", "it ends too early");
    REFUSED("{(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0(\1\0\0\0i\1\0\0\0",
            "its values are nested too deeply");
    REFUSED("\xfb\xa8\3\0\0\0r\1\0\0\0", "it refers to a missing value");
    REFUSED("{r\7\0\0\0", "it refers to a missing value");
    REFUSED("{0x", "it has extra data after its end");
    REFUSED("{z\1az\1b0", "a function is not (file, line, name)");
    REFUSED("{(\3\0\0\0z\1ai\xff\xff\xff\xffz\1fi\0\0\0\0000", "a line number is not a number");
    REFUSED("{" NAME "i\1\0\0\0000", "a function has no (primitive, calls, self, total, callers)");
    REFUSED("{" NAME "(\5\0\0\0" ONE "i\xff\xff\xff\xff" TIMES "{00", "a call count is not a number");
    REFUSED("{" NAME "(\5\0\0\0i\2\0\0\0" ONE TIMES "{00", "a function has fewer calls than primitive calls");
    REFUSED("{" NAME "(\5\0\0\0" ONE ONE "g\0\0\0\0\0\0\xf0\x7fg\0\0\0\0\0\0\0\0{00", "a number is malformed");
    REFUSED("{" NAME "(\5\0\0\0" ONE ONE "g\0\0\0\0\0\0\0\x7fg\0\0\0\0\0\0\0\0{00", "a time is not a number");
    REFUSED("{" NAME "(\5\0\0\0" ONE "l\6\0\0\0\1\0\1\0\1\0\1\0\1\0\1\0" TIMES "{00", "a number is too large");
    REFUSED("{" NAME "(\5\0\0\0" ONE ONE TIMES "{0" NAME "(\5\0\0\0" ONE ONE TIMES "{00", "a function appears twice");
    REFUSED("{" NAME "(\5\0\0\0" ONE ONE TIMES "{" NAME "z\1x00", "a caller has no (calls, primitive, self, total)");
    REFUSED("{" NAME "(\5\0\0\0" ONE ONE TIMES "{" NAME ONE NAME ONE "00", "a function has the same caller twice");
}

/* ---- damage ---- */

static uint64_t seed = 88172645463325252u;

static uint64_t
random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Cut off, and with bytes changed: taken or refused with a sentence, and what is taken can be written. */
static void
damage(const char *format, const snd_profile *profile, unsigned rounds)
{
    size_t size, ignored;
    char *bytes = exported(format, profile, &size), *damaged = malloc(size);
    unsigned refused = 0;

    REQUIRE(damaged != NULL);
    for (unsigned i = 0; i < rounds; i++) {
        snd_profile *back = snd_profile_new();
        snd_buffer problem = {0};
        size_t len = i % 3 == 0 ? random_number() % size : size;
        memcpy(damaged, bytes, size);
        for (unsigned change = 0; change < i % 4 && len > 0; change++)
            damaged[random_number() % len] = (char)random_number();
        snd_status status = import_bytes(format, damaged, len, back, &problem);
        CHECK(status == SND_OK || (status == SND_BAD_ARGUMENT && problem.size != 0));
        refused += status != SND_OK;
        if (status == SND_OK)
            free(exported(format, back, &ignored));
        snd_buffer_free(&problem);
        snd_profile_free(back);
    }
    CHECK(refused > rounds / 10);
    free(bytes);
    free(damaged);
}

static void
damaged_files_are_refused_or_read(void)
{
    snd_profile *samples = samples_profile(), *calls = calls_profile();

    damage("collapsed", samples, 3000);
    damage("pstats", calls, 3000);
    snd_profile_free(samples);
    snd_profile_free(calls);
}

typedef struct attempt {
    const char *format;
    char *bytes;
    size_t size;
} attempt;

static snd_status
import_again(void *context)
{
    const attempt *self = context;
    snd_profile *profile = snd_profile_new();
    snd_buffer problem = {0};
    snd_status status = SND_NO_MEMORY;

    if (profile != NULL)
        status = snd_import_find(self->format)->read(self->bytes, self->size, &us, profile, &problem);
    snd_buffer_free(&problem);
    snd_profile_free(profile);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    snd_profile *samples = samples_profile(), *calls = calls_profile();
    attempt folded = {.format = "collapsed"}, stats = {.format = "pstats"};

    folded.bytes = exported("collapsed", samples, &folded.size);
    stats.bytes = exported("pstats", calls, &stats.size);
    CHECK(fail_each_allocation(import_again, &folded) > 10);
    CHECK(fail_each_allocation(import_again, &stats) > 10);
    free(folded.bytes);
    free(stats.bytes);
    snd_profile_free(samples);
    snd_profile_free(calls);
}

int
main(void)
{
    RUN(what_is_exported_comes_back);
    RUN(a_folded_frame_says_what_it_is);
    RUN(numbers_are_what_the_unit_says);
    RUN(without_places_the_first_frames_are_kept);
    RUN(contents_tell_the_format);
    RUN(text_that_is_no_stacks_is_refused);
    RUN(a_stack_that_is_too_deep_is_refused);
    RUN(more_stacks_than_may_be_are_refused);
    RUN(bytes_that_are_no_pstats_are_refused);
    RUN(damaged_files_are_refused_or_read);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
