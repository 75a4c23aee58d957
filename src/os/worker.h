/* Threads of sonde's own, how they wait, and the table of files that they share.
 *
 * The program neither sees our files nor runs out of them, nor do its children get them: our threads have a table of
 * open files of their own, with nothing of the program's in it. A thread keeps that table as long as one of ours runs
 * or is asked for something, and starts the others. A number of a file means nothing in another table, so what has
 * files stays in one. Where the system has no such tables (Linux before 5.9, some containers) our threads have the
 * program's, and a thread that asks does the work itself. */
#ifndef SND_OS_WORKER_H
#define SND_OS_WORKER_H

#include "base/attr.h"

#include <pthread.h>
#include <semaphore.h>

/* Starts a thread named "sonde" on which no handler of the program ever runs, with our files. 0 when the system
 * refuses. */
int snd_worker_start(pthread_t *thread, void *(*run)(void *), void *argument);
void snd_worker_join(pthread_t thread);

/* The same with the files of the calling thread, and waited for by pthread_join. */
int snd_worker_start_beside(pthread_t *thread, void *(*run)(void *), void *argument);

/* Has the function called on a thread with our files, and waits for it; errno is the function's. From any thread. The
 * function must need nothing that its caller has: no lock, and not the interpreter. */
void snd_worker_call(void (*function)(void *), void *argument);

/* The number of the table that the calling thread has: 0 is the program's, and none of ours has one twice. */
uint32_t snd_worker_table(void);

/* Around a fork, before which our threads have ended: nobody is called meanwhile. A child begins anew, also of a fork
 * without these. */
void snd_worker_before_fork(void);
void snd_worker_after_fork(int is_child);

/* Until somebody posts, or the monotonic clock has come to `at_ns`. */
void snd_worker_wait(sem_t *wake, uint64_t at_ns);

#endif
