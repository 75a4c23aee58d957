/* Asking a running thread where it is. */
#include "probe/sample/sample_signal.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/peek.h"
#include "os/task.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOT_LIMIT 8192u
#define SILENT_LIMIT 64u

/* The handler finds a slot by its number, so that a late signal never meets freed memory. */
static _Atomic(snd_sample_slot *) slots[SLOT_LIMIT];
static _Atomic uint32_t slot_count;
static snd_sample_slot *free_slots[SLOT_LIMIT];
static uint32_t free_count;

static uint32_t silent[SILENT_LIMIT]; /* numbers of threads */
static uint32_t silent_count;

static _Atomic int number; /* of the signal; 0: none taken yet */
static _Atomic(const snd_sample_interpreter *) interpreter;
static _Atomic int is_on;
static _Atomic pid_t process;

/* The kernel copies, since a thread may run on a stack that ends anywhere: a library's, or one with a guard behind it
 * that no table of mappings shows. What it could copy up to the end of the thread's own stack can be read as long as
 * the thread lives, and is copied without it from then on. */
static void
copy_native(snd_sample_slot *slot, uintptr_t stack_end, const void *context)
{
    uintptr_t start = slot->sp - SND_RED_ZONE, proven = SND_GET(slot->proven);
    size_t size = stack_end > start ? stack_end - start : SND_SAMPLE_NATIVE_SIZE;

    if (size > SND_SAMPLE_NATIVE_SIZE)
        size = SND_SAMPLE_NATIVE_SIZE;
    snd_context_registers(context, &slot->registers);
    slot->native_start = start;
    slot->native_size = (uint32_t)size;
    if (proven != 0 && start >= proven && stack_end != 0) {
        memcpy(slot->native, (const void *)start, size);
        return;
    }
    slot->native_size = (uint32_t)snd_peek_some(start, slot->native, size);
    if (slot->native_size == size && (start + size == stack_end || (proven != 0 && start + size >= proven)))
        SND_SET(slot->proven, start);
}

static int
is_sent_question(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_pid == SND_GET(process);
}

/* The slot of a question and its number, which travel in the signal's value: nothing of ours is thread-local here. A
 * timer has one value for all of its questions. NULL: nobody wants to know any more, or it is no question of ours. */
static snd_sample_slot *
find_slot(const siginfo_t *info, uint32_t *asked)
{
    uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
    uint32_t index = (uint32_t)(value >> 32);

    *asked = (uint32_t)value;
    if (!SND_GET(is_on) || index >= SLOT_LIMIT || (info->si_code != SI_TIMER && !is_sent_question(info)))
        return NULL;
    snd_sample_slot *slot = atomic_load_explicit(&slots[index], memory_order_acquire);
    if (slot == NULL)
        return NULL;
    uint32_t last = atomic_load_explicit(&slot->asked, memory_order_acquire);
    if (info->si_code == SI_TIMER) {
        if (info->si_timerid != SND_GET(slot->timer))
            return NULL;
        *asked = last;
    }
    return *asked == last && SND_GET(slot->answered) != last ? slot : NULL;
}

static void
on_signal(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;
    uint64_t start = snd_clock_counter();
    uint32_t asked;
    snd_sample_slot *slot = find_slot(info, &asked);

    (void)signal_number;
    if (slot == NULL)
        return;
    const snd_sample_interpreter *python = SND_GET(interpreter);
    const snd_track *track = SND_GET(slot->track);
    slot->pc = snd_context_pc(context);
    slot->sp = snd_context_sp(context);
    uintptr_t stack_end = snd_stack_end(slot->sp);
    slot->call = snd_context_call(context);
    slot->region = track == NULL ? NULL : SND_GET(track->running);
    slot->stack.count = slot->stack.is_cut = slot->stack.collects = 0;
    slot->stack.jit = (snd_range){0};
    slot->stack.compiled = 0;
    slot->state = 0;
    if (python != NULL)
        python->walk_here(&slot->stack, stack_end, &slot->state);
    if (slot->native != NULL)
        copy_native(slot, stack_end, context);
    SND_SET(slot->processor, snd_task_processor());
    slot->cost_ticks = snd_clock_counter() - start;
    atomic_store_explicit(&slot->answered, asked, memory_order_release);
    errno = saved;
}

static int
is_handler_ours(int candidate)
{
    struct sigaction now;
    return sigaction(candidate, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal;
}

/* A real-time signal, not SIGPROF: a program that starts to use that one later would get our questions. */
static int
take_signal(void)
{
    if (number != 0 && is_handler_ours(number))
        return 1;
    for (int candidate = SIGRTMAX - 2; candidate > SIGRTMIN; candidate--) {
        struct sigaction now;
        struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        if (sigaction(candidate, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
            continue;
        sigfillset(&ours.sa_mask);
        if (sigaction(candidate, &ours, NULL) == 0) {
            number = candidate;
            return 1;
        }
    }
    number = 0;
    return 0;
}

int
snd_sample_signal_leave(int wanted)
{
    if (wanted == 0 || SND_GET(number) != wanted)
        return 0;
    SND_SET(number, 0);
    (void)take_signal();
    return 1;
}

int
snd_sample_signal_start(const snd_sample_interpreter *python)
{
    SND_SET(process, getpid());
    SND_SET(interpreter, python);
    int taken = take_signal();
    SND_SET(is_on, taken);
    return taken;
}

void
snd_sample_signal_stop(void)
{
    SND_SET(is_on, 0);
}

snd_sample_slot *
snd_sample_slot_take(void)
{
    if (free_count != 0)
        return free_slots[--free_count];
    uint32_t next = SND_GET(slot_count);
    snd_sample_slot *slot = next == SLOT_LIMIT ? NULL : snd_calloc(1, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->number = next;
    SND_SET(slot->timer, SND_SAMPLE_NO_TIMER);
    SND_SET(slot->processor, -1);
    atomic_store_explicit(&slots[next], slot, memory_order_release);
    atomic_store_explicit(&slot_count, next + 1, memory_order_release);
    return slot;
}

/* A child has none of its parent's timers, and the numbers of its own may be the same. */
static void
delete_timer(snd_sample_slot *slot)
{
    if (SND_GET(slot->timer) >= 0 && SND_GET(process) == getpid())
        (void)syscall(SYS_timer_delete, SND_GET(slot->timer));
    SND_SET(slot->timer, SND_SAMPLE_NO_TIMER);
}

void
snd_sample_slot_give_back(snd_sample_slot *slot)
{
    uint32_t next = SND_GET(slot->asked) + 1; /* a signal still under way is told apart by its number */

    (void)snd_sample_is_answered(slot); /* the next thread writes after this one */
    delete_timer(slot);
    SND_SET(slot->asked, next);
    SND_SET(slot->answered, next);
    SND_SET(slot->taken, next);
    SND_SET(slot->track, NULL);
    SND_SET(slot->processor, -1);
    SND_SET(slot->proven, 0);
    free_slots[free_count++] = slot;
}

/* The answer may be taken and the next one be written meanwhile; then the code, if it was there, has become known. */
static SND_UNCHECKED_READS int
has_frame(const snd_sample_slot *slot, uintptr_t code)
{
    for (uint32_t k = 0; k < slot->stack.count; k++)
        if (slot->stack.frames[k].code == code)
            return 1;
    return 0;
}

int
snd_sample_is_pending(uintptr_t code)
{
    uint32_t count = atomic_load_explicit(&slot_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++) {
        const snd_sample_slot *slot = atomic_load_explicit(&slots[i], memory_order_acquire);
        uint32_t taken = atomic_load_explicit(&slot->taken, memory_order_acquire);
        if (!snd_sample_is_answered(slot) || taken == SND_GET(slot->asked))
            continue;
        if (has_frame(slot, code))
            return 1;
    }
    atomic_thread_fence(memory_order_acquire);
    return 0;
}

void
snd_sample_signal_silence(uint32_t thread_id, int on)
{
    uint32_t i = 0;

    while (i < silent_count && silent[i] != thread_id)
        i++;
    if (on && i == silent_count && i < SILENT_LIMIT)
        silent[silent_count++] = thread_id;
    else if (!on && i < silent_count)
        silent[i] = silent[--silent_count];
}

int
snd_sample_signal_is_silent(uint32_t thread_id)
{
    for (uint32_t i = 0; i < silent_count; i++)
        if (silent[i] == thread_id)
            return 1;
    return 0;
}

void
snd_sample_signal_take_back(void)
{
    const struct timespec at_once = {0, 0};
    siginfo_t info;
    sigset_t ours;

    if (number == 0)
        return;
    sigemptyset(&ours);
    sigaddset(&ours, number);
    while (sigtimedwait(&ours, &info, &at_once) == number)
        if (!is_sent_question(&info) && info.si_code != SI_TIMER) { /* somebody else's: it goes back to where it was */
            syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, &info);
            return;
        }
}

static int
has_signal(void)
{
    return number != 0 && (is_handler_ours(number) || take_signal());
}

int
snd_sample_ask(snd_sample_slot *slot, uint32_t thread_id)
{
    siginfo_t info;
    uint32_t asked = SND_GET(slot->asked) + 1;

    if (!has_signal())
        return 0;
    atomic_store_explicit(&slot->asked, asked, memory_order_release);
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = SI_QUEUE;
    info.si_pid = SND_GET(process);
    info.si_value.sival_ptr = (void *)(uintptr_t)((uint64_t)slot->number << 32 | asked);
    if (syscall(SYS_rt_tgsigqueueinfo, SND_GET(process), thread_id, number, &info) == 0)
        return 1;
    SND_SET(slot->answered, asked);
    return 0;
}

/* ---- at the kernel's tick ---- */

static int
make_timer(snd_sample_slot *slot, uint32_t thread_id, clockid_t clock)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    int made = 0; /* the kernel's type */

    event.sigev_value.sival_ptr = (void *)(uintptr_t)((uint64_t)slot->number << 32);
    event._sigev_un._tid = (pid_t)thread_id;
    SND_SET(slot->timer, syscall(SYS_timer_create, clock, &event, &made) == 0 ? made : SND_SAMPLE_REFUSED_TIMER);
    slot->timer_signal = number;
    return SND_GET(slot->timer) >= 0;
}

int
snd_sample_ask_at_kernel_tick(snd_sample_slot *slot, uint32_t thread_id, clockid_t clock)
{
    const struct itimerspec soon = {.it_value = {0, 1}};
    uint32_t asked = SND_GET(slot->asked) + 1;

    if (!has_signal() || SND_GET(slot->timer) == SND_SAMPLE_REFUSED_TIMER)
        return 0;
    if (slot->timer_signal != number)
        delete_timer(slot);
    if (SND_GET(slot->timer) < 0 && !make_timer(slot, thread_id, clock))
        return 0;
    atomic_store_explicit(&slot->asked, asked, memory_order_release);
    if (syscall(SYS_timer_settime, SND_GET(slot->timer), 0, &soon, NULL) == 0)
        return 1;
    SND_SET(slot->answered, asked);
    return 0;
}

void
snd_sample_forget_question(snd_sample_slot *slot)
{
    const struct itimerspec never = {0};

    (void)syscall(SYS_timer_settime, SND_GET(slot->timer), 0, &never, NULL);
    SND_SET(slot->taken, SND_GET(slot->asked));
    SND_SET(slot->answered, SND_GET(slot->asked));
}
