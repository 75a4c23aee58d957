/* The summary as one line of JSON: what a program needs to name the slow line, and what to run next. */
#include "base/text.h"
#include "format/table/summary.h"
#include "view/core/arrange.h"
#include "view/sampled/facts.h"
#include "view/sampled/waiting.h"

#include <stdio.h>
#include <string.h>

#define VERSION 1
#define LINES 10u
#define OTHERS 5u
#define LEAST_SHARE 5.0 /* of the time, or of the peak, in per cent: less is no verdict */
#define MUCH 50.0       /* the share of native code from which on its functions matter */

typedef struct answer {
    const snd_profile *profile;
    const snd_view_options *options;
    const char *recording;
    snd_buffer *out;
    snd_facts facts;
    /* Each has only the rows that are written, the largest first. NULL: there is no such data. */
    snd_table *lines, *waiting, *owners, *leaks;
} answer;

static const snd_cell *
cell_of(const snd_table *table, uint32_t row, const char *name)
{
    return &table->rows[row].cells[(uint32_t)snd_table_find(table, name)];
}

/* ---- the data ---- */

static int
is_hot(const snd_table *table, uint32_t row)
{
    return cell_of(table, row, "line")->is_there && cell_of(table, row, "cpu")->whole > 0;
}

/* A line that waits for something that is not a free processor, in a thread that is not idle. */
static int
is_wait(const snd_table *table, uint32_t row)
{
    return cell_of(table, row, "line")->is_there && strcmp(cell_of(table, row, "kind")->text, "line") == 0;
}

static int
is_owner(const snd_table *table, uint32_t row)
{
    return cell_of(table, row, "line")->is_there && cell_of(table, row, "peak")->whole > 0;
}

static snd_table *
rows_of(snd_table *table, const char *order, int (*wanted)(const snd_table *table, uint32_t row), uint32_t limit)
{
    if (order != NULL)
        snd_work_need(snd_table_sort(table, order));
    snd_work_need(snd_table_keep(table, wanted));
    snd_table_limit(table, limit);
    return table;
}

static void
ask(answer *self)
{
    snd_view_options options = *self->options;
    snd_table *table = NULL;

    options.show_all = 0;
    if (snd_profile_has_samples(self->profile)) {
        snd_work_need(snd_facts_make(self->profile, &options, &self->facts));
        snd_work_need(snd_view_lines(self->profile, &options, &table));
        self->lines = rows_of(table, "cpu", is_hot, LINES);
        if (snd_work_found(snd_view_waiting(self->profile, &options, &table)))
            self->waiting = rows_of(table, NULL, is_wait, OTHERS);
    }
    if (snd_profile_has_memory(self->profile)) {
        snd_work_need(snd_view_memory(self->profile, &options, &table));
        self->owners = rows_of(table, "peak", is_owner, OTHERS);
        snd_work_need(snd_view_leaks(self->profile, &options, &table));
        snd_table_limit(table, OTHERS);
        self->leaks = table;
    }
    if (self->lines == NULL && self->owners == NULL)
        snd_work_end(SND_NO_DATA);
}

/* ---- values ---- */

static void
put_name(answer *self, const char *name, int is_first)
{
    snd_buffer_printf(self->out, "%s\"%s\":", is_first ? "" : ",", name);
}

static void
put_seconds(answer *self, const char *name, uint64_t ns)
{
    put_name(self, name, 0);
    snd_buffer_printf(self->out, "%.6g", (double)ns / 1e9);
}

static void
put_text(answer *self, const char *name, const snd_cell *cell, int is_first)
{
    put_name(self, name, is_first);
    if (!cell->is_there)
        snd_buffer_text(self->out, "null");
    else
        snd_json_string(self->out, cell->text + strspn(cell->text, " "));
}

/* Where a row is, as the first members of an object. */
static void
put_place(answer *self, const snd_table *table, uint32_t row)
{
    put_text(self, "file", cell_of(table, row, "file"), 1);
    snd_buffer_printf(self->out, ",\"line\":%lld", (long long)cell_of(table, row, "line")->whole);
    put_text(self, "function", cell_of(table, row, "function"), 0);
    put_text(self, "source", cell_of(table, row, "source"), 0);
}

static void
put_share(answer *self, const char *name, double part, double whole)
{
    put_name(self, name, 0);
    snd_buffer_printf(self->out, "%.4g", whole > 0 ? 100 * part / whole : 0.0);
}

static double
cpu_of(const answer *self)
{
    return (double)(self->facts.python_ns + self->facts.native_ns + self->facts.system_ns);
}

/* ---- the parts ---- */

static void
put_program(answer *self)
{
    const char *arguments = snd_profile_info(self->profile, "arguments");
    double cpu = cpu_of(self);
    int is_first = 1;

    snd_buffer_printf(self->out, "{\"version\":%d,\"program\":[", VERSION);
    for (; arguments != NULL; is_first = 0) {
        snd_buffer word = {0};
        if (!snd_summary_argument(&arguments, &word))
            break;
        snd_buffer_text(self->out, is_first ? "" : ",");
        snd_json_string(self->out, snd_buffer_str(&word));
    }
    snd_buffer_text(self->out, "],\"recording\":");
    if (self->recording == NULL)
        snd_buffer_text(self->out, "null");
    else
        snd_json_string(self->out, self->recording);
    put_seconds(self, "elapsed_seconds", snd_profile_info_number(self->profile, "length_ns"));
    put_seconds(self, "cpu_seconds", self->facts.cpu_ns);
    put_share(self, "python_percent", (double)self->facts.python_ns, cpu);
    put_share(self, "native_percent", (double)self->facts.native_ns, cpu);
    put_share(self, "system_percent", (double)self->facts.system_ns, cpu);
    put_seconds(self, "waiting_seconds", self->facts.waiting_ns);
    snd_buffer_printf(self->out, ",\"samples\":%llu", (unsigned long long)self->facts.samples);
}

static void
put_lines(answer *self)
{
    snd_buffer_text(self->out, ",\"lines\":[");
    for (uint32_t row = 0; self->lines != NULL && row < self->lines->row_count; row++) {
        static const char *const shares[] = {"python_percent", "native_percent", "system_percent"};
        uint64_t cpu = (uint64_t)cell_of(self->lines, row, "cpu")->whole;
        snd_buffer_text(self->out, row == 0 ? "{" : ",{");
        put_place(self, self->lines, row);
        put_seconds(self, "cpu_seconds", cpu);
        put_share(self, "cpu_percent", (double)cpu, cpu_of(self));
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            put_name(self, shares[i], 0);
            snd_buffer_printf(self->out, "%.4g", cell_of(self->lines, row, shares[i])->real);
        }
        put_seconds(self, "waiting_seconds", (uint64_t)cell_of(self->lines, row, "waited")->whole);
        snd_buffer_char(self->out, '}');
    }
    snd_buffer_char(self->out, ']');
}

static void
put_waiting(answer *self)
{
    snd_buffer_text(self->out, ",\"waiting\":[");
    for (uint32_t row = 0; self->waiting != NULL && row < self->waiting->row_count; row++) {
        snd_buffer_text(self->out, row == 0 ? "{" : ",{");
        put_place(self, self->waiting, row);
        put_text(self, "for", cell_of(self->waiting, row, "reason"), 0);
        put_seconds(self, "seconds", (uint64_t)cell_of(self->waiting, row, "wait_ns")->whole);
        snd_buffer_char(self->out, '}');
    }
    snd_buffer_char(self->out, ']');
}

static void
put_bytes(answer *self, const char *name, const snd_cell *cell)
{
    snd_buffer_printf(self->out, ",\"%s\":%lld", name, (long long)cell->whole);
}

static void
put_memory(answer *self)
{
    snd_buffer_text(self->out, ",\"memory\":");
    if (self->owners == NULL) {
        snd_buffer_text(self->out, "null");
        return;
    }
    snd_buffer_printf(self->out, "{\"peak_bytes\":%llu,\"lines\":[",
                      (unsigned long long)snd_profile_info_number(self->profile, "peak_bytes"));
    for (uint32_t row = 0; row < self->owners->row_count; row++) {
        snd_buffer_text(self->out, row == 0 ? "{" : ",{");
        put_place(self, self->owners, row);
        put_bytes(self, "peak_bytes", cell_of(self->owners, row, "peak"));
        put_share(self, "peak_percent", cell_of(self->owners, row, "peak_percent")->real, 100);
        snd_buffer_char(self->out, '}');
    }
    snd_buffer_text(self->out, "],\"leaks\":[");
    for (uint32_t row = 0; row < self->leaks->row_count; row++) {
        snd_buffer_text(self->out, row == 0 ? "{" : ",{");
        put_place(self, self->leaks, row);
        put_bytes(self, "bytes", cell_of(self->leaks, row, "live_bytes"));
        put_bytes(self, "bytes_per_second", cell_of(self->leaks, row, "bytes_per_second"));
        put_share(self, "confidence_percent", cell_of(self->leaks, row, "confidence_percent")->real, 100);
        snd_buffer_char(self->out, '}');
    }
    snd_buffer_text(self->out, "]}");
}

/* ---- verdicts ---- */

static void
put_verdict(answer *self, const char *kind, const snd_table *table, uint32_t row, snd_buffer *text)
{
    char last = self->out->data[self->out->size - 1];

    snd_buffer_text(self->out, last == '[' ? "{" : ",{");
    put_place(self, table, row);
    snd_buffer_printf(self->out, ",\"kind\":\"%s\",\"text\":", kind);
    snd_json_string(self->out, snd_buffer_str(text));
    snd_buffer_char(self->out, '}');
}

static void
judge_cpu(answer *self)
{
    uint64_t ns = (uint64_t)cell_of(self->lines, 0, "cpu")->whole;
    double share = cpu_of(self) > 0 ? 100 * (double)ns / cpu_of(self) : 0;
    const char *names[] = {"python_ns", "native_ns", "system_ns"};
    const char *const parts[] = {"Python code", "native code", "the system"};
    size_t most = 0;
    char seconds[SND_DURATION_SIZE];
    snd_buffer text = {0};

    if (share < LEAST_SHARE)
        return;
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
        if (cell_of(self->lines, 0, names[i])->whole > cell_of(self->lines, 0, names[most])->whole)
            most = i;
    snd_duration_text(ns, seconds);
    snd_buffer_printf(&text, "%s takes %.0f%% of CPU time (%s), mostly in %s", cell_of(self->lines, 0, "place")->text,
                      share, seconds, parts[most]);
    put_verdict(self, "cpu", self->lines, 0, &text);
}

/* Whether a row of those that wait waits for another thread, which may be the cause. */
static int
is_effect(const answer *self, uint32_t row)
{
    const char *reason = cell_of(self->waiting, row, "reason")->text;

    return strcmp(reason, "lock") == 0 || strcmp(reason, "GIL") == 0;
}

static int
is_long(const answer *self, uint64_t ns)
{
    uint64_t length = snd_profile_info_number(self->profile, "length_ns");

    return length != 0 && 100 * (double)ns / (double)length >= LEAST_SHARE;
}

/* The wait to judge: the longest that is for no other thread, if it takes long; else the longest. */
static uint32_t
find_wait(const answer *self)
{
    for (uint32_t row = 0; row < self->waiting->row_count; row++)
        if (!is_effect(self, row) && is_long(self, (uint64_t)cell_of(self->waiting, row, "wait_ns")->whole))
            return row;
    return 0;
}

static void
judge_waiting(answer *self, uint32_t row)
{
    uint64_t ns = (uint64_t)cell_of(self->waiting, row, "wait_ns")->whole;
    char seconds[SND_DURATION_SIZE];
    snd_buffer text = {0};

    if (!is_long(self, ns))
        return;
    snd_duration_text(ns, seconds);
    snd_buffer_printf(&text, "%s waits %s for %s", cell_of(self->waiting, row, "place")->text, seconds,
                      cell_of(self->waiting, row, "reason")->text);
    put_verdict(self, "waiting", self->waiting, row, &text);
}

static void
judge_memory(answer *self)
{
    char size[SND_BYTES_SIZE];

    for (uint32_t row = 0; row < self->leaks->row_count; row++) {
        snd_buffer text = {0};
        snd_bytes_text((uint64_t)cell_of(self->leaks, row, "live_bytes")->whole, size);
        snd_buffer_printf(&text, "%s leaks: %s so far", cell_of(self->leaks, row, "place")->text, size);
        put_verdict(self, "leak", self->leaks, row, &text);
    }
    if (self->owners->row_count != 0 && cell_of(self->owners, 0, "peak_percent")->real >= LEAST_SHARE) {
        snd_buffer text = {0};
        snd_bytes_text((uint64_t)cell_of(self->owners, 0, "peak")->whole, size);
        snd_buffer_printf(&text, "%s owns %.0f%% of the memory at the peak (%s)",
                          cell_of(self->owners, 0, "place")->text, cell_of(self->owners, 0, "peak_percent")->real,
                          size);
        put_verdict(self, "memory", self->owners, 0, &text);
    }
}

/* The one that took the most time comes first. What waits for a thread that computes comes after what that computes. */
static void
put_verdicts(answer *self)
{
    int has_lines = self->lines != NULL && self->lines->row_count != 0;
    int has_waiting = self->waiting != NULL && self->waiting->row_count != 0;
    uint32_t wait = has_waiting ? find_wait(self) : 0;
    uint64_t cpu = has_lines ? (uint64_t)cell_of(self->lines, 0, "cpu")->whole : 0;
    int waits_most = has_waiting && (uint64_t)cell_of(self->waiting, wait, "wait_ns")->whole > cpu &&
                     !(is_effect(self, wait) && is_long(self, cpu));

    snd_buffer_text(self->out, ",\"verdicts\":[");
    if (waits_most)
        judge_waiting(self, wait);
    if (has_lines)
        judge_cpu(self);
    if (has_waiting && !waits_most)
        judge_waiting(self, wait);
    if (self->owners != NULL)
        judge_memory(self);
    snd_buffer_char(self->out, ']');
}

/* ---- what to run next ---- */

/* A command on the recording, or `sonde run` with an option more. */
static void
put_command(answer *self, const char *why, const char *option, int runs)
{
    const char *arguments = snd_profile_info(self->profile, "arguments");
    char last = self->out->data[self->out->size - 1];

    if (runs ? arguments == NULL : self->recording == NULL)
        return;
    snd_buffer_printf(self->out, "%s{\"why\":\"%s\",\"command\":[\"sonde\",", last == '[' ? "" : ",", why);
    if (runs) {
        snd_buffer word = {0};
        snd_buffer_printf(self->out, "\"run\",\"%s\"", option);
        for (; snd_summary_argument(&arguments, &word); snd_buffer_clear(&word)) {
            snd_buffer_char(self->out, ',');
            snd_json_string(self->out, snd_buffer_str(&word));
        }
    }
    else {
        snd_buffer_text(self->out, "\"view\",");
        snd_json_string(self->out, self->recording);
        snd_buffer_printf(self->out, ",\"%s\"", option);
    }
    snd_buffer_text(self->out, "]}");
}

static void
put_next(answer *self)
{
    snd_buffer_text(self->out, ",\"next\":[");
    if (self->lines != NULL) {
        put_command(self, "see who calls the slow lines", "--tree", 0);
        if (snd_waiting_is_much(&self->facts.sampled))
            put_command(self, "see what threads wait for", "--waiting", 0);
        if (cpu_of(self) > 0 && 100 * (double)self->facts.native_ns / cpu_of(self) >= MUCH)
            put_command(self, "see native functions below the lines", "--native", 1);
    }
    if (self->owners == NULL)
        put_command(self, "also profile memory", "--memory", 1);
    else
        put_command(self, "see who owns the memory at the peak", "--memory", 0);
    snd_buffer_text(self->out, "]}\n");
}

/* ---- all of it, as one work ---- */

typedef struct question {
    const snd_view_options *options;
    const char *recording;
    const snd_profile *profile;
    snd_buffer text; /* the caller's may not grow inside a work */
} question;

static void
write(void *context)
{
    question *asked = context;
    answer self = {
        .profile = asked->profile, .options = asked->options, .recording = asked->recording, .out = &asked->text};

    ask(&self);
    put_program(&self);
    put_verdicts(&self);
    put_lines(&self);
    put_waiting(&self);
    put_memory(&self);
    put_next(&self);
}

snd_status
snd_summary_json(const snd_profile *profile, const snd_view_options *options, const char *recording, snd_buffer *out)
{
    question asked = {options, recording, profile, {0}};

    return snd_work_write(write, &asked, &asked.text, out);
}
