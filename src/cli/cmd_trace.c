/* sonde trace: runs a program with every call measured. */
#include "cli/commands.h"
#include "cli/program.h"

#include <stddef.h>

static int
run(const snd_arguments *given)
{
    static const char *const passed[] = {"signatures", "no-builtins", "include",     "exclude",   "timeline",
                                         "output",     "children",    "no-children", "no-report", NULL};
    return snd_program_start(given, "_trace", passed);
}

static const snd_option options[] = {
    {"signatures", 0, NULL, "tell calls apart by the types and shapes of their arguments"},
    {"no-builtins", 0, NULL, "leave out what is written in C"},
    {"include", 0, "PATTERN", "only files or functions like this, as in *model*; several with commas"},
    {"exclude", 0, "PATTERN", "none of these"},
    {"timeline", 0, NULL, "keep every call, for a trace, not only sums"},
    {"output", 'o', "FILE", "the recording; PROG-PID.sonde when not given"},
    {"children", 0, NULL, "processes that the program starts too, which is what you get anyway"},
    {"no-children", 0, NULL, "this process only"},
    {"no-report", 0, NULL, "no table at the end"},
    SND_PROGRAM_OPTIONS{0},
};

const snd_command snd_command_trace = {
    .name = "trace",
    .usage = SND_PROGRAM_USAGE,
    .about = "run a program and measure every call, exactly",
    .options = options,
    .run = run,
    .takes_program = SND_PROGRAM_LETTERS,
};
