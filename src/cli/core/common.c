/* What several sub-commands do. */
#include "cli/core/common.h"

#include "base/alloc.h"
#include "cli/core/progress.h"
#include "format/table/reports.h"
#include "model/processes.h"
#include "os/terminal.h"
#include "os/unfinished.h"
#include "view/core/arrange.h"
#include "view/graph/graph_tree.h"
#include "view/memory/memory_lines.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
snd_complain_status(const char *path, snd_status status)
{
    return snd_complain("%s: %s", path, snd_status_detail(status, errno));
}

/* Names some of the processes that there are. */
static void
complain_process(const char *path, const char *which, const snd_profile *outline, uint32_t found)
{
    enum { NAMED = 5 };
    snd_buffer names = {0};

    for (uint32_t i = 0; i < outline->process_count && i < NAMED; i++) {
        snd_buffer_text(&names, i == 0 ? "" : ", ");
        snd_process_name(outline, i, &names);
    }
    if (outline->process_count > NAMED)
        snd_buffer_printf(&names, " and %u more", outline->process_count - NAMED);
    if (found == 0)
        snd_complain("%s: no process '%s'; choose from %s", path, which, snd_buffer_str(&names));
    else
        snd_complain("%s: %u processes match '%s'; choose one by rank:N, HOST:PID or id:N (see sonde view --processes)",
                     path, found, which);
    snd_buffer_free(&names);
}

/* 0 after printing one line. */
static int
choose_process(const snd_opened *recording, const char *which)
{
    snd_profile *outline = NULL;
    uint32_t process = SND_NONE, found = 0;
    snd_status status = snd_reader_outline(recording->reader, &outline);

    if (status == SND_OK) {
        process = snd_process_find(outline, which, &found);
        if (process == SND_NONE)
            complain_process(recording->path, which, outline, found);
        else
            status = snd_reader_only(recording->reader, process);
    }
    if (status != SND_OK)
        snd_complain_status(recording->path, status);
    snd_profile_free(outline);
    return status == SND_OK && process != SND_NONE;
}

int
snd_open_recording(const snd_arguments *given, const char *path, snd_opened *out)
{
    const char *which = snd_arguments_value(given, "process");

    *out = (snd_opened){.path = path};
    snd_status status = snd_reader_open(path, &out->reader);
    if (status == SND_OK && which != NULL && !choose_process(out, which))
        return 0;
    if (status == SND_OK)
        status = snd_reader_profile(out->reader, &out->profile);
    if (status != SND_OK)
        snd_complain_status(path, status);
    return status == SND_OK;
}

int
snd_opened_open(const snd_arguments *given, int words, snd_opened *out)
{
    *out = (snd_opened){0};
    if (given->word_count == 0) {
        snd_complain("%s needs a recording: sonde %s FILE.sonde", given->command->name, given->command->name);
        return 0;
    }
    if (given->word_count > words) {
        snd_complain("%s takes one recording; unexpected argument '%s'", given->command->name, given->words[words]);
        return 0;
    }
    return snd_open_recording(given, given->words[0], out);
}

void
snd_opened_close(snd_opened *self)
{
    snd_profile_free(self->profile);
    snd_reader_free(self->reader);
    *self = (snd_opened){0};
}

enum { NAME_LIMIT = 64, COLUMN_LIMIT = 64 };

/* The names of a table's columns, and where they are kept. */
typedef struct column_names {
    char texts[COLUMN_LIMIT][NAME_LIMIT];
    const char *names[COLUMN_LIMIT];
    unsigned count;
} column_names;

/* Columns are named here as people type them: without the unit. */
static void
list_columns(const snd_table *table, column_names *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < table->column_count && out->count < COLUMN_LIMIT; i++) {
        size_t len = strlen(table->columns[i].name);
        if (table->columns[i].unit == SND_UNIT_NS)
            len -= strlen("_ns");
        snprintf(out->texts[out->count], NAME_LIMIT, "%.*s", (int)len, table->columns[i].name);
        out->names[out->count] = out->texts[out->count];
        out->count++;
    }
}

void
snd_list_columns(const snd_table *table)
{
    column_names known;

    list_columns(table, &known);
    for (unsigned i = 0; i < known.count; i++)
        puts(known.names[i]);
}

static void
complain_column(const snd_table *table, const char *name)
{
    column_names known;
    list_columns(table, &known);
    snd_complain_unknown("column", name, known.names, known.count);
}

/* The columns, and the keys of pstats that this table knows beside them. */
static void
complain_sort(const snd_table *table, const char *key)
{
    static const char *const keys[] = {
#define SORT_KEY(name, columns, ascends) name,
        SND_SORT_KEY_MAP(SORT_KEY)
#undef SORT_KEY
    };
    column_names known;

    list_columns(table, &known);
    unsigned columns = known.count;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && known.count < COLUMN_LIMIT; i++) {
        int is_there = !snd_table_can_sort(table, keys[i]);
        for (unsigned c = 0; c < columns; c++)
            is_there |= strcmp(known.names[c], keys[i]) == 0;
        if (!is_there)
            known.names[known.count++] = keys[i];
    }
    snd_complain_unknown("sort key", key, known.names, known.count);
}

int
snd_sort_rows(snd_table *table, const char *key)
{
    snd_status status = snd_table_sort(table, key);
    if (status == SND_BAD_ARGUMENT)
        complain_sort(table, key);
    else if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    return status == SND_OK;
}

/* 0 after printing one line. */
static int
match_rows(const char *path, snd_table *table, const char *pattern)
{
    char why[128] = "";
    snd_status status = snd_table_match(table, pattern, why, sizeof why);
    if (status == SND_BAD_ARGUMENT)
        snd_complain("invalid pattern '%s': %s", pattern, why);
    else if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    else if (table->row_count == 0)
        snd_complain("%s: nothing in the view %s matches '%s'", path, table->view, pattern);
    return status == SND_OK && table->row_count != 0;
}

/* The pattern of --match or, in short, the word behind the recording; "" where there is none. NULL after printing one
 * line. */
static const char *
chosen_pattern(const snd_arguments *given)
{
    const char *pattern = snd_arguments_value(given, "match");

    if (given->word_count < 2)
        return pattern == NULL ? "" : pattern;
    if (pattern != NULL) {
        snd_complain("%s takes one pattern; unexpected argument '%s'", given->command->name, given->words[1]);
        return NULL;
    }
    return given->words[1];
}

/* The columns of a comma-separated list. SND_BAD_ARGUMENT: `unknown` is the name of one that the table has not got. */
static snd_status
select_columns(const snd_table *table, const char *list, char unknown[NAME_LIMIT], snd_table **out)
{
    char *text = snd_strdup(list);
    const char **names = snd_calloc(strlen(list) + 2, sizeof *names);
    uint32_t count = 0, place = 0;
    snd_status status = text == NULL || names == NULL ? SND_NO_MEMORY : SND_OK;

    if (status == SND_OK) {
        char *rest = NULL;
        for (char *name = strtok_r(text, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
            names[count++] = name;
        status = snd_table_select(table, names, count, &place, out);
        if (status == SND_BAD_ARGUMENT)
            snprintf(unknown, NAME_LIMIT, "%s", names[place]);
    }
    snd_free(text);
    snd_free(names);
    return status;
}

/* The table with the columns of a list; `table` is used up. */
static snd_table *
choose_columns(snd_table *table, const char *list)
{
    char unknown[NAME_LIMIT];
    snd_table *chosen = NULL;
    snd_status status = select_columns(table, list, unknown, &chosen);

    if (status == SND_BAD_ARGUMENT)
        complain_column(table, unknown);
    else if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    snd_table_free(table);
    return chosen;
}

static snd_table *
choose_shown(snd_table *table)
{
    snd_table *chosen = NULL;
    snd_status status = snd_table_select_shown(table, &chosen);
    if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    snd_table_free(table);
    return chosen;
}

static int
read_limits(const snd_arguments *given, const snd_profile *profile, snd_graph_limits *out)
{
    snd_graph_limits usual = snd_graph_limits_of(profile);
    uint64_t ops = usual.ops, applies = usual.applies, memory = usual.memory;

    if (!snd_arguments_count(given, "n-ops", &ops) || !snd_arguments_count(given, "n-apply", &applies) ||
        !snd_arguments_count(given, "min-memory", &memory))
        return 0;
    *out = (snd_graph_limits){(uint32_t)ops, (uint32_t)applies, memory};
    return 1;
}

/* 0 after complaining about a regular expression. */
static int
is_pattern(const char *text)
{
    regex_t compiled;
    char why[128] = "";
    int error = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);

    if (error == 0)
        regfree(&compiled);
    else {
        regerror(error, &compiled, why, sizeof why);
        snd_complain("invalid pattern '%s': %s", text, why);
    }
    return error == 0;
}

int
snd_read_view_options(const snd_arguments *given, const snd_profile *profile, snd_chosen *out)
{
    out->options = (snd_view_options){
        .all_code = snd_arguments_value(given, "all-code") != NULL,
        .include = snd_arguments_value(given, "include"),
        .exclude = snd_arguments_value(given, "exclude"),
        .region = snd_arguments_value(given, "region"),
        .thread = snd_arguments_value(given, "thread"),
        .show_all = snd_arguments_value(given, "show-all") != NULL,
        .hide = snd_arguments_value(given, "hide"),
        .flat = snd_arguments_value(given, "flat") != NULL,
        .by_time = snd_arguments_value(given, "by-time") != NULL,
        .cpu_only = snd_arguments_value(given, "cpu-only") != NULL,
        .with_waiting = snd_arguments_value(given, "with-waiting") != NULL,
        .whole_files = snd_arguments_value(given, "annotate") != NULL,
        .seconds = snd_arguments_value(given, "seconds") != NULL,
        .by_shape = snd_arguments_value(given, "by-shape") != NULL,
        .by_line = snd_arguments_value(given, "by-line") != NULL,
        .function = snd_arguments_value(given, "function"),
        .total = snd_arguments_value(given, "total") != NULL,
        .limits = &out->limits,
    };
    return read_limits(given, profile, &out->limits) && (out->options.hide == NULL || is_pattern(out->options.hide));
}

/* What to do so that the next recording has something for a view; NULL: the summary. */
static const char *
how_to_fill(const snd_view *view)
{
    static const struct {
        const char *name, *how;
    } hints[] = {
        {"functions", "record every call with sonde trace prog.py, or samples with sonde run prog.py"},
        {"callers", "record calls with sonde trace prog.py"},
        {"callees", "record calls with sonde trace prog.py"},
        {"signatures", "record them with sonde trace --signatures prog.py"},
        {"counters", "record values with sonde.counter(name, value)"},
        {"marks", "mark moments with sonde.mark(name)"},
    };

    for (size_t i = 0; view != NULL && i < sizeof hints / sizeof hints[0]; i++)
        if (strcmp(hints[i].name, view->name) == 0)
            return hints[i].how;
    return "record samples with sonde run prog.py";
}

static void
complain_no_data(const snd_opened *recording, const snd_view *view, const snd_view_options *options)
{
    if (view != NULL && snd_view_needs_memory(view) && !snd_profile_has_memory(recording->profile))
        snd_complain("%s: recorded without --memory; record again with sonde run --memory", recording->path);
    else if (view != NULL && view->make == snd_view_ops)
        snd_complain("%s: recorded without --ops, or no operator was called; record again with sonde run --ops",
                     recording->path);
    else if (view != NULL && view->make == snd_view_graph && snd_graphs_exist(recording->profile))
        snd_complain("%s: no compiled function '%s'", recording->path, options->function);
    else if (view != NULL && view->make == snd_view_graph)
        snd_complain(
            "%s: recorded without --graph, or no function was compiled or called; record again with sonde run --graph",
            recording->path);
    else if (options->region != NULL || options->thread != NULL)
        snd_complain("%s: no samples of the %s '%s'", recording->path, options->region == NULL ? "thread" : "region",
                     options->region == NULL ? options->thread : options->region);
    else
        snd_complain("%s: the recording has no data for %s; %s", recording->path,
                     view == NULL ? "a summary" : view->name, how_to_fill(view));
}

/* `view` is NULL for the summary. */
static int
print_text(const snd_opened *recording, const snd_view *view, const snd_view_options *options, snd_status status,
           snd_buffer *text)
{
    if (status == SND_OK)
        status = snd_write_all(STDOUT_FILENO, text->data, text->size);
    if (status == SND_NO_DATA)
        complain_no_data(recording, view, options);
    else if (status != SND_OK)
        snd_complain_status(recording->path, status);
    snd_buffer_free(text);
    return status == SND_OK ? SND_EXIT_OK : SND_EXIT_USAGE;
}

int
snd_print_summary(const snd_opened *recording, const snd_view_options *options, const snd_format_options *format)
{
    snd_buffer text = {0};
    snd_status status = snd_summary_write(recording->profile, options, format, &text);

    return print_text(recording, NULL, options, status, &text);
}

int
snd_print_json(const snd_opened *recording, const snd_view_options *options)
{
    snd_buffer text = {0};
    snd_status status = snd_summary_json(recording->profile, options, recording->path, &text);

    return print_text(recording, NULL, options, status, &text);
}

int
snd_print_report(const snd_opened *recording, const snd_view *view, const snd_view_options *options,
                 const snd_format_options *format)
{
    snd_buffer text = {0};
    snd_status status = snd_report_find(view->name)(recording->profile, options, format, &text);

    return print_text(recording, view, options, status, &text);
}

/* The whole table of a view, with what it needs of the recording. */
static snd_status
ask_view(const snd_opened *recording, const snd_view *view, const snd_view_options *options, snd_table **out)
{
    snd_status status = SND_OK;

    if (snd_view_needs_events(view, options) && recording->profile->events == NULL)
        status = snd_reader_events(recording->reader, recording->profile);
    if (status == SND_OK && snd_view_needs_parts(view) && recording->profile->parts == NULL)
        status = snd_reader_parts(recording->reader, recording->profile);
    return status == SND_OK ? view->make(recording->profile, options, out) : status;
}

/* NULL after printing one line. */
static snd_table *
make_whole_table(const snd_opened *recording, const snd_view *view, const snd_view_options *options)
{
    snd_table *table = NULL;
    snd_status status = ask_view(recording, view, options, &table);

    if (status == SND_NO_DATA || (status == SND_NO_TIMELINE && view->make == snd_view_marks))
        complain_no_data(recording, view, options);
    else if (status == SND_NO_TIMELINE && snd_profile_has_samples(recording->profile))
        snd_complain("%s: recorded with --no-timeline; record again without it", recording->path);
    else if (status == SND_NO_TIMELINE && view->make == snd_view_timeline)
        snd_complain("%s: the recording has no samples over time; %s", recording->path, how_to_fill(view));
    else if (status != SND_OK)
        snd_complain_status(recording->path, status);
    return table;
}

int
snd_view_has_columns(const snd_opened *recording, const snd_view *view, const snd_view_options *options,
                     const snd_arguments *given)
{
    const char *key = snd_arguments_value(given, "sort"), *columns = snd_arguments_value(given, "columns");
    char unknown[NAME_LIMIT];
    snd_table *table = NULL, *chosen = NULL;
    int has_all =
        ask_view(recording, view, options, &table) == SND_OK && (key == NULL || snd_table_can_sort(table, key));

    if (has_all && columns != NULL)
        has_all = select_columns(table, columns, unknown, &chosen) == SND_OK;
    snd_table_free(chosen);
    snd_table_free(table);
    return has_all;
}

snd_table *
snd_make_table(const snd_opened *recording, const snd_view *view, const snd_arguments *given, int shown_only)
{
    const char *pattern = chosen_pattern(given);
    const char *key = snd_arguments_value(given, "sort");
    const char *columns = snd_arguments_value(given, "columns");
    uint64_t limit = UINT32_MAX;
    snd_chosen chosen;

    if (pattern == NULL || !snd_arguments_count(given, "limit", &limit) ||
        !snd_read_view_options(given, recording->profile, &chosen))
        return NULL;
    snd_table *table = make_whole_table(recording, view, &chosen.options);
    if (table == NULL)
        return NULL;
    if ((key != NULL && !snd_sort_rows(table, key)) ||
        (*pattern != '\0' && !match_rows(recording->path, table, pattern))) {
        snd_table_free(table);
        return NULL;
    }
    snd_table_limit(table, (uint32_t)limit);
    if (columns != NULL)
        return choose_columns(table, columns);
    return shown_only ? choose_shown(table) : table;
}

const snd_format *
snd_table_format(const snd_arguments *given)
{
    static const char *const names[] = {
#define FORMAT_NAME(name, about) #name,
        SND_FORMAT_TABLE_MAP(FORMAT_NAME)
#undef FORMAT_NAME
    };
    const char *name = snd_arguments_value(given, "format");
    const snd_format *format = snd_format_find(name == NULL ? "table" : name);

    if (format != NULL && format->write_table != NULL)
        return format;
    snd_complain_unknown("format", name, names, sizeof names / sizeof names[0]);
    return NULL;
}

int
snd_colour_is_valid(const snd_arguments *given)
{
    static const char *const known[] = {"always", "never", "auto"};
    const char *colour = snd_arguments_value(given, "color");

    for (size_t i = 0; colour != NULL && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(colour, known[i]) == 0)
            return 1;
    if (colour != NULL)
        snd_complain_unknown("color", colour, known, 3);
    return colour == NULL;
}

snd_format_options
snd_terminal_options(const snd_arguments *given)
{
    return snd_terminal_options_of(given, STDOUT_FILENO);
}

snd_format_options
snd_terminal_options_of(const snd_arguments *given, int file)
{
    const char *colour = snd_arguments_value(given, "color");
    snd_terminal look = snd_terminal_look(file);
    snd_format_options options = {.unicode = look.unicode, .colour = look.colour, .width = look.width};

    if (colour != NULL)
        options.colour = strcmp(colour, "always") == 0 || (strcmp(colour, "auto") == 0 && options.colour);
    return options;
}

static int
is_stdout(const char *output)
{
    return output == NULL || strcmp(output, "-") == 0;
}

int
snd_output_is_input(const snd_arguments *given, const char *output)
{
    struct stat written, read;

    if (is_stdout(output) || stat(output, &written) != 0)
        return 0;
    for (int i = 0; i < given->word_count; i++)
        if (stat(given->words[i], &read) == 0 && written.st_dev == read.st_dev && written.st_ino == read.st_ino) {
            snd_complain("%s: this is the recording itself; choose another name for the output", output);
            return 1;
        }
    return 0;
}

int
snd_open_output(const char *output)
{
    if (is_stdout(output)) {
        snd_progress_stop();
        return STDOUT_FILENO;
    }
    int file = snd_unfinished_open(output);
    if (file < 0)
        snd_complain("%s: cannot be written: %s", output, strerror(errno));
    return file;
}

int
snd_close_output(int file, const char *output, int is_whole)
{
    if (file == STDOUT_FILENO || snd_unfinished_close(file, is_whole))
        return 1;
    snd_complain("%s: cannot be written: %s", output, strerror(errno));
    return 0;
}

int
snd_print_table(const snd_table *table, const snd_format *format, const snd_format_options *options, const char *output)
{
    snd_buffer text = {0};

    format->write_table(table, options, &text);
    snd_status status = snd_buffer_status(&text);
    int file = status == SND_OK ? snd_open_output(output) : -1;
    if (status == SND_OK && file >= 0) {
        status = snd_write_all(file, text.data, text.size);
        if (status != SND_OK)
            snd_complain("%s: cannot be written: %s", output == NULL ? "standard output" : output, strerror(errno));
        if (!snd_close_output(file, output, status == SND_OK))
            status = SND_SYSTEM;
    }
    else if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    snd_buffer_free(&text);
    return status == SND_OK && file >= 0 ? SND_EXIT_OK : SND_EXIT_USAGE;
}
