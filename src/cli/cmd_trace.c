/* sonde trace: runs a program with every call measured. */
#include "cli/commands.h"
#include "cli/program.h"
#include "collect/setting_table.h"

#include <stddef.h>

static int
run(const snd_arguments *given)
{
    return snd_program_start(given, "_trace");
}

static const snd_option options[] = {SND_PROGRAM_OPTIONS{0}};

const snd_command snd_command_trace = {
    .name = "trace",
    .usage = SND_PROGRAM_USAGE,
    .about = "run a program and measure every call exactly",
    .settings = SND_OF_TRACE,
    .options = options,
    .run = run,
    .takes_program = SND_PROGRAM_LETTERS,
};
