/* Addresses of this process and the functions they are in, from the symbol tables of what is loaded. */
#ifndef SND_OS_SYMBOLS_H
#define SND_OS_SYMBOLS_H

#include "base/status.h"

/* Everything here reads files and may allocate: for our own threads, never for a signal handler. Not thread-safe.
 * A file that was removed or replaced since it was loaded is noticed; then only what is loaded of it is read. */
typedef struct snd_symbols snd_symbols;

typedef struct snd_symbol {
    /* The function, C++ names in their readable form where libstdc++ is loaded, Cython's as in the .pyx file;
     * "[libz.so.1+0x1234]" (where the function starts, if that is known, else the address) in code without names;
     * "[generated code]" in code that came from no file; "[unknown]". Lives as long as the symbols. */
    const char *name;
    const char *library; /* path of the file, "[vdso]", or "" where there is none; as long-lived */
    uint64_t start;      /* of the function; the address itself where that is not known */
    uint64_t size;       /* of the function; 0: not known */
    uint64_t offset;     /* of the address in the library, as addr2line takes it */
    int is_named;        /* `name` is a function's */
} snd_symbol;

/* From the first byte to behind the last. */
typedef struct snd_range {
    uint64_t start, end;
} snd_range;

/* The caller owns the symbols. Reads /proc/self/maps, no file yet. */
SND_MUST_USE snd_status snd_symbols_new(snd_symbols **out);
void snd_symbols_free(snd_symbols *self); /* NULL is allowed */

/* Fills `*out` for any address. What was loaded meanwhile is noticed when an address is unknown (looked for at most
 * every 20 ms) and at the latest after a second. Fails with SND_NO_MEMORY only. */
SND_MUST_USE snd_status snd_symbols_find(snd_symbols *self, uint64_t address, snd_symbol *out);

/* Looks at once at what is loaded now. */
SND_MUST_USE snd_status snd_symbols_refresh(snd_symbols *self);

/* The parts of the function `name` (with a `*` at its end: of all whose names begin so), its cold parts ("name.cold")
 * and clones ("name.part.0") too, in the object that holds the address `inside`; with `inside` 0 in the first loaded
 * object that has it. At most `limit` ranges; `*count` is 0 when there is no such name. */
SND_MUST_USE snd_status snd_symbols_ranges(snd_symbols *self, uint64_t inside, const char *name, snd_range *out,
                                           size_t limit, size_t *count);

/* The machine code around an address that was compiled as one piece: a function, or the part of one that the compiler
 * has put elsewhere, whether or not it has a name. Empty where that is not known. */
SND_MUST_USE snd_status snd_symbols_piece(snd_symbols *self, uint64_t address, snd_range *out);

/* The executable ranges of the object that holds the address; 0 when none does. */
size_t snd_symbols_text(const snd_symbols *self, uint64_t inside, snd_range *out, size_t limit);

#endif
