/* sonde stat: runs a command, or a statement of Python, several times and counts what it uses. */
#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/core/common.h"
#include "cli/core/options.h"
#include "cli/core/program.h"
#include "cli/stat/stat.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNS_MAX = 10000, RUNS_COMPARED = 10, RUNS_OF_STATEMENT = 5 };

/* All texts of an option, a line each. */
static void
join_texts(const snd_arguments *given, const char *name, snd_buffer *out)
{
    int at = 0;

    for (const char *text; (text = snd_arguments_next(given, name, &at)) != NULL;) {
        if (out->size != 0)
            snd_buffer_char(out, '\n');
        snd_buffer_text(out, text);
    }
}

/* Texts that a measurement points to. */
typedef struct texts {
    snd_buffer setup, statement, command;
    const char **other; /* the words of the command to compare with */
    char python[PATH_MAX + 32];
} texts;

static void
free_texts(texts *self)
{
    snd_buffer_free(&self->setup);
    snd_buffer_free(&self->statement);
    snd_buffer_free(&self->command);
    snd_free(self->other);
}

/* 0 after printing one line. */
static int
read_statements(const snd_arguments *given, const char *other, texts *own, snd_stat *out)
{
    if (given->word_count != 0) {
        snd_complain("stat takes a command or a statement, not both; unexpected argument '%s'", given->words[0]);
        return 0;
    }
    join_texts(given, "statement", &own->statement);
    join_texts(given, "setup", &own->setup);
    out->setup = snd_buffer_str(&own->setup);
    out->sides[0].statement = out->sides[0].text = snd_buffer_str(&own->statement);
    out->sides[1].statement = out->sides[1].text = other;
    out->keeps_gc = snd_arguments_value(given, "gc") != NULL;
    out->python = own->python;
    if (snd_python_find(own->python, sizeof own->python))
        return 1;
    snd_complain("no Python was found next to this binary or on PATH");
    return 0;
}

/* 0 after printing one line. */
static int
read_commands(const snd_arguments *given, const char *other, texts *own, snd_stat *out)
{
    static const char *const of_statements[] = {"setup", "loops", "gc"};

    for (size_t i = 0; i < sizeof of_statements / sizeof of_statements[0]; i++)
        if (snd_arguments_value(given, of_statements[i]) != NULL) {
            snd_complain("--%s applies to a statement only; use it with -c", of_statements[i]);
            return 0;
        }
    if (given->word_count == 0) {
        snd_complain("stat needs a command or a statement: sonde stat -- command … or sonde stat -c statement");
        return 0;
    }
    for (int i = 0; i < given->word_count; i++)
        snd_buffer_printf(&own->command, "%s%s", i == 0 ? "" : " ", given->words[i]);
    out->sides[0].argv = given->words;
    out->sides[0].text = snd_buffer_str(&own->command);
    if (other == NULL)
        return 1;
    own->other = snd_stat_words(other);
    out->sides[1].argv = own->other;
    out->sides[1].text = other;
    if (own->other == NULL)
        snd_complain("out of memory");
    return own->other != NULL;
}

/* 0 after printing one line. */
static int
read_wishes(const snd_arguments *given, texts *own, snd_stat *out)
{
    const char *other = snd_arguments_value(given, "compare");
    int is_statement = snd_arguments_value(given, "statement") != NULL;
    uint64_t runs = other != NULL ? RUNS_COMPARED : is_statement ? RUNS_OF_STATEMENT : 1;
    uint64_t warmup = 0, loops = 0;

    if (!snd_arguments_count(given, "repeat", &runs) || !snd_arguments_count(given, "warmup", &warmup) ||
        !snd_arguments_count(given, "loops", &loops))
        return 0;
    if (other != NULL && runs < 2) {
        snd_complain("--compare needs at least two runs of each: -r 2");
        return 0;
    }
    if (other != NULL && other[strspn(other, " \t\n")] == '\0') {
        snd_complain("--compare needs a %s", is_statement ? "statement" : "command");
        return 0;
    }
    *out = (snd_stat){.side_count = other != NULL ? 2 : 1, .runs = (uint32_t)runs, .warmup = (uint32_t)warmup};
    out->sides[0].loops = out->sides[1].loops = loops;
    return is_statement ? read_statements(given, other, own, out) : read_commands(given, other, own, out);
}

/* Round by round, the second time the other way round: A B B A. 0 when it has to end; `*status` says how. */
static int
measure(snd_stat *self, int *status)
{
    snd_stat_runner *run = self->sides[0].statement != NULL ? snd_stat_run_statement : snd_stat_run_command;

    snd_child_pass_signals();
    for (uint32_t round = 0; round < self->warmup + self->runs; round++) {
        int counts = round >= self->warmup;
        for (unsigned i = 0; i < self->side_count; i++) {
            unsigned side = round % 2 == 0 ? i : self->side_count - 1 - i;
            if (!run(self, side, counts ? round - self->warmup : round, counts, status))
                return 0;
            self->interrupted_by = snd_child_signal();
            if (self->interrupted_by != 0)
                return 1;
        }
    }
    return 1;
}

static int
status_of(const snd_stat *self)
{
    const snd_stat_failure *first = NULL;

    for (unsigned i = 0; i < self->side_count; i++)
        if (self->sides[i].failure_count != 0 && (first == NULL || self->sides[i].failures[0].run < first->run))
            first = &self->sides[i].failures[0];
    if (first == NULL)
        return SND_EXIT_OK;
    return first->end.signal != 0 ? 128 + first->end.signal : first->end.status;
}

/* 0 after printing one line. */
static int
tell(const snd_stat *self, const snd_arguments *given, int file)
{
    int is_json = snd_arguments_value(given, "json") != NULL;
    snd_format_options look = snd_terminal_options_of(given, file);
    snd_buffer text = {0};
    snd_status status = SND_OK;

    if (self->sides[0].sample_count != 0 || is_json)
        status = is_json ? snd_stat_json(self, &text) : snd_stat_text(self, &look, &text);
    fflush(stdout);
    if (status == SND_OK)
        status = snd_write_all(file, text.data, text.size);
    if (status != SND_OK)
        snd_complain("the result cannot be written: %s", snd_status_detail(status, errno));
    snd_buffer_free(&text);
    return status == SND_OK;
}

/* Where the result goes: to the file of --output, for programs to standard output, for people beside the command's own
 * output. */
static int
open_result(const snd_arguments *given, const snd_stat *self)
{
    const char *output = snd_arguments_value(given, "output");
    int is_json = snd_arguments_value(given, "json") != NULL;

    if (output == NULL && !is_json && self->sides[0].statement == NULL)
        return STDERR_FILENO;
    return snd_open_output(output);
}

static int
run(const snd_arguments *given)
{
    texts own = {0};
    snd_stat self;
    int status = SND_EXIT_OK;

    if (!read_wishes(given, &own, &self)) {
        free_texts(&own);
        return SND_EXIT_USAGE;
    }
    int file = open_result(given, &self);
    if (file < 0)
        status = SND_EXIT_USAGE;
    else {
        self.output = file == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO; /* a result is not mixed with anything */
        int is_well = measure(&self, &status);
        if (is_well && !tell(&self, given, file))
            status = SND_EXIT_USAGE;
        if (file != STDERR_FILENO && !snd_close_output(file, snd_arguments_value(given, "output"), is_well))
            status = SND_EXIT_USAGE;
        if (is_well && status == SND_EXIT_OK)
            status = status_of(&self);
    }
    /* A command that takes a signal its own way ends its own way; else we end as it did. */
    int is_over = self.interrupted_by == 0 || (self.runs == 1 && self.side_count == 1 && status < 128);
    int ended_by = is_over ? 0 : self.interrupted_by;
    snd_stat_free(&self);
    free_texts(&own);
    if (ended_by != 0)
        snd_child_end_by(ended_by);
    return status;
}

static const snd_setting options[] = {
    {"repeat", "number of runs (default 1; 10 of each with --compare, 5 processes with -c)",
     SND_COUNT("N", 1, RUNS_MAX, 0), .letter = 'r'},
    {"warmup", "number of warm-up runs, which do not count", SND_COUNT("N", 0, RUNS_MAX, 0), .letter = 'w'},
    {"compare", "compare with another command (with -c: statement): run both in turns and print the ratio",
     SND_TEXT("OTHER")},
    {"statement", "a Python statement instead of a command; repeat it for several lines", SND_TEXT("TEXT"),
     .letter = 'c', .group = "Python statements"},
    {"setup", "setup before the loops of a statement, not counted; repeat it for several lines", SND_TEXT("TEXT"),
     .letter = 's', .group = "Python statements"},
    {"loops", "loops per value of a statement (default: enough for 10 ms)", SND_COUNT("N", 1, 1000000000000, 0),
     .letter = 'n', .group = "Python statements"},
    {"gc", "allow garbage collection while a statement is timed", SND_FLAG, .group = "Python statements"},
    {"json", "print the result as JSON; a command's own output goes to standard error", SND_FLAG},
    {"output", "write the result to this file (default: standard error)", SND_TEXT("FILE"), .letter = 'o',
     .choices = SND_CHOICES_FILE},
    {0},
};

const snd_command snd_command_stat = {
    .name = "stat",
    .usage = "[options] -- command …  or  [options] [-s setup] -c statement",
    .about = "measure what a command or a Python statement uses: time, faults, switches, memory, I/O",
    .options = options,
    .run = run,
    .takes_program = "",
    .examples = {{"sonde stat -r 10 -- python3 prog.py", "run a command 10 times and show means and spreads"},
                 {"sonde stat -s 'x = list(range(1000))' -c 'sorted(x)'", "time a Python statement"}},
};
