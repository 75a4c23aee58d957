/* sonde info: a recording's metadata. */
#include "cli/commands.h"
#include "cli/core/common.h"

#include "base/text.h"
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

/* What is gathered before it becomes a table. */
typedef struct list {
    snd_table *table;
    snd_status status;
} list;

static void
add(list *self, const char *fact, const char *value)
{
    snd_cell *cells;

    if (self->status != SND_OK || value == NULL || *value == '\0')
        return;
    self->status = snd_table_add_row(self->table, 0, &cells);
    if (self->status != SND_OK)
        return;
    cells[FACT] = (snd_cell){.is_there = 1, .text = snd_table_text(self->table, fact)};
    cells[VALUE] = (snd_cell){.is_there = 1, .text = snd_table_text(self->table, value)};
    if (cells[FACT].text == NULL || cells[VALUE].text == NULL)
        self->status = SND_NO_MEMORY;
}

static void add_printf(list *self, const char *fact, const char *format, ...) SND_PRINTF(3, 4);

static void
add_printf(list *self, const char *fact, const char *format, ...)
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
add_start(list *self, const snd_profile *profile)
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
add_duration(list *self, const char *fact, uint64_t ns)
{
    char text[SND_DURATION_SIZE];
    snd_duration_text(ns, text);
    add_printf(self, fact, "%s", text);
}

/* A recording without calls says nothing of them. */
static void
add_calls(list *self, const snd_profile *profile)
{
    uint64_t cost = snd_profile_info_number(profile, "own_call_cost_ns");
    uint64_t count = 0;
    char all[SND_DURATION_SIZE];
    snd_calls calls;

    if (self->status != SND_OK || (self->status = snd_calls_make(profile, SND_PAIRS_OF_SIGNATURES, &calls)) != SND_OK)
        return;
    for (uint32_t i = 0; i < calls.row_count; i++)
        if (calls.rows[i].function == i)
            count += calls.rows[i].numbers.count;
    if (calls.row_count != 0)
        add_printf(self, "calls", "%llu", (unsigned long long)count);
    snd_duration_text(count * cost, all);
    if (calls.row_count != 0 && cost != 0) /* 0: it was not measured */
        add_printf(self, "call cost", "up to %llu ns per call, %s in total", (unsigned long long)cost, all);
    snd_calls_free(&calls);
}

/* A recording without samples says nothing of them. */
static void
add_samples(list *self, const snd_profile *profile, const snd_facts *facts)
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
add_counts(list *self, const snd_opened *recording, const snd_facts *facts)
{
    const snd_profile *profile = recording->profile;
    uint64_t events = 0;
    uint64_t cost = snd_profile_info_number(profile, "own_cost_ns");
    char all[SND_DURATION_SIZE];

    if (snd_reader_event_count(recording->reader, &events) != SND_OK)
        events = 0;
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
add_children(list *self, const snd_profile *profile)
{
    uint64_t unmeasured = snd_profile_info_number(profile, "children_unmeasured_ns");
    char text[SND_DURATION_SIZE];

    snd_duration_text(unmeasured, text);
    if (unmeasured != 0)
        add_printf(self, "not measured", "%s of CPU time in child processes", text);
    add(self, "not followed", snd_profile_info(profile, "not_followed"));
}

static void
gather(list *self, const snd_opened *recording)
{
    const snd_profile *profile = recording->profile;
    const char *complete = snd_profile_info(profile, "complete");
    snd_facts facts = {0};
    snd_status status = snd_facts_make(profile, &(snd_view_options){0}, &facts);

    if (self->status == SND_OK && status != SND_NO_DATA)
        self->status = status;
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
    add_counts(self, recording, &facts);
    add_calls(self, profile);
    add_samples(self, profile, &facts);
    add_children(self, profile);
    add(self, "state",
        complete != NULL && strcmp(complete, "1") == 0
            ? "complete"
            : "up to the last checkpoint; the program is running or was killed");
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
        list self = {snd_table_new("info", columns, COLUMN_COUNT), SND_OK};
        snd_format_options look = {.no_head = 1};
        if (self.table == NULL)
            self.status = SND_NO_MEMORY;
        gather(&self, &recording);
        status = self.status == SND_OK ? snd_print_table(self.table, format, &look, NULL)
                                       : snd_complain("%s", snd_status_text(self.status));
        snd_table_free(self.table);
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
