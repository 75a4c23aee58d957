/* The Python that this program was installed for. */
#ifndef SND_CLI_PYTHON_H
#define SND_CLI_PYTHON_H

#include "base/buffer.h"

#include <limits.h>

/* The interpreter beside the program, or the one of the same version on PATH. 0 when there is none. */
int snd_python_find(char *path, size_t size);

/* The folder of our sitecustomize in the environment of an interpreter, by the interpreter's path. 0 where that does
 * not tell, or where there are several. */
int snd_python_site(const char *python, char path[PATH_MAX]);

/* Runs `code` in it and appends what it prints. 0 when it fails. */
int snd_python_ask(const char *code, snd_buffer *answer);

#endif
