#include "os/worker.h"

#include <errno.h>
#include <signal.h>

int
snd_worker_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_setname_np(*thread, "sonde");
    return started;
}

void
snd_worker_wait(sem_t *wake, uint64_t at_ns)
{
    struct timespec until = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    while (sem_clockwait(wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
        ;
}
