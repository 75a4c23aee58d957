/* What --help prints, and how wide. The program is the first argument, the folder of golden files the second. */
#include "base/utf8.h"
#include "check.h"
#include "cli/commands.h"
#include "fixture.h"
#include "fixture_cli.h"
#include "fixture_golden.h"
#include "fixture_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const commands[] = {
#define NAME(name) #name,
    SND_COMMAND_MAP(NAME)
#undef NAME
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

enum { OUTPUT_LIMIT = 1 << 16 };

static void
set_width(unsigned width)
{
    char text[16];

    snprintf(text, sizeof text, "%u", width);
    setenv("COLUMNS", text, 1);
}

static void
run_line(const char *words)
{
    char line[256];

    snprintf(line, sizeof line, "'%s' %s", program, words);
    FILE *output = popen(line, "r");
    REQUIRE(output != NULL);
    free(last.text);
    last.text = calloc(1, OUTPUT_LIMIT + 1);
    REQUIRE(last.text != NULL);
    REQUIRE(fread(last.text, 1, OUTPUT_LIMIT, output) < OUTPUT_LIMIT);
    last.status = pclose(output);
}

static void
every_help_is_as_its_golden_file(void)
{
    char name[64];

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        run("help", commands[i], "");
        CHECK_NUMBER(last.status, 0);
        snprintf(name, sizeof name, "help/%s.txt", commands[i]);
        check_golden(name, last.text, strlen(last.text));
    }
    run_line("run --help-scalene");
    CHECK_NUMBER(last.status, 0);
    check_golden("help/scalene.txt", last.text, strlen(last.text));
    run_line("--help");
    CHECK_NUMBER(last.status, 0);
    check_golden("help/sonde.txt", last.text, strlen(last.text));
    check_golden_used("help");
}

/* Without the version, which changes. */
static void
every_shell_gets_its_script_and_man_its_pages(void)
{
    static const char *const names[] = {"bash", "zsh", "fish", "man", "man config"};
    static const char *const files[] = {"sonde.bash", "sonde.zsh", "sonde.fish", "sonde.1", "sonde-config.1"};
    char name[64], words[64];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(words, sizeof words, "completion %s", names[i]);
        run_line(words);
        CHECK_NUMBER(last.status, 0);
        char *version = strstr(last.text, "\"sonde " SND_VERSION "\"");
        CHECK((version != NULL) == (strncmp(names[i], "man", 3) == 0));
        if (version != NULL) {
            char *end = version + strlen("\"sonde " SND_VERSION);
            memmove(version + 1, end, strlen(end) + 1);
        }
        snprintf(name, sizeof name, "completion/%s", files[i]);
        check_golden(name, last.text, strlen(last.text));
    }
    check_golden_used("completion");
}

/* The lines of an example are to be copied and are not broken: they are short enough for 60 columns. */
static int
is_example(const char *line)
{
    return strncmp(line, "  sonde ", 8) == 0 || strstr(line, "sonde doctor") != NULL || strncmp(line, "  gcc ", 6) == 0;
}

/* The first line of the text that is wider and could have been broken; "" where there is none. */
static const char *
first_wide(char *text, size_t width)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        int is_word = strchr(line + strspn(line, " "), ' ') == NULL;
        if (snd_utf8_width(line) > width && !is_word && !(is_example(line) && width < 60))
            return line;
    }
    return "";
}

static void
no_line_is_wider_than_the_terminal(void)
{
    static const unsigned widths[] = {40, 49, 50, 60, 80, 120};

    for (size_t i = 0; i < COMMAND_COUNT; i++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            set_width(widths[w]);
            run("help", commands[i], "");
            CHECK_TEXT(first_wide(last.text, widths[w]), "");
        }
    unsetenv("COLUMNS");
}

static void
the_texts_begin_in_one_column_also_behind_wide_characters(void)
{
    run("help", "view", "");
    CHECK_HAS(last.text, "\n  -c, --columns A,B,…      show these columns");
    CHECK_HAS(last.text, "\n  -s, --sort KEY           sort by a column");
    setenv("LC_ALL", "C", 1);
    run("help", "view", "");
    CHECK_HAS(last.text, "\n  -c, --columns A,B,...    show these columns");
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void
a_locale_without_unicode_gets_ascii(void)
{
    setenv("LC_ALL", "C", 1);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        run("help", commands[i], "");
        for (const char *at = last.text; *at != '\0'; at++)
            CHECK((unsigned char)*at < 128);
    }
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void
a_narrow_terminal_has_texts_below_their_options(void)
{
    set_width(40);
    run("help", "view", "");
    CHECK_HAS(last.text, "\n  --leaks\n      lines whose memory keeps growing\n");
    unsetenv("COLUMNS");
}

static void
what_is_no_number_of_columns_is_passed_over(void)
{
    static const char *const texts[] = {"", "0", "-5", "wide", "60x", "99999999999999999999"};

    run("help", "view", "");
    char *usual = strdup(last.text);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        setenv("COLUMNS", texts[i], 1);
        run("help", "view", "");
        CHECK_TEXT(last.text, usual);
    }
    unsetenv("COLUMNS");
    free(usual);
}

/* How wide the table of the text is: the rule below its titles. */
static size_t
width_of(const char *text)
{
    for (const char *line = text; *line != '\0'; line++) {
        size_t len = strcspn(line, "\n"), rule = strspn(line, "- ");
        if (rule == len && len != 0)
            return len;
        line += len;
    }
    return 0;
}

static void
tables_in_a_pipe_are_as_wide_as_columns_says(void)
{
    const char *path = temp_path("samples.sonde");

    write_samples(path, 0);
    run("view", path, "--lines --limit 100");
    CHECK(width_of(last.text) > 60);
    set_width(60);
    run("view", path, "--lines --limit 100");
    CHECK(width_of(last.text) != 0 && width_of(last.text) <= 60);
    unsetenv("COLUMNS");
}

/* ---- suggestions ---- */

/* What an unknown option of a command is answered with. */
static void
check_option(const char *name, const char *option, const char *wanted)
{
    run(name, "x.sonde", option);
    CHECK_NUMBER(last.status, 2);
    CHECK_HAS(last.text, wanted);
}

static void
a_slip_of_the_fingers_gets_a_suggestion(void)
{
    check_option("view", "--liens", "did you mean '--lines'?");
    check_option("view", "--footpritn", "did you mean '--footprint'?");
    check_option("view", "--sig", "did you mean '--signatures'?");
    check_option("view", "--by_shape", "did you mean '--by-shape'?");
    check_option("report", "--opne", "did you mean '--open'?");
    check_option("report", "--ouput=x", "did you mean '--output'?");
    check_option("veiw", "", "did you mean 'view'?");
    check_option("improt", "", "did you mean 'import'?");
}

static void
an_unrelated_word_gets_none(void)
{
    static const char *const options[] = {"--wide", "--files",     "--cost",   "--no-lines", "--xy",
                                          "--q",    "--t",         "--gpu",    "--web",      "--profile-all",
                                          "--rows", "--no-memory", "--malloc", "--func"};
    static const char *const names[] = {"list", "attach", "record", "show", "python3", "sum", "fun", "st", "x"};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        check_option("view", options[i], "'sonde view --help' lists them\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_option(names[i], "", "; choose from run, trace, view, ");
}

/* ---- several views, and empty ones ---- */

static void
all_views_that_are_asked_for_are_shown(void)
{
    const char *path = temp_path("samples.sonde");

    write_samples(path, 0);
    run("view", path, "--threads --lines --threads --limit 3");
    CHECK_NUMBER(last.status, 0);
    CHECK(strncmp(last.text, "== threads ==\n", 14) == 0);
    const char *lines = strstr(last.text, "\n\n== lines ==\n");
    CHECK(lines != NULL && strstr(lines, "== threads ==") == NULL);
    run("view", path, "--lines --limit 3");
    CHECK(strstr(last.text, "==") == NULL);
    CHECK(lines != NULL);
    run("view", path, "--summary --functions");
    CHECK_NUMBER(last.status, 0);
    CHECK(strncmp(last.text, "== summary ==\n", 14) == 0);
    CHECK_HAS(last.text, "\n== functions ==\n");
}

static void
a_view_without_data_does_not_hide_the_others(void)
{
    run("view", temp_path("samples.sonde"), "--signatures --lines");
    CHECK_NUMBER(last.status, 2);
    CHECK_HAS(last.text,
              "the recording has no data for signatures; record them with sonde trace --signatures prog.py\n");
    CHECK_HAS(last.text, "\n== lines ==\n");
}

static void
an_empty_view_says_how_to_fill_it(void)
{
    static const char *const views[][2] = {
        {"--callers", "record calls with sonde trace prog.py\n"},
        {"--counters", "record values with sonde.counter(name, value)\n"},
        {"--marks", "mark moments with sonde.mark(name)\n"},
        {"--memory", "record again with sonde run --memory\n"},
        {"--ops", "record again with sonde run --ops\n"},
        {"--graph", "record again with sonde run --graph\n"},
        {"--timeline", "recorded with --no-timeline; record again without it\n"},
    };

    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        run("view", temp_path("samples.sonde"), views[i][0]);
        CHECK_NUMBER(last.status, 2);
        CHECK_HAS(last.text, views[i][1]);
    }
}

static void
titles_choose_columns_and_orders(void)
{
    run("view", temp_path("samples.sonde"), "--threads -c 'thread,processor,i/o' -s Processor");
    CHECK_NUMBER(last.status, 0);
    CHECK_HAS(last.text, "thread");
    CHECK_HAS(last.text, "processor");
    CHECK_HAS(last.text, "I/O");
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    program = argv[1];
    golden_folder = argv[2];
    unsetenv("COLUMNS");
    setenv("LC_ALL", "C.UTF-8", 1);
    RUN(every_help_is_as_its_golden_file);
    RUN(every_shell_gets_its_script_and_man_its_pages);
    RUN(no_line_is_wider_than_the_terminal);
    RUN(the_texts_begin_in_one_column_also_behind_wide_characters);
    RUN(a_locale_without_unicode_gets_ascii);
    RUN(a_narrow_terminal_has_texts_below_their_options);
    RUN(what_is_no_number_of_columns_is_passed_over);
    RUN(tables_in_a_pipe_are_as_wide_as_columns_says);
    RUN(a_slip_of_the_fingers_gets_a_suggestion);
    RUN(an_unrelated_word_gets_none);
    RUN(all_views_that_are_asked_for_are_shown);
    RUN(a_view_without_data_does_not_hide_the_others);
    RUN(an_empty_view_says_how_to_fill_it);
    RUN(titles_choose_columns_and_orders);
    free(last.text);
    return check_report();
}
