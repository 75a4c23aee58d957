/* The threads of this process. What /proc says costs a system call each, so files are kept open where that is safe. */
#include "os/task.h"

#include "os/worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASKS "/proc/self/task"
#define KEPT_LIMIT 100
#define OURS_LIMIT 8u
#define FIRST_FILE 200 /* among the program's: out of the way of those that count on small numbers */

static _Atomic uint32_t ours[OURS_LIMIT];
static int kept; /* by the one thread that looks */
static snd_task_file folder = {.file = -1};

/* X(name of a system call, what it waits for). */
#define WAITING_CALLS(X)      \
    X(futex, LOCK)            \
    X(clock_nanosleep, SLEEP) \
    X(nanosleep, SLEEP)       \
    X(read, IO)               \
    X(pread64, IO)            \
    X(readv, IO)              \
    X(preadv, IO)             \
    X(write, IO)              \
    X(pwrite64, IO)           \
    X(writev, IO)             \
    X(pwritev, IO)            \
    X(recvfrom, IO)           \
    X(recvmsg, IO)            \
    X(recvmmsg, IO)           \
    X(sendto, IO)             \
    X(sendmsg, IO)            \
    X(sendfile, IO)           \
    X(accept, IO)             \
    X(accept4, IO)            \
    X(connect, IO)            \
    X(ppoll, IO)              \
    X(pselect6, IO)           \
    X(epoll_pwait, IO)        \
    X(openat, IO)             \
    X(close, IO)              \
    X(fsync, IO)              \
    X(fdatasync, IO)          \
    X(flock, IO)              \
    X(fcntl, IO)              \
    X(io_getevents, IO)       \
    X(io_uring_enter, IO)     \
    X(splice, IO)             \
    X(copy_file_range, IO)    \
    X(getdents64, IO)         \
    X(fallocate, IO)

#define OLDER_CALLS(X) X(poll, IO) X(select, IO) X(epoll_wait, IO) X(open, IO) X(stat, IO)

static snd_task_state
state_of_call(long number)
{
    static const struct {
        long number;
        snd_task_state state;
    } calls[] = {
#define CALL_ENTRY(name, state) {SYS_##name, SND_TASK_##state},
        WAITING_CALLS(CALL_ENTRY)
#ifdef SYS_poll /* newer architectures have the other forms only */
            OLDER_CALLS(CALL_ENTRY)
#endif
#undef CALL_ENTRY
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].number == number)
            return calls[i].state;
    return SND_TASK_OTHER;
}

static int
open_path(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int
open_file(uint32_t thread_id, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, TASKS "/%u/%s", thread_id, name);
    return open_path(path);
}

/* Moves a file that is among the program's out of the way; one that cannot be moved is closed. */
static int
lift(int file)
{
    int high = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FILE);

    close(file);
    return high;
}

static snd_task_file
keep(int file)
{
    snd_task_file kept_file = {.file = -1};
    uint32_t table = snd_worker_table();
    struct stat about;

    if (file >= 0 && table == 0)
        file = lift(file);
    if (file >= 0 && fstat(file, &about) == 0) {
        kept_file = (snd_task_file){.file = file, .table = table, .device = about.st_dev, .number = about.st_ino};
        kept++;
    }
    return kept_file;
}

/* A program may have so few files that a recording needs what there is. */
static int
may_keep(void)
{
    struct rlimit files;

    return kept < KEPT_LIMIT && (getrlimit(RLIMIT_NOFILE, &files) != 0 || (rlim_t)kept < files.rlim_cur / 4);
}

static snd_task_file
keep_file(uint32_t thread_id, const char *name)
{
    return keep(may_keep() ? open_file(thread_id, name) : -1);
}

/* Whether it is still the file that was opened: in a table of ours nobody else closes it. */
static int
is_kept(const snd_task_file *self)
{
    struct stat about;

    if (self->file < 0 || self->table != snd_worker_table())
        return 0;
    return self->table != 0 ||
           (fstat(self->file, &about) == 0 && about.st_dev == self->device && about.st_ino == self->number);
}

static void
drop_file(snd_task_file *self)
{
    if (self->file < 0)
        return;
    if (is_kept(self))
        close(self->file);
    self->file = -1;
    kept--;
}

snd_task
snd_task_of(uint32_t thread_id)
{
    return (snd_task){
        .thread_id = thread_id,
        .clock = (clockid_t)(~thread_id << 3 | 6), /* as the kernel makes the number of a thread's CPU clock */
        .syscall = {.file = -1},
        .schedstat = {.file = -1},
    };
}

void
snd_task_open_again(snd_task *self)
{
    self->syscall.is_lost = self->schedstat.is_lost = 0;
}

void
snd_task_close(snd_task *self)
{
    drop_file(&self->syscall);
    drop_file(&self->schedstat);
}

int
snd_task_cpu_ns(const snd_task *self, uint64_t *ns)
{
    struct timespec now;
    if (clock_gettime(self->clock, &now) != 0)
        return 0;
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 1;
}

static ssize_t
read_once(uint32_t thread_id, const char *name, char *text, size_t size)
{
    int file = open_file(thread_id, name);
    if (file < 0)
        return -1;
    ssize_t count = read(file, text, size - 1);
    close(file);
    if (count >= 0)
        text[count] = '\0';
    return count;
}

/* "running", or the number of a system call (-1: none, as in a page fault), its arguments, stack and place. */
static snd_task_state
parse(const char *text, uintptr_t *address)
{
    char *end;

    if (strncmp(text, "running", 7) == 0)
        return SND_TASK_RUNS;
    long number = strtol(text, &end, 10);
    if (end == text || *end != ' ')
        return SND_TASK_UNKNOWN;
    if (number < 0)
        return SND_TASK_IO; /* it waits for a page */
    *address = (uintptr_t)strtoull(end, NULL, 16);
    return state_of_call(number);
}

/* What the file says, which is kept; where no more can be, it is opened for this once. The program may have closed one
 * that is among its own, and have another there, which is not to be read: not even a little, and it might wait. One
 * that closes all files is about to open its own, and may count on their numbers, so ours is not opened again right
 * now. */
static ssize_t
read_kept(snd_task_file *self, uint32_t thread_id, const char *name, char *text, size_t size)
{
    if (self->file >= 0 && !is_kept(self)) {
        int is_lost = self->table == 0;
        drop_file(self);
        self->is_lost = is_lost;
    }
    if (self->is_lost)
        return -1;
    if (self->file < 0)
        *self = keep_file(thread_id, name);
    if (self->file < 0)
        return read_once(thread_id, name, text, size);
    ssize_t count = pread(self->file, text, size - 1, 0);
    if (count > 0)
        text[count] = '\0';
    return count;
}

snd_task_state
snd_task_read_state(snd_task *self, uintptr_t *address)
{
    char text[256];
    snd_task_state state = SND_TASK_UNKNOWN;

    *address = 0;
    if (read_kept(&self->syscall, self->thread_id, "syscall", text, sizeof text) > 0)
        state = parse(text, address);
    return state;
}

uint64_t
snd_task_delay_ns(snd_task *self)
{
    char text[96];
    char *end;

    if (read_kept(&self->schedstat, self->thread_id, "schedstat", text, sizeof text) <= 0)
        return 0;
    (void)strtoull(text, &end, 10); /* how long it ran, as of the last tick */
    return strtoull(end, NULL, 10);
}

void
snd_task_name(const snd_task *self, char name[16])
{
    char text[32];
    ssize_t count = read_once(self->thread_id, "comm", text, sizeof text);

    memset(name, 0, 16);
    if (count > 0)
        memcpy(name, text, strcspn(text, "\n") < 15 ? strcspn(text, "\n") : 15);
}

uint64_t
snd_tasks_count(void)
{
    struct stat about;
    return stat(TASKS, &about) == 0 ? (uint64_t)about.st_nlink : 0;
}

static uint32_t
list_from(int file, uint32_t *thread_ids, uint32_t limit)
{
    _Alignas(struct dirent64) char entries[4096];
    uint32_t count = 0;
    long size;

    if (lseek(file, 0, SEEK_SET) != 0)
        return 0;
    while (count < limit && (size = syscall(SYS_getdents64, file, entries, sizeof entries)) > 0)
        for (long at = 0; at < size && count < limit;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            if (entry->d_name[0] != '.')
                thread_ids[count++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
            at += entry->d_reclen;
        }
    return count;
}

uint32_t
snd_tasks_list(uint32_t *thread_ids, uint32_t limit)
{
    if (!is_kept(&folder)) {
        drop_file(&folder);
        folder = keep(open_path(TASKS));
    }
    if (folder.file >= 0)
        return list_from(folder.file, thread_ids, limit);
    int file = open_path(TASKS); /* where a process may have few files, none has so high a number */
    if (file < 0)
        return 0;
    uint32_t count = list_from(file, thread_ids, limit);
    close(file);
    return count;
}

void
snd_tasks_close(void)
{
    drop_file(&folder);
}

uint64_t
snd_process_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void
snd_task_mark_ours(int is_ours)
{
    uint32_t thread_id = (uint32_t)syscall(SYS_gettid);

    for (unsigned i = 0; i < OURS_LIMIT; i++) {
        uint32_t expected = is_ours ? 0 : thread_id;
        if (atomic_compare_exchange_strong(&ours[i], &expected, is_ours ? thread_id : 0))
            return;
    }
}

int
snd_task_is_ours(uint32_t thread_id)
{
    for (unsigned i = 0; i < OURS_LIMIT; i++)
        if (SND_GET(ours[i]) == thread_id)
            return 1;
    return 0;
}

int
snd_process_has_one_processor(void)
{
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) == 1;
}

int
snd_task_processor(void)
{
    return sched_getcpu();
}

void
snd_task_stay(int processor, int is_on)
{
    static _Thread_local cpu_set_t usable;
    static _Thread_local int is_known;
    cpu_set_t chosen;

    if (!is_known && sched_getaffinity(0, sizeof usable, &usable) != 0)
        return;
    is_known = 1;
    chosen = usable;
    if (processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET((size_t)processor, &usable)) {
        CPU_ZERO(&chosen);
        CPU_SET((size_t)processor, &chosen);
        if (!is_on)
            CPU_XOR(&chosen, &chosen, &usable);
    }
    (void)sched_setaffinity(0, sizeof chosen, &chosen);
}

/* As the kernel has it; not every C library knows it. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

void
snd_task_be_short(void)
{
    /* Since Linux 6.12 a thread that asks for short turns interrupts one that has longer ones; before, this fails. */
    struct scheduling wish = {.size = sizeof wish, .runtime = 100000};

    prctl(PR_SET_TIMERSLACK, 1);
    (void)syscall(SYS_sched_setattr, 0, &wish, 0);
}
