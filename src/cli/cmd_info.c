/* sonde info: a recording's metadata. */
#include "cli/commands.h"
#include "cli/core/common.h"

#include "base/text.h"
#include "base/work.h"
#include "os/terminal.h"
#include "view/calls/calls.h"
#include "view/sampled/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FACT, VALUE, COLUMN_COUNT };

static const snd_column columns[] = {
    [FACT] = {"fact", "fact", SND_UNIT_TEXT, 1},
    [VALUE] = {"value", "value", SND_UNIT_TEXT, 1},
};

static void
add(snd_table *self, const char *fact, const char *value)
{
    if (value == NULL || *value == '\0')
        return;
    snd_cell *cells = snd_table_row(self, 0);
    snd_set_text(self, &cells[FACT], fact);
    snd_set_text(self, &cells[VALUE], value);
}

static void add_printf(snd_table *self, const char *fact, const char *format, ...) SND_PRINTF(3, 4);

static void
add_printf(snd_table *self, const char *fact, const char *format, ...)
{
    snd_buffer text = {0};
    va_list args;

    va_start(args, format);
    snd_buffer_vprintf(&text, format, args);
    va_end(args);
    if (!snd_terminal_look(STDOUT_FILENO).unicode)
        snd_text_plain(&text, 0);
    add(self, fact, snd_buffer_str(&text));
    snd_buffer_free(&text);
}

static void
add_start(snd_table *self, const snd_profile *profile)
{
    uint64_t ns = snd_profile_info_number(profile, "start_realtime_ns");
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm local;
    char text[64];

    if (ns != 0 && localtime_r(&seconds, &local) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &local) != 0)
        add(self, "started", text);
}

static void
add_duration(snd_table *self, const char *fact, uint64_t ns)
{
    char text[SND_DURATION_SIZE];
    snd_duration_text(ns, text);
    add_printf(self, fact, "%s", text);
}

/* A recording without calls says nothing of them. */
static void
add_calls(snd_table *self, const snd_profile *profile)
{
    uint64_t cost = snd_profile_info_number(profile, "own_call_cost_ns");
    uint64_t count = 0;
    char all[SND_DURATION_SIZE];
    snd_calls calls;

    snd_work_need(snd_calls_make(profile, SND_PAIRS_OF_SIGNATURES, &calls));
    for (uint32_t i = 0; i < calls.row_count; i++)
        if (calls.rows[i].function == i)
            count += calls.rows[i].numbers.count;
    if (calls.row_count != 0)
        add_printf(self, "calls", "%llu", (unsigned long long)count);
    snd_duration_text(count * cost, all);
    if (calls.row_count != 0 && cost != 0) /* 0: it was not measured */
        add_printf(self, "call cost", "up to %llu ns per call, %s in total", (unsigned long long)cost, all);
}

/* A recording without samples says nothing of them. */
static void
add_samples(snd_table *self, const snd_profile *profile, const snd_facts *facts)
{
    uint64_t cost = snd_profile_info_number(profile, "own_sample_cost_ns");
    uint64_t interrupted = snd_profile_info_number(profile, "interrupted_calls");
    char cpu[SND_DURATION_SIZE], own[SND_DURATION_SIZE], all[SND_DURATION_SIZE];

    if (snd_profile_info(profile, "samples") == NULL)
        return;
    add_printf(self, "samples", "%llu at %llu Hz, %llu missed", (unsigned long long)facts->samples,
               (unsigned long long)snd_profile_info_number(profile, "sample_rate_hz"),
               (unsigned long long)snd_profile_info_number(profile, "samples_missed"));
    snd_duration_text(facts->cpu_ns, cpu);
    snd_duration_short(snd_profile_info_number(profile, "own_cpu_ns"), own);
    add_printf(self, "CPU time", "%s, of which %s in sonde's own threads", cpu, own);
    snd_duration_text(facts->samples * cost, all);
    add_printf(self, "sample cost", "up to %llu ns per sample, %s in total", (unsigned long long)cost, all);
    if (interrupted != 0)
        add_printf(self, "interrupted", "%llu system call%s, by sonde's signals", (unsigned long long)interrupted,
                   interrupted == 1 ? "" : "s");
    if (profile->source_count != 0)
        add_printf(self, "sources", "%u", profile->source_count);
}

static void
add_counts(snd_table *self, const snd_profile *profile, const snd_facts *facts, uint64_t events)
{
    uint64_t cost = snd_profile_info_number(profile, "own_cost_ns");
    char all[SND_DURATION_SIZE];

    add_printf(self, "threads", "%llu", (unsigned long long)facts->threads);
    add_printf(self, "entries", "%llu", (unsigned long long)facts->entries);
    add_printf(self, "timeline", "%llu events", (unsigned long long)events);
    add_printf(self, "dropped", "%llu entries, %llu events", (unsigned long long)facts->dropped_entries,
               (unsigned long long)facts->dropped_events);
    snd_duration_text(facts->entries * cost, all);
    add_printf(self, "overhead", "up to %llu ns per entry, %s in total", (unsigned long long)cost, all);
}

/* Nothing where all processes were followed. */
static void
add_children(snd_table *self, const snd_profile *profile)
{
    uint64_t unmeasured = snd_profile_info_number(profile, "children_unmeasured_ns");
    char text[SND_DURATION_SIZE];

    snd_duration_text(unmeasured, text);
    if (unmeasured != 0)
        add_printf(self, "not measured", "%s of CPU time in child processes", text);
    add(self, "not followed", snd_profile_info(profile, "not_followed"));
}

/* What the table is of. */
typedef struct known {
    const snd_profile *profile;
    uint64_t events;
} known;

static snd_table *
gather(const void *context)
{
    const known *of = context;
    const snd_profile *profile = of->profile;
    const char *complete = snd_profile_info(profile, "complete");
    snd_facts facts = {0};
    snd_table *self = snd_table_new("info", columns, COLUMN_COUNT);

    (void)snd_work_found(snd_facts_make(profile, &(snd_view_options){0}, &facts));
    add(self, "program", snd_profile_info(profile, "program"));
    add(self, "arguments", snd_profile_info(profile, "arguments"));
    add(self, "host", snd_profile_info(profile, "host"));
    add(self, "process", snd_profile_info(profile, "process_id"));
    add(self, "parent", snd_profile_info(profile, "parent_id"));
    add(self, "processes", snd_profile_info(profile, "processes"));
    add(self, "rank", snd_profile_info(profile, "rank"));
    add(self, "Python", snd_profile_info(profile, "python"));
    add(self, "sonde", snd_profile_info(profile, "sonde"));
    add_start(self, profile);
    add_duration(self, "length", facts.length_ns);
    add(self, "probes", snd_profile_info(profile, "probes"));
    add(self, "clock", snd_profile_info(profile, "clock"));
    add(self, "note", snd_profile_info(profile, "note"));
    add_counts(self, profile, &facts, of->events);
    add_calls(self, profile);
    add_samples(self, profile, &facts);
    add_children(self, profile);
    add(self, "state",
        complete != NULL && strcmp(complete, "1") == 0
            ? "complete"
            : "up to the last checkpoint; the program is running or was killed");
    return self;
}

static int
run(const snd_arguments *given)
{
    const snd_format *format = snd_table_format(given);
    snd_opened recording;
    int status = SND_EXIT_USAGE;

    if (format == NULL)
        return SND_EXIT_USAGE;
    if (snd_opened_open(given, 1, &recording)) {
        snd_format_options look = {.no_head = 1};
        known of = {.profile = recording.profile};
        snd_table *table = NULL;
        if (snd_reader_event_count(recording.reader, &of.events) != SND_OK)
            of.events = 0;
        snd_status made = snd_table_make(gather, &of, &table);
        status =
            made == SND_OK ? snd_print_table(table, format, &look, NULL) : snd_complain("%s", snd_status_text(made));
        snd_table_free(table);
    }
    snd_opened_close(&recording);
    return status;
}

static const snd_setting options[] = {
    SND_PROCESS_OPTION,
    {"format", SND_FORMAT_TABLE_CHOICE, SND_TEXT("NAME"), .letter = 'f', .choices = SND_FORMAT_TABLE_WORDS},
    {0},
};

const snd_command snd_command_info = {
    .name = "info",
    .usage = "FILE",
    .about = "show a recording's metadata: program, host, length, cost",
    .options = options,
    .run = run,
    .reads = SND_READS_FILES,
    .examples = {{"sonde info run.sonde", "show program, host, length, sample rate and overhead"},
                 {"sonde info run.sonde --format json", "show the same for a script"}},
};
