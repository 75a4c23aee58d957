/* The Python program that a command runs, and the interpreter that runs it. */
#ifndef SND_CLI_CORE_PROGRAM_H
#define SND_CLI_CORE_PROGRAM_H

#include "base/buffer.h"
#include "cli/core/options.h"

#include <limits.h>

/* The options by which a command takes a program that is no file, and their letters. */
#define SND_PROGRAM_OPTIONS                                                        \
    {"module", "run a module, like python -m", SND_TEXT("MODULE"), .letter = 'm'}, \
        {"code", "run a program text, like python -c", SND_TEXT("CODE"), .letter = 'c'},
#define SND_PROGRAM_LETTERS "mc"

/* The words after its name, for the help. */
#define SND_PROGRAM_USAGE "[options] prog.py …, -m module …, -c code … or -- command …"

/* Replaces this process by Python, so that signals and the exit status are the program's own: `sonde._runtime.RUNNER`
 * gets the command's settings as they were given, and the program.
 * Returns the exit status after printing one line, when there is no such program or interpreter. */
int snd_program_start(const snd_arguments *given, const char *runner);

/* ---- the Python that this program was installed for ---- */

/* The interpreter beside the program, or the one of the same version on PATH. 0 when there is none. */
int snd_python_find(char *path, size_t size);

/* The folder of our sitecustomize in the environment of an interpreter, by the interpreter's path. 0 where that does
 * not tell, or where there are several. */
int snd_python_site(const char *python, char path[PATH_MAX]);

/* Runs `code` in it and appends what it prints. 0 when it fails. */
int snd_python_ask(const char *code, snd_buffer *answer);

#endif
