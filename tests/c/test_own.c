/* Which files are the program's own, and what they are called. */
#include "check.h"
#include "fixture.h"
#include "fixture_samples.h"
#include "view/core/own_code.h"
#include "view/sampled/facts.h"

#include <string.h>

/* A profile of a program at `program`; "" where that is not known. */
static snd_profile *
profile_of(const char *program, const char *library_paths)
{
    snd_profile *profile = snd_profile_new();

    REQUIRE(profile != NULL);
    if (*program != '\0')
        set_info(profile, "program_path", program);
    if (*library_paths != '\0')
        set_info(profile, "library_paths", library_paths);
    return profile;
}

static int
has(const snd_profile *profile, snd_view_options options, const char *file)
{
    snd_own own;

    snd_own_start(&own, profile, &options);
    return snd_own_has(&own, file);
}

#define USUAL ((snd_view_options){0})

static void
check_name(const snd_profile *profile, const char *file, const char *name, const char *package)
{
    snd_own own;
    char text[64];

    snd_own_start(&own, profile, &USUAL);
    CHECK_TEXT(snd_own_name(&own, file), name);
    snd_own_package(&own, file, text, sizeof text);
    CHECK_TEXT(text, package);
}

static void
files_outside_the_folders_of_libraries_are_own(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/opt/py/lib\n/opt/py/lib/site\n/opt/extra/");

    CHECK(has(profile, USUAL, "/app/run.py"));
    CHECK(has(profile, USUAL, "/app/deep/er/part.py"));
    CHECK(has(profile, USUAL, "/elsewhere/x.py"));
    CHECK(has(profile, USUAL, "run.py"));
    CHECK(!has(profile, USUAL, "/opt/py/lib/json/decoder.py"));
    CHECK(!has(profile, USUAL, "/opt/extra/x.py"));
    CHECK(has(profile, USUAL, "/opt/py/library/x.py"));
    CHECK(!has(profile, USUAL, "/app/venv/lib/python3.11/site-packages/x.py"));
    snd_profile_free(profile);
}

static void
code_without_a_file_is_own_unless_it_is_frozen(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/usr/lib/python3.11");

    CHECK(has(profile, USUAL, "<string>"));
    CHECK(has(profile, USUAL, "<stdin>"));
    CHECK(has(profile, USUAL, "<ipython-input-3-0123456789ab>"));
    CHECK(has(profile, USUAL, "/tmp/ipykernel_77/123.py"));
    CHECK(!has(profile, USUAL, "<frozen importlib._bootstrap>"));
    CHECK(!has(profile, USUAL, ""));
    snd_profile_free(profile);
}

static void
an_installed_program_is_not_own(void)
{
    snd_profile *profile = profile_of("/v/lib/python3.11/site-packages/tool/__main__.py",
                                      "/v/lib/python3.11\n/v/lib/python3.11/site-packages\n/v/bin/tool");

    CHECK(!has(profile, USUAL, "/v/lib/python3.11/site-packages/tool/__main__.py"));
    CHECK(!has(profile, USUAL, "/v/lib/python3.11/site-packages/tool/sub/x.py"));
    CHECK(!has(profile, USUAL, "/v/lib/python3.11/json/__init__.py"));
    CHECK(!has(profile, USUAL, "/v/bin/tool"));
    CHECK(has(profile, USUAL, "/v/bin/tool.py"));
    CHECK(has(profile, USUAL, "/home/me/tests/test_x.py"));
    check_name(profile, "/v/lib/python3.11/site-packages/tool/sub/x.py", "tool/sub/x.py", "tool");
    check_name(profile, "/v/bin/tool", "tool", "tool");
    snd_profile_free(profile);
}

/* A profile with a sampled line of each file. */
static snd_profile *
sampled(const char *program, const char *const *files, size_t count)
{
    snd_profile *profile = profile_of(program, "/usr/lib/python3.11");

    for (size_t i = 0; i < count; i++) {
        uint32_t id;
        snd_profile_site site = {
            .kind = SND_SITE_LINE, .name = "f", .file = files[i], .detail = "", .line = 1, .first_line = 1};
        REQUIRE(snd_profile_add_site(profile, &site, &id) == SND_OK);
    }
    return profile;
}

static int
has_none(const char *program, const char *file)
{
    const char *files[] = {"/usr/lib/python3.11/json/decoder.py", file};
    snd_profile *profile = sampled(program, files, 2);
    snd_own own, strict;

    snd_own_start(&own, profile, &USUAL);
    CHECK(own.all_code == own.has_none && snd_own_has(&own, files[0]) == own.has_none);
    snd_own_rules(&strict, profile, &USUAL);
    CHECK(!strict.has_none && !snd_own_has(&strict, files[0]));
    snd_profile_free(profile);
    return own.has_none;
}

static void
where_nothing_is_own_all_code_counts(void)
{
    const char *file = "/usr/lib/python3.11/json/tool.py";

    CHECK(has_none(file, "/usr/lib/python3.11/json/tool.py"));
    CHECK(has_none(file, "<frozen runpy>"));
    CHECK(has_none(file, "<string>"));
    CHECK(!has_none("", "<string>"));
    CHECK(!has_none(file, "/home/me/x.py"));
}

static void
without_folders_the_usual_names_tell(void)
{
    snd_profile *profile = profile_of("", "");

    CHECK(has(profile, USUAL, "/app/run.py"));
    CHECK(has(profile, USUAL, "/usr/lib/python3.x/run.py"));
    CHECK(!has(profile, USUAL, "/usr/lib/python3.13/json/decoder.py"));
    CHECK(!has(profile, USUAL, "/home/me/.local/lib/python3.9/site-packages/numpy/x.py"));
    CHECK(!has(profile, USUAL, "/usr/lib/python3/dist-packages/numpy/x.py"));
    snd_profile_free(profile);
}

static void
sonde_is_never_own(void)
{
    snd_profile *profile = profile_of("/src/demo.py", "/usr/lib/python3.11\n/src/python/sonde");

    CHECK(!has(profile, USUAL, "/src/python/sonde/_program.py"));
    CHECK(!has(profile, USUAL, "/v/lib/python3.11/site-packages/sonde/regions.py"));
    snd_profile_free(profile);
}

static void
a_program_in_a_folder_called_sonde_is_own(void)
{
    snd_profile *profile = profile_of("/home/me/python/sonde/x.py", "/usr/lib/python3.11");

    CHECK(has(profile, USUAL, "/home/me/python/sonde/x.py"));
    CHECK(has(profile, USUAL, "/home/me/python/sonde/part/y.py"));
    snd_profile_free(profile);
}

static void
patterns_have_the_last_word(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/usr/lib/python3.11");
    snd_view_options include = {.include = "nothing,*/json/*"}, exclude = {.exclude = "part*,*/old/*"};

    CHECK(has(profile, include, "/usr/lib/python3.11/json/decoder.py"));
    CHECK(!has(profile, include, "/usr/lib/python3.11/csv.py"));
    CHECK(has(profile, include, "/app/run.py"));
    CHECK(!has(profile, exclude, "/app/part_1.py"));
    CHECK(!has(profile, exclude, "/app/old/run.py"));
    CHECK(has(profile, exclude, "/app/run.py"));
    include.exclude = "*decoder*";
    CHECK(!has(profile, include, "/usr/lib/python3.11/json/decoder.py"));
    CHECK(!has(profile, (snd_view_options){.all_code = 1, .exclude = "*csv*"}, "/usr/lib/python3.11/csv.py"));
    CHECK(has(profile, (snd_view_options){.all_code = 1}, "<frozen os>"));
    snd_profile_free(profile);
}

static void
the_recording_has_patterns_too(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/usr/lib/python3.11");

    set_info(profile, "include", "*/json/*");
    set_info(profile, "exclude", "*/old/*");
    CHECK(has(profile, USUAL, "/usr/lib/python3.11/json/decoder.py"));
    CHECK(!has(profile, USUAL, "/app/old/run.py"));
    CHECK(has(profile, (snd_view_options){.include = "x"}, "/app/old/run.py"));
    set_info(profile, "all_code", "1");
    CHECK(has(profile, USUAL, "/usr/lib/python3.11/csv.py"));
    CHECK(!has(profile, (snd_view_options){.include = "x"}, "/usr/lib/python3.11/csv.py"));
    snd_profile_free(profile);
}

static void
a_pattern_that_is_too_long_matches_nothing(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/usr/lib/python3.11");
    char pattern[5000];

    memset(pattern, '*', sizeof pattern);
    memcpy(pattern + 4900, ",*/csv.py", 10);
    CHECK(!has(profile, (snd_view_options){.include = pattern}, "/usr/lib/python3.11/json.py"));
    CHECK(has(profile, (snd_view_options){.include = pattern}, "/usr/lib/python3.11/csv.py"));
    snd_profile_free(profile);
}

static void
names_are_relative_to_the_working_directory(void)
{
    snd_profile *profile = profile_of("/home/me/work/scripts/run.py", "/home/me/work/venv/lib/python3.11");

    set_info(profile, "working_directory", "/home/me/work");
    check_name(profile, "/home/me/work/scripts/run.py", "scripts/run.py", "run");
    check_name(profile, "/home/me/work/package/x.py", "package/x.py", "x");
    check_name(profile, "/home/me/workshop/x.py", "/home/me/workshop/x.py", "x");
    check_name(profile, "/home/me/work/venv/lib/python3.11/json/decoder.py", "json/decoder.py", "json");
    check_name(profile, "/home/me/work/other/lib/python3.12/site-packages/numpy/x.py", "numpy/x.py", "numpy");
    check_name(profile, "/home/me/work/", "/home/me/work/", "");
    set_info(profile, "working_directory", "/home/me/work/scripts/deep");
    check_name(profile, "/home/me/work/scripts/run.py", "run.py", "run");
    check_name(profile, "/home/me/work/package/x.py", "/home/me/work/package/x.py", "x");
    set_info(profile, "working_directory", "/");
    check_name(profile, "/home/me/work/package/x.py", "/home/me/work/package/x.py", "x");
    /* who works inside a library */
    set_info(profile, "working_directory", "/home/me/work/venv/lib/python3.11/json");
    check_name(profile, "/home/me/work/venv/lib/python3.11/json/decoder.py", "decoder.py", "json");
    snd_profile_free(profile);
}

static void
names_leave_out_what_is_known(void)
{
    snd_profile *profile = profile_of("/app/run.py", "/usr/lib/python3.11\n/usr/lib/python3.11/site-packages");

    check_name(profile, "/app/run.py", "run.py", "run");
    check_name(profile, "/app/lib/points.py", "lib/points.py", "points");
    check_name(profile, "/usr/lib/python3.11/json/decoder.py", "json/decoder.py", "json");
    check_name(profile, "/usr/lib/python3.11/csv.py", "csv.py", "csv");
    check_name(profile, "/usr/lib/python3.11/site-packages/numpy/core/x.py", "numpy/core/x.py", "numpy");
    check_name(profile, "/other/x.py", "/other/x.py", "x");
    check_name(profile, "/usr/lib/libopenblas.so.0", "/usr/lib/libopenblas.so.0", "libopenblas");
    check_name(profile, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", "importlib");
    check_name(profile, "<frozen os>", "<frozen os>", "os");
    check_name(profile, "", "", "");
    snd_profile_free(profile);
}

static void
a_long_package_is_cut(void)
{
    snd_profile *profile = profile_of("", "");
    snd_own own;
    char text[4];

    snd_own_start(&own, profile, &USUAL);
    snd_own_package(&own, "/x/site-packages/numpy/x.py", text, sizeof text);
    CHECK_TEXT(text, "num");
    snd_profile_free(profile);
}

static void
time_in_own_code_leaves_out_what_the_machine_owes(void)
{
    snd_profile *profile = samples_profile();
    uint64_t before, after;

    CHECK(snd_own_time(profile, &before) == SND_OK && before != 0);
    for (uint32_t i = 0; i < profile->node_count; i++)
        REQUIRE(snd_profile_set(profile, i, SND_METRIC_WAIT_CPU, (snd_value){.whole = 77777777}) == SND_OK);
    CHECK(snd_own_time(profile, &after) == SND_OK && after == before);
    for (uint32_t i = 0; i < profile->node_count; i++)
        REQUIRE(snd_profile_set(profile, i, SND_METRIC_WAIT_SLEEP, (snd_value){.whole = 77777777}) == SND_OK);
    CHECK(snd_own_time(profile, &after) == SND_OK && after > before);
    snd_profile_free(profile);
}

int
main(void)
{
    RUN(files_outside_the_folders_of_libraries_are_own);
    RUN(code_without_a_file_is_own_unless_it_is_frozen);
    RUN(an_installed_program_is_not_own);
    RUN(where_nothing_is_own_all_code_counts);
    RUN(without_folders_the_usual_names_tell);
    RUN(sonde_is_never_own);
    RUN(a_program_in_a_folder_called_sonde_is_own);
    RUN(patterns_have_the_last_word);
    RUN(the_recording_has_patterns_too);
    RUN(a_pattern_that_is_too_long_matches_nothing);
    RUN(names_leave_out_what_is_known);
    RUN(names_are_relative_to_the_working_directory);
    RUN(a_long_package_is_cut);
    RUN(time_in_own_code_leaves_out_what_the_machine_owes);
    return check_report();
}
