/* Reading memory that may not be there. */
#ifndef SND_OS_PEEK_H
#define SND_OS_PEEK_H

#include "base/attr.h"

/* Copies `size` bytes from an address of this process; 0 when not all of them are readable. Async-signal-safe; errno
 * may change. A system call: about a microsecond. */
int snd_peek(uintptr_t address, void *out, size_t size);

/* The mapping around an address; 0: nothing is mapped there. Reads a file: some 100 us. */
int snd_peek_mapping(uintptr_t address, uintptr_t *start, uintptr_t *end);

/* Whether this system lets us. */
int snd_peek_works(void);

#endif
