/* Threads of sonde's own and their table of files, beside a program that counts its own. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/process.h"
#include "os/task.h"
#include "os/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOSE_RANGE 436 /* the same on every architecture */

static sem_t has_come, may_end;

/* Where it ran, and what it found there. */
typedef struct visit {
    uint32_t table, thread_id, files;
    int is_ours;
    int file; /* opened there, and left open */
} visit;

static void
look_around(void *context)
{
    visit *self = context;

    self->table = snd_worker_table();
    self->thread_id = snd_thread_id();
    self->files = files_open();
    self->is_ours = snd_task_is_ours(self->thread_id);
    self->file = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static visit
visit_ours(void)
{
    visit self = {0};

    snd_worker_call(look_around, &self);
    return self;
}

static void *
stay(void *context)
{
    look_around(context);
    sem_post(&has_come);
    while (sem_wait(&may_end) != 0)
        ;
    return NULL;
}

static pthread_t
start(visit *found)
{
    pthread_t thread;

    REQUIRE(snd_worker_start(&thread, stay, found));
    while (sem_wait(&has_come) != 0)
        ;
    return thread;
}

static void
end(pthread_t thread)
{
    sem_post(&may_end);
    snd_worker_join(thread);
}

static int
ends_well(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- a table of files ---- */

static void
what_is_opened_there_is_not_among_the_programs_files(void)
{
    uint32_t before = files_open();
    visit found = visit_ours();

    CHECK(found.table != 0 && snd_worker_table() == 0);
    CHECK(found.is_ours && found.thread_id != snd_thread_id());
    CHECK_NUMBER(found.files, 3);
    CHECK_NUMBER(found.file, 3);
    CHECK_NUMBER(files_open(), before);
}

static void
threads_and_calls_share_one_table_as_long_as_anybody_has_it(void)
{
    visit first = {0};
    pthread_t thread = start(&first);
    visit second = visit_ours(), third = visit_ours();

    end(thread);
    CHECK(first.table == second.table && second.table == third.table);
    CHECK(second.files + 1 == third.files); /* what the one left open the other finds */
    CHECK(first.thread_id != second.thread_id && first.is_ours);
    visit later = visit_ours();
    CHECK(later.table != 0 && later.table != third.table);
    CHECK_NUMBER(later.files, 3);
}

static void
a_thread_beside_has_the_files_of_who_started_it(void)
{
    visit found = {0};
    pthread_t thread;

    sem_post(&may_end);
    REQUIRE(snd_worker_start_beside(&thread, stay, &found));
    pthread_join(thread, NULL);
    REQUIRE(sem_wait(&has_come) == 0);
    CHECK_NUMBER(found.table, 0);
    CHECK(found.is_ours);
    CHECK(close(found.file) == 0); /* what it opened is open here */
}

static void
look_at_first(void *context)
{
    struct stat *about = context;

    for (int i = 0; i < 3; i++)
        if (fstat(i, &about[i]) != 0)
            about[i] = (struct stat){0};
}

static void
what_a_library_writes_to_standard_error_there_goes_nowhere(void)
{
    struct stat about[3];

    snd_worker_call(look_at_first, about);
    for (int i = 0; i < 3; i++)
        CHECK(S_ISCHR(about[i].st_mode) && about[i].st_rdev == makedev(1, 3));
}

static void
a_pipe_of_the_program_ends_when_the_program_closes_it(void)
{
    visit first = {0};
    char byte;
    int ends[2];

    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    pthread_t thread = start(&first);
    (void)visit_ours();
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 0); /* it would say EAGAIN if another table had the other end */
    close(ends[0]);
    end(thread);
}

static void
fail(void *context)
{
    (void)context;
    errno = EXDEV;
}

static void
why_it_failed_comes_back(void)
{
    errno = 0;
    snd_worker_call(fail, NULL);
    CHECK_NUMBER(errno, EXDEV);
}

static void
add_one(void *context)
{
    atomic_fetch_add((_Atomic uint32_t *)context, 1);
}

static void *
end_at_once(void *context)
{
    return context;
}

static void *
call_often(void *context)
{
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        snd_worker_call(add_one, context);
        if (i % 10 == 0 && snd_worker_start(&thread, end_at_once, NULL))
            snd_worker_join(thread);
    }
    return NULL;
}

static void
many_call_at_once_while_threads_come_and_go(void)
{
    pthread_t threads[4];
    _Atomic uint32_t count = 0;

    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, call_often, &count) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_NUMBER(count, 800);
}

static void
call_again(void *context)
{
    snd_worker_call(look_around, context);
}

static void
a_call_from_there_stays_there(void)
{
    visit found = {0};

    snd_worker_call(call_again, &found);
    CHECK(found.table != 0);
}

static void
when_nobody_needs_it_no_thread_is_left(void)
{
    uint32_t ids[64];

    (void)visit_ours();
    for (int i = 0; i < 3000 && snd_tasks_list(ids, 64) != 1; i++)
        sleep_ms(10); /* the join may come before the kernel is done with it */
    CHECK_NUMBER(snd_tasks_list(ids, 64), 1);
    snd_tasks_close();
}

/* ---- a program without files ---- */

static void
use_up_all_files(void)
{
    struct rlimit few;

    REQUIRE(getrlimit(RLIMIT_NOFILE, &few) == 0);
    few.rlim_cur = 32;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        ;
    REQUIRE(errno == EMFILE);
}

static void
a_program_that_has_run_out_of_files_can_still_have_some_read(void)
{
    char path[512];
    char *text;
    size_t size;

    snprintf(path, sizeof path, "%s", temp_path("source.py"));
    write_file(path, "pass\n", 5);
    pid_t child = fork();
    if (child == 0) {
        use_up_all_files();
        CHECK(visit_ours().file >= 0);
        CHECK(snd_file_load(path, 100, &text, &size) == SND_OK && size == 5);
        CHECK_TEXT(text, "pass\n");
        snd_free(text);
        CHECK(open(path, O_RDONLY | O_CLOEXEC) < 0);
        _exit(check_child_status());
    }
    CHECK(ends_well(child));
}

/* ---- fork ---- */

static void
a_child_begins_anew(void)
{
    visit first = {0};
    pthread_t thread = start(&first);
    uint32_t before = files_open();

    snd_worker_before_fork();
    pid_t child = fork();
    if (child == 0) {
        snd_worker_after_fork(1);
        CHECK_NUMBER(files_open(), before);
        visit found = visit_ours();
        CHECK(found.table != 0 && found.table != first.table);
        CHECK_NUMBER(found.files, 3);
        _exit(check_child_status());
    }
    snd_worker_after_fork(0);
    CHECK(ends_well(child));
    end(thread);
}

/* ---- where the system refuses ---- */

/* As a container's filter may. */
static int
refuse_tables(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOSE_RANGE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void
where_there_is_no_such_table_everybody_has_the_programs(void)
{
    pid_t child = fork();

    if (child == 0) {
        visit own = {0};
        char *text;
        size_t size;
        REQUIRE(refuse_tables());
        uint32_t before = files_open();
        visit found = visit_ours();
        CHECK(found.table == 0 && found.thread_id == snd_thread_id() && found.files == before);
        end(start(&own));
        CHECK(own.table == 0 && own.thread_id != snd_thread_id() && own.is_ours);
        CHECK_NUMBER(files_open(), before + 2);
        use_up_all_files();
        CHECK(snd_file_load("/dev/null", 100, &text, &size) == SND_OK && text == NULL);
        _exit(check_child_status());
    }
    CHECK(ends_well(child));
}

int
main(void)
{
    sem_init(&has_come, 0, 0);
    sem_init(&may_end, 0, 0);
    RUN(why_it_failed_comes_back);
    RUN(many_call_at_once_while_threads_come_and_go);
#ifdef __SANITIZE_THREAD__ /* our threads have the program's table there */
    int has_tables = 0;
#else
    int has_tables = visit_ours().table != 0; /* not on Linux before 5.9, nor in some containers */
#endif
    if (!has_tables) {
        printf("this system has no tables for threads: the other tests are skipped\n");
        return check_report();
    }
    RUN(where_there_is_no_such_table_everybody_has_the_programs);
    RUN(what_is_opened_there_is_not_among_the_programs_files);
    RUN(threads_and_calls_share_one_table_as_long_as_anybody_has_it);
    RUN(a_thread_beside_has_the_files_of_who_started_it);
    RUN(what_a_library_writes_to_standard_error_there_goes_nowhere);
    RUN(a_pipe_of_the_program_ends_when_the_program_closes_it);
    RUN(a_call_from_there_stays_there);
    RUN(when_nobody_needs_it_no_thread_is_left);
    RUN(a_program_that_has_run_out_of_files_can_still_have_some_read);
    RUN(a_child_begins_anew);
    return check_report();
}
