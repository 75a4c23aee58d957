/* Reading memory that may not be there: the kernel copies, and says so when it cannot. */
#include "os/peek.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

size_t
snd_peek_some(uintptr_t address, void *out, size_t size)
{
    struct iovec to = {out, size};
    struct iovec from = {(void *)address, size};
    int saved = errno;
    ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

    errno = saved;
    return copied < 0 ? 0 : (size_t)copied;
}

int
snd_peek(uintptr_t address, void *out, size_t size)
{
    return snd_peek_some(address, out, size) == size;
}

int
snd_peek_works(void)
{
    static const int wanted = 42;
    int found = 0;

    return snd_peek((uintptr_t)&wanted, &found, sizeof found) && found == wanted;
}

/* A thread's descriptor lies at the end of its stack, and above the main thread's stack are texts that the kernel gave
 * the program: whichever comes first above the stack pointer. What the kernel calls a mapping does not tell: there may
 * be several stacks in one. */
uintptr_t
snd_stack_end(uintptr_t sp)
{
    static _Atomic uintptr_t known; /* looked for once: it is a long list */
    uintptr_t own = (uintptr_t)pthread_self(), mains = atomic_load_explicit(&known, memory_order_relaxed);

    if (mains == 0) {
        mains = getauxval(AT_RANDOM);
        atomic_store_explicit(&known, mains, memory_order_relaxed);
    }
    if (own <= sp || (mains > sp && mains < own))
        own = mains;
    return own > sp ? own : 0;
}
