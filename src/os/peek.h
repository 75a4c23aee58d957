/* Reading memory that may not be there. */
#ifndef SND_OS_PEEK_H
#define SND_OS_PEEK_H

#include "base/attr.h"

/* Copies `size` bytes from an address of this process; 0 when not all of them are readable. Async-signal-safe; errno
 * may change. A system call: about a microsecond. */
int snd_peek(uintptr_t address, void *out, size_t size);

/* The end of the mapping around an address; 0: nothing is mapped there. Reads a file: some 100 us. */
uintptr_t snd_peek_mapping_end(uintptr_t address);

/* Whether this system lets us. */
int snd_peek_works(void);

#endif
