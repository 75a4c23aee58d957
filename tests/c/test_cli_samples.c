/* What `sonde view` shows of a recording of samples. The program is the first argument. */
#include "check.h"
#include "fixture.h"
#include "fixture_cli.h"
#include "fixture_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char with_timeline[512], without_timeline[512];

static void
view(const char *path, const char *options)
{
    run("view", path, options);
}

static void
check_shows(const char *options, const char *wanted)
{
    check_run_shows("view", with_timeline, options, wanted);
}

static void
check_refuses(const char *path, const char *options, const char *wanted)
{
    char line[1024];

    view(path, options);
    snprintf(line, sizeof line, "sonde: %s\n", wanted);
    CHECK_NUMBER(last.status, 2);
    CHECK_TEXT(last.text, line);
}

static void
the_summary_is_what_is_shown_first(void)
{
    check_shows("", "Hottest lines\n");
    CHECK(strstr(last.text, "Hottest functions\n") != NULL && strstr(last.text, "Call tree") != NULL);
    check_shows("--summary", "Hottest lines\n");
}

static void
every_view_has_an_option(void)
{
    check_shows("--lines", "prog.py: % of CPU time = ");
    check_shows("--lines --with-waiting", "prog.py: % of time = ");
    check_shows("--waiting", "1 idle thread ");
    check_shows("--waiting --show-all", "/app/prog.py:20");
    check_shows("--functions", "function ");
    check_shows("--tree", "thread main");
    check_shows("--tree --by-time", "thread main");
    check_shows("--tree --flat", "self CPU");
    check_shows("--threads", "all threads");
    check_shows("--timeline", "running");
}

static void
a_table_is_shown_where_one_is_asked_for(void)
{
    check_shows("-n 1", "prog.py: % of CPU time");
    check_shows("-c place,samples --sort samples", "place");
    check_shows("prog", "prog.py: % of CPU time");
    check_shows("--by-time", "thread main");
    check_shows("--region load --with-waiting", "prog.py: % of time = 100.00% (0.004s) out of 0.004s");
    check_shows("--region load", "prog.py: % of CPU time = 0.00% (0.000s) out of 0.000s, waited 0.004s");
}

static void
options_choose_what_counts(void)
{
    check_shows("--lines --cpu-only", "out of 0.006s");
    check_shows("--lines --seconds", "3.000 ms");
    check_shows("--tree --thread worker", "7.000 ms");
    check_shows("--tree --hide '^f$' --show-all", "[1 frame hidden]  prog");
    check_shows("--lines --exclude 'prog*'", "(outside your own code)");
}

static void
what_cannot_be_shown_is_said_in_one_line(void)
{
    char wanted[1024];

    check_refuses(with_timeline, "--tree --hide 'a(b'", "invalid pattern 'a(b': Unmatched ( or \\(");
    snprintf(wanted, sizeof wanted, "%s: no samples of the region 'nothing'", with_timeline);
    check_refuses(with_timeline, "--region nothing", wanted);
    snprintf(wanted, sizeof wanted, "%s: no samples of the thread 'nobody'", with_timeline);
    check_refuses(with_timeline, "--thread nobody", wanted);
    view(without_timeline, "--timeline");
    CHECK(last.status == 2 && strstr(last.text, "recorded with --no-timeline; record again without it") != NULL);
    view(without_timeline, "--tree --by-time");
    CHECK(last.status == 2 && strstr(last.text, "recorded with --no-timeline; record again without it") != NULL);
    view(without_timeline, "--tree");
    CHECK_NUMBER(last.status, 0);
}

static void
a_recording_without_samples_has_no_summary(void)
{
    check_refuses("/dev/null", "--summary", "/dev/null: this file is not a sonde recording");
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    program = argv[1];
    strcpy(with_timeline, temp_path("with.sonde"));
    strcpy(without_timeline, temp_path("without.sonde"));
    write_samples(with_timeline, 1);
    write_samples(without_timeline, 0);
    RUN(the_summary_is_what_is_shown_first);
    RUN(every_view_has_an_option);
    RUN(a_table_is_shown_where_one_is_asked_for);
    RUN(options_choose_what_counts);
    RUN(what_cannot_be_shown_is_said_in_one_line);
    RUN(a_recording_without_samples_has_no_summary);
    free(last.text);
    return check_report();
}
