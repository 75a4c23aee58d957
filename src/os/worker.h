/* Threads of sonde's own, and how they wait. */
#ifndef SND_OS_WORKER_H
#define SND_OS_WORKER_H

#include "base/attr.h"

#include <pthread.h>
#include <semaphore.h>

/* Starts a thread named "sonde" on which no handler of the program ever runs. 0 when the system refuses. */
int snd_worker_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* Until somebody posts, or the monotonic clock has come to `at_ns`. */
void snd_worker_wait(sem_t *wake, uint64_t at_ns);

#endif
