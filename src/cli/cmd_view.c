/* sonde view: a recording for eyes. */
#include "cli/commands.h"
#include "cli/common.h"
#include "format/table/reports.h"
#include "view/sampled/samples.h"

#include <string.h>

/* The view that was asked for; NULL: none. */
static const snd_view *
chosen_view(const snd_arguments *given)
{
    const snd_view *view = NULL;

    for (unsigned i = 0; i < snd_view_count; i++)
        if (snd_arguments_value(given, snd_views[i].name) != NULL)
            view = &snd_views[i];
    return view;
}

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

static int
show(const snd_arguments *given, const snd_opened *recording)
{
    snd_format_options format = snd_terminal_options(given);
    const snd_view *view = chosen_view(given);
    snd_chosen chosen;

    if (!snd_read_view_options(given, recording->profile, &chosen))
        return SND_EXIT_USAGE;
    const snd_view_options *options = &chosen.options;
    if (view == NULL && is_tree_wanted(given))
        view = snd_view_find("tree");
    if (view == NULL && (options->by_shape || options->by_line))
        view = snd_view_find("ops");
    if (view == NULL && is_graph_wanted(given))
        view = snd_view_find("graph");
    int is_summary =
        view == NULL && !wants_table(given) && options->region == NULL && snd_profile_has_samples(recording->profile);
    if (is_summary || snd_arguments_value(given, "summary") != NULL)
        return snd_print_summary(recording, options, &format);
    if (view == NULL)
        view = snd_view_default(recording->profile);
    if (snd_report_find(view->name) != NULL && !wants_table(given))
        return snd_print_report(recording, view, options, &format);
    snd_table *table = snd_make_table(recording, view, given, 1);
    int status = table == NULL ? SND_EXIT_USAGE : snd_print_table(table, snd_format_find("table"), &format, NULL);
    snd_table_free(table);
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
    {"summary", "hottest lines, hottest functions and call tree (default for samples)", SND_FLAG},
#define VIEW_OPTION(name, about) {#name, about, SND_FLAG},
    SND_VIEW_MAP(VIEW_OPTION)
#undef VIEW_OPTION
        SND_VIEW_OPTIONS{"columns", "show these columns; an unknown name lists them all", SND_TEXT("A,B,…"),
                         .letter = 'c'},
    {"sort", "sort by a column, or by a pstats key: calls, cumtime, tottime, name, …", SND_TEXT("KEY"), .letter = 's'},
    {"match", "show rows that match this regular expression; same as PATTERN", SND_TEXT("PATTERN"), .letter = 'm'},
    {"limit", "keep the first N rows; in a list of functions with callers or callees, the first N functions",
     SND_COUNT("N", 0, UINT32_MAX, 0), .letter = 'n'},
    {"color", "always, never or auto (color on a terminal unless NO_COLOR is set)", SND_TEXT("WHEN")},
    {0},
};

const snd_command snd_command_view = {
    .name = "view",
    .usage = "FILE [PATTERN] [options]",
    .about = "show a recording as a summary or a table",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
};
