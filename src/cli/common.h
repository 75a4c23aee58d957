/* What several sub-commands do: open a recording, make a view's table, print it. */
#ifndef SND_CLI_COMMON_H
#define SND_CLI_COMMON_H

#include "cli/options.h"
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
#define SND_PROCESS_OPTION {"process", 0, "WHICH", "one process of a merged recording: PID, rank:N or HOST:PID"}

/* The options that snd_read_view_options reads, for a command's list. */
#define SND_VIEW_OPTIONS                                                                                               \
    {"all-code", 0, NULL, "samples: show library code like your own"},                                                 \
        {"include", 0, "PATTERNS", "samples: treat matching files as your own code, such as '*model*,*/util/*'"},      \
        {"exclude", 0, "PATTERNS", "samples: do not treat matching files as your own code"}, SND_PROCESS_OPTION,       \
        {"region", 0, "NAME", "samples: only inside this region"}, {"thread", 0, "NAME", "samples: only this thread"}, \
        {"cpu-only", 0, NULL, "samples: leave out waiting time"},                                                      \
        {"with-waiting", 0, NULL, "samples: rank by CPU plus waiting time, not by CPU time alone"},                    \
        {"seconds", 0, NULL, "lines, functions: seconds instead of percentages"},                                      \
        {"show-all", 0, NULL,                                                                                          \
         "also show (tree) library frames and small rows, (lines) small files, (waiting) idle threads"},               \
        {"hide", 0, "REGEX", "tree: fold frames whose function or file matches"},                                      \
        {"flat", 0, NULL, "tree: list its functions instead"}, {"by-time", 0, NULL, "tree: in order of time"},         \
        {"by-shape", 0, NULL, "ops: one row per kind of inputs"},                                                      \
        {"by-line", 0, NULL, "ops: one row per calling line"},                                                         \
        {"function", 0, "NAME", "graph: this compiled function only"},                                                 \
        {"total", 0, NULL, "graph: only the total of all functions"},                                                  \
        {"n-ops", 0, "N", "graph: number of classes and ops to list (default 20)"},                                    \
        {"n-apply", 0, "N", "graph: number of nodes to list (default 20)"},                                            \
        {"min-memory", 0, "BYTES", "graph: list memory of nodes with at least this much output (default 1024)"},

/* What the options of a command say about views. */
typedef struct snd_chosen {
    snd_view_options options;
    snd_graph_limits limits; /* that the options point to */
} snd_chosen;

/* Returns 0 after printing one line when a pattern or a number is not valid. */
int snd_read_view_options(const snd_arguments *given, const snd_profile *profile, snd_chosen *out);

/* Whether the text is a whole number in these limits; else `*number` is as it was. */
int snd_whole_of(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* Reads an option that is a whole number, at most `most`. Returns 0 after printing one line when it is none; without
 * the option `*number` is as it was. */
int snd_read_number(const snd_arguments *given, const char *name, uint64_t most, uint64_t *number);

/* Sorts a table by a column or a key. Returns 0 after printing one line when it has no such thing. */
int snd_sort_rows(snd_table *table, const char *key);

/* Prints the summary of a recording of samples. The exit status. */
int snd_print_summary(const snd_opened *recording, const snd_view_options *options, const snd_format_options *format);

/* Prints what a view has in place of a table on a terminal (snd_report_find). The exit status. */
int snd_print_report(const snd_opened *recording, const snd_view *view, const snd_view_options *options,
                     const snd_format_options *format);

/* The table of a view, in the order of --sort, with the rows of --match (or of the second word), the first --limit of
 * them, and the columns of --columns (or, `shown_only`, those shown by default). The caller owns it. NULL after
 * printing one line. */
snd_table *snd_make_table(const snd_opened *recording, const snd_view *view, const snd_arguments *given,
                          int shown_only);

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

/* Opens the file of --output for writing; standard output for NULL and "-". -1 after printing one line. */
int snd_open_output(const char *output);

/* Closes what snd_open_output gave. Returns 0 after printing one line when that fails. */
int snd_close_output(int file, const char *output);

/* Complains about a status. SND_EXIT_USAGE. */
int snd_complain_status(const char *path, snd_status status);

#endif
