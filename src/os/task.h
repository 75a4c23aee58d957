/* The threads of this process as the kernel sees them: which there are, how long they ran, what they wait for. */
#ifndef SND_OS_TASK_H
#define SND_OS_TASK_H

#include "base/attr.h"

#include <time.h>

typedef enum snd_task_state {
    SND_TASK_RUNS, /* or is ready to */
    SND_TASK_LOCK, /* in a futex */
    SND_TASK_IO,
    SND_TASK_SLEEP,
    SND_TASK_OTHER, /* waits for something else */
    SND_TASK_UNKNOWN,
} snd_task_state;

/* A file that is kept open. In the program's table a program may close it, and open another by that number. */
typedef struct snd_task_file {
    int file;       /* -1: none */
    int is_lost;    /* the program has closed it */
    uint32_t table; /* of files, in which it has that number (os/worker.h) */
    uint64_t device, number;
} snd_task_file;

/* One thread. Of one owner. */
typedef struct snd_task {
    uint32_t thread_id;
    clockid_t clock;
    snd_task_file syscall, schedstat;
} snd_task;

/* Opens nothing. What needs a file opens it when it is asked for, and keeps it while fewer than a hundred are kept. */
snd_task snd_task_of(uint32_t thread_id);
void snd_task_close(snd_task *self);

/* What the program has closed may be opened again. Until then nothing is known of the thread but its clock. */
void snd_task_open_again(snd_task *self);

/* CPU time so far; 0 when the thread is gone. */
int snd_task_cpu_ns(const snd_task *self, uint64_t *ns);

/* What the thread does right now. For a futex `*address` is where it is. */
snd_task_state snd_task_read_state(snd_task *self, uintptr_t *address);

/* Time so far in which the thread was ready but had no processor; 0 where the system does not say. */
uint64_t snd_task_delay_ns(snd_task *self);

/* The name as the kernel has it; "" when the thread is gone. */
void snd_task_name(const snd_task *self, char name[16]);

/* A number that changes when threads come or go, but need not when one comes for one that goes; 0: unknown. */
uint64_t snd_tasks_count(void);

/* Gives the numbers of all threads; how many there are, at most `limit`; 0: unknown. Keeps a file open until the close,
 * which a child has to do for its parent's. Of one owner. */
uint32_t snd_tasks_list(uint32_t *thread_ids, uint32_t limit);
void snd_tasks_close(void);

/* Whether this process has one processor only. */
int snd_process_has_one_processor(void);

/* The processor that the calling thread is on; -1: unknown. Async-signal-safe. */
int snd_task_processor(void);

/* The calling thread stays on a processor, or off it; -1: it goes where it could go when it first asked. */
void snd_task_stay(int processor, int is_on);

/* The calling thread runs for a short time only, and wants to do so at once: the kernel may let it go before others. */
void snd_task_be_short(void);

/* The calling thread is one of sonde's own, until it says that it is not any more. */
void snd_task_mark_ours(int is_ours);
int snd_task_is_ours(uint32_t thread_id);

/* CPU time of the whole process, threads that ended included. */
uint64_t snd_process_cpu_ns(void);

#endif
