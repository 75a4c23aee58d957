/* Waiting for a lock, in the kernel. */
#include "os/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local char snd_lock_me;

/* Who waits says so in the state, and cannot know whether somebody else waits, too: it stays "awaited" with them. */
void
snd_lock_wait(snd_lock *self)
{
    int error = errno;

    while (atomic_exchange_explicit(&self->state, SND_LOCK_AWAITED, memory_order_acquire) != SND_LOCK_FREE)
        syscall(SYS_futex, &self->state, FUTEX_WAIT_PRIVATE, SND_LOCK_AWAITED, NULL, NULL, 0);
    errno = error;
}

void
snd_lock_wake(snd_lock *self)
{
    int error = errno;

    syscall(SYS_futex, &self->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = error;
}
