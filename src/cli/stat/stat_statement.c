/* sonde stat: running a statement of Python, in a process of its own. */
#include "cli/core/options.h"
#include "cli/stat/stat.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the process tells is written to a file in memory: lines of a word and what follows it. */
#define TOLD_MAX (1 << 20)

/* A text that lives as long as this program: one for equal ones. NULL when memory runs out. */
static const char *
keep_text(const char *text)
{
    enum { LIMIT = 32 };
    static char *kept[LIMIT];

    for (unsigned i = 0; i < LIMIT; i++) {
        if (kept[i] == NULL)
            return kept[i] = snd_strdup(text);
        if (strcmp(kept[i], text) == 0)
            return kept[i];
    }
    return "it could not be read";
}

/* What one process has told so far. */
typedef struct telling {
    snd_stat_side *side;
    uint32_t round;
    const snd_usage *process; /* what the whole process used */
    const char *why[SND_USED_COUNT_OF];
    int is_done;
    snd_status status;
} telling;

/* "name=number name=number …", of all loops. */
static void
read_value(telling *self, char *text)
{
    snd_usage used = {0};
    char *rest = NULL;

    for (unsigned i = 0; i < SND_USED_COUNT_OF; i++)
        used.why[i] = self->why[i] != NULL ? self->why[i] : "it could not be read";
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *number = strchr(word, '=');
        if (number == NULL)
            continue;
        *number = '\0';
        snd_used which = snd_used_find(word);
        if (which == SND_USED_COUNT_OF || self->side->loops == 0)
            continue;
        used.values[which] = strtod(number + 1, NULL) / (double)self->side->loops;
        used.why[which] = NULL;
    }
    used.values[SND_USED_PEAK_RSS] = self->process->values[SND_USED_PEAK_RSS];
    used.why[SND_USED_PEAK_RSS] = NULL;
    if (self->status == SND_OK)
        self->status = snd_stat_add_sample(self->side, self->round, &used);
}

/* "name why it is not known". */
static void
read_missing(telling *self, char *text)
{
    char *why = strchr(text, ' ');

    if (why == NULL)
        return;
    *why++ = '\0';
    snd_used which = snd_used_find(text);
    if (which != SND_USED_COUNT_OF)
        self->why[which] = keep_text(why);
}

static void
read_line(telling *self, char *line)
{
    char *text = strchr(line, ' ');

    if (text != NULL)
        *text++ = '\0';
    if (strcmp(line, "done") == 0)
        self->is_done = 1;
    else if (text == NULL)
        return;
    else if (strcmp(line, "loops") == 0)
        self->side->loops = strtoull(text, NULL, 10);
    else if (strcmp(line, "empty") == 0) /* the mean of all processes */
        self->side->empty_ns += (strtod(text, NULL) - self->side->empty_ns) / (self->round + 1);
    else if (strcmp(line, "missing") == 0)
        read_missing(self, text);
    else if (strcmp(line, "value") == 0)
        read_value(self, text);
}

/* All that was told in a file. */
static void
read_told(telling *self, int file)
{
    char *text = snd_calloc(1, TOLD_MAX + 1);
    char *rest = NULL;

    if (text == NULL) {
        self->status = SND_NO_MEMORY;
        return;
    }
    ssize_t size = pread(file, text, TOLD_MAX, 0);
    text[size < 0 ? 0 : size] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        read_line(self, line);
    snd_free(text);
}

static void
show_progress(const snd_stat *self, unsigned number, uint32_t round)
{
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rsonde: process %u of %u\033[K", round * self->side_count + number % self->side_count + 1,
            self->runs * self->side_count);
    fflush(stderr);
}

static void
clear_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* The exit status to end with, after printing one line. */
static int
complain_end(const snd_stat *self, const snd_child_end *end)
{
    if (end->start_error != 0)
        return snd_complain("%s: cannot be started: %s", self->python, strerror(end->start_error));
    if (end->signal != 0)
        snd_complain("the statement ended its process by signal %d", end->signal);
    else
        snd_complain("the statement was not measured: its process ended with status %d", end->status);
    return SND_EXIT_FAILED;
}

/* The exit status; 0: all went well. */
static int
run_in(snd_stat *self, snd_stat_side *side, uint32_t round, int counts, int file)
{
    char told[16], loops[24];
    const char *argv[] = {
        self->python,    "-P", "-m", "sonde._runtime.stat", told, loops, self->keeps_gc ? "gc" : "", self->setup,
        side->statement, NULL};
    snd_child_wish wish = {.argv = argv, .input = -1, .output = self->output, .kept = file};
    snd_child_end end;
    snd_usage process;

    snprintf(told, sizeof told, "%d", file);
    snprintf(loops, sizeof loops, "%llu", (unsigned long long)side->loops);
    if (!snd_child_run(&wish, &process, &end))
        return snd_complain("%s: cannot be started: %s", self->python, strerror(errno));
    if (snd_child_signal() != 0)
        return SND_EXIT_OK;
    snd_stat_side unwanted = {.loops = side->loops};
    telling heard = {.side = counts ? side : &unwanted, .round = round, .process = &process};
    read_told(&heard, file);
    snd_free(unwanted.samples);
    if (heard.status != SND_OK)
        return snd_complain("%s", snd_status_text(heard.status));
    if (!heard.is_done)
        return complain_end(self, &end);
    side->run_count += (uint32_t)counts;
    return SND_EXIT_OK;
}

int
snd_stat_run_statement(snd_stat *self, unsigned number, uint32_t round, int counts, int *status)
{
    int file = memfd_create("sonde", MFD_CLOEXEC);

    if (file < 0) {
        *status = snd_complain("cannot create the file for a statement's results: %s", strerror(errno));
        return 0;
    }
    show_progress(self, number, round);
    *status = run_in(self, &self->sides[number], round, counts, file);
    clear_progress();
    close(file);
    return *status == SND_EXIT_OK;
}
