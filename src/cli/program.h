/* The Python program that a command runs, and the interpreter that runs it. */
#ifndef SND_CLI_PROGRAM_H
#define SND_CLI_PROGRAM_H

#include "cli/options.h"

/* The options by which a command takes a program that is no file, and their letters. */
#define SND_PROGRAM_OPTIONS                                    \
    {"module", 'm', "MODULE", "run a module, like python -m"}, \
        {"code", 'c', "CODE", "run a program text, like python -c"},
#define SND_PROGRAM_LETTERS "mc"

/* The words after its name, for the help. */
#define SND_PROGRAM_USAGE "[options] prog.py …, -m module …, -c code … or -- /any/python prog.py …"

/* Replaces this process by Python, so that signals and the exit status are the program's own: `sonde.RUNNER` gets the
 * command's settings as they were given, and the program. Returns the exit status after printing one line, when there
 * is no such program or interpreter. */
int snd_program_start(const snd_arguments *given, const char *runner);

#endif
