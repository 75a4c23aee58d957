/* sonde export: a recording for other programs. */
#include "cli/commands.h"
#include "cli/core/common.h"
#include "format/stacks/stacks.h"
#include "format/table/format.h"

#include <string.h>

/* Whether --view, if given, is one that we know; complains when not. */
static int
view_is_valid(const snd_arguments *given)
{
    static const char *const names[] = {
#define VIEW_NAME(name, about) #name,
        SND_VIEW_MAP(VIEW_NAME)
#undef VIEW_NAME
    };
    const char *name = snd_arguments_value(given, "view");

    if (name == NULL || snd_view_find(name) != NULL)
        return 1;
    snd_complain_unknown("view", name, names, sizeof names / sizeof names[0]);
    return 0;
}

static const snd_format *
chosen_format(const snd_arguments *given)
{
    const char *name = snd_arguments_value(given, "format");
    const char *names[16];
    const snd_format *format = name == NULL ? &snd_formats[0] : snd_format_find(name);

    for (unsigned i = 0; i < snd_format_count; i++)
        names[i] = snd_formats[i].name;
    if (format == NULL)
        snd_complain_unknown("format", name, names, snd_format_count);
    return format;
}

/* Whether --cost, if given, is one that we know; complains when not. */
static int
read_cost(const snd_arguments *given, snd_export_options *out)
{
    const char *names[SND_COST_COUNT], *name = snd_arguments_value(given, "cost");

    for (unsigned i = 0; i < SND_COST_COUNT; i++)
        names[i] = snd_costs[i].name;
    if (name == NULL)
        return 1;
    out->has_cost = 1;
    out->cost = snd_cost_find(name);
    if (out->cost == SND_COST_COUNT)
        snd_complain_unknown("cost", name, names, SND_COST_COUNT);
    return out->cost != SND_COST_COUNT;
}

/* A trace is its timeline; stacks are drawn over time where there is one. */
static snd_status
load_timeline(const snd_opened *recording, const snd_format *format)
{
    uint64_t events;
    snd_status status;

    if (format->write_recording == snd_format_speedscope || format->write_recording == snd_format_perfetto) {
        int is_optional =
            format->write_recording == snd_format_speedscope || recording->profile->memory.series_count != 0;
        status = snd_reader_events(recording->reader, recording->profile);
        return is_optional && (status == SND_NO_TIMELINE || status == SND_TOO_LONG) ? SND_OK : status;
    }
    if (format->write_recording != snd_format_chrome)
        return SND_OK;
    status = snd_reader_event_count(recording->reader, &events);
    return status == SND_OK && events == 0 ? SND_NO_TIMELINE : status;
}

static int
has_calls(const snd_profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (snd_site_is_call(profile->sites[profile->nodes[i].site].kind))
            return 1;
    return 0;
}

/* Whether the recording has what the format is about; complains when not. */
static int
can_write(const snd_opened *recording, const snd_format *format, const snd_export_options *options)
{
    int is_traced = format->write_recording == snd_format_chrome || format->write_recording == snd_format_perfetto;
    int is_pstats = format->write_recording == snd_format_pstats;
    int is_called = has_calls(recording->profile);
    snd_cost cost = snd_export_cost(recording->profile, options);

    if (is_traced || (is_called && (is_pstats || format->write_recording == snd_format_callgrind)))
        return 1;
    if (options->has_cost && (snd_stacks_known(recording->profile) >> cost & 1) == 0)
        snd_complain("%s: the recording has no cost '%s'", recording->path, snd_costs[cost].name);
    else if (cost == SND_COST_COUNT && is_called)
        snd_complain("%s: traced calls have no full stacks and cannot be written as %s; use pstats or callgrind",
                     recording->path, format->name);
    else if (cost == SND_COST_COUNT)
        snd_complain("%s: the recording has no samples, regions, operators or memory to write as %s", recording->path,
                     format->name);
    else if (is_pstats && strcmp(snd_costs[cost].unit, "nanoseconds") != 0)
        snd_complain("%s: pstats holds time only, not '%s'", recording->path, snd_costs[cost].name);
    else
        return 1;
    return 0;
}

/* What cannot be exported is found out before the output is opened, which empties it. */
static int
export_recording(const snd_opened *recording, const snd_format *format, const snd_arguments *given, const char *output)
{
    snd_export_options options = {
        .by_line = snd_arguments_value(given, "by-line") != NULL,
        .cpu_only = snd_arguments_value(given, "cpu-only") != NULL,
    };
    if (!read_cost(given, &options) || !can_write(recording, format, &options))
        return SND_EXIT_USAGE;
    snd_status status = load_timeline(recording, format);
    if (status != SND_OK)
        return snd_complain_status(recording->path, status);
    int file = snd_open_output(output);
    if (file < 0)
        return SND_EXIT_USAGE;
    status = format->write_recording(recording->reader, recording->profile, &options, file);
    if (status != SND_OK)
        snd_complain_status(status == SND_SYSTEM && output != NULL ? output : recording->path, status);
    return snd_close_output(file, output, status == SND_OK) && status == SND_OK ? SND_EXIT_OK : SND_EXIT_USAGE;
}

/* A page is for eyes and has the usual columns; the other formats have all. */
static int
export_table(const snd_opened *recording, const snd_format *format, const snd_arguments *given, const char *output)
{
    static const snd_format_options plain;
    const char *name = snd_arguments_value(given, "view");
    const snd_view *view = name == NULL ? snd_view_default(recording->profile) : snd_view_find(name);
    snd_table *table = snd_make_table(recording, view, given, format->write_table == snd_format_html);
    int status = table == NULL ? SND_EXIT_USAGE : snd_print_table(table, format, &plain, output);
    snd_table_free(table);
    return status;
}

static int
print_schema(const char *output)
{
    int file = snd_open_output(output);
    if (file < 0)
        return SND_EXIT_USAGE;
    snd_status status = snd_write_all(file, snd_table_schema, strlen(snd_table_schema));
    if (status != SND_OK)
        snd_complain_status(output == NULL ? "standard output" : output, status);
    return snd_close_output(file, output, status == SND_OK) && status == SND_OK ? SND_EXIT_OK : SND_EXIT_USAGE;
}

static int
run(const snd_arguments *given)
{
    const char *output = snd_arguments_value(given, "output");
    const snd_format *format = view_is_valid(given) ? chosen_format(given) : NULL;
    snd_opened recording;
    int status = SND_EXIT_USAGE;

    if (format == NULL)
        return SND_EXIT_USAGE;
    if (snd_arguments_value(given, "schema") != NULL)
        return print_schema(output);
    if (snd_output_is_input(given, output))
        return SND_EXIT_USAGE;
    if (snd_opened_open(given, 1, &recording))
        status = format->write_recording != NULL ? export_recording(&recording, format, given, output)
                                                 : export_table(&recording, format, given, output);
    snd_opened_close(&recording);
    return status;
}

static const snd_setting options[] = {
    {"format", "one view: " SND_FORMAT_TABLE_LIST "; the whole recording: " SND_FORMAT_RECORDING_LIST, SND_TEXT("NAME"),
     .letter = 'f', .choices = SND_FORMAT_TABLE_WORDS SND_FORMAT_RECORDING_WORDS},
    {"view", "the view: lines, tree, memory, leaks, copies, functions, … (an unknown name lists them all)",
     SND_TEXT("NAME"), .choices = SND_VIEW_WORDS},
    {"columns", "write these columns only", SND_TEXT("A,B,…"), .letter = 'c', .choices = SND_CHOICES_COLUMNS},
    {"sort", "sort by a column, or by a pstats key: calls, cumtime, tottime, name, …", SND_TEXT("KEY"), .letter = 's',
     .choices = SND_CHOICES_COLUMNS},
    {"match", "keep rows that match this regular expression, and the rows above and below them", SND_TEXT("PATTERN"),
     .letter = 'm'},
    {"limit", "keep the first N rows; in a list of functions with callers or callees, the first N functions",
     SND_COUNT("N", 0, UINT32_MAX, 0), .letter = 'n'},
    {"by-line", "collapsed, speedscope, chrome, perfetto: separate the lines of a function", SND_FLAG,
     .group = "formats"},
    {"cost",
     "collapsed, speedscope: the cost to write (wall, cpu, samples, time, alloc_space, …); pprof, callgrind: the cost "
     "that comes first",
     SND_TEXT("NAME"), .group = "formats"},
    {"schema", "print the JSON Schema of --format json; needs no recording", SND_FLAG, .group = "formats"},
    SND_VIEW_OPTIONS{"output", "write to this file instead of standard output", SND_TEXT("FILE"), .letter = 'o',
                     .choices = SND_CHOICES_FILE},
    {0},
};

const snd_command snd_command_export = {
    .name = "export",
    .usage = "FILE --format NAME [--view NAME] [-o OUT]",
    .about = "convert a recording for other programs: CSV, JSON, flame graphs, pprof, pstats, callgrind, traces",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .busy = "converting",
    .examples = {{"sonde export run.sonde --format speedscope -o run.json", "write a flame graph for speedscope.app"},
                 {"sonde export run.sonde --format csv --view lines", "write the lines as a table for a spreadsheet"}},
};
