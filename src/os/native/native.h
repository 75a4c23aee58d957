/* Room: native code in this process: objects, symbols, stacks, the slots by which objects call one another. */
/* Native frames: a thread's registers and a copy of its stack become addresses, and those become places. */
#ifndef SND_OS_NATIVE_H
#define SND_OS_NATIVE_H

#include "base/status.h"
#include "os/native/unwind.h"

/* For one of our own threads, never for a signal handler. Not thread-safe. */
typedef struct snd_native snd_native;

/* A place of a function; texts live as long as the snd_native. */
typedef struct snd_native_place {
    const char *function; /* as snd_symbol's name where there is no debug information */
    const char *file;     /* the source file; the library where there is no debug information; "" for generated code */
    uint32_t line;        /* 0: `file` is no source file */
} snd_native_place;

enum { SND_NATIVE_PLACES = 8 }; /* of one address: of more inlined functions the innermost are left out */

/* `library` is the path of libsonde-native.so; NULL: the one beside libsonde. Without it (see snd_native_why_not) there
 * are still names, but no callers. The caller owns the result. */
SND_MUST_USE snd_status snd_native_new(const char *library, snd_native **out);
void snd_native_free(snd_native *self); /* NULL is allowed */

/* Closes all files, until something is asked that needs them. On the thread that is about to end with its files. */
void snd_native_rest(snd_native *self);

/* One sentence: why there are no native callers. NULL when there are. Lives as long as the snd_native. */
const char *snd_native_why_not(const snd_native *self);

/* Walks a stack. `out` gets the innermost function first; each address lies inside the instruction that was running or
 * calling, so that it can be looked up as it is. At least one, at most `limit` (at least 1), and `*end` says why there
 * are no more. When memory runs out the walk is broken there. */
size_t snd_native_unwind(snd_native *self, const snd_registers *registers, const snd_stack_copy *stack, uint64_t *out,
                         size_t limit, snd_unwind_end *end);

/* The places of an address: inlined functions first, then the function that has code of its own. `*count` is at least
 * 1. The first question for an address may take milliseconds; the answer is kept. Fails with SND_NO_MEMORY only. */
SND_MUST_USE snd_status snd_native_describe(snd_native *self, uint64_t address, snd_native_place out[SND_NATIVE_PLACES],
                                            size_t *count);

/* Whether it is an address of code that we know of. What is mapped anew is found within 20 ms: until then the answer to
 * another question about it is not kept. */
int snd_native_is_code(snd_native *self, uint64_t address);

/* Looks at once at what is loaded now; else that happens as snd_symbols_find says. */
SND_MUST_USE snd_status snd_native_refresh(snd_native *self);

#endif
