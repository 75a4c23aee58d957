/* Scripts on PATH, and the interpreters that their first lines name. */
#ifndef SND_CLI_CORE_SCRIPT_H
#define SND_CLI_CORE_SCRIPT_H

#include <limits.h>
#include <stddef.h>

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
