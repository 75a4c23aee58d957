/* The calling thread's own native stack. */
#ifndef SND_OS_HERE_H
#define SND_OS_HERE_H

#include "base/attr.h"

/* The native function of the calling thread that keeps `address`, a place on its stack, among its variables: where in
 * it the thread is; 0: none does, or the stack cannot be followed so far. Not for a signal handler. */
uintptr_t snd_here_around(uintptr_t address);

#endif
