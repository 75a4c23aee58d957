/* What several sub-commands do: open a recording, make a view's table, print it. */
#ifndef SND_CLI_CORE_COMMON_H
#define SND_CLI_CORE_COMMON_H

#include "cli/core/options.h"
#include "format/table/format.h"
#include "view/core/view.h"

typedef struct snd_opened {
    const char *path;
    snd_reader *reader;
    snd_profile *profile;
} snd_opened;

/* Opens the recording that is the first of the command's `words` words. Returns 0 after printing one line when it
 * cannot; close with snd_opened_close in any case. */
int snd_opened_open(const snd_arguments *given, int words, snd_opened *out);
void snd_opened_close(snd_opened *self);

/* The same for one of several: the recording at `path`, or of that only the process that --process says. */
int snd_open_recording(const snd_arguments *given, const char *path, snd_opened *out);

/* For a command's list. */
#define SND_PROCESS_OPTION {"process", "one process of a merged recording: PID, rank:N or HOST:PID", SND_TEXT("WHICH")}

/* The options that snd_read_view_options reads, for a command's list. */
#define SND_VIEW_OPTIONS                                                                                               \
    {"all-code", "show library code like your own", SND_FLAG, .group = SND_GROUP_SAMPLES},                             \
        {"include", "treat matching files as your own code, such as '*model*,*/util/*'", SND_TEXT("PATTERNS"),         \
         .group = SND_GROUP_SAMPLES},                                                                                  \
        {"exclude", "do not treat matching files as your own code", SND_TEXT("PATTERNS"), .group = SND_GROUP_SAMPLES}, \
        SND_PROCESS_OPTION, {"region", "only inside this region", SND_TEXT("NAME"), .group = SND_GROUP_SAMPLES},       \
        {"thread", "only this thread", SND_TEXT("NAME"), .group = SND_GROUP_SAMPLES},                                  \
        {"cpu-only", "leave out waiting time", SND_FLAG, .group = SND_GROUP_SAMPLES},                                  \
        {"with-waiting", "rank by CPU plus waiting time, not by CPU time alone", SND_FLAG,                             \
         .group = SND_GROUP_SAMPLES},                                                                                  \
        {"seconds", "lines, functions: seconds instead of percentages", SND_FLAG, .group = SND_GROUP_SAMPLES},         \
        {"show-all", "also show (tree) library frames and small rows, (lines) small files, (waiting) idle threads",    \
         SND_FLAG, .group = SND_GROUP_SAMPLES},                                                                        \
        {"hide", "fold frames whose function or file matches", SND_TEXT("REGEX"), .group = "call tree"},               \
        {"flat", "list its functions instead", SND_FLAG, .group = "call tree"},                                        \
        {"by-time", "in order of time", SND_FLAG, .group = "call tree"},                                               \
        {"by-shape", "one row per kind of inputs", SND_FLAG, .group = "operators"},                                    \
        {"by-line", "one row per calling line", SND_FLAG, .group = "operators"},                                       \
        {"function", "this compiled function only", SND_TEXT("NAME"), .group = "compiled graphs"},                     \
        {"total", "only the total of all functions", SND_FLAG, .group = "compiled graphs"},                            \
        {"n-ops", "number of classes and ops to list (default 20)", SND_COUNT("N", 0, UINT32_MAX, 0),                  \
         .group = "compiled graphs"},                                                                                  \
        {"n-apply", "number of nodes to list (default 20)", SND_COUNT("N", 0, UINT32_MAX, 0),                          \
         .group = "compiled graphs"},                                                                                  \
        {"min-memory", "list memory of nodes with at least this much output (default 1024)",                           \
         SND_COUNT("BYTES", 0, UINT64_MAX, 0), .group = "compiled graphs"},

/* What the options of a command say about views. */
typedef struct snd_chosen {
    snd_view_options options;
    snd_graph_limits limits; /* that the options point to */
} snd_chosen;

/* Returns 0 after printing one line when a pattern or a number is not valid. */
int snd_read_view_options(const snd_arguments *given, const snd_profile *profile, snd_chosen *out);

/* Sorts a table by a column or a key. Returns 0 after printing one line when it has no such thing. */
int snd_sort_rows(snd_table *table, const char *key);

/* Prints the summary of a recording of samples. The exit status. */
int snd_print_summary(const snd_opened *recording, const snd_view_options *options, const snd_format_options *format);

/* Prints it as a line of JSON. The exit status. */
int snd_print_json(const snd_opened *recording, const snd_view_options *options);

/* Prints what a view has in place of a table on a terminal (snd_report_find). The exit status. */
int snd_print_report(const snd_opened *recording, const snd_view *view, const snd_view_options *options,
                     const snd_format_options *format);

/* The table of a view, in the order of --sort, with the rows of --match (or of the second word), the first --limit of
 * them, and the columns of --columns (or, `shown_only`, those shown by default). The caller owns it. NULL after
 * printing one line. */
snd_table *snd_make_table(const snd_opened *recording, const snd_view *view, const snd_arguments *given,
                          int shown_only);

/* Whether the table of a view has the columns of --columns and --sort. Prints nothing. */
int snd_view_has_columns(const snd_opened *recording, const snd_view *view, const snd_view_options *options,
                         const snd_arguments *given);

/* Prints the names of a table's columns, as they are typed, a line each. */
void snd_list_columns(const snd_table *table);

/* The format of --format for a table; NULL after printing one line when it is none. */
const snd_format *snd_table_format(const snd_arguments *given);

/* Whether --color, if given, is one that we know; complains when not. */
int snd_colour_is_valid(const snd_arguments *given);

/* How tables look on the terminal that is standard output. */
snd_format_options snd_terminal_options(const snd_arguments *given);

/* The same for another open file. */
snd_format_options snd_terminal_options_of(const snd_arguments *given, int file);

/* Writes a table to standard output or to the file of --output. The exit status. */
int snd_print_table(const snd_table *table, const snd_format *format, const snd_format_options *options,
                    const char *output);

/* Whether the file of --output is one of the recordings that are read, which would be lost; complains when so. */
int snd_output_is_input(const snd_arguments *given, const char *output);

/* Opens the file of --output for writing, which has its name only when it is whole; standard output for NULL and "-".
 * -1 after printing one line. */
int snd_open_output(const char *output);

/* Closes what snd_open_output gave; what is not whole is removed. Returns 0 after printing one line when that fails. */
int snd_close_output(int file, const char *output, int is_whole);

/* Complains about a status. SND_EXIT_USAGE. */
int snd_complain_status(const char *path, snd_status status);

#endif
