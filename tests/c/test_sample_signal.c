/* Asking a thread by a signal: the right answer, once, and only by the one who was asked. */
#include "check.h"
#include "fixture.h"
#include "os/process.h"
#include "probe/sample/sample_signal.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int may_end, is_blocking, is_blocked;
static _Atomic uint32_t thread_id;
static pthread_t thread;
static _Thread_local volatile uint32_t mine; /* what walk_here tells of a thread */

static void
walk_here(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state)
{
    int here;

    CHECK(stack_end == 0 || stack_end > (uintptr_t)&here);
    *state = mine;
    for (uint32_t i = 0; i < 3; i++)
        stack->frames[stack->count++] = (snd_sample_frame){mine + i, 0, 0, 0};
}

static const snd_sample_interpreter python = {.walk_here = walk_here};

static void *
spin(void *context)
{
    sigset_t all, before;

    mine = snd_thread_id();
    sigfillset(&all);
    atomic_store(&thread_id, mine);
    while (!atomic_load(&may_end)) {
        if (!atomic_load(&is_blocking))
            continue;
        pthread_sigmask(SIG_SETMASK, &all, &before);
        atomic_store(&is_blocked, 1);
        while (atomic_load(&is_blocking))
            ;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        atomic_store(&is_blocked, 0);
    }
    return context;
}

static void
set_blocking(int on)
{
    atomic_store(&is_blocking, on);
    while (atomic_load(&is_blocked) != on)
        sleep_ms(1);
}

static int
is_answered(const snd_sample_slot *slot)
{
    for (int i = 0; i < 30000 && !snd_sample_is_answered(slot); i++)
        sleep_ms(1);
    return snd_sample_is_answered(slot);
}

static snd_sample_slot *
take(void)
{
    snd_sample_slot *slot = snd_sample_slot_take();
    REQUIRE(slot != NULL);
    return slot;
}

static void
a_thread_tells_where_it_is(void)
{
    snd_sample_slot *slot = take();

    for (int i = 0; i < 200; i++) {
        CHECK(snd_sample_ask(slot, thread_id));
        REQUIRE(is_answered(slot));
        CHECK_NUMBER(slot->state, thread_id);
        CHECK_NUMBER(slot->stack.count, 3);
        CHECK_NUMBER(slot->stack.frames[2].code, thread_id + 2u);
        CHECK(slot->pc != 0 && slot->sp != 0 && slot->region == NULL);
    }
    snd_sample_slot_give_back(slot);
}

static void
a_thread_asks_itself(void)
{
    snd_sample_slot *slot = take();

    mine = 77;
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    CHECK(snd_sample_is_answered(slot)); /* at once: the signal came before the call returned */
    CHECK_NUMBER(slot->state, 77);
    snd_sample_slot_give_back(slot);
}

static void
a_thread_that_is_not_there_is_told(void)
{
    snd_sample_slot *slot = take();

    CHECK(!snd_sample_ask(slot, 0x3fffffff));
    CHECK(snd_sample_is_answered(slot));
    snd_sample_slot_give_back(slot);
}

/* Newer C libraries put the stacks of several threads into one mapping, with a guard between them that the table of
 * mappings does not show. */
static void
a_stack_with_a_hidden_guard_behind_it_is_copied_up_to_its_end(void)
{
    enum { STACK = 1 << 22, GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL, of Linux 6.13 */
    char *pages = mmap(NULL, 3 * (size_t)STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snd_sample_slot *slot = take();
    pthread_attr_t wish;
    pthread_t other;

    REQUIRE(pages != MAP_FAILED);
    if (madvise(pages + STACK, STACK, GUARD_INSTALL) != 0)
        REQUIRE(mprotect(pages + STACK, STACK, PROT_NONE) == 0);
    pthread_attr_init(&wish);
    pthread_attr_setstack(&wish, pages, STACK);
    atomic_store(&thread_id, 0);
    REQUIRE(pthread_create(&other, &wish, spin, NULL) == 0);
    while (atomic_load(&thread_id) == 0)
        sleep_ms(1);
    slot->native = malloc(SND_SAMPLE_NATIVE_SIZE);
    for (int i = 0; i < 5; i++) {
        CHECK(snd_sample_ask(slot, thread_id));
        REQUIRE(is_answered(slot));
        CHECK(slot->native_size > 128 && slot->native_start > (uintptr_t)pages);
        CHECK(slot->native_start + slot->native_size <= (uintptr_t)pages + STACK);
    }
    free(slot->native);
    slot->native = NULL;
    snd_sample_slot_give_back(slot);
    atomic_store(&may_end, 1);
    pthread_join(other, NULL);
    pthread_attr_destroy(&wish);
    munmap(pages, 3 * (size_t)STACK);
}

/* ---- what is not the answer ---- */

static void
an_answer_that_comes_too_late_is_nobodys(void)
{
    snd_sample_slot *slot = take();

    set_blocking(1);
    CHECK(snd_sample_ask(slot, thread_id));
    sleep_ms(5); /* sleeps: an answer would come */
    CHECK(!snd_sample_is_answered(slot));
    snd_sample_slot_give_back(slot);
    snd_sample_slot *next = take();
    CHECK(next == slot); /* another thread's now */
    slot->stack.count = 99;
    set_blocking(0);
    sleep_ms(5); /* sleeps: an answer would come */
    CHECK_NUMBER(slot->stack.count, 99);
    mine = 78;
    CHECK(snd_sample_ask(next, snd_thread_id()) && snd_sample_is_answered(next));
    CHECK_NUMBER(next->state, 78);
    snd_sample_slot_give_back(next);
}

static void
a_second_question_is_answered_not_the_first(void)
{
    snd_sample_slot *slot = take();

    set_blocking(1);
    CHECK(snd_sample_ask(slot, thread_id));
    CHECK(snd_sample_ask(slot, thread_id));
    CHECK(!snd_sample_is_answered(slot));
    set_blocking(0);
#ifndef __SANITIZE_THREAD__ /* which keeps one signal of a kind only */
    CHECK(is_answered(slot));
#endif
    snd_sample_slot_give_back(slot);
}

static int
our_signal(void)
{
    for (int number = SIGRTMAX; number > SIGRTMIN; number--) {
        struct sigaction now;
        if (sigaction(number, NULL, &now) == 0 &&
            (now.sa_flags & (SA_SIGINFO | SA_ONSTACK)) == (SA_SIGINFO | SA_ONSTACK))
            return number;
    }
    return 0;
}

static void
signals_of_others_fill_no_slot(void)
{
    snd_sample_slot *slot = take();
    int number = our_signal();

    REQUIRE(number != 0);
    slot->stack.count = 99;
    pthread_kill(thread, number);
    kill(getpid(), number);
    sigqueue(getpid(), number, (union sigval){.sival_ptr = (void *)(UINTPTR_MAX)});
    sigqueue(getpid(), number,
             (union sigval){.sival_ptr = (void *)(uintptr_t)((uint64_t)slot->number << 32 | 0xfffff)});
    sleep_ms(5); /* sleeps: an answer would come */
    CHECK_NUMBER(slot->stack.count, 99);
    snd_sample_slot_give_back(slot);
}

static void
after_the_end_nobody_answers(void)
{
    snd_sample_slot *slot = take();

    snd_sample_signal_stop();
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    CHECK(!snd_sample_is_answered(slot));
    CHECK(snd_sample_signal_start(&python));
    snd_sample_slot_give_back(slot);
}

/* ---- at the kernel's tick ---- */

static clockid_t
clock_of(pthread_t of)
{
    clockid_t clock;
    REQUIRE(pthread_getcpuclockid(of, &clock) == 0);
    return clock;
}

static void
a_thread_that_runs_answers_at_the_kernels_tick(void)
{
    snd_sample_slot *slot = take();

    for (int i = 0; i < 20; i++) {
        CHECK(snd_sample_ask_at_kernel_tick(slot, thread_id, clock_of(thread)));
        REQUIRE(is_answered(slot));
        CHECK_NUMBER(slot->state, thread_id);
        CHECK_NUMBER(slot->stack.count, 3);
    }
    CHECK(snd_sample_ask(slot, thread_id) && is_answered(slot)); /* and in the other way */
    snd_sample_slot_give_back(slot);
    CHECK_NUMBER(slot->timer, SND_SAMPLE_NO_TIMER);
}

/* Runs for some ticks of the kernel. */
static void
burn_ms(uint64_t ms)
{
    struct timespec now, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    end.tv_nsec += (long)ms * 1000000;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec < end.tv_nsec);
}

static void
a_question_for_the_kernels_tick_that_is_taken_back_has_no_answer(void)
{
    snd_sample_slot *slot = take();
    sigset_t all, before;

    slot->stack.count = 99;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    CHECK(snd_sample_ask_at_kernel_tick(slot, snd_thread_id(), clock_of(pthread_self())));
    burn_ms(30); /* the signal is under way */
    snd_sample_forget_question(slot);
    CHECK(snd_sample_is_answered(slot)); /* nobody waits for it */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    burn_ms(30);
    CHECK_NUMBER(slot->stack.count, 99);
    snd_sample_slot_give_back(slot);
}

static void
a_timer_follows_when_the_program_takes_its_signal(void)
{
    snd_sample_slot *slot = take();
    clockid_t clock = clock_of(thread);

    CHECK(snd_sample_ask_at_kernel_tick(slot, thread_id, clock) && is_answered(slot));
    int before = our_signal();
    CHECK(snd_sample_signal_leave(before));
    signal(before, SIG_DFL); /* which would end us */
    CHECK(our_signal() != before && our_signal() != 0);
    CHECK(snd_sample_ask_at_kernel_tick(slot, thread_id, clock) && is_answered(slot));
    snd_sample_slot_give_back(slot);
}

/* The numbers of timers begin anew in a child. */
static void
a_child_keeps_the_timer_that_has_the_number_of_one_of_its_parents(void)
{
    snd_sample_slot *slot = take();
    int status = -1;

    CHECK(snd_sample_ask_at_kernel_tick(slot, thread_id, clock_of(thread)) && is_answered(slot));
    pid_t child = fork();
    if (child == 0) {
        struct sigevent quiet = {.sigev_notify = SIGEV_NONE};
        struct itimerspec left;
        int own;
        do
            if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &quiet, &own) != 0)
                _exit(2);
        while (own < slot->timer);
        snd_sample_slot_give_back(slot);
        _exit(syscall(SYS_timer_gettime, own, &left) != 0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
    snd_sample_slot_give_back(slot);
}

static void
without_a_timer_nobody_is_asked_that_way(void)
{
    snd_sample_slot *slot = take();

    CHECK(!snd_sample_ask_at_kernel_tick(slot, thread_id, (clockid_t)0x7ffffff0)); /* there is no such clock */
    CHECK_NUMBER(slot->timer, SND_SAMPLE_REFUSED_TIMER);
    CHECK(!snd_sample_ask_at_kernel_tick(slot, thread_id, clock_of(thread))); /* it is not tried again */
    CHECK(snd_sample_ask(slot, thread_id) && is_answered(slot));
    snd_sample_slot_give_back(slot);
}

/* ---- the signal ---- */

static void
ignore(int number)
{
    (void)number;
}

static void
a_signal_that_the_program_takes_is_left_to_it(void)
{
    snd_sample_slot *slot = take();
    int before = our_signal();

    signal(before, ignore);
    CHECK(snd_sample_ask(slot, thread_id) && is_answered(slot));
    CHECK(our_signal() != before && our_signal() != 0);
    struct sigaction now;
    CHECK(sigaction(before, NULL, &now) == 0 && now.sa_handler == ignore);
    snd_sample_slot_give_back(slot);
}

static void
without_a_free_signal_nobody_is_asked(void)
{
    snd_sample_slot *slot = take();

    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, ignore);
    CHECK(!snd_sample_ask(slot, thread_id));
    CHECK(!snd_sample_signal_start(&python));
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, SIG_DFL);
    CHECK(snd_sample_signal_start(&python));
    CHECK(snd_sample_ask(slot, thread_id) && is_answered(slot));
    snd_sample_slot_give_back(slot);
}

static void
a_question_that_waits_is_taken_back_and_a_strangers_signal_is_not(void)
{
    snd_sample_slot *slot = take();
    int number = our_signal();
    sigset_t set, before;

    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    snd_sample_signal_take_back();
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){0}) < 0);
    pthread_kill(pthread_self(), number);
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    snd_sample_signal_take_back();
    snd_sample_signal_take_back();
    CHECK_NUMBER(sigtimedwait(&set, NULL, &(struct timespec){0}), number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    snd_sample_slot_give_back(slot);
}

static void
a_silent_thread_is_known(void)
{
    for (uint32_t i = 1; i < 100; i++)
        snd_sample_signal_silence(i, 1);
    CHECK(snd_sample_signal_is_silent(1) && snd_sample_signal_is_silent(64) && !snd_sample_signal_is_silent(65));
    snd_sample_signal_silence(1, 1);
    for (uint32_t i = 1; i < 100; i++)
        snd_sample_signal_silence(i, 0);
    CHECK(!snd_sample_signal_is_silent(1) && !snd_sample_signal_is_silent(64));
}

/* ---- answers that nobody has looked at ---- */

static void
an_answer_holds_its_code_until_it_is_taken(void)
{
    snd_sample_slot *slot = take();

    mine = 5000;
    CHECK(!snd_sample_is_pending(5001));
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    CHECK(snd_sample_is_pending(5000) && snd_sample_is_pending(5002) && !snd_sample_is_pending(5003));
    atomic_store(&slot->taken, atomic_load(&slot->asked));
    CHECK(!snd_sample_is_pending(5001));
    CHECK(snd_sample_ask(slot, snd_thread_id()));
    snd_sample_slot_give_back(slot);
    CHECK(!snd_sample_is_pending(5001));
}

static void
slots_run_out_and_come_back(void)
{
    static snd_sample_slot *all[10000];
    uint32_t count = 0;

    while (count < 10000 && (all[count] = snd_sample_slot_take()) != NULL)
        count++;
    CHECK_NUMBER(count, 8192);
    for (uint32_t i = 0; i < count; i++)
        snd_sample_slot_give_back(all[i]);
    snd_sample_slot *again = take();
    snd_sample_slot_give_back(again);
}

int
main(void)
{
    CHECK(snd_sample_signal_start(&python));
    REQUIRE(pthread_create(&thread, NULL, spin, NULL) == 0);
    while (atomic_load(&thread_id) == 0)
        sleep_ms(1);
    RUN(a_thread_tells_where_it_is);
    RUN(a_thread_asks_itself);
    RUN(a_thread_that_is_not_there_is_told);
    RUN(an_answer_that_comes_too_late_is_nobodys);
    RUN(a_second_question_is_answered_not_the_first);
    RUN(signals_of_others_fill_no_slot);
    RUN(after_the_end_nobody_answers);
    RUN(a_thread_that_runs_answers_at_the_kernels_tick);
    RUN(a_question_for_the_kernels_tick_that_is_taken_back_has_no_answer);
    RUN(a_timer_follows_when_the_program_takes_its_signal);
    RUN(a_child_keeps_the_timer_that_has_the_number_of_one_of_its_parents);
    RUN(without_a_timer_nobody_is_asked_that_way);
    RUN(a_signal_that_the_program_takes_is_left_to_it);
    RUN(without_a_free_signal_nobody_is_asked);
    RUN(a_question_that_waits_is_taken_back_and_a_strangers_signal_is_not);
    RUN(a_silent_thread_is_known);
    RUN(an_answer_holds_its_code_until_it_is_taken);
    RUN(slots_run_out_and_come_back);
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
    atomic_store(&may_end, 0);
    RUN(a_stack_with_a_hidden_guard_behind_it_is_copied_up_to_its_end);
    return check_report();
}
