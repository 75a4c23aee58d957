/* What `sonde view`, `sonde export` and `sonde sql` show of compiled functions. The program is the first argument. */
#include "check.h"
#include "fixture.h"
#include "fixture_cli.h"
#include "fixture_graph.h"
#include "fixture_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char with_graphs[512], without_graphs[512];

static void
check_shows(const char *command, const char *options, const char *wanted)
{
    check_run_shows(command, with_graphs, options, wanted);
}

/* One line, for the one who typed it. */
static void
check_refuses(const char *path, const char *options, const char *wanted)
{
    run("view", path, options);
    CHECK_NUMBER(last.status, 2);
    CHECK_NUMBER(count_text(last.text, "\n"), 1);
    CHECK_HAS(last.text, wanted);
}

static void
the_report_is_shown_with_an_option_and_without(void)
{
    check_shows("view", "--graph", "Function train\n==============\n");
    char *asked_for = last.text;
    last.text = NULL;
    check_shows("view", "", "Total (3 functions)\n");
    CHECK_TEXT(last.text, asked_for);
    free(asked_for);
}

static void
options_choose_what_it_says(void)
{
    check_shows("view", "--graph --function predict", "Function predict\n");
    CHECK(strstr(last.text, "train\n") == NULL);
    check_shows("view", "--total", "Total (3 functions)\n");
    CHECK(strstr(last.text, "Function ") == NULL);
    check_shows("view", "--n-ops 1 --n-apply=0", "remaining: 2 classes\n");
    CHECK(strstr(last.text, "remaining: 5 nodes\n") != NULL);
    check_shows("view", "--min-memory 4000", "remaining: 4 nodes, 4 below 3.91 KiB\n");
}

static void
a_table_is_shown_where_one_is_asked_for(void)
{
    check_shows("view", "--graph --sort time -n 1 -c name,calls", "for{cpu,scan_fn}(n, x)");
    CHECK(strstr(last.text, "Class\n") == NULL);
    check_shows("export", "--view graph --format csv -c name,kind,time -n 1",
                "name,kind,time_ns\ntrain,graph,1234000000\n");
    check_shows("export", "--view graph --format json --function step", "\"name\": \"step\", \"kind\": \"graph\"");
}

static void
a_query_has_a_view_of_them(void)
{
    check_shows(
        "sql",
        "\"select name, count, total_ns, vm_ns from graph where kind = 'graph' and count > 1 order by 3\" -f csv",
        "name,count,total_ns,vm_ns\nstep,9000,100000000,90000000\ntrain,1000,1234000000,1190000000\n");
    check_shows("sql", "\"select count(*) as n from graph where name in ('recompiled', 'input 2')\" -f csv", "n\n2\n");
}

static void
mistakes_get_one_line(void)
{
    check_refuses(with_graphs, "--graph --function tarin", "no compiled function 'tarin'");
    check_refuses(with_graphs, "--n-ops many", "--n-ops takes a whole number, not 'many'");
    check_refuses(with_graphs, "--min-memory -1", "--min-memory takes a whole number, not '-1'");
    check_refuses(
        without_graphs, "--graph",
        "recorded without --graph, or no function was compiled or called; record again with sonde run --graph");
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    program = argv[1];
    strcpy(with_graphs, temp_path("with.sonde"));
    strcpy(without_graphs, temp_path("without.sonde"));
    write_graphs(with_graphs);
    write_samples(without_graphs, 0);
    RUN(the_report_is_shown_with_an_option_and_without);
    RUN(options_choose_what_it_says);
    RUN(a_table_is_shown_where_one_is_asked_for);
    RUN(a_query_has_a_view_of_them);
    RUN(mistakes_get_one_line);
    free(last.text);
    return check_report();
}
