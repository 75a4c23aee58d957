/* sonde trace: runs a program with every call measured. */
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/python.h"

#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Options that are handed on as they are; what does not stand here comes from the environment of the command. */
static const char *const passed[] = {"signatures", "no-builtins", "include",  "exclude",
                                     "timeline",   "output",      "no-report"};
#define PASSED_COUNT (sizeof passed / sizeof passed[0])

static char *
passed_word(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 4;
    char *word = snd_malloc(size);
    if (word != NULL)
        snprintf(word, size, "--%s%s%s", name, *value == '\0' ? "" : "=", value);
    return word;
}

/* Replaces this process by Python, so that signals and the exit status are the program's own. Returns on failure. */
static int
start_python(const snd_arguments *given, const char *python)
{
    size_t room = (size_t)given->word_count + PASSED_COUNT + 8;
    char **argv = snd_calloc(room, sizeof *argv);
    size_t count = 0;
    static const char *const head[] = {"-m", "sonde._trace"};

    if (argv == NULL)
        return snd_complain("out of memory");
    argv[count++] = (char *)(uintptr_t)python;
    for (size_t i = 0; i < 2; i++)
        argv[count++] = (char *)(uintptr_t)head[i];
    for (size_t i = 0; i < PASSED_COUNT; i++) {
        const char *value = snd_arguments_value(given, passed[i]);
        if (value != NULL)
            argv[count++] = passed_word(passed[i], value);
    }
    const char *module = snd_arguments_value(given, "module");
    if (module != NULL)
        argv[count++] = (char *)(uintptr_t)"--module";
    argv[count++] = (char *)(uintptr_t)"--";
    if (module != NULL)
        argv[count++] = (char *)(uintptr_t)module;
    for (int i = 0; i < given->word_count; i++)
        argv[count++] = (char *)(uintptr_t)given->words[i];
    execv(python, argv);
    int status = snd_complain("%s: cannot be started: %s", python, strerror(errno));
    snd_free(argv);
    return status;
}

static int
run(const snd_arguments *given)
{
    char python[PATH_MAX + 32];
    const char *module = snd_arguments_value(given, "module");

    if (module == NULL && given->word_count == 0)
        return snd_complain("trace needs a program: sonde trace prog.py, or sonde trace -m module");
    if (module == NULL && access(given->words[0], R_OK) != 0)
        return snd_complain("%s: %s", given->words[0], strerror(errno));
    if (!snd_python_find(python, sizeof python))
        return snd_complain("no Python was found beside this program or on PATH");
    return start_python(given, python);
}

static const snd_option options[] = {
    {"signatures", 0, NULL, "tell calls apart by the types and shapes of their arguments"},
    {"no-builtins", 0, NULL, "leave out what is written in C"},
    {"include", 0, "PATTERN", "only files or functions like this, as in *model*; several with commas"},
    {"exclude", 0, "PATTERN", "none of these"},
    {"timeline", 0, NULL, "keep every call, for a trace, not only sums"},
    {"output", 'o', "FILE", "the recording; PROG-PID.sonde when not given"},
    {"no-report", 0, NULL, "no table at the end"},
    {"module", 'm', "MODULE", "a module instead of a program, as python -m"},
    {0},
};

const snd_command snd_command_trace = {
    .name = "trace",
    .usage = "[options] prog.py … or [options] -m module …",
    .about = "run a program and measure every call, exactly",
    .options = options,
    .run = run,
    .takes_program = "module",
};
