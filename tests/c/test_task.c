/* Threads as the kernel sees them, on real threads that spin, wait and sleep. */
#include "check.h"
#include "fixture.h"
#include "os/process.h"
#include "os/task.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 150

static _Atomic int may_end;
static _Atomic uint32_t thread_id;
static uint32_t word; /* of the futex */
static int ends[2];

static void *
spin(void *context)
{
    atomic_store(&thread_id, snd_thread_id());
    while (!atomic_load(&may_end))
        ;
    return context;
}

static void *
wait_for_word(void *context)
{
    atomic_store(&thread_id, snd_thread_id());
    while (!atomic_load(&may_end))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return context;
}

static void *
sleep_long(void *context)
{
    atomic_store(&thread_id, snd_thread_id());
    while (!atomic_load(&may_end))
        nanosleep(&(struct timespec){60, 0}, NULL);
    return context;
}

static void *
read_pipe(void *context)
{
    char byte;
    atomic_store(&thread_id, snd_thread_id());
    (void)!read(ends[0], &byte, 1);
    return context;
}

static void
wake(int number)
{
    (void)number;
}

static pthread_t
start(void *(*function)(void *), snd_task *task)
{
    pthread_t thread;
    uintptr_t address;

    atomic_store(&may_end, 0);
    atomic_store(&thread_id, 0);
    REQUIRE(pthread_create(&thread, NULL, function, NULL) == 0);
    while (atomic_load(&thread_id) == 0)
        sleep_ms(1);
    *task = snd_task_of(atomic_load(&thread_id));
    (void)snd_task_read_state(task, &address); /* from now on it has files */
    (void)snd_task_delay_ns(task);
    return thread;
}

static void
end(pthread_t thread, snd_task *task)
{
    atomic_store(&may_end, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    (void)!write(ends[1], "x", 1);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        pthread_kill(thread, SIGUSR1); /* out of its sleep */
        sleep_ms(1);
    }
    snd_task_close(task);
}

/* The state that a thread comes to, sooner or later. */
static int
comes_to(snd_task *task, snd_task_state wanted, uintptr_t *address)
{
    for (int i = 0; i < 3000; i++) {
        if (snd_task_read_state(task, address) == wanted)
            return 1;
        sleep_ms(10);
    }
    return 0;
}

/* ---- what a thread does ---- */

static void
a_thread_that_spins_is_told_by_its_clock(void)
{
    snd_task task;
    uint64_t before = 0, after = 0;
    uintptr_t address;
    pthread_t thread = start(spin, &task);

    CHECK(comes_to(&task, SND_TASK_RUNS, &address));
    CHECK(snd_task_cpu_ns(&task, &before));
    while (after < before + 5000000) {
        sleep_ms(5);
        CHECK(snd_task_cpu_ns(&task, &after) && after >= before);
    }
    CHECK(snd_process_cpu_ns() >= after);
    end(thread, &task);
}

static void
a_thread_in_a_futex_waits_for_a_lock_at_its_address(void)
{
    snd_task task;
    uintptr_t address;
    pthread_t thread = start(wait_for_word, &task);

    CHECK(comes_to(&task, SND_TASK_LOCK, &address));
    CHECK_NUMBER(address, (uintptr_t)&word);
    end(thread, &task);
}

static void
a_thread_that_sleeps_uses_no_cpu(void)
{
    snd_task task;
    uint64_t before, after;
    uintptr_t address;
    pthread_t thread = start(sleep_long, &task);

    CHECK(comes_to(&task, SND_TASK_SLEEP, &address));
    CHECK(snd_task_cpu_ns(&task, &before));
    sleep_ms(30); /* sleeps: its clock would move */
    CHECK(snd_task_cpu_ns(&task, &after));
    CHECK_NUMBER(after, before);
    end(thread, &task);
}

static void
a_thread_that_reads_waits_for_a_file(void)
{
    snd_task task;
    uintptr_t address;

    REQUIRE(pipe(ends) == 0);
    pthread_t thread = start(read_pipe, &task);
    CHECK(comes_to(&task, SND_TASK_IO, &address));
    end(thread, &task);
}

static void
a_thread_that_is_gone_has_no_clock_no_name_and_no_state(void)
{
    snd_task task;
    uint64_t ns;
    uintptr_t address;
    char name[16] = "something";
    pthread_t thread = start(spin, &task);

    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3000 && snd_task_cpu_ns(&task, &ns); i++)
        sleep_ms(10); /* the join may come before the kernel is done with it */
    CHECK(!snd_task_cpu_ns(&task, &ns));
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_UNKNOWN);
    CHECK_NUMBER(snd_task_delay_ns(&task), 0);
    snd_task_name(&task, name);
    CHECK_TEXT(name, "");
    snd_task_close(&task);
}

static void
a_long_name_is_cut_and_ended(void)
{
    snd_task task;
    char name[16];
    pthread_t thread = start(sleep_long, &task);

    REQUIRE(pthread_setname_np(thread, "fifteen letters") == 0);
    snd_task_name(&task, name);
    CHECK_TEXT(name, "fifteen letters");
    end(thread, &task);
}

/* ---- files that the program closes ---- */

static void
files_that_were_closed_are_opened_again(void)
{
    snd_task task;
    uintptr_t address;
    pthread_t thread = start(wait_for_word, &task);

    REQUIRE(task.syscall.file >= 0 && task.schedstat.file >= 0);
    CHECK(comes_to(&task, SND_TASK_LOCK, &address));
    close(task.syscall.file);
    close(task.schedstat.file);
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_UNKNOWN);
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_UNKNOWN); /* as often as one asks */
    CHECK_NUMBER(snd_task_delay_ns(&task), 0);
    snd_task_open_again(&task);
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_LOCK);
    (void)snd_task_delay_ns(&task);
    CHECK(task.syscall.file >= 200 && task.schedstat.file >= 200);
    end(thread, &task);
}

/* A file of the program that says what ours would. */
static int
own_file(int number, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s", temp_path("own"));
    write_file(path, text, strlen(text));
    int file = open(path, O_RDWR);
    REQUIRE(file >= 0 && dup2(file, number) == number);
    close(file);
    return number;
}

static void
files_of_the_program_are_neither_read_nor_closed(void)
{
    snd_task task;
    uintptr_t address;
    pthread_t thread = start(wait_for_word, &task);

    CHECK(comes_to(&task, SND_TASK_LOCK, &address));
    int first = own_file(task.syscall.file, "running\n");
    int second = own_file(task.schedstat.file, "1 99999999999 1\n");
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_UNKNOWN);
    CHECK_NUMBER(snd_task_delay_ns(&task), 0);
    snd_task_open_again(&task);
    CHECK(snd_task_read_state(&task, &address) == SND_TASK_LOCK);
    CHECK_NUMBER(address, (uintptr_t)&word);
    CHECK(snd_task_delay_ns(&task) != 99999999999u);
    CHECK(task.syscall.file != first && task.schedstat.file != second);
    end(thread, &task);
    CHECK(fcntl(first, F_GETFD) >= 0 && fcntl(second, F_GETFD) >= 0);
    close(first);
    close(second);
}

static void
a_pipe_of_the_program_loses_nothing(void)
{
    snd_task task;
    uintptr_t address;
    char text[16] = "";
    int own[2];
    pthread_t thread = start(spin, &task);

    REQUIRE(pipe(own) == 0 && dup2(own[0], task.syscall.file) >= 0);
    int number = task.syscall.file;
    REQUIRE(write(own[1], "7 0x1\n", 6) == 6);
    for (int i = 0; i < 10; i++) {
        (void)snd_task_read_state(&task, &address);
        snd_task_open_again(&task);
    }
    end(thread, &task);
    CHECK_NUMBER(read(number, text, sizeof text - 1), 6);
    CHECK_TEXT(text, "7 0x1\n");
    close(number);
    close(own[0]);
    close(own[1]);
}

/* ---- many ---- */

static void
of_many_threads_only_some_have_files_and_all_can_be_looked_at(void)
{
    static pthread_t threads[MANY];
    static snd_task tasks[MANY];
    static uint32_t ids[1024];
    uint32_t before = files_open(), waiting = 0;
    uint64_t tasks_before = snd_tasks_count(), ns;
    uintptr_t address;

    for (int i = 0; i < MANY; i++)
        threads[i] = start(wait_for_word, &tasks[i]);
    CHECK(files_open() - before <= 110);
    CHECK(snd_tasks_count() >= tasks_before + MANY);
    CHECK(snd_tasks_list(ids, 1024) >= MANY + 1);
    CHECK_NUMBER(snd_tasks_list(ids, 10), 10);
    for (int i = 0; i < MANY; i++) {
        waiting += comes_to(&tasks[i], SND_TASK_LOCK, &address) != 0;
        CHECK(snd_task_cpu_ns(&tasks[i], &ns));
    }
    CHECK_NUMBER(waiting, MANY);
    atomic_store(&may_end, 1);
    for (int i = 0; i < MANY; i++) {
        while (pthread_tryjoin_np(threads[i], NULL) != 0)
            syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, MANY, NULL, NULL, 0);
        snd_task_close(&tasks[i]);
    }
    snd_tasks_close();
    CHECK_NUMBER(files_open(), before);
}

static int
is_listed(uint32_t wanted)
{
    uint32_t ids[64], count = snd_tasks_list(ids, 64), found = 0;

    for (uint32_t i = 0; i < count; i++)
        found += ids[i] == wanted;
    return found == 1;
}

/* Also when the program has closed the file of the list, or has its own there, and in a child. */
static void
threads_are_listed(void)
{
    snd_task task;
    pthread_t thread = start(wait_for_word, &task);
    int number = 200, status;

    CHECK(is_listed(snd_thread_id()) && is_listed(task.thread_id) && !is_listed(1));
    while (number == task.syscall.file || number == task.schedstat.file)
        number++;
    REQUIRE(fcntl(number, F_GETFD) >= 0);
    close(number);
    CHECK(is_listed(snd_thread_id()));
    REQUIRE(own_file(number, "text") == number);
    CHECK(is_listed(snd_thread_id()) && is_listed(task.thread_id));
    CHECK(fcntl(number, F_GETFD) >= 0);
    pid_t child = fork();
    if (child == 0) {
        snd_tasks_close();
        _exit(!is_listed(snd_thread_id()) || is_listed(task.thread_id));
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    end(thread, &task);
    snd_tasks_close();
    close(number);
}

/* None of ours can be kept then. */
static void
a_process_that_may_have_few_files_has_its_threads_listed(void)
{
    struct rlimit few = {100, 100};
    int status;
    pid_t child = fork();

    if (child == 0) {
        snd_tasks_close();
        if (setrlimit(RLIMIT_NOFILE, &few) != 0)
            _exit(2);
        uint32_t before = files_open();
        _exit(!is_listed(snd_thread_id()) || !is_listed(snd_thread_id()) || files_open() != before);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void
our_own_threads_are_known_until_they_are_not(void)
{
    CHECK(!snd_task_is_ours(snd_thread_id()));
    snd_task_mark_ours(1);
    CHECK(snd_task_is_ours(snd_thread_id()));
    CHECK(!snd_task_is_ours(snd_thread_id() + 1));
    snd_task_mark_ours(0);
    CHECK(!snd_task_is_ours(snd_thread_id()));
}

int
main(void)
{
    REQUIRE(pipe(ends) == 0 && sigaction(SIGUSR1, &(struct sigaction){.sa_handler = wake}, NULL) == 0);
    RUN(a_thread_that_spins_is_told_by_its_clock);
    RUN(a_thread_in_a_futex_waits_for_a_lock_at_its_address);
    RUN(a_thread_that_sleeps_uses_no_cpu);
    RUN(a_thread_that_reads_waits_for_a_file);
    RUN(a_thread_that_is_gone_has_no_clock_no_name_and_no_state);
    RUN(a_long_name_is_cut_and_ended);
    RUN(files_that_were_closed_are_opened_again);
    RUN(files_of_the_program_are_neither_read_nor_closed);
    RUN(a_pipe_of_the_program_loses_nothing);
    RUN(threads_are_listed);
    RUN(a_process_that_may_have_few_files_has_its_threads_listed);
    RUN(of_many_threads_only_some_have_files_and_all_can_be_looked_at);
    RUN(our_own_threads_are_known_until_they_are_not);
    return check_report();
}
