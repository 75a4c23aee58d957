/* sonde view: a recording for eyes. */
#include "cli/commands.h"
#include "cli/core/common.h"
#include "format/table/reports.h"
#include "view/sampled/samples.h"

#include <stdio.h>
#include <string.h>

/* Whether something is asked for that only a table has. */
static int
wants_table(const snd_arguments *given)
{
    static const char *const names[] = {"columns", "sort", "match", "limit"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snd_arguments_value(given, names[i]) != NULL)
            return 1;
    return given->word_count > 1;
}

static int
is_tree_wanted(const snd_arguments *given)
{
    return snd_arguments_value(given, "hide") != NULL || snd_arguments_value(given, "flat") != NULL ||
           snd_arguments_value(given, "by-time") != NULL;
}

static int
is_graph_wanted(const snd_arguments *given)
{
    static const char *const names[] = {"function", "total", "n-ops", "n-apply", "min-memory"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snd_arguments_value(given, names[i]) != NULL)
            return 1;
    return 0;
}

/* The view that is meant when none is named; NULL: the summary. */
static const snd_view *
usual_view(const snd_arguments *given, const snd_opened *recording, const snd_view_options *options)
{
    if (is_tree_wanted(given))
        return snd_view_find("tree");
    if (options->by_shape || options->by_line)
        return snd_view_find("ops");
    if (is_graph_wanted(given))
        return snd_view_find("graph");
    if (!wants_table(given) && options->region == NULL && snd_profile_has_samples(recording->profile))
        return NULL;
    return snd_view_default(recording->profile);
}

/* Of a view that shows several tables, the first that has the columns of --columns and --sort: each of them has titles
 * that may be typed. The first of all where none has; the view itself where it has one table. */
static const snd_view *
table_of(const snd_arguments *given, const snd_opened *recording, const snd_view_options *options, const snd_view *view)
{
    static const char *const summary[] = {"lines", "waiting", "functions", "tree", "memory", "leaks", "regions", NULL};
    static const char *const memory[] = {"memory", "owners", "sizes", NULL};
    const char *const *parts = view == NULL ? summary : strcmp(view->name, "memory") == 0 ? memory : NULL;

    for (size_t i = 0; parts != NULL && parts[i] != NULL; i++)
        if (snd_view_has_columns(recording, snd_view_find(parts[i]), options, given))
            return snd_view_find(parts[i]);
    return view == NULL ? snd_view_find(summary[0]) : view;
}

/* One view; NULL: the summary. */
static int
show_view(const snd_arguments *given, const snd_opened *recording, const snd_view_options *options,
          const snd_view *view)
{
    snd_format_options format = snd_terminal_options(given);

    if (snd_arguments_value(given, "columns") != NULL || snd_arguments_value(given, "sort") != NULL)
        view = table_of(given, recording, options, view);
    if (view == NULL)
        return snd_print_summary(recording, options, &format);
    if (snd_report_find(view->name) != NULL && !wants_table(given))
        return snd_print_report(recording, view, options, &format);
    snd_table *table = snd_make_table(recording, view, given, 1);
    int status = table == NULL ? SND_EXIT_USAGE : snd_print_table(table, snd_format_find("table"), &format, NULL);
    snd_table_free(table);
    return status;
}

/* Whether this option, the `place`-th that was given, names a view for the first time. */
static int
is_view(const snd_arguments *given, int place)
{
    const snd_given *one = &given->all[place];
    const char *name = snd_option_at(given->command, one->option)->name;

    for (int i = 0; i < place; i++)
        if (given->all[i].option == one->option)
            return 0;
    return strcmp(name, "summary") == 0 || strcmp(name, "annotate") == 0 || snd_view_find(name) != NULL;
}

/* All that were named, in that order, each below its name where there are several. What cannot be shown does not keep
 * the others from it. */
static int
show(const snd_arguments *given, const snd_opened *recording)
{
    snd_chosen chosen;
    int status = SND_EXIT_OK, count = 0, shown = 0;

    if (!snd_read_view_options(given, recording->profile, &chosen))
        return SND_EXIT_USAGE;
    if (snd_arguments_value(given, "json-summary") != NULL)
        return snd_print_json(recording, &chosen.options);
    for (int i = 0; i < given->all_count; i++)
        count += is_view(given, i);
    if (count == 0)
        return show_view(given, recording, &chosen.options, usual_view(given, recording, &chosen.options));
    for (int i = 0; i < given->all_count; i++) {
        if (!is_view(given, i))
            continue;
        const char *name = snd_option_at(given->command, given->all[i].option)->name;
        if (count > 1)
            snd_say("%s== %s ==\n", shown++ == 0 ? "" : "\n", name);
        fflush(stdout);
        int one =
            show_view(given, recording, &chosen.options, snd_view_find(strcmp(name, "annotate") == 0 ? "lines" : name));
        status = one == SND_EXIT_OK ? status : one;
    }
    return status;
}

static int
run(const snd_arguments *given)
{
    snd_opened recording;
    int status = SND_EXIT_USAGE;

    if (!snd_colour_is_valid(given))
        return SND_EXIT_USAGE;
    if (snd_opened_open(given, 2, &recording))
        status = show(given, &recording);
    snd_opened_close(&recording);
    return status;
}

static const snd_setting options[] = {
    {"summary", "hottest lines, hottest functions and call tree (default for samples)", SND_FLAG, .group = "views"},
    {"annotate", "your files from the first line to the last, with the time and memory of each line", SND_FLAG,
     .group = "views"},
    {"json-summary", "the summary as one line of JSON", SND_FLAG, .group = "views"},
#define VIEW_OPTION(name, about) {#name, about, SND_FLAG, .group = "views"},
    SND_VIEW_MAP(VIEW_OPTION)
#undef VIEW_OPTION
        SND_VIEW_OPTIONS{"columns", "show these columns; an unknown name lists them all", SND_TEXT("A,B,…"),
                         .letter = 'c', .choices = SND_CHOICES_COLUMNS},
    {"sort", "sort by a column, or by a pstats key: calls, cumtime, tottime, name, …", SND_TEXT("KEY"), .letter = 's',
     .choices = SND_CHOICES_COLUMNS},
    {"match", "show rows that match this regular expression; same as PATTERN", SND_TEXT("PATTERN"), .letter = 'm'},
    {"limit", "keep the first N rows; in a list of functions with callers or callees, the first N functions",
     SND_COUNT("N", 0, UINT32_MAX, 0), .letter = 'n'},
    {"color", "always, never or auto (color on a terminal unless NO_COLOR is set)", SND_TEXT("WHEN"),
     .choices = "always never auto"},
    {0},
};

const snd_command snd_command_view = {
    .name = "view",
    .usage = "FILE [PATTERN] [options]",
    .about = "show a recording as a summary or a table",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .examples = {{"sonde view run.sonde --lines --limit 20", "show the 20 hottest lines"},
                 {"sonde view run.sonde --memory", "show what owned the memory at its peak"}},
};
