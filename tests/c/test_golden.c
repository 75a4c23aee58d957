/* Every view once as text, what is drawn for a terminal, and every format of tables, against files. The folder of them
 * is the first argument. After a wanted change run `make golden` and read the difference. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "check.h"
#include "fixture.h"
#include "fixture_calls.h"
#include "fixture_golden.h"
#include "fixture_graph.h"
#include "fixture_memory.h"
#include "fixture_merge.h"
#include "fixture_ops.h"
#include "fixture_table.h"
#include "fixture_walk.h"
#include "format/table/reports.h"
#include "view/core/arrange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As `sonde view` prints it. */
static void
put_view(const snd_profile *profile, const char *name, snd_view_options options, snd_format_options format,
         snd_buffer *text)
{
    snd_report *report = snd_report_find(name);

    if (report != NULL) {
        REQUIRE(report(profile, &options, &format, text) == SND_OK);
        return;
    }
    snd_table *table = make_view(profile, name, options), *shown = shown_columns(table);
    snd_format_table(shown, &format, text);
    snd_table_free(shown);
    snd_table_free(table);
}

/* What people see, and below it every column with its exact numbers. */
static void
check_view_as(const snd_profile *profile, const char *name, snd_view_options options, const char *file)
{
    snd_table *table = make_view(profile, name, options);
    snd_buffer text = {0};
    char path[64];

    put_view(profile, name, options, (snd_format_options){0}, &text);
    snd_buffer_char(&text, '\n');
    snd_format_csv(table, &(snd_format_options){.is_exact = 1}, &text);
    snprintf(path, sizeof path, "views/%s.txt", file);
    check_golden(path, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
    snd_table_free(table);
}

static void
check_view(const snd_profile *profile, const char *name)
{
    check_view_as(profile, name, (snd_view_options){0}, name);
}

/* ---- views ---- */

static void
add_marks(snd_profile *profile)
{
    static const char *const details[] = {"version=2.1, workers=4", ""};

    profile->events = snd_calloc(2, sizeof *profile->events);
    REQUIRE(profile->events != NULL);
    for (uint32_t i = 0, site, node; i < 2; i++) {
        const snd_profile_site mark = {
            .kind = SND_SITE_MARK, .name = i == 0 ? "deployed" : "cache emptied", .file = "", .detail = details[i]};
        REQUIRE(snd_profile_add_site(profile, &mark, &site) == SND_OK);
        REQUIRE(snd_profile_add_node(profile, 0, 0, site, &node) == SND_OK);
        profile->events[i] = (snd_profile_event){.start_ns = 1500000 * (i + 1), .node = node};
    }
    profile->event_count = 2;
}

static void
views_of_regions_are_as_they_were(void)
{
    snd_profile *profile = small_profile();

    add_marks(profile);
    check_view(profile, "marks");
    check_view(profile, "regions");
    check_view(profile, "threads");
    check_view(profile, "counters");
    snd_profile_free(profile);
}

static void
views_of_calls_are_as_they_were(void)
{
    snd_profile *profile = calls_profile(), *other = signatures_profile();

    check_view(profile, "functions");
    check_view(profile, "callers");
    check_view(profile, "callees");
    check_view(other, "signatures");
    snd_profile_free(profile);
    snd_profile_free(other);
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
views_of_samples_are_as_they_were(void)
{
    snd_profile *profile = walk_profile();

    check_view(profile, "lines");
    check_view_as(profile, "functions", (snd_view_options){0}, "functions-sampled");
    check_view(profile, "tree");
    check_view_as(profile, "tree", (snd_view_options){.by_time = 1, .show_all = 1}, "tree-by-time");
    check_view_as(profile, "tree", (snd_view_options){.with_waiting = 1}, "tree-with-waiting");
    check_view(profile, "waiting");
    check_view_as(profile, "threads", (snd_view_options){0}, "threads-sampled");
    check_view(profile, "timeline");
    snd_profile_free(profile);
}

static void
views_of_memory_are_as_they_were(void)
{
    snd_profile *profile = memory_profile();

    check_view(profile, "memory");
    check_view(profile, "owners");
    check_view_as(profile, "leaks", (snd_view_options){.show_all = 1}, "leaks");
    check_view(profile, "copies");
    check_view(profile, "footprint");
    check_view(profile, "sizes");
    check_view_as(profile, "lines", (snd_view_options){0}, "lines-memory");
    snd_profile_free(profile);
}

static void
views_of_operators_are_as_they_were(void)
{
    snd_profile *profile = ops_profile();

    check_view(profile, "ops");
    check_view_as(profile, "ops", (snd_view_options){.by_shape = 1}, "ops-by-shape");
    check_view_as(profile, "ops", (snd_view_options){.by_line = 1}, "ops-by-line");
    check_view_as(profile, "regions", (snd_view_options){0}, "regions-ops");
    snd_profile_free(profile);
}

static void
views_of_graphs_are_as_they_were(void)
{
    snd_profile *profile = graph_profile();

    check_view(profile, "graph");
    check_view_as(profile, "graph", (snd_view_options){.total = 1}, "graph-total");
    snd_profile_free(profile);
}

static void
every_view_has_a_file_and_every_file_a_view(void)
{
    char path[1024];

    for (unsigned i = 0; i < snd_view_count; i++) {
        snprintf(path, sizeof path, "%s/views/%s.txt", golden_folder, snd_views[i].name);
        if (access(path, R_OK) != 0)
            CHECK_TEXT(snd_views[i].name, "a view with a golden file");
    }
    check_golden_used("views");
}

/* ---- the terminal ---- */

static const snd_format_options in_colour = {.width = 80, .unicode = 1, .colour = 1};

static void
check_drawn(const snd_profile *profile, const char *view)
{
    snd_buffer text = {0};
    char path[64];

    put_view(profile, view, (snd_view_options){0}, in_colour, &text);
    snprintf(path, sizeof path, "terminal/%s.txt", view);
    check_golden(path, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
}

static void
check_summary(const snd_profile *profile, const char *path)
{
    snd_buffer text = {0};

    REQUIRE(snd_summary_write(profile, &(snd_view_options){0}, &in_colour, &text) == SND_OK);
    check_golden(path, snd_buffer_str(&text), text.size);
    snd_buffer_free(&text);
}

/* Their plain text is above, and what colours and widths make of any table is in the tests of tables. */
static void
what_is_drawn_in_colour_is_as_it_was(void)
{
    snd_profile *walk = walk_profile(), *memory = memory_profile(), *graph = graph_profile();

    check_summary(walk, "terminal/summary.txt");
    check_summary(memory, "terminal/summary-memory.txt");
    check_drawn(walk, "lines");
    check_drawn(walk, "tree");
    check_drawn(memory, "memory");
    check_drawn(memory, "footprint");
    check_drawn(graph, "graph");
    check_golden_used("terminal");
    snd_profile_free(walk);
    snd_profile_free(memory);
    snd_profile_free(graph);
}

static void
check_fits(const char *text, unsigned width, const char *view)
{
    char *copy = strdup(text), *rest = copy;

    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (snd_utf8_width(line) > width) {
            fprintf(stderr, "%s, %u cells wide\n", view, width);
            CHECK_TEXT(line, "a line that fits");
        }
    free(copy);
}

/* Footers are sentences, which the terminal breaks; what pstats has as columns takes 88 cells. */
static void
every_view_fits_the_terminal(void)
{
    enum { NARROW = 88 };
    snd_profile *const profiles[] = {small_profile(), calls_profile(),  signatures_profile(), ranks_profile(),
                                     walk_profile(),  memory_profile(), ops_profile(),        graph_profile()};
    unsigned seen = 0;

    for (size_t p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
        for (unsigned i = 0; i < snd_view_count; i++)
            for (unsigned width = NARROW; width <= 200; width += 50) {
                snd_table *table = NULL;
                snd_buffer text = {0};
                if (snd_views[i].make(profiles[p], &(snd_view_options){0}, &table) != SND_OK)
                    continue;
                snd_table_free(table);
                put_view(profiles[p], snd_views[i].name, (snd_view_options){0},
                         (snd_format_options){.width = width, .unicode = width != NARROW, .no_footer = 1}, &text);
                check_fits(snd_buffer_str(&text), width, snd_views[i].name);
                snd_buffer_free(&text);
                seen++;
            }
        snd_profile_free(profiles[p]);
    }
    CHECK(seen >= 3 * snd_view_count);
}

static void
every_printed_title_chooses_a_column_and_an_order(void)
{
    snd_profile *const profiles[] = {small_profile(), calls_profile(),  signatures_profile(), ranks_profile(),
                                     walk_profile(),  memory_profile(), ops_profile(),        graph_profile()};
    unsigned seen = 0;

    for (size_t p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
        for (unsigned i = 0; i < snd_view_count; i++) {
            snd_table *table = NULL;
            if (snd_views[i].make(profiles[p], &(snd_view_options){0}, &table) != SND_OK)
                continue;
            for (uint32_t c = 0; c < table->column_count; c++) {
                const char *title = table->columns[c].title;
                snd_table *chosen = NULL;
                uint32_t unknown;
                if (*title == '\0')
                    continue;
                CHECK(snd_table_select(table, &title, 1, &unknown, &chosen) == SND_OK);
                CHECK(snd_table_can_sort(table, title));
                snd_table_free(chosen);
                seen++;
            }
            snd_table_free(table);
        }
        snd_profile_free(profiles[p]);
    }
    CHECK(seen > 100);
}

/* ---- the formats of tables ---- */

static void
check_formats(snd_table *table, const char *name)
{
    char path[64];

    for (unsigned i = 0; i < snd_format_count; i++) {
        snd_buffer text = {0};
        if (snd_formats[i].write_table == NULL)
            continue;
        snd_formats[i].write_table(table, &(snd_format_options){0}, &text);
        snprintf(path, sizeof path, "tables/%s.%s", name, snd_formats[i].name);
        check_golden(path, snd_buffer_str(&text), text.size);
        snd_buffer_free(&text);
    }
    snd_table_free(table);
}

static void
every_format_writes_a_table_as_it_did(void)
{
    check_formats(full_table(), "full");
    check_formats(hostile_table(), "hostile");
    check_golden_used("tables");
}

int
main(int argc, char **argv)
{
    REQUIRE(argc == 2);
    golden_folder = argv[1];
    RUN(views_of_regions_are_as_they_were);
    RUN(views_of_calls_are_as_they_were);
    RUN(views_of_processes_are_as_they_were);
    RUN(views_of_samples_are_as_they_were);
    RUN(views_of_memory_are_as_they_were);
    RUN(views_of_operators_are_as_they_were);
    RUN(views_of_graphs_are_as_they_were);
    RUN(every_view_has_a_file_and_every_file_a_view);
    RUN(what_is_drawn_in_colour_is_as_it_was);
    RUN(every_view_fits_the_terminal);
    RUN(every_printed_title_chooses_a_column_and_an_order);
    RUN(every_format_writes_a_table_as_it_did);
    return check_report();
}
