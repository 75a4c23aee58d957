/* The views of calls, of samples, of memory, of operators and of compiled graphs in every format against files. The
 * folder of them is the first argument. After a wanted change run with SONDE_GOLDEN=write and read the difference. */
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_graph.h"
#include "fixture_memory.h"
#include "fixture_merge.h"
#include "fixture_ops.h"
#include "fixture_walk.h"
#include "format/reports.h"
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static void
check_file(const char *name, const char *format, const snd_buffer *text)
{
    const char *mode = getenv("SONDE_GOLDEN");
    char path[1024];

    snprintf(path, sizeof path, "%s/%s.%s", folder, name, format);
    if (mode != NULL && strcmp(mode, "write") == 0)
        write_file(path, text->data, text->size);
    char *wanted = read_file(path, NULL);
    CHECK_TEXT(snd_buffer_str(text), wanted);
    free(wanted);
}

/* A page has the usual columns, the other formats have all, as `sonde export` writes them. */
static void
check_view_as(const snd_profile *profile, const char *name, snd_view_options options, const char *file)
{
    const snd_view *view = snd_view_find(name);
    snd_table *table = NULL, *shown = NULL;

    REQUIRE(view != NULL && view->make(profile, &options, &table) == SND_OK);
    REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
    for (unsigned i = 0; i < snd_format_count; i++) {
        const snd_format *format = &snd_formats[i];
        int is_for_eyes = strcmp(format->name, "html") == 0 || strcmp(format->name, "table") == 0;
        snd_buffer text = {0};
        if (format->write_table == NULL)
            continue;
        format->write_table(is_for_eyes ? shown : table, &(snd_format_options){0}, &text);
        check_file(file, format->name, &text);
        snd_buffer_free(&text);
    }
    snd_table_free(shown);
    snd_table_free(table);
}

static void
check_view(const snd_profile *profile, const char *name)
{
    check_view_as(profile, name, (snd_view_options){0}, name);
}

static void
views_of_calls_are_as_they_were(void)
{
    snd_profile *profile = calls_profile();

    check_view(profile, "functions");
    check_view(profile, "callers");
    check_view(profile, "callees");
    snd_profile_free(profile);
}

static void
views_of_processes_are_as_they_were(void)
{
    snd_profile *profile = ranks_profile();

    check_view(profile, "processes");
    check_view(profile, "ranks");
    check_view_as(profile, "ranks", (snd_view_options){.cpu_only = 1, .show_all = 1}, "ranks-cpu");
    snd_profile_free(profile);
}

static void
the_view_of_signatures_is_as_it_was(void)
{
    snd_profile *profile = signatures_profile();

    check_view(profile, "signatures");
    snd_profile_free(profile);
}

static void
views_of_samples_are_as_they_were(void)
{
    snd_profile *profile = walk_profile();

    check_view_as(profile, "lines", (snd_view_options){0}, "samples-lines");
    check_view_as(profile, "functions", (snd_view_options){0}, "samples-functions");
    check_view_as(profile, "tree", (snd_view_options){0}, "samples-tree");
    check_view_as(profile, "tree", (snd_view_options){.by_time = 1, .show_all = 1}, "samples-tree-by-time");
    check_view_as(profile, "tree", (snd_view_options){.with_waiting = 1}, "samples-tree-with-waiting");
    check_view_as(profile, "waiting", (snd_view_options){0}, "samples-waiting");
    check_view_as(profile, "threads", (snd_view_options){0}, "samples-threads");
    check_view_as(profile, "timeline", (snd_view_options){0}, "samples-timeline");
    snd_profile_free(profile);
}

/* What a terminal shows: wide and narrow, with and without colours. */
static void
views_fit_the_terminal(void)
{
    static const unsigned widths[] = {60, 80, 120, 200};
    static const char *const names[] = {"lines", "functions", "tree", "waiting", "threads", "timeline"};
    snd_profile *profile = walk_profile();

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        snd_format_options options = {.width = widths[w], .unicode = 1, .colour = widths[w] == 120};
        snd_buffer text = {0};
        char name[32];
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snd_table *table = NULL, *shown = NULL;
            REQUIRE(snd_view_find(names[i])->make(profile, &(snd_view_options){0}, &table) == SND_OK);
            REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
            snd_format_table(shown, &options, &text);
            snd_buffer_char(&text, '\n');
            snd_table_free(shown);
            snd_table_free(table);
        }
        REQUIRE(snd_summary_write(profile, &(snd_view_options){0}, &options, &text) == SND_OK);
        snprintf(name, sizeof name, "samples-%u", widths[w]);
        check_file(name, "terminal", &text);
        snd_buffer_free(&text);
    }
    snd_profile_free(profile);
}

static void
views_of_memory_are_as_they_were(void)
{
    snd_profile *profile = memory_profile();

    check_view_as(profile, "memory", (snd_view_options){0}, "memory");
    check_view_as(profile, "owners", (snd_view_options){0}, "owners");
    check_view_as(profile, "leaks", (snd_view_options){.show_all = 1}, "memory-leaks");
    check_view_as(profile, "copies", (snd_view_options){0}, "memory-copies");
    check_view_as(profile, "footprint", (snd_view_options){0}, "memory-footprint");
    check_view_as(profile, "sizes", (snd_view_options){0}, "memory-sizes");
    check_view_as(profile, "lines", (snd_view_options){0}, "memory-lines");
    snd_profile_free(profile);
}

static void
views_of_operators_are_as_they_were(void)
{
    snd_profile *profile = ops_profile();

    check_view_as(profile, "ops", (snd_view_options){0}, "ops");
    check_view_as(profile, "ops", (snd_view_options){.by_shape = 1}, "ops-by-shape");
    check_view_as(profile, "ops", (snd_view_options){.by_line = 1}, "ops-by-line");
    check_view_as(profile, "regions", (snd_view_options){0}, "ops-regions");
    snd_profile_free(profile);
}

static void
the_view_of_graphs_is_as_it_was(void)
{
    snd_profile *profile = graph_profile();

    check_view_as(profile, "graph", (snd_view_options){0}, "graph");
    check_view_as(profile, "graph", (snd_view_options){.total = 1}, "graph-total");
    snd_profile_free(profile);
}

static void
put_view(const snd_profile *profile, const char *name, const snd_format_options *options, snd_buffer *text)
{
    snd_report *report = snd_report_find(name);
    snd_table *table = NULL, *shown = NULL;

    if (report != NULL)
        REQUIRE(report(profile, &(snd_view_options){0}, options, text) == SND_OK);
    else {
        REQUIRE(snd_view_find(name)->make(profile, &(snd_view_options){0}, &table) == SND_OK);
        REQUIRE(snd_table_select_shown(table, &shown) == SND_OK);
        snd_format_table(shown, options, text);
    }
    snd_buffer_char(text, '\n');
    snd_table_free(shown);
    snd_table_free(table);
}

/* Reports, tables and the summary of memory, in Unicode and in ASCII. */
static void
memory_fits_the_terminal(void)
{
    static const unsigned widths[] = {60, 80, 120, 160};
    static const char *const names[] = {"memory", "leaks", "copies", "footprint", "lines"};
    snd_profile *profile = memory_profile();

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        snd_format_options options = {.width = widths[w], .unicode = widths[w] != 160, .colour = widths[w] == 120};
        snd_buffer text = {0};
        char name[32];
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            put_view(profile, names[i], &options, &text);
        REQUIRE(snd_summary_write(profile, &(snd_view_options){0}, &options, &text) == SND_OK);
        snprintf(name, sizeof name, "memory-%u", widths[w]);
        check_file(name, "terminal", &text);
        snd_buffer_free(&text);
    }
    snd_profile_free(profile);
}

static void
graphs_fit_the_terminal(void)
{
    static const unsigned widths[] = {0, 80, 120};
    snd_profile *profile = graph_profile();

    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        snd_format_options options = {.width = widths[w], .unicode = widths[w] != 0, .colour = widths[w] == 120};
        snd_buffer text = {0};
        char name[32];
        put_view(profile, "graph", &options, &text);
        snprintf(name, sizeof name, "graph-%u", widths[w]);
        check_file(name, "terminal", &text);
        snd_buffer_free(&text);
    }
    snd_profile_free(profile);
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    folder = argv[1];
    RUN(views_of_calls_are_as_they_were);
    RUN(views_of_processes_are_as_they_were);
    RUN(the_view_of_signatures_is_as_it_was);
    RUN(views_of_samples_are_as_they_were);
    RUN(views_fit_the_terminal);
    RUN(views_of_memory_are_as_they_were);
    RUN(memory_fits_the_terminal);
    RUN(views_of_operators_are_as_they_were);
    RUN(the_view_of_graphs_is_as_it_was);
    RUN(graphs_fit_the_terminal);
    return check_report();
}
