/* Code that Cython made of .pyx files: what it is called there, and where it is. */
#ifndef SND_OS_CYTHON_H
#define SND_OS_CYTHON_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* All zero: nothing was read. Not thread-safe. */
typedef struct snd_cython {
    struct snd_intern *files, *sources; /* C files that were asked for, by whose numbers `known` goes, and .pyx files */
    struct snd_cython_file *known;
    uint32_t capacity;
} snd_cython;

/* "module.Class.method" of a function's symbol; 0: Cython did not write it. A name too long for `out` is cut. */
int snd_cython_name(const char *symbol, char *out, size_t size);

/* The line of a .pyx file that a line of a C file was made of. `*source` is NULL where it was made of none, and lives
 * as long as the snd_cython. Reads the C file when first asked for it, at most 64 MB. Fails with SND_NO_MEMORY only. */
SND_MUST_USE snd_status snd_cython_find(snd_cython *self, const char *file, uint32_t line, const char **source,
                                        uint32_t *source_line);

void snd_cython_free(snd_cython *self);

#endif
