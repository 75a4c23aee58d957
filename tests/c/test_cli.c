/* The program `sonde` from outside: what it prints where, and its exit status. Its path is the first argument. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_samples.h"
#include "format/page/page.h"
#include "sonde.h"
#include "store/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program;
static char recording[512], calls[512], samples[512];

/* What the last run gave. */
static struct {
    int status;
    char *out, *err;
} last;

static void
redirect(const char *path, int to)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, to) < 0)
        _exit(97);
    close(file);
}

/* Up to six words; NULL ends them. */
static void
run(const char *a, const char *b, const char *c, const char *d, const char *e, const char *f)
{
    const char *argv[] = {program, a, b, c, d, e, f, NULL};
    const char *out = temp_path("stdout"), *err = temp_path("stderr");
    int status = -1;

    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        redirect(out, STDOUT_FILENO);
        redirect(err, STDERR_FILENO);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(96);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    free(last.out);
    free(last.err);
    last.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    last.out = read_file(out, NULL);
    last.err = read_file(err, NULL);
}

static void
run1(const char *a)
{
    run(a, NULL, NULL, NULL, NULL, NULL);
}

static void
run2(const char *a, const char *b)
{
    run(a, b, NULL, NULL, NULL, NULL);
}

static void
run3(const char *a, const char *b, const char *c)
{
    run(a, b, c, NULL, NULL, NULL);
}

static void
check_fine(void)
{
    CHECK_NUMBER(last.status, 0);
    CHECK_TEXT(last.err, "");
}

/* One line on standard error, nothing on standard output, exit status 2. */
static void
check_mistake(const char *wanted)
{
    CHECK_NUMBER(last.status, 2);
    CHECK_TEXT(last.out, "");
    CHECK_TEXT(last.err, wanted);
}

static void
check_mistake_about(const char *path, const char *what)
{
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "sonde: %s: %s\n", path, what);
    check_mistake(wanted);
}

/* ---- without a recording ---- */

static void
help_lists_the_commands(void)
{
    static const char *const words[] = {"--help", "-h", "help"};

    for (size_t i = 0; i < 3; i++) {
        run1(words[i]);
        check_fine();
        CHECK(strstr(last.out, "\n  view ") != NULL && strstr(last.out, "\n  doctor ") != NULL);
    }
    run1(NULL);
    check_fine();
    CHECK(strstr(last.out, "usage: sonde COMMAND") != NULL);
    CHECK(strstr(last.out, "\nTo measure regions, add to your program:\n  import sonde; ") != NULL);
    run2("view", "--help");
    check_fine();
    CHECK(strstr(last.out, "usage: sonde view FILE") != NULL && strstr(last.out, "--columns") != NULL);
    run2("help", "sql");
    check_fine();
    CHECK(strstr(last.out, "usage: sonde sql FILE") != NULL);
    CHECK(strstr(last.out, "table, csv, json or html") != NULL);
}

static void
a_locale_without_unicode_gets_ascii(void)
{
    setenv("LC_ALL", "C", 1);
    run2("view", recording);
    CHECK_HAS(last.out, "100.0 us\n");
    CHECK_HAS(last.out, "none dropped; profiler overhead <= 850 ns (0.01%)\n");
    run2("info", samples);
    CHECK_HAS(last.out, "40 us in sonde's own threads\n");
    run1("merge");
    check_mistake("sonde: merge needs an output file: sonde merge -o ALL.sonde FILE FILE ...\n");
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void
the_version_is_that_of_the_library_with_commit_and_features_below_it(void)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, "sonde %s\ncommit    ", sonde_version());
    run1("--version");
    check_fine();
    CHECK(strncmp(last.out, wanted, strlen(wanted)) == 0);
    CHECK_HAS(last.out, "\nfeatures  ");
}

static void
an_unknown_command_suggests_the_nearest(void)
{
    run1("veiw");
    check_mistake("sonde: unknown command 'veiw'; did you mean 'view'?\n");
    run2("exprot", "x.sonde");
    check_mistake("sonde: unknown command 'exprot'; did you mean 'export'?\n");
    run1("frobnicate");
    CHECK_NUMBER(last.status, 2);
    CHECK(strstr(last.err, "unknown command 'frobnicate'; choose from ") != NULL);
    CHECK(strstr(last.err, " view, report, diff, merge, export, import, stat, ") != NULL);
}

static void
an_unknown_option_suggests_the_nearest(void)
{
    run3("view", "--colums", "x.sonde");
    check_mistake("sonde: view has no option '--colums'; did you mean '--columns'?\n");
    run2("view", "--frobnicate");
    check_mistake("sonde: view has no option '--frobnicate'; 'sonde view --help' lists them\n");
    run2("view", "-x");
    CHECK_NUMBER(last.status, 2);
    run3("view", recording, "--limit");
    check_mistake("sonde: view: option '--limit' needs N\n");
    run3("view", recording, "--regions=yes");
    CHECK_NUMBER(last.status, 2);
}

static void
an_unknown_option_before_the_command_suggests_an_option(void)
{
    run1("--verison");
    check_mistake("sonde: unknown option '--verison'; did you mean '--version'?\n");
}

/* ---- files that are no recordings ---- */

static void
a_file_that_cannot_be_read_is_named_in_one_line(void)
{
    static const char *const commands[] = {"view", "info", "export"};
    char missing[512], folder[512], text[512];

    strcpy(missing, temp_path("missing.sonde"));
    strcpy(folder, temp_path("folder.sonde"));
    strcpy(text, temp_path("text.sonde"));
    mkdir(folder, 0777);
    write_file(text, "this is text\n", 13);
    for (size_t i = 0; i < 3; i++) {
        run2(commands[i], missing);
        check_mistake_about(missing, "No such file or directory");
        run2(commands[i], folder);
        check_mistake_about(folder, "Is a directory");
        run2(commands[i], text);
        check_mistake_about(text, "this file is not a sonde recording");
    }
    run3("sql", missing, "select 1");
    check_mistake_about(missing, "No such file or directory");
    run1("view");
    check_mistake("sonde: view needs a recording: sonde view FILE.sonde\n");
}

/* ---- a recording ---- */

static void
make_recording(void)
{
    snd_profile *profile = small_profile();
    snd_chunk chunk = {0};
    snd_writer *writer = NULL;

    strcpy(recording, temp_path("run.sonde"));
    REQUIRE(snd_writer_open(recording, &writer) == SND_OK);
    snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = 1000, .duration_ns = 2000, .node = 1});
    REQUIRE(snd_writer_add_chunk(writer, 0, &chunk) == SND_OK);
    REQUIRE(snd_writer_checkpoint(writer, profile, NULL) == SND_OK);
    snd_chunk_free(&chunk);
    snd_writer_free(writer);
    snd_profile_free(profile);
}

static void
make_calls(void)
{
    snd_profile *profile = calls_profile();

    strcpy(calls, temp_path("calls.sonde"));
    write_profile(calls, profile, 0);
    snd_profile_free(profile);
}

#define FIRST_ROWS                                                        \
    "name       total  % of total  count       min   average       max\n" \
    "------  --------  ----------  -----  --------  --------  --------\n" \
    "<main>  10.00 ms     100.00%      1  10.00 ms  10.00 ms  10.00 ms\n" \
    ". load  8.000 ms      80.00%      2  4.000 ms  4.000 ms  4.000 ms\n"

static void
view_shows_the_tree(void)
{
    run2("view", recording);
    check_fine();
    CHECK(strstr(last.out, "\n. . parse  1.000 ms      10.00%     10  100.0 µs  100.0 µs  100.0 µs\n") != NULL);
    run("view", recording, "-n", "2", NULL, NULL);
    check_fine();
    CHECK_TEXT(last.out, FIRST_ROWS "17 entries, none dropped; profiler overhead ≤ 850 ns (0.01%)\n"
                                    "still open, counted so far: parse in thread worker\n");
    run("view", "--columns=name,self", "--limit=2", recording, NULL, NULL);
    CHECK(strncmp(last.out, "name        self\n------  --------\n", 33) == 0);
    run3("view", "--threads", recording);
    check_fine();
    CHECK(strncmp(last.out, "thread  measured", 16) == 0);
    run3("view", "--counters", recording);
    check_fine();
    CHECK(strstr(last.out, "queue     2.5   -1      2.5    7        4  main\n") != NULL);
}

static void
mistakes_in_options_are_one_line(void)
{
    run("view", recording, "--columns", "name,totl", NULL, NULL);
    check_mistake("sonde: unknown column 'totl'; did you mean 'total'?\n");
    run("view", recording, "--limit", "many", NULL, NULL);
    check_mistake("sonde: --limit takes a whole number, not 'many'\n");
    run("export", recording, "--format", "jsn", NULL, NULL);
    check_mistake("sonde: unknown format 'jsn'; did you mean 'json'?\n");
    run("export", recording, "--view", "region", NULL, NULL);
    check_mistake("sonde: unknown view 'region'; did you mean 'regions'?\n");
}

static void
calls_are_shown_as_functions(void)
{
    run2("view", calls);
    check_fine();
    CHECK(strncmp(last.out, "function                              ncalls   tottime   percall   cumtime", 74) == 0);
    CHECK(strstr(last.out, "\nrun.py:10(fib)                       21891/1  6.000 ms    274 ns") != NULL);
    run("export", calls, "-f", "csv", "-c", "name,calls");
    check_fine();
    CHECK(strncmp(last.out, "name,calls\nfib,21891\nPoint.move,15\nmain,1\n", 42) == 0);
    run3("view", calls, "--callers");
    check_fine();
    CHECK(strstr(last.out, "\n. run.py:3(main) ") != NULL);
    run3("view", calls, "--regions");
    check_fine();
    run3("view", recording, "--functions");
    check_mistake_about(recording,
                        "the recording has no data for functions; record every call with sonde trace prog.py, or "
                        "samples with sonde run prog.py");
    run3("view", calls, "--lines");
    check_mistake_about(calls, "the recording has no data for lines; record samples with sonde run prog.py");
    run3("view", calls, "--timeline");
    check_mistake_about(calls, "the recording has no samples over time; record samples with sonde run prog.py");
    run3("view", calls, "--summary");
    check_mistake_about(calls, "the recording has no data for a summary; record samples with sonde run prog.py");
}

static void
rows_are_sorted_matched_and_limited(void)
{
    run("export", calls, "-fcsv", "-cname", "--sort=calls", "-n2");
    check_fine();
    CHECK_TEXT(last.out, "name\nfib\nPoint.move\n");
    run("export", calls, "-fcsv", "-cname", "--sort=nfl", "--match=py");
    check_fine();
    CHECK_TEXT(last.out, "name\nPoint.move\nfetch\nfib\nmain\n");
    run("export", calls, "--view=callees", "-fcsv", "-cname", "-n1");
    check_fine();
    CHECK_TEXT(last.out, "name\nmain\nfib\nPoint.move\nfetch\n<built-in method builtins.len>\n");
    run("export", recording, "-fcsv", "-cname", "--sort=count", NULL);
    check_fine();
    CHECK_TEXT(last.out, "name\n<main>\nload\nparse\nwrite\n<worker>\nparse\n");
    run("view", calls, "len|(fe|x)tch", "-cname", "--callers", NULL);
    check_fine();
    CHECK_NUMBER(count_text(last.out, "main\n"), 2);
    CHECK_NUMBER(count_text(last.out, "\nf"), 1);
}

static void
mistakes_in_patterns_and_keys_are_one_line(void)
{
    run("view", calls, "--sort", "cumtme", NULL, NULL);
    check_mistake("sonde: unknown sort key 'cumtme'; did you mean 'cumtime'?\n");
    run("view", recording, "--sort", "xyzzyxyzzy", NULL, NULL);
    CHECK_NUMBER(last.status, 2);
    CHECK(strstr(last.err, "unknown sort key 'xyzzyxyzzy'; choose from name, total, ") != NULL);
    CHECK(strstr(last.err, ", cumulative") != NULL && strstr(last.err, ", nfl") == NULL);
    run3("view", calls, "a(b");
    CHECK_NUMBER(last.status, 2);
    CHECK(strncmp(last.err, "sonde: invalid pattern 'a(b': ", 30) == 0 && count_text(last.err, "\n") == 1);
    run3("view", calls, "nobody");
    check_mistake_about(calls, "nothing in the view functions matches 'nobody'");
    run("view", calls, "one", "--match", "two", NULL);
    check_mistake("sonde: view takes one pattern; unexpected argument 'one'\n");
    run("view", calls, "one", "two", NULL, NULL);
    CHECK_NUMBER(last.status, 2);
    run3("export", calls, "one");
    check_mistake("sonde: export takes one recording; unexpected argument 'one'\n");
}

static void
a_page_has_the_usual_columns(void)
{
    char out[512];

    strcpy(out, temp_path("page.html"));
    run("export", calls, "--format=html", "--view=functions", "-o", out);
    check_fine();
    char *text = read_file(out, NULL);
    CHECK(strncmp(text, "<!DOCTYPE html>\n", 16) == 0);
    CHECK(strstr(text, "<th scope=\"col\">tottime</th>") != NULL && strstr(text, ">resumes</th>") == NULL);
    free(text);
    run("export", calls, "--format=html", "--columns=name,resumes", NULL, NULL);
    check_fine();
    CHECK(strstr(last.out, ">resumes</th>") != NULL);
    run("sql", calls, "select '<b>' as x", "--format=html", NULL, NULL);
    check_fine();
    CHECK(strstr(last.out, "<td class=\"text\">&lt;b&gt;</td>") != NULL);
}

static void
a_second_recording_is_not_passed_over_in_silence(void)
{
    run3("view", recording, "another.sonde");
    CHECK_NUMBER(last.status, 2);
    CHECK(strstr(last.err, "another.sonde") != NULL);
}

static void
a_colour_that_is_none_is_a_mistake(void)
{
    run3("view", recording, "--color=sometimes");
    CHECK_NUMBER(last.status, 2);
}

static void
colour_is_off_in_a_pipe_and_on_when_asked_for(void)
{
    run2("view", recording);
    CHECK(strchr(last.out, '\033') == NULL);
    run3("view", recording, "--color=always");
    CHECK(strchr(last.out, '\033') != NULL);
    run3("view", recording, "--color=never");
    CHECK(strchr(last.out, '\033') == NULL);
}

static void
export_writes_every_format(void)
{
    char out[512];

    strcpy(out, temp_path("exported"));
    run("export", recording, "-f", "csv", "--columns", "name,count");
    check_fine();
    CHECK_TEXT(last.out, "name,count\n<main>,1\nload,2\nparse,10\nwrite,1\n<worker>,1\nparse,4\n");
    run("export", recording, "-f", "json", "-o", out);
    check_fine();
    CHECK_TEXT(last.out, "");
    char *text = read_file(out, NULL);
    CHECK(strncmp(text, "{\"view\": \"regions\",", 19) == 0);
    free(text);
    run("export", recording, "-f", "chrome", NULL, NULL);
    check_fine();
    CHECK_NUMBER(count_text(last.out, "\"ph\": \"X\""), 1);
    run("export", recording, "-f", "csv", "-o", "/no/such/folder/x");
    check_mistake("sonde: /no/such/folder/x: cannot be written: No such file or directory\n");
    run("export", recording, "-f", "csv", "-o", "/dev/full");
    CHECK_NUMBER(last.status, 2);
    CHECK(strstr(last.err, "/dev/full: cannot be written: No space left on device") != NULL);
}

static void
export_writes_stacks_for_other_programs(void)
{
    char out[512];

    run("export", samples, "-f", "collapsed", "--by-line", "--cpu-only");
    check_fine();
    CHECK_TEXT(last.out, "main;[not seen] 500\nmain;main (prog.py:3);f (prog.py:10) 3000\n"
                         "main;main (prog.py:3);f (prog.py:11);compress (libz.so) 3000\n");
    run("export", samples, "-f", "speedscope", NULL, NULL);
    check_fine();
    CHECK(strstr(last.out, "\"endValue\": 10000000,\n") != NULL);
    strcpy(out, temp_path("kept"));
    write_file(out, "kept", 4);
    run("export", calls, "-fcollapsed", "-o", out, NULL);
    check_mistake_about(calls,
                        "traced calls have no full stacks and cannot be written as collapsed; use pstats or callgrind");
    run("export", calls, "-fchrome", "-o", out, NULL);
    CHECK_NUMBER(last.status, 2);
    char *text = read_file(out, NULL);
    CHECK_TEXT(text, "kept");
    free(text);
}

static void
info_tells_of_samples_where_there_are_some(void)
{
    run2("info", samples);
    check_fine();
    CHECK(strstr(last.out, "\nsamples      17 at 1000 Hz, 2 missed\n") != NULL);
    CHECK(strstr(last.out, "\nCPU time     6.500 ms, of which 40 µs in sonde's own threads\n") != NULL);
    CHECK(strstr(last.out, "\nsample cost  up to 1500 ns per sample, 25.50 µs in total\n") != NULL);
    CHECK(strstr(last.out, "\ninterrupted  1 system call, by sonde's signals\n") != NULL);
    run2("info", recording);
    CHECK(strstr(last.out, "sample") == NULL);
}

static void
info_tells_what_the_recording_is_of(void)
{
    run2("info", recording);
    check_fine();
    CHECK(strstr(last.out, "program   work\n") != NULL);
    CHECK(strstr(last.out, "entries   17\n") != NULL);
    CHECK(strstr(last.out, "timeline  1 events\n") != NULL || strstr(last.out, "timeline  1 event\n") != NULL);
    CHECK(strstr(last.out, "state     complete\n") != NULL);
    CHECK(strstr(last.out, "call") == NULL);
}

static void
info_tells_of_calls_where_there_are_some(void)
{
    run2("info", calls);
    check_fine();
    CHECK(strstr(last.out, "\ncalls      21923\n") != NULL);
    CHECK(strstr(last.out, "\ncall cost  up to 50 ns per call, 1.096 ms in total\n") != NULL);
    run("info", calls, "--format=html", NULL, NULL, NULL);
    check_fine();
    CHECK(strstr(last.out, "<td class=\"text\">21923</td>") != NULL);
}

static void
sql_answers_and_only_reads(void)
{
    run3("sql", recording, "select name, count from region where count > 5");
    check_fine();
    CHECK_TEXT(last.out, "name   count\n-----  -----\nparse     10\n");
    run("sql", recording, "select 1 as a, null as b", "--format=csv", NULL, NULL);
    check_fine();
    CHECK_TEXT(last.out, "a,b\n1,\n");
    run3("sql", recording, "delete from info");
    check_mistake_about(recording, "a query may only read; this one would write");
    run3("sql", recording, "select 1; select 2");
    check_mistake("sonde: the query is not valid: it has more than one statement\n");
    run3("sql", recording, "selec 1");
    check_mistake("sonde: the query is not valid: near \"selec\": syntax error\n");
    run2("sql", recording);
    CHECK_NUMBER(last.status, 2);
}

/* A column is of numbers when its first row is one; what comes later is still written as it is. */
static void
sql_writes_a_text_among_numbers_as_it_is(void)
{
    run("sql", recording, "select 1 as x union all select 'word'", "--format=csv", NULL, NULL);
    check_fine();
    CHECK_TEXT(last.out, "x\n1\nword\n");
}

static void
sql_writes_large_whole_numbers_whole(void)
{
    run("sql", recording, "select 'a' as x union all select 123456789012345678", "--format=csv", NULL, NULL);
    check_fine();
    CHECK_TEXT(last.out, "x\na\n123456789012345678\n");
}

static void
the_doctor_says_what_works(void)
{
    run1("doctor");
    CHECK(last.status == 0 || last.status == 1); /* Python may be missing here */
    CHECK(strstr(last.out, "clock      ok ") != NULL);
    CHECK(strstr(last.out, "regions    ok ") != NULL);
}

/* Builds without the page are tested, too. */
static void
a_report_is_a_page_or_one_line(void)
{
    char page[600];

    snprintf(page, sizeof page, "%s.html", samples);
    run1("report");
    check_mistake("sonde: report needs a recording: sonde report FILE.sonde\n");
    run("report", samples, samples, samples, NULL, NULL);
    CHECK_NUMBER(last.status, 2);
    run("report", samples, "-o", page, NULL, NULL);
    if (!snd_page_exists()) {
        check_mistake("sonde: " SND_PAGE_MISSING "\n");
        CHECK(access(page, F_OK) != 0);
        return;
    }
    CHECK_NUMBER(last.status, 0);
    CHECK(strstr(last.err, "sonde: page saved in ") == last.err);
    char *text = read_file(page, NULL);
    CHECK_NUMBER(count_text(text, "id=\"sonde-data\""), 1);
    free(text);
    run("report", samples, "-o", "/nowhere/page.html", NULL, NULL);
    check_mistake("sonde: /nowhere/page.html: cannot be written: No such file or directory\n");
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    program = argv[1];
    make_recording();
    make_calls();
    strcpy(samples, temp_path("samples.sonde"));
    write_samples(samples, 1);
    unsetenv("NO_COLOR");
    setenv("LC_ALL", "C.UTF-8", 1);
    RUN(help_lists_the_commands);
    RUN(a_locale_without_unicode_gets_ascii);
    RUN(the_version_is_that_of_the_library_with_commit_and_features_below_it);
    RUN(an_unknown_command_suggests_the_nearest);
    RUN(an_unknown_option_suggests_the_nearest);
    RUN(an_unknown_option_before_the_command_suggests_an_option);
    RUN(a_file_that_cannot_be_read_is_named_in_one_line);
    RUN(view_shows_the_tree);
    RUN(mistakes_in_options_are_one_line);
    RUN(calls_are_shown_as_functions);
    RUN(rows_are_sorted_matched_and_limited);
    RUN(mistakes_in_patterns_and_keys_are_one_line);
    RUN(a_page_has_the_usual_columns);
    RUN(a_second_recording_is_not_passed_over_in_silence);
    RUN(a_colour_that_is_none_is_a_mistake);
    RUN(colour_is_off_in_a_pipe_and_on_when_asked_for);
    RUN(export_writes_every_format);
    RUN(export_writes_stacks_for_other_programs);
    RUN(info_tells_of_samples_where_there_are_some);
    RUN(info_tells_what_the_recording_is_of);
    RUN(info_tells_of_calls_where_there_are_some);
    RUN(sql_answers_and_only_reads);
    RUN(sql_writes_a_text_among_numbers_as_it_is);
    RUN(sql_writes_large_whole_numbers_whole);
    RUN(the_doctor_says_what_works);
    RUN(a_report_is_a_page_or_one_line);
    free(last.out);
    free(last.err);
    return check_report();
}
