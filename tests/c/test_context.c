/* What a handler learns of the thread: registers, and how it stands to the kernel. */
#include "check.h"
#include "fixture.h"
#include "os/context.h"
#include "os/process.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct {
    volatile sig_atomic_t count;
    volatile int call;
    uint64_t pc, sp;
    snd_registers registers;
} seen;

static void
look(int signal_number, siginfo_t *about, void *context)
{
    (void)signal_number;
    (void)about;
    seen.pc = snd_context_pc(context);
    seen.sp = snd_context_sp(context);
    snd_context_registers(context, &seen.registers);
    seen.call = (int)snd_context_call(context);
    seen.count = seen.count + 1;
}

static void
install(int flags)
{
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO | flags};

    seen.count = 0;
    seen.call = -1;
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
}

static _Atomic int must_stop, pipe_in, outcome;
static _Atomic uint32_t thread_id; /* 0: it has not begun */

/* Whether the thread waits, as its letter in /proc says. */
static int
is_waiting(void)
{
    char path[64], text[256] = "";

    snprintf(path, sizeof path, "/proc/self/task/%u/stat", thread_id);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *end = strrchr(text, ')');
    return end != NULL && end[2] == 'S';
}

static void *
read_pipe(void *context)
{
    char byte;

    (void)context;
    thread_id = snd_thread_id();
    ssize_t size = read(pipe_in, &byte, 1);
    outcome = size == 1 ? 0 : errno;
    return NULL;
}

static void *
sleep_long(void *context)
{
    const struct timespec length = {100, 0};

    (void)context;
    thread_id = snd_thread_id();
    outcome = nanosleep(&length, NULL) == 0 ? 0 : errno; /* sleeps: until the signal */
    return NULL;
}

static void *
compute(void *context)
{
    (void)context;
    thread_id = snd_thread_id();
    while (!must_stop)
        ;
    outcome = 0;
    return NULL;
}

/* Starts a thread, lets it get to where it waits, and signals it until the handler saw it. */
static pthread_t
signal_thread(void *(*body)(void *), int flags)
{
    pthread_t thread;

    install(flags);
    thread_id = 0;
    must_stop = 0;
    REQUIRE(pthread_create(&thread, NULL, body, NULL) == 0);
    while (thread_id == 0 || (body != compute && !is_waiting()))
        sleep_ms(1);
    REQUIRE(pthread_kill(thread, SIGUSR1) == 0);
    while (seen.count == 0)
        sleep_ms(1);
    return thread;
}

static void
a_call_that_a_signal_ended_is_interrupted(void)
{
    pthread_t thread = signal_thread(sleep_long, SA_RESTART);

    CHECK_NUMBER(seen.call, SND_CALL_INTERRUPTED);
    pthread_join(thread, NULL);
    CHECK_NUMBER(outcome, EINTR);
}

static void
a_call_that_starts_again_is_seen_at_its_instruction(void)
{
    int ends[2];

    REQUIRE(pipe(ends) == 0);
    pipe_in = ends[0];
    pthread_t thread = signal_thread(read_pipe, SA_RESTART);
    CHECK_NUMBER(seen.call, SND_CALL_RESTARTS);
    REQUIRE(write(ends[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    CHECK_NUMBER(outcome, 0);

    thread = signal_thread(read_pipe, 0);
    CHECK_NUMBER(seen.call, SND_CALL_INTERRUPTED);
    pthread_join(thread, NULL);
    CHECK_NUMBER(outcome, EINTR);
    close(ends[0]);
    close(ends[1]);
}

static void
code_of_its_own_is_no_call(void)
{
    pthread_t thread = signal_thread(compute, SA_RESTART);

    CHECK_NUMBER(seen.call, SND_CALL_NONE);
    must_stop = 1;
    pthread_join(thread, NULL);
    CHECK_NUMBER(seen.registers.value[SND_REGISTER_PC], seen.pc);
    CHECK_NUMBER(seen.registers.value[SND_REGISTER_SP], seen.sp);
}

static void
a_signal_to_itself_comes_behind_the_call(void)
{
    install(SA_RESTART);
    raise(SIGUSR1);
    CHECK_NUMBER(seen.call, SND_CALL_RETURNED);
}

#if defined(__x86_64__)
static const unsigned char instruction[] = {0x0f, 0x05};
#else
static const unsigned char instruction[] = {0x01, 0x00, 0x00, 0xd4};
#endif

/* Three pages: the middle one is code, the others not there. */
static void
the_ends_of_a_mapping_are_looked_at_without_a_fault(void)
{
    unsigned char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t size = sizeof instruction;
    unsigned char *code = pages + 4096;
    uint64_t start = (uint64_t)(uintptr_t)code, end = start + 4096;

    REQUIRE(pages != MAP_FAILED);
    memset(code, 0x55, 4096);
    memcpy(code + 4096 - size, instruction, size);
    memcpy(code + 100, instruction, size);
    REQUIRE(mprotect(pages, 4096, PROT_NONE) == 0 && mprotect(code + 4096, 4096, PROT_NONE) == 0);
    errno = 77;
    CHECK_NUMBER(snd_code_call(start, 0), SND_CALL_NONE);
    CHECK_NUMBER(snd_code_call(end - 1, 0), SND_CALL_NONE);
    CHECK_NUMBER(errno, 77);
    CHECK_NUMBER(snd_code_call(end - size, 0), SND_CALL_RESTARTS);
    CHECK_NUMBER(snd_code_call(start + 100, 0), SND_CALL_RESTARTS);
    CHECK_NUMBER(snd_code_call(start + 100 + size, 0), SND_CALL_RETURNED);
    CHECK_NUMBER(snd_code_call(start + 100 + size, (uint64_t)-EINTR), SND_CALL_INTERRUPTED);
    CHECK_NUMBER(snd_code_call(start + 101 + size, (uint64_t)-EINTR), SND_CALL_NONE);
    REQUIRE(mprotect(code + 4096, 4096, PROT_READ) == 0);
    CHECK_NUMBER(snd_code_call(end, 0), SND_CALL_RETURNED); /* the call ends its page */
    CHECK_NUMBER(snd_code_call(UINT64_MAX - 100, 0), SND_CALL_NONE);
    munmap(pages, 3 * 4096);
}

int
main(void)
{
    RUN(a_call_that_a_signal_ended_is_interrupted);
    RUN(a_call_that_starts_again_is_seen_at_its_instruction);
    RUN(code_of_its_own_is_no_call);
    RUN(a_signal_to_itself_comes_behind_the_call);
    RUN(the_ends_of_a_mapping_are_looked_at_without_a_fault);
    return check_report();
}
