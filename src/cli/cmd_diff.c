/* sonde diff: two recordings compared. */
#include "cli/commands.h"
#include "cli/core/common.h"
#include "cli/core/progress.h"
#include "format/table/summary.h"
#include "view/compare/diff.h"
#include "view/core/arrange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a kind that people are shown, unless they ask for more. */
#define SHOWN_ROWS 10u
/* The share of the time without a free processor from which on that is said. */
#define BUSY 0.05

/* What was asked for. */
typedef struct request {
    snd_chosen chosen;
    snd_diff_options diff;
    const snd_format *format;
    const char *sort; /* NULL: by the amount of the difference */
    uint64_t limit;   /* of each kind */
    double fail_over; /* in per cent; below 0: nothing fails */
} request;

/* ---- reading the request ---- */

/* Of the table's columns those that people may sort by; the others are the same as texts. */
static int
sort_is_valid(const char *key)
{
    static const char *const keys[] = {"before", "after", "difference", "percent", "noise", "verdict", "name", "place"};
    enum { COUNT = sizeof keys / sizeof keys[0] };

    for (int i = 0; key != NULL && i < COUNT; i++)
        if (strcmp(key, keys[i]) == 0)
            return 1;
    if (key != NULL)
        snd_complain_unknown("sort key", key, keys, COUNT);
    return key == NULL;
}

static int
read_request(const snd_arguments *given, request *out)
{
    double run = 100 * SND_DIFF_RUN_SHARE;

    *out = (request){.limit = UINT32_MAX, .fail_over = -1, .sort = snd_arguments_value(given, "sort")};
    out->format = snd_table_format(given);
    if (out->format == NULL || !snd_colour_is_valid(given) || !sort_is_valid(out->sort))
        return 0;
    if (strcmp(out->format->name, "table") == 0)
        out->limit = SHOWN_ROWS;
    for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
        if (kind != SND_DIFF_TOTALS && snd_arguments_value(given, snd_diff_infos[kind].name) != NULL)
            out->diff.kinds |= 1u << kind;
    if (!snd_arguments_count(given, "limit", &out->limit) || !snd_arguments_percent(given, "run-noise", &run) ||
        !snd_arguments_percent(given, "fail-over", &out->fail_over))
        return 0;
    if (given->word_count != 2) {
        snd_complain("diff needs two recordings: sonde diff BEFORE.sonde AFTER.sonde");
        return 0;
    }
    out->diff.run_share = run / 100;
    return 1;
}

/* ---- what cannot be compared ---- */

/* What a recording has, by the first kind of rows that is more than totals. */
static const char *
content_of(const snd_profile *profile)
{
    unsigned kinds = snd_diff_kinds(profile);

    for (int kind = SND_DIFF_TOTALS + 1; kind < SND_DIFF_COUNT; kind++)
        if (kinds & 1u << kind)
            return snd_diff_infos[kind].needs;
    return "nothing to compare";
}

static void
complain_no_data(const snd_opened recordings[2], unsigned wanted)
{
    unsigned kinds[2] = {snd_diff_kinds(recordings[0].profile), snd_diff_kinds(recordings[1].profile)};

    for (int kind = SND_DIFF_TOTALS + 1; kind < SND_DIFF_COUNT; kind++)
        for (int side = 0; side < 2; side++)
            if (wanted & 1u << kind & ~kinds[side]) {
                snd_complain("%s: no %s to compare", recordings[side].path, snd_diff_infos[kind].needs);
                return;
            }
    snd_complain("the recordings have nothing in common: %s has %s, %s has %s", recordings[0].path,
                 content_of(recordings[0].profile), recordings[1].path, content_of(recordings[1].profile));
}

/* ---- printing ---- */

/* The rows of a kind in the order that was asked for. NULL after printing one line. */
static snd_table *
make_table(const snd_diff *diff, const request *asked, snd_diff_kind kind)
{
    snd_table *table = NULL;
    snd_status status = snd_diff_table(diff, kind, &table);

    if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    else if (asked->sort != NULL && kind != SND_DIFF_TOTALS && !snd_sort_rows(table, asked->sort)) {
        snd_table_free(table);
        table = NULL;
    }
    return table;
}

static int
has_changed(const snd_table *table, uint32_t row)
{
    const snd_cell *verdict = &table->rows[row].cells[(uint32_t)snd_table_find(table, "verdict")];

    return strcmp(verdict->text, "same") != 0;
}

/* "Lines (10 of 37, 12 are the same)". */
static void
put_heading(const snd_diff_info *about, uint32_t shown, uint32_t changed, uint32_t all, snd_buffer *out)
{
    snd_buffer_text(out, about->heading);
    if (shown < changed)
        snd_buffer_printf(out, " (%u of %u)", shown, changed);
    if (changed < all)
        snd_buffer_printf(out, " (%u %s the same)", all - changed, all - changed == 1 ? "is" : "are");
}

/* 0 after printing one line. */
static int
put_kind(const snd_summary *summary, const snd_diff *diff, const request *asked, snd_diff_kind kind)
{
    snd_table *table = make_table(diff, asked, kind);
    snd_buffer heading = {0};
    if (table == NULL)
        return 0;
    uint32_t all = table->row_count;
    snd_status status = snd_table_keep(table, has_changed);
    uint32_t changed = table->row_count;
    if (kind != SND_DIFF_TOTALS)
        snd_table_limit(table, (uint32_t)asked->limit);
    put_heading(&snd_diff_infos[kind], table->row_count, changed, all, &heading);
    summary->out->failed |= heading.failed;
    if (status == SND_OK && table->row_count != 0)
        status = snd_summary_put(summary, snd_buffer_str(&heading), table); /* uses the table up */
    else {
        snd_buffer_printf(summary->out, "\n%s\n", snd_buffer_str(&heading));
        snd_table_free(table);
    }
    snd_buffer_free(&heading);
    if (status != SND_OK)
        snd_complain("%s", snd_status_text(status));
    return status == SND_OK;
}

static void
put_footer(const snd_diff *diff, snd_buffer *out)
{
    int has_unknown = 0;

    for (uint32_t i = 0; i < diff->count; i++)
        for (int side = 0; side < 2; side++)
            has_unknown |= diff->rows[i].sides[side].estimate.source == SND_NOISE_UNKNOWN;
    snd_buffer_printf(out, "\n%u of %u rows differ by more than the noise (%.3g%% from run to run)\n", diff->beyond,
                      diff->count, 100 * diff->options->run_share);
    if (diff->busy[0] >= BUSY || diff->busy[1] >= BUSY)
        snd_buffer_printf(out, "busy machine: no processor was free %.0f%% of the time before, %.0f%% after\n",
                          100 * diff->busy[0], 100 * diff->busy[1]);
    if (has_unknown)
        snd_buffer_text(out, "?: measured once, so only run-to-run noise is known\n");
    if (diff->changes.file != NULL) {
        snd_source_say(&diff->changes, diff->changes.file, out);
        snd_buffer_char(out, '\n');
    }
}

/* Tables below each other. 0 after printing one line. */
static int
put_people(const snd_diff *diff, const request *asked, const snd_opened recordings[2], const snd_format_options *format,
           snd_buffer *out)
{
    const snd_summary summary = {recordings[1].profile, &asked->chosen.options, format, out};

    snd_buffer_printf(out, "before  %s\nafter   %s\n", recordings[0].path, recordings[1].path);
    for (int kind = 0; kind < SND_DIFF_COUNT; kind++)
        if (diff->kinds & 1u << kind && !put_kind(&summary, diff, asked, (snd_diff_kind)kind))
            return 0;
    put_footer(diff, out);
    return 1;
}

/* One table with all kinds. 0 after printing one line. */
static int
put_programs(const snd_diff *diff, const request *asked, const snd_format_options *format, snd_buffer *out)
{
    snd_table *all = NULL, *selected = NULL;
    snd_status status = SND_OK;

    for (int kind = 0; kind < SND_DIFF_COUNT && status == SND_OK; kind++) {
        snd_table *table = diff->kinds & 1u << kind ? make_table(diff, asked, (snd_diff_kind)kind) : NULL;
        if (table == NULL && diff->kinds & 1u << kind) {
            snd_table_free(all);
            return 0;
        }
        if (table == NULL)
            continue;
        if (kind != SND_DIFF_TOTALS)
            snd_table_limit(table, (uint32_t)asked->limit);
        if (all == NULL) {
            all = table;
            continue;
        }
        status = snd_diff_append(all, table);
        snd_table_free(table);
    }
    if (status == SND_OK)
        status = snd_diff_select(all, &selected);
    if (status == SND_OK)
        asked->format->write_table(selected, format, out);
    else
        snd_complain("%s", snd_status_text(status));
    snd_table_free(all);
    snd_table_free(selected);
    return status == SND_OK;
}

/* ---- failing ---- */

static void
complain_row(const snd_diff_row *row, double percent)
{
    snd_buffer text = {0};

    snd_diff_number(row->unit, row->sides[SND_BEFORE].estimate.value, &text);
    snd_buffer_text(&text, " -> ");
    snd_diff_number(row->unit, row->sides[SND_AFTER].estimate.value, &text);
    snd_buffer_text(&text, ", ");
    snd_diff_change(row, &text);
    snd_complain("over %.6g%%: %s %s%s%s: %s", percent, snd_diff_infos[row->kind].row, row->name,
                 *row->place == '\0' ? "" : " at ", row->place, snd_buffer_str(&text));
    snd_buffer_free(&text);
}

/* The exit status. */
static int
judge(const snd_diff *diff, double percent)
{
    int is_over = 0;

    for (uint32_t i = 0; i < diff->count && percent >= 0; i++)
        if (snd_diff_is_over(diff, &diff->rows[i], percent)) {
            complain_row(&diff->rows[i], percent);
            is_over = 1;
        }
    return is_over ? SND_EXIT_FAILED : SND_EXIT_OK;
}

/* ---- the command ---- */

static int
show(const snd_arguments *given, const snd_diff *diff, const request *asked, const snd_opened recordings[2])
{
    snd_format_options format = snd_terminal_options(given);
    int is_table = strcmp(asked->format->name, "table") == 0;
    snd_buffer text = {0};
    int is_made =
        is_table ? put_people(diff, asked, recordings, &format, &text) : put_programs(diff, asked, &format, &text);
    snd_status status = is_made ? snd_buffer_status(&text) : SND_OK;

    snd_progress_stop();
    if (is_made && status == SND_OK)
        status = snd_write_all(STDOUT_FILENO, text.data, text.size);
    if (status != SND_OK)
        snd_complain_status("standard output", status);
    snd_buffer_free(&text);
    return is_made && status == SND_OK ? judge(diff, asked->fail_over) : SND_EXIT_USAGE;
}

static int
compare(const snd_arguments *given, request *asked, const snd_opened recordings[2])
{
    snd_diff diff;
    int result = SND_EXIT_USAGE;

    if (!snd_read_view_options(given, recordings[1].profile, &asked->chosen))
        return SND_EXIT_USAGE;
    asked->diff.view = &asked->chosen.options;
    snd_status status = snd_diff_make(recordings[0].profile, recordings[1].profile, &asked->diff, &diff);
    if (status == SND_OK) {
        result = show(given, &diff, asked, recordings);
        snd_diff_free(&diff);
    }
    else if (status == SND_NO_DATA)
        complain_no_data(recordings, asked->diff.kinds);
    else
        snd_complain("%s", snd_status_text(status));
    return result;
}

static int
run(const snd_arguments *given)
{
    snd_opened recordings[2] = {{0}};
    request asked;
    int status = SND_EXIT_USAGE;

    if (!read_request(given, &asked))
        return SND_EXIT_USAGE;
    if (snd_open_recording(given, given->words[0], &recordings[0]) &&
        snd_open_recording(given, given->words[1], &recordings[1]))
        status = compare(given, &asked, recordings);
    snd_opened_close(&recordings[0]);
    snd_opened_close(&recordings[1]);
    return status;
}

static const snd_setting options[] = {
    {"regions", "regions by path (default: everything both recordings have)", SND_FLAG, .group = "what to compare"},
    {"functions", "functions by self time, sampled or else traced", SND_FLAG, .group = "what to compare"},
    {"lines", "lines, matched by their text if the file was edited", SND_FLAG, .group = "what to compare"},
    {"ops", "operators", SND_FLAG, .group = "what to compare"},
    {"calls", "traced functions by self time", SND_FLAG, .group = "what to compare"},
    {"counts", "traced functions by number of calls", SND_FLAG, .group = "what to compare"},
    {"memory", "lines by memory held at the peak", SND_FLAG, .group = "what to compare"},
    {"allocated", "lines by memory allocated", SND_FLAG, .group = "what to compare"},
    {"copies", "lines by bytes copied", SND_FLAG, .group = "what to compare"},
    {"fail-over", "exit with status 1 if a total, or a row of 1% or more, grew by more than this and beyond its noise",
     SND_PERCENT},
    {"run-noise", "standard deviation of the same program from run to run (default 2%)", SND_PERCENT},
    {"cpu-only", "leave out waiting time", SND_FLAG, .group = SND_GROUP_SAMPLES},
    {"all-code", "show library code like your own", SND_FLAG, .group = SND_GROUP_SAMPLES},
    {"include", "treat matching files as your own code, such as '*model*,*/util/*'", SND_TEXT("PATTERNS"),
     .group = SND_GROUP_SAMPLES},
    {"exclude", "do not treat matching files as your own code", SND_TEXT("PATTERNS"), .group = SND_GROUP_SAMPLES},
    {"by-shape", "one row per kind of inputs", SND_FLAG, .group = "operators"},
    {"sort",
     "sort by before, after, difference, percent, noise, verdict, name or place (default: size of the difference)",
     SND_TEXT("KEY"), .letter = 's', .choices = "before after difference percent noise verdict name place"},
    {"limit", "show the first N rows of each table (default 10; all for csv and json)",
     SND_COUNT("N", 0, UINT32_MAX, 0), .letter = 'n'},
    {"format", SND_FORMAT_TABLE_CHOICE, SND_TEXT("NAME"), .letter = 'f', .choices = SND_FORMAT_TABLE_WORDS},
    {"color", "always, never or auto (color on a terminal unless NO_COLOR is set)", SND_TEXT("WHEN"),
     .choices = "always never auto"},
    {0},
};

const snd_command snd_command_diff = {
    .name = "diff",
    .usage = "BEFORE AFTER [options]",
    .about = "compare two recordings: what got slower or faster, beyond noise",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .busy = "comparing",
    .examples = {{"sonde diff before.sonde after.sonde", "show what got slower or faster"},
                 {"sonde diff before.sonde after.sonde --fail-over 10%",
                  "fail a CI job if something grew by more than 10%"}},
};
