/* What `sonde view` and `sonde export` show of a recording with memory. The program is the first argument. */
#include "check.h"
#include "fixture.h"
#include "fixture_cli.h"
#include "fixture_memory.h"
#include "fixture_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char with_memory[512], without_memory[512];

static void
check_shows(const char *command, const char *options, const char *wanted)
{
    check_run_shows(command, with_memory, options, wanted);
}

static void
every_view_has_an_option(void)
{
    check_shows("view", "--memory", "Memory at the peak, by owner\n");
    check_shows("view", "--leaks", "1 leak; 3 lines checked, 2 skipped (too few surviving blocks)\n");
    check_shows("view", "--copies", "40.0 MiB/s");
    check_shows("view", "--footprint", "peak 412 MiB at 2.400 s");
    check_shows("view", "--owners", "thread main");
    check_shows("view", "--sizes", "size from");
    check_shows("view", "--lines", "mem peak");
    check_shows("view", "", "\nMemory\npeak 412 MiB");
}

static void
a_table_is_shown_where_one_is_asked_for(void)
{
    check_shows("view", "--memory --sort alloc_python -n 1 -c place,alloc_python", "prog.py:18");
    CHECK(strstr(last.text, "Memory at the peak, by owner") == NULL);
    check_shows("view", "--footprint -n 2", "100.0 ms  24.0 MiB  42.0 MiB");
    check_shows("view", "--memory --thread pool", "12.0 MiB  100.00%");
    check_shows("view", "--memory --all-code", "json/decoder.py:337");
}

static void
every_view_can_be_exported(void)
{
    check_shows("export", "--view memory --format csv -c place,peak -n 1", "place,peak_bytes\nprog.py:10,268435456\n");
    check_shows("export", "--view leaks --format json", "\"verdict\": \"leak\", \"place\": \"prog.py:14\"");
    check_shows("export", "--view footprint --format csv -n 1", "at_ns,heap_bytes,rss_bytes\n0,0,31457280\n");
    check_shows("export", "--view sizes --format html", "</html>");
}

static void
without_memory_one_line_says_so(void)
{
    static const char *const views[] = {"memory", "leaks", "copies", "footprint", "owners", "sizes"};
    char wanted[1024], options[64];

    snprintf(wanted, sizeof wanted, "sonde: %s: recorded without --memory; record again with sonde run --memory\n",
             without_memory);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        snprintf(options, sizeof options, "--%s", views[i]);
        run("view", without_memory, options);
        CHECK_NUMBER(last.status, 2);
        CHECK_TEXT(last.text, wanted);
        snprintf(options, sizeof options, "--format csv --view %s", views[i]);
        run("export", without_memory, options);
        CHECK_NUMBER(last.status, 2);
        CHECK_TEXT(last.text, wanted);
    }
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    program = argv[1];
    strcpy(with_memory, temp_path("with.sonde"));
    strcpy(without_memory, temp_path("without.sonde"));
    write_memory(with_memory);
    write_samples(without_memory, 0);
    RUN(every_view_has_an_option);
    RUN(a_table_is_shown_where_one_is_asked_for);
    RUN(every_view_can_be_exported);
    RUN(without_memory_one_line_says_so);
    free(last.text);
    return check_report();
}
