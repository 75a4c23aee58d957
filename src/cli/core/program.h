/* The Python program that a command runs, and the interpreter that runs it. */
#ifndef SND_CLI_CORE_PROGRAM_H
#define SND_CLI_CORE_PROGRAM_H

#include "base/buffer.h"
#include "cli/core/options.h"

#include <limits.h>
#include <stddef.h>

/* The options by which a command takes a program that is no file, and their letters. */
#define SND_PROGRAM_OPTIONS                                                        \
    {"module", "run a module, like python -m", SND_TEXT("MODULE"), .letter = 'm'}, \
        {"code", "run a code string, like python -c", SND_TEXT("CODE"), .letter = 'c'},
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

/* Runs `code` in it and appends what it prints. 0 when it fails. */
int snd_python_ask(const char *code, snd_buffer *answer);

/* ---- scripts on PATH, and the interpreters that their first lines name ---- */

/* The file that a shell would run for a name without a slash. 0 when there is none. */
int snd_path_search(const char *name, char *path, size_t size);

/* What the first line of a script says. */
typedef struct snd_script {
    char python[PATH_MAX]; /* the interpreter */
    char option[32];       /* what follows it there; "": nothing */
} snd_script;

typedef enum snd_script_kind {
    SND_SCRIPT_PYTHON, /* the script names an interpreter of Python */
    SND_SCRIPT_PLAIN,  /* names nothing, or a shell that hands over to Python, as pip writes it for long paths */
    SND_SCRIPT_OTHER,  /* machine code, or a script of another language */
} snd_script_kind;

/* Fills `out` for SND_SCRIPT_PYTHON. */
snd_script_kind snd_script_read(const char *path, snd_script *out);

/* Whether a file can be an interpreter of Python: by its name, or by that of the file it leads to. */
int snd_is_python(const char *word);

#endif
