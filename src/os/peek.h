/* Reading memory that may not be there. */
#ifndef SND_OS_PEEK_H
#define SND_OS_PEEK_H

#include "base/attr.h"

/* Copies `size` bytes from an address of this process; 0 when not all of them are readable. Async-signal-safe. A
 * system call: about a microsecond. */
int snd_peek(uintptr_t address, void *out, size_t size);

/* The same as far as it goes: how many bytes there were. */
size_t snd_peek_some(uintptr_t address, void *out, size_t size);

/* Where the calling thread's stack ends at the latest, if `sp` is on it; 0: it is not. Async-signal-safe. */
uintptr_t snd_stack_end(uintptr_t sp);

/* Whether this system lets us. */
int snd_peek_works(void);

#endif
