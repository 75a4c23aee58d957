#include "os/worker.h"

#include "base/alloc.h"
#include "os/process.h"
#include "os/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* on every architecture; not every C library knows it */
#define SYS_close_range 436
#endif
#define UNSHARE 2u

static _Thread_local uint32_t table __attribute__((tls_model("initial-exec")));

/* The thread that keeps the table. */
static struct keeper {
    pthread_mutex_t lock;   /* of one who asks, and of all below */
    _Atomic uint32_t users; /* threads of ours, and calls; those have no lock, but are a user themselves */
    uint32_t table;         /* 0: there is none */
    uint32_t tables;        /* so far */
    int is_refused;
    uint32_t thread_id;
    pthread_t thread;
    sem_t wake, done;
    void (*function)(void *); /* NULL: the end */
    void *argument;
    int error;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- threads ---- */

typedef struct beginning {
    void *(*run)(void *);
    void *argument;
    uint32_t table;
} beginning;

static void *
begin(void *context)
{
    beginning given = *(beginning *)context;

    snd_free(context);
    table = given.table;
    snd_task_mark_ours(1);
    void *result = given.run(given.argument);
    snd_task_mark_ours(0);
    return result;
}

/* It has the table of the calling thread. */
static int
create(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    beginning *given = snd_malloc(sizeof *given);

    if (given == NULL)
        return 0;
    *given = (beginning){run, argument, table};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = pthread_create(thread, NULL, begin, given) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_setname_np(*thread, "sonde");
    else
        snd_free(given);
    return started;
}

int
snd_worker_start_beside(pthread_t *thread, void *(*run)(void *), void *argument)
{
    return create(thread, run, argument);
}

/* ---- the keeper ---- */

static void
wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

/* What a library of somebody's writes to standard error there must not come into a recording. 0: refused. */
static uint32_t
make_table(void)
{
#ifdef __SANITIZE_THREAD__ /* which takes a number for the same file in all threads: they share one table */
    return 1;
#else
    if (syscall(SYS_close_range, 0u, ~0u, UNSHARE) != 0)
        return 0;
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            (void)eventfd(0, EFD_CLOEXEC);
    return ++keeper.tables;
#endif
}

static void *
keep_table(void *nothing)
{
    (void)nothing;
    keeper.thread_id = snd_thread_id();
    table = keeper.table = make_table();
    keeper.is_refused = table == 0;
    sem_post(&keeper.done);
    while (table != 0) {
        wait_for(&keeper.wake);
        if (keeper.function == NULL)
            break;
        keeper.function(keeper.argument);
        keeper.error = errno;
        sem_post(&keeper.done);
    }
    return NULL;
}

static void
start_keeper(void)
{
    sem_init(&keeper.wake, 0, 0);
    sem_init(&keeper.done, 0, 0);
    if (!create(&keeper.thread, keep_table, NULL))
        return;
    wait_for(&keeper.done);
    if (keeper.is_refused)
        pthread_join(keeper.thread, NULL);
}

static void
ask(void (*function)(void *), void *argument)
{
    keeper.function = function;
    keeper.argument = argument;
    sem_post(&keeper.wake);
}

/* A thread that was waited for is counted a moment longer, while the kernel closes its files; and the interpreter
 * counts threads when it forks. */
static void
wait_until_gone(uint32_t thread_id)
{
    const struct timespec moment = {0, 50000};

    for (int i = 0; i < 200 && snd_thread_lives(thread_id); i++)
        nanosleep(&moment, NULL);
}

static void
end_keeper(void)
{
    ask(NULL, NULL);
    pthread_join(keeper.thread, NULL);
    wait_until_gone(keeper.thread_id);
    sem_destroy(&keeper.wake);
    sem_destroy(&keeper.done);
    keeper.table = 0;
}

/* The lock may be another thread's, and the threads are the parent's. */
static void
begin_anew(void)
{
    pthread_mutex_init(&keeper.lock, NULL);
    keeper.users = 0;
    keeper.table = 0;
}

static void
register_once(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

static void
add_user(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_once);
    if (atomic_fetch_add(&keeper.users, 1) == 0 && !keeper.is_refused)
        start_keeper();
}

static void
remove_user(void)
{
    if (table != 0) { /* a user, too, so that this is not the last one */
        atomic_fetch_sub(&keeper.users, 1);
        return;
    }
    pthread_mutex_lock(&keeper.lock);
    if (atomic_fetch_sub(&keeper.users, 1) == 1 && keeper.table != 0)
        end_keeper();
    pthread_mutex_unlock(&keeper.lock);
}

static void
call_locked(void (*function)(void *), void *argument)
{
    ask(function, argument);
    wait_for(&keeper.done);
    errno = keeper.error;
}

void
snd_worker_call(void (*function)(void *), void *argument)
{
    if (table != 0) {
        function(argument);
        return;
    }
    pthread_mutex_lock(&keeper.lock);
    add_user();
    int is_kept = keeper.table != 0;
    if (is_kept)
        call_locked(function, argument);
    pthread_mutex_unlock(&keeper.lock);
    if (!is_kept)
        function(argument);
    int saved = errno;
    remove_user();
    errno = saved;
}

typedef struct wish {
    pthread_t *thread;
    void *(*run)(void *);
    void *argument;
    int is_started;
} wish;

static void
start_here(void *context)
{
    wish *self = context;

    atomic_fetch_add(&keeper.users, 1);
    self->is_started = create(self->thread, self->run, self->argument);
    if (!self->is_started)
        atomic_fetch_sub(&keeper.users, 1); /* who calls is one */
}

int
snd_worker_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    wish made = {thread, run, argument, 0};

    snd_worker_call(start_here, &made);
    return made.is_started;
}

void
snd_worker_join(pthread_t thread)
{
    pthread_join(thread, NULL);
    remove_user();
}

uint32_t
snd_worker_table(void)
{
    return table;
}

void
snd_worker_before_fork(void)
{
    pthread_mutex_lock(&keeper.lock);
}

void
snd_worker_after_fork(int is_child)
{
    if (is_child)
        begin_anew();
    else
        pthread_mutex_unlock(&keeper.lock);
}

void
snd_worker_wait(sem_t *wake, uint64_t at_ns)
{
    struct timespec until = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    while (sem_clockwait(wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
        ;
}
