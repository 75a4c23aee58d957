/* sonde view: a recording for eyes. */
#include "cli/commands.h"
#include "cli/common.h"

#include <string.h>

static int
run(const snd_arguments *given)
{
    snd_opened recording;
    const snd_view *view = NULL;
    int status = SND_EXIT_USAGE;

    if (!snd_colour_is_valid(given))
        return SND_EXIT_USAGE;
    for (unsigned i = 0; i < snd_view_count; i++)
        if (snd_arguments_value(given, snd_views[i].name) != NULL)
            view = &snd_views[i];
    if (snd_opened_open(given, 2, &recording)) {
        if (view == NULL)
            view = snd_view_default(recording.profile);
        snd_table *table = snd_make_table(&recording, view, given, 1);
        if (table != NULL) {
            snd_format_options options = snd_terminal_options(given);
            status = snd_print_table(table, snd_format_find("table"), &options, NULL);
        }
        snd_table_free(table);
    }
    snd_opened_close(&recording);
    return status;
}

static const snd_option options[] = {
#define VIEW_OPTION(name, about) {#name, 0, NULL, about},
    SND_VIEW_MAP(VIEW_OPTION)
#undef VIEW_OPTION
        {"columns", 'c', "A,B,…", "these columns instead of the usual ones; a wrong name lists them all"},
    {"sort", 's', "KEY", "order by a column, or by a key of pstats: calls, cumtime, tottime, name, …"},
    {"match", 'm', "PATTERN", "rows that the regular expression matches; without --match: the word behind FILE"},
    {"limit", 'n', "N", "the first N rows only; of functions with rows below them the first N functions"},
    {"color", 0, "WHEN", "always, never or auto (on a terminal, and without NO_COLOR)"},
    {0},
};

const snd_command snd_command_view = {
    .name = "view",
    .usage = "FILE [PATTERN] [options]",
    .about = "show a recording as a table",
    .options = options,
    .run = run,
};
