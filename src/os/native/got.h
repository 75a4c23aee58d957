/* Leading calls elsewhere: every loaded object calls functions of others through slots of its own (the global offset
 * table), and these can be changed while the program runs. */
#ifndef SND_OS_GOT_H
#define SND_OS_GOT_H

#include "base/status.h"

typedef struct snd_got_hook {
    const char *name;
    void *ours;  /* called instead; goes on with the real one, also when a call comes after the stop */
    void **real; /* where the real function is put; NULL there: the process has none */
} snd_got_hook;

#define SND_GOT_LIMIT 128u /* hooks */

/* Finds the real functions, then leads the slots of all loaded objects to ours. Left alone are the object that this
 * code is in, the dynamic loader, an allocator that stands in for libc's, and every slot that does not lead to the real
 * function: that is somebody else's business. `list` must stay.
 *
 * All functions here are thread-safe, also against dlopen and dlclose in other threads; none allocates while hooks are
 * in place. They wait for the loader, but for the time of a look at its list only; snd_got_start also for a dlopen that
 * is under way. SND_ALREADY: between start and stop; SND_BAD_ARGUMENT: too many; SND_SYSTEM: not on this machine. */
SND_MUST_USE snd_status snd_got_start(const snd_got_hook *list, size_t count);

/* Objects that were loaded since are led to ours, too. Cheap when there are none. An object that another thread is
 * just loading waits for a later call; `has_loaded`: the caller has loaded one, which is led to ours now, although a
 * call a moment ago may have met it half loaded. */
void snd_got_refresh(int has_loaded);

/* Walks the objects anew and gives back every slot that is ours. Pointers to ours that the program has copied stay. */
void snd_got_stop(void);

/* No walk is under way between the two; both the parent and the child call the second. */
void snd_got_before_fork(void);
void snd_got_after_fork(void);

#endif
