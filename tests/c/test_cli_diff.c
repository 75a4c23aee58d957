/* What `sonde diff` says of two recordings. The program is the first argument, the folder of golden files the second.
 */
#include "check.h"
#include "fixture.h"
#include "fixture_cli.h"
#include "fixture_golden.h"
#include "fixture_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u

static char before[512], after[512], calls[512], command[1024];

static void
add_line(snd_profile *profile, uint32_t parent, const char *function, uint32_t line, uint32_t first_line, uint64_t ms)
{
    const snd_profile_site site = {SND_SITE_LINE, function, "/app/prog.py", line, "", 0, first_line};
    uint32_t node = add_frame(profile, parent, &site);

    set_whole(profile, node, SND_METRIC_SAMPLES, ms);
    set_whole(profile, node, SND_METRIC_PYTHON, ms * MS);
}

/* solve() takes half as long again after two lines were put in above it; the rest is as it was, but for a few samples.
 */
static snd_profile *
make(int is_after)
{
    static const char *const sources[] = {"def load():\n    read()\n\ndef solve():\n    step()\n    check()\n",
                                          "import math\n\ndef load():\n    read()\n\ndef solve():\n    step()\n"
                                          "    check()\n"};
    const char *source = sources[is_after];
    uint32_t down = is_after ? 2 : 0;
    snd_profile *profile = snd_profile_new();
    REQUIRE(profile != NULL);
    uint32_t root = add_root(profile, add_track(profile, "main", 100, 0, 3000 * MS), 3000 * MS, 3000 * MS);
    uint32_t fit = add_region(profile, root, "fit", 20, is_after ? 98 * MS : 73 * MS, 0);

    add_line(profile, root, "load", 2 + down, 1 + down, is_after ? 512 : 498);
    add_line(profile, fit, "solve", 5 + down, 4 + down, is_after ? 1500 : 1000);
    add_line(profile, fit, "solve", 6 + down, 4 + down, is_after ? 460 : 462);
    REQUIRE(snd_profile_add_source(profile, "/app/prog.py", source, strlen(source)) == SND_OK);
    set_info(profile, "program_path", "/app/prog.py");
    set_info(profile, "probes", "region, sample");
    set_info(profile, "sample_rate_hz", "1000");
    set_info(profile, "length_ns", is_after ? "2490000000" : "1975000000");
    set_info(profile, "cpu_ns", is_after ? "2480000000" : "1965000000");
    set_info(profile, "own_cpu_ns", "5000000");
    return profile;
}

/* Leaves of a path in a text only the file's name. */
static void
shorten(char *text, const char *path)
{
    size_t folder = (size_t)(strrchr(path, '/') + 1 - path);

    for (char *at; (at = strstr(text, path)) != NULL;)
        memmove(at, at + folder, strlen(at + folder) + 1);
}

/* Runs it and leaves what does not differ from run to run in last.text. */
static void
shown(const char *options)
{
    run(command, after, options);
    CHECK_NUMBER(last.status, 0);
    shorten(last.text, before);
    shorten(last.text, after);
}

/* As people see it, and every column of it; what the formats make of a table is tested with other tables. */
static void
the_difference_is_as_it_was(void)
{
    snd_buffer text = {0};

    shown("");
    snd_buffer_text(&text, last.text);
    shown("-f csv");
    snd_buffer_printf(&text, "\n%s", last.text);
    check_golden("diff/diff.txt", snd_buffer_str(&text), text.size);
    shown("--color always --lines");
    check_golden("diff/colours.txt", last.text, strlen(last.text));
    check_golden_used("diff");
    snd_buffer_free(&text);
}

static void
check_exit(const char *options, int status, const char *wanted)
{
    run(command, after, options);
    CHECK_NUMBER(last.status, status);
    CHECK_HAS(last.text, wanted);
}

static void
what_grew_by_more_fails(void)
{
    check_exit("--fail-over 10%", 1, "sonde: over 10%: function solve at prog.py:6: 1.462 s -> 1.960 s, +34.1%\n");
    check_exit("--fail-over 10", 1, "sonde: over 10%: total wall time: 1.975 s -> 2.490 s, +26.1%\n");
    check_exit("--fail-over 45% -f csv", 1, "sonde: over 45%: line step() at prog.py:7: 1.000 s -> 1.500 s, +50.0%\n");
    CHECK(strstr(last.text, "over 45%: function") == NULL);
    check_exit("--fail-over 60%", 0, "step()");
    check_exit("--fail-over 0.5 --functions", 1, "function solve");
    CHECK(strstr(last.text, "function load") == NULL); /* 2.8% more, but within its noise */
    check_exit("--fail-over 10% --run-noise 20%", 0, "(20% from run to run)");
}

static void
tables_can_be_chosen_sorted_and_cut(void)
{
    check_exit("--functions", 0, "\nFunctions");
    CHECK(strstr(last.text, "\nLines") == NULL && strstr(last.text, "\nRegions") == NULL);
    check_exit("--lines -n 1", 0, "Lines, including library code they called (1 of 3)\n");
    check_exit("-f csv --lines --sort after -n 1", 0, "lines,step(),prog.py:7,ns,1000000000,1500000000,500000000,50,");
    check_exit("-f csv --lines --sort name -n 1", 0, "lines,check(),prog.py:8,ns,");
}

static void
mistakes_get_one_line(void)
{
    char wanted[2048];

    check_exit("--fail-over ten", 2, "sonde: --fail-over takes a percentage such as 10%, not 'ten'\n");
    check_exit("--fail-over 0x10", 2, "not '0x10'\n");
    check_exit("--fail-over -1%", 2, "not '-1%'\n");
    check_exit("--run-noise nan", 2, "not 'nan'\n");
    check_exit("--sort color", 2, "sonde: unknown sort key 'color'; choose from before, ");
    check_exit("-f yaml", 2, "sonde: unknown format 'yaml'; choose from table, csv, json, html\n");
    check_exit("one-more", 2, "sonde: diff needs two recordings: sonde diff BEFORE.sonde AFTER.sonde\n");
    snprintf(wanted, sizeof wanted, "sonde: %s: no operators to compare\n", before);
    check_exit("--ops", 2, wanted);
    snprintf(command, sizeof command, "diff '%s'", calls);
    snprintf(wanted, sizeof wanted, "sonde: the recordings have nothing in common: %s has calls, %s has regions\n",
             calls, after);
    check_exit("", 2, wanted);
    CHECK_TEXT(last.text, wanted);
}

static snd_profile *
traced(void)
{
    snd_profile *profile = snd_profile_new();
    const snd_profile_site site = {SND_SITE_FUNCTION, "f", "/app/prog.py", 1, "", 0, 0};

    REQUIRE(profile != NULL);
    uint32_t node = add_frame(profile, add_root(profile, add_track(profile, "main", 100, 0, MS), MS, MS), &site);
    set_whole(profile, node, SND_METRIC_COUNT, 3);
    set_info(profile, "length_ns", "1000000");
    return profile;
}

static void
record(const char *path, snd_profile *profile)
{
    write_profile(path, profile, 0);
    snd_profile_free(profile);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    program = argv[1];
    golden_folder = argv[2];
    strcpy(before, temp_path("before.sonde"));
    strcpy(after, temp_path("after.sonde"));
    strcpy(calls, temp_path("calls.sonde"));
    record(before, make(0));
    record(after, make(1));
    record(calls, traced());
    snprintf(command, sizeof command, "diff '%s'", before);
    RUN(the_difference_is_as_it_was);
    RUN(what_grew_by_more_fails);
    RUN(tables_can_be_chosen_sorted_and_cut);
    RUN(mistakes_get_one_line);
    free(last.text);
    return check_report();
}
