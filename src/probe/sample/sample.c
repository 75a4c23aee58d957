/* The sampler's thread: when a tick is, and whom it samples. */
#include "probe/sample/sample_private.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/worker.h"
#include "probe/sample/gpu.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define SAFE_NS 10000000u /* the shortest period where each tick takes the GIL */
#define IDLE_NS 40000000u /* the longest period while nothing runs */
#define IDLE_TICKS 16u    /* ticks without any movement before the period grows by one more of itself */
#define RESTING_NS 50000000u
#define OWN_NS 100000000u  /* our own threads are sampled this often */
#define BUSY_TICKS 20u     /* ticks that found something running: a child that goes on, not one that runs a program */
#define CROWD 16u          /* threads; beyond that, those that stand still are sampled less often */
#define CROWD_INTERVAL 32u /* ticks from one to the next, at most, or an eighth of the threads */
#define ALONE_TICKS 4u     /* ticks in a row at which one thread worked alone, before it is followed at first */
#define MOST_ALONE_TICKS (1u << 20)
#define LATE_NS 150000u /* a tick later than that got its processor when somebody else gave it up */

snd_sampler snd_sample_state;

static struct running {
    pthread_t thread;
    _Atomic int is_running;
    _Atomic int is_wanted; /* between start and stop, also while suspended */
    sem_t wake;
    _Atomic int stop;
    uint64_t random;
    uint64_t owned_ns;
    uint32_t busy_ticks;
    int (*_Atomic when_busy)(void);
    int processor;                  /* that it stays on or off; -1: none */
    uint32_t alone_ticks, patience; /* in a row at which one thread worked alone, and how many it takes to follow it */
    int is_lost;                    /* the tick after this one should have been over */
} running;

static char note[160];
static int has_measured;                                /* since the last clear: not only for others */
static const snd_sample_listener *_Atomic the_listener; /* NULL: none */

/* ---- who shares the thread and the tree ---- */

void
snd_sample_listen(const snd_sample_listener *listener)
{
    the_listener = listener;
}

void
snd_sample_tell_before_tick(void)
{
    if (the_listener != NULL)
        the_listener->before_tick();
}

void
snd_sample_tell_code_gone(void)
{
    if (the_listener != NULL)
        the_listener->on_code_gone();
}

/* A tick begins. */
static void
begin_tick(uint64_t now)
{
    snd_sample_state.tree.tick++;
    snd_sample_refresh_if_needed(now);
    if (the_listener != NULL)
        the_listener->on_tick(now);
}

static uint64_t
period_ns(void)
{
    const snd_sampler *self = &snd_sample_state;
    uint64_t period = self->options.resting ? RESTING_NS : 1000000000u / self->options.rate_hz;
    int is_slow = self->python != NULL && self->python->prepare != NULL;

    return is_slow && period < SAFE_NS ? SAFE_NS : period;
}

/* ---- ticks ---- */

/* The samples of a thread among many: those that stand still come up less often. */
static void
plan(snd_sample_thread *thread, int has_moved)
{
    if (has_moved || snd_sample_state.thread_count <= CROWD)
        thread->interval = 1;
    else if (thread->interval < CROWD_INTERVAL || thread->interval < snd_sample_state.thread_count / 8)
        thread->interval *= 2;
    thread->next_tick = snd_sample_state.tree.tick + thread->interval;
}

static int
is_due(const snd_sample_thread *thread, int with_ours)
{
    return thread->is_ours ? with_ours : (int32_t)(snd_sample_state.tree.tick - thread->next_tick) >= 0;
}

/* A thread that works alone is followed to its processor: that one is awake, and waking another, and sending a signal
 * from there, costs several times what all the rest of a tick does. But the kernel may let us wait there until a long
 * system call of the thread is over, and what comes after the call would be met instead of it: then we keep off that
 * processor, for longer each time. */
static void
follow(const snd_sample_thread *alone)
{
    snd_sampler *self = &snd_sample_state;
    int processor = alone == NULL || alone->slot == NULL ? -1 : SND_GET(alone->slot->processor);

    running.alone_ticks = processor < 0 ? 0 : running.alone_ticks + 1;
    if (self->shares_processor && running.is_lost) {
        running.patience = running.patience < MOST_ALONE_TICKS ? running.patience * 4 : MOST_ALONE_TICKS;
        running.alone_ticks = 0;
    }
    int follows = !self->has_one_processor && running.alone_ticks >= running.patience;
    int keeps_off = running.patience > ALONE_TICKS;
    if (!follows && !keeps_off)
        processor = -1;
    if (processor == running.processor && follows == self->shares_processor)
        return;
    snd_task_stay(processor, follows);
    running.processor = processor;
    self->shares_processor = follows;
}

/* Returns whether any thread of the program ran since the last tick. */
static int
tick(void)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t now = snd_clock_monotonic_ns();
    int with_ours = now - running.owned_ns >= OWN_NS;
    uint32_t moved = 0, last_moved = 0;

    if (with_ours)
        running.owned_ns = now;
    if (self->python != NULL && self->python->prepare != NULL)
        self->python->prepare();
    snd_lock_take(&self->lock);
    begin_tick(now);
    for (uint32_t i = self->thread_count; i-- > 0 && !SND_GET(self->is_paused);) { /* maybe while we waited for it */
        snd_sample_thread *thread = &self->threads[i];
        int has_moved = 0;
        if (!is_due(thread, with_ours))
            continue;
        if (!snd_sample_observe(self, thread, now, &has_moved))
            snd_sample_end_thread(thread, now);
        else
            plan(thread, has_moved);
        if (has_moved && !thread->is_ours) {
            moved++;
            last_moved = thread->task.thread_id;
        }
        if (i % 64 == 63) { /* whoever needs the lock gets it now and then, and may have ended threads */
            snd_lock_leave(&self->lock);
            snd_lock_take(&self->lock);
            if (i > self->thread_count)
                i = self->thread_count;
        }
    }
    if (moved != 0)
        follow(moved == 1 ? snd_sample_find_thread(last_moved) : NULL);
    snd_lock_leave(&self->lock);
    return moved != 0;
}

static void
tell_when_busy(int has_moved)
{
    int (*function)(void) = SND_GET(running.when_busy);

    running.busy_ticks += has_moved != 0;
    if (function != NULL && running.busy_ticks > BUSY_TICKS && function())
        SND_SET(running.when_busy, NULL);
}

/* While no time is measured, memory may be. */
static void
rest(void)
{
    uint64_t now = snd_clock_monotonic_ns();

    snd_lock_take(&snd_sample_state.lock);
    begin_tick(now);
    snd_lock_leave(&snd_sample_state.lock);
    if (snd_sample_state.options.resting)
        tell_when_busy(1);
}

/* Between half a period and one and a half, so that no rhythm of the program meets ours. */
static uint64_t
jittered(uint64_t period)
{
    running.random ^= running.random << 13;
    running.random ^= running.random >> 7;
    running.random ^= running.random << 17;
    return period / 2 + running.random % (period + 1);
}

static uint64_t
next_deadline(uint64_t deadline, uint32_t idle_ticks)
{
    uint64_t period = period_ns();
    uint64_t longer = period * (1 + idle_ticks / IDLE_TICKS);
    uint64_t now = snd_clock_monotonic_ns();

    if (longer > IDLE_NS)
        longer = period > IDLE_NS ? period : IDLE_NS;
    deadline += jittered(longer);
    if (deadline < now) {
        atomic_fetch_add_explicit(&snd_sample_state.missed, (now - deadline) / period, memory_order_relaxed);
        deadline = now + jittered(period); /* sooner would always be what comes right after a long system call */
    }
    return deadline;
}

/* What this thread used itself; its clock ends with it, and so may its files. */
static void
account_for_own(void)
{
    snd_sampler *self = &snd_sample_state;
    int has_moved;

    snd_lock_take(&self->lock);
    snd_sample_native_rest(self->native);
    snd_sample_thread *own = snd_sample_find_thread(snd_thread_id());
    if (own != NULL && !SND_GET(self->is_paused) && snd_sample_observe(self, own, snd_clock_monotonic_ns(), &has_moved))
        snd_sample_end_thread(own, snd_clock_monotonic_ns());
    snd_lock_leave(&self->lock);
}

static void *
run(void *nothing)
{
    uint64_t deadline = snd_clock_monotonic_ns();
    uint32_t idle_ticks = 0;

    (void)nothing;
    snd_sample_tell_before_tick();
    snd_task_be_short();
    running.random = deadline | 1;
    while (!SND_GET(running.stop)) {
        deadline = next_deadline(deadline, idle_ticks);
        snd_worker_wait(&running.wake, deadline);
        if (SND_GET(running.stop))
            continue;
        snd_sample_tell_before_tick();
        if (SND_GET(snd_sample_state.is_paused)) {
            idle_ticks++;
            rest();
            continue;
        }
        uint64_t now = snd_clock_monotonic_ns();
        SND_SET(snd_sample_state.is_late, now > deadline + LATE_NS);
        running.is_lost = now > deadline + period_ns();
        idle_ticks = tick() ? 0 : idle_ticks + 1;
        tell_when_busy(idle_ticks == 0);
    }
    if (snd_sample_state.python != NULL && snd_sample_state.python->finish != NULL)
        snd_sample_state.python->finish();
    account_for_own();
    return NULL;
}

/* ---- with files ---- */

typedef struct errand {
    void (*function)(uintptr_t argument);
    uintptr_t argument;
} errand;

/* libdw keeps files open, and these may be gone when no sampler runs. */
static void
do_errand(void *context)
{
    const errand *self = context;

    snd_lock_take(&snd_sample_state.lock);
    self->function(self->argument);
    if (!running.is_running)
        snd_sample_native_rest(snd_sample_state.native);
    snd_lock_leave(&snd_sample_state.lock);
}

void
snd_sample_with_files(void (*function)(uintptr_t argument), uintptr_t argument)
{
    snd_worker_call(do_errand, &(errand){function, argument});
}

/* ---- start and stop ---- */

static int
start_thread(void)
{
    SND_SET(running.stop, 0);
    running.processor = -1;
    running.alone_ticks = 0;
    running.patience = ALONE_TICKS;
    snd_lock_take(&snd_sample_state.lock);
    snd_sample_state.shares_processor = 0;
    snd_lock_leave(&snd_sample_state.lock);
    running.is_running = snd_worker_start(&running.thread, run, NULL);
    snd_sample_gpu_resume();
    return running.is_running;
}

/* Questions that wait for the kernel's tick are asked now. By the same signal, so that the answer comes after all that
 * the timer sent. Under the lock. */
static void
hurry(snd_sampler *self)
{
    for (uint32_t i = 0; i < self->thread_count; i++) {
        snd_sample_thread *thread = &self->threads[i];
        if (!thread->is_asked || !thread->waits_for_tick || snd_sample_is_answered(thread->slot))
            continue;
        snd_sample_unask(thread);
        thread->is_asked = !thread->is_mute && snd_sample_ask(thread->slot, thread->task.thread_id);
    }
}

/* No signal of ours is under way any more, but for threads that block it. */
static void
wait_for_answers(void)
{
    snd_sampler *self = &snd_sample_state;
    struct timespec moment = {0, 200000};

    for (int tries = 0; tries < 25; tries++) {
        int open = 0;
        snd_lock_take(&self->lock);
        hurry(self);
        for (uint32_t i = 0; i < self->thread_count; i++) {
            const snd_sample_thread *thread = &self->threads[i];
            open |= thread->is_asked && !thread->is_mute && !snd_sample_is_answered(thread->slot);
        }
        snd_lock_leave(&self->lock);
        if (!open)
            return;
        nanosleep(&moment, NULL);
    }
}

void
snd_sample_leave_signal(int number)
{
    snd_lock_take(&snd_sample_state.lock);
    hurry(&snd_sample_state);
    int was_ours = snd_sample_signal_leave(number);
    snd_lock_leave(&snd_sample_state.lock);
    if (was_ours)
        wait_for_answers();
}

static void
end_own_thread(void)
{
    snd_sample_gpu_suspend();
    if (!running.is_running)
        return;
    SND_SET(running.stop, 1);
    sem_post(&running.wake);
    snd_worker_join(running.thread);
    running.is_running = 0;
    wait_for_answers();
}

/* What threads did while no sampler ran is not ours to tell. */
static void
rebase(void)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t now = snd_clock_monotonic_ns();

    self->start_cpu_ns = snd_process_cpu_ns(); /* first: what threads have more than the process could not be told of */
    for (uint32_t i = 0; i < self->thread_count; i++) {
        snd_sample_thread *thread = &self->threads[i];
        (void)snd_task_cpu_ns(&thread->task, &thread->cpu_ns);
        thread->wall_ns = now;
        thread->ahead_ns = 0;
        thread->delay_ns = SND_SAMPLE_NO_DELAY; /* known again when they are listed */
        thread->is_waiting = 0;
        self->tree.rows[thread->row].event_end_ns = now;
        self->tree.rows[thread->row].last_event = 0;
    }
    snd_gpu_rebase(now);
    snd_sample_refresh(now, 1);
}

/* Everything that was used so far stands somewhere. */
static void
settle_all(uint64_t now)
{
    snd_sampler *self = &snd_sample_state;
    int has_moved;

    self->tree.tick++;
    for (uint32_t i = self->thread_count; i-- > 0;) {
        snd_sample_thread *thread = &self->threads[i];
        if (!snd_sample_observe(self, thread, now, &has_moved))
            snd_sample_end_thread(thread, now);
        else
            snd_sample_settle(self, thread, now);
    }
    uint64_t cpu_ns = snd_process_cpu_ns();
    self->measured_cpu_ns += cpu_ns - self->start_cpu_ns;
    self->start_cpu_ns = cpu_ns;
    if (self->measured_cpu_ns < self->seen_cpu_ns) /* the process's clock lags behind threads that run elsewhere */
        self->measured_cpu_ns = self->seen_cpu_ns;
}

void
snd_sample_clear(void)
{
    snd_sampler *self = &snd_sample_state;

    snd_lock_take(&self->lock);
    snd_sample_forget_threads();
    snd_sample_tree_free(&self->tree);
    self->seen_cpu_ns = self->own_cpu_ns = self->measured_cpu_ns = self->weighed_ns = 0;
    self->weighed_ns2 = 0;
    SND_SET(self->missed, 0);
    self->interrupted = self->answers = self->answer_ticks = 0;
    self->stitched = self->misfits = self->plain = self->plain_inside = 0;
    self->other_row = SND_NONE;
    if (the_listener != NULL)
        the_listener->on_clear();
    snd_gpu_clear();
    snd_lock_leave(&self->lock);
}

int
snd_sample_need_native(snd_sampler *self)
{
    if (self->native == NULL)
        self->native = snd_sample_native_new(self->options.native);
    return self->native != NULL;
}

static void
keep_note(const snd_sample_options *options)
{
    const snd_sample_native *native = snd_sample_state.native;
    const char *why = native == NULL ? "out of memory" : snd_sample_native_why_not(native);

    note[0] = '\0';
    if (options->native && why != NULL)
        snprintf(note, sizeof note, "no native callers: %s", why);
    else if (snd_sample_state.options.no_signals && !options->no_signals && !options->resting)
        snprintf(note, sizeof note, "no free signal: running threads are read from outside");
}

const char *
snd_sample_note(void)
{
    return note[0] == '\0' ? NULL : note;
}

typedef struct wanted {
    const snd_sample_options *options;
    const snd_sample_interpreter *interpreter;
} wanted;

/* From now on this is asked for. */
static void
take_wishes(uintptr_t argument)
{
    const snd_sample_options *options = ((const wanted *)argument)->options;
    const snd_sample_interpreter *interpreter = ((const wanted *)argument)->interpreter;
    snd_sampler *self = &snd_sample_state;
    int is_slow = interpreter != NULL && interpreter->prepare != NULL;

    self->options = *options;
    self->python = interpreter;
    if (is_slow || options->no_signals || options->resting || !snd_sample_signal_start(interpreter))
        self->options.no_signals = 1;
    if (options->native)
        (void)snd_sample_need_native(self);
    keep_note(options);
    self->tree.keeps_events = options->timeline;
    self->tree.drops_imports = options->no_imports;
    SND_SET(self->is_paused, options->paused != 0 || options->resting);
    rebase();
}

snd_status
snd_sample_start(const snd_sample_options *options, const snd_sample_interpreter *interpreter, uint64_t origin_ns)
{
    snd_sampler *self = &snd_sample_state;
    const wanted all = {options, interpreter};

    if (!options->resting)
        snd_sample_gpu_start();
    if (snd_sample_is_running()) {
        if (options->resting && !self->options.resting)
            snd_sample_set_paused(1);
        else if (!options->resting && self->options.resting) {
            snd_sample_with_files(take_wishes, (uintptr_t)&all);
            snd_sample_gpu_resume();
        }
        self->options.resting = options->resting;
        return SND_OK;
    }
    self->origin_ns = origin_ns;
    self->has_one_processor = snd_process_has_one_processor();
    snd_sample_with_files(take_wishes, (uintptr_t)&all);
    sem_init(&running.wake, 0, 0);
    SND_SET(running.is_wanted, 1);
    if (!start_thread()) {
        snd_sample_stop();
        return SND_SYSTEM;
    }
    return SND_OK;
}

static void
finish(uintptr_t nothing)
{
    snd_sampler *self = &snd_sample_state;

    (void)nothing;
    SND_SET(running.is_wanted, 0);
    self->stop_ns = snd_clock_monotonic_ns();
    if (!SND_GET(self->is_paused))
        settle_all(self->stop_ns);
    snd_sample_forget_threads();
    snd_sample_codes_free(&self->codes);
    snd_sample_native_free(self->native);
    self->native = NULL;
}

void
snd_sample_stop(void)
{
    if (!snd_sample_is_running())
        return;
    end_own_thread();
    snd_sample_gpu_stop();
    snd_sample_signal_stop();
    snd_sample_with_files(finish, 0);
    sem_destroy(&running.wake);
}

void
snd_sample_call_when_busy(int (*function)(void))
{
    SND_SET(running.when_busy, function);
}

int
snd_sample_is_running(void)
{
    return SND_GET(running.is_wanted);
}

int
snd_sample_keeps_timeline(void)
{
    return snd_sample_state.tree.keeps_events;
}

static void
set_paused(uintptr_t paused)
{
    snd_sampler *self = &snd_sample_state;

    if (!snd_sample_is_running() || (int)paused == SND_GET(self->is_paused))
        return;
    if (paused)
        settle_all(snd_clock_monotonic_ns());
    else
        rebase();
    SND_SET(self->is_paused, (int)paused);
}

void
snd_sample_set_paused(int paused)
{
    snd_sample_with_files(set_paused, paused != 0);
}

static void
reset(uintptr_t nothing)
{
    snd_sampler *self = &snd_sample_state;

    (void)nothing;
    if (snd_sample_is_running() && !SND_GET(self->is_paused))
        settle_all(snd_clock_monotonic_ns()); /* what was used so far is forgotten, too */
    self->tree.tick++;
    for (uint32_t i = 0; i < self->tree.node_count; i++) {
        snd_sample_node *node = &self->tree.nodes[i];
        memset(node->values, 0, sizeof node->values);
        node->samples = node->gpu_ns = node->gpu_seen_ns = 0;
        node->gpu_area = 0;
        node->changed = self->tree.tick;
    }
    snd_gpu_clear();
    self->tree.samples = 0;
    self->seen_cpu_ns = self->own_cpu_ns = self->measured_cpu_ns = self->weighed_ns = 0;
    self->weighed_ns2 = 0;
    self->start_cpu_ns = snd_process_cpu_ns();
}

void
snd_sample_reset(void)
{
    snd_sample_with_files(reset, 0);
}

/* ---- fork ---- */

/* What the fork itself takes, while nobody looks, would stand for what the thread does next. */
void
snd_sample_suspend(void)
{
    end_own_thread();
    snd_sample_charge_here();
}

void
snd_sample_resume(void)
{
    if (!snd_sample_is_running() || running.is_running)
        return;
    snd_sample_charge_here();
    if (!start_thread())
        snd_sample_stop();
}

void
snd_sample_before_fork(void)
{
    snd_lock_take(&snd_sample_state.lock);
}

void
snd_sample_after_fork(int in_child)
{
    if (!in_child) {
        snd_lock_leave(&snd_sample_state.lock);
        return;
    }
    /* the lock knows its owner by a number that the child does not have */
    snd_sample_state.lock = (snd_lock){0};
    SND_SET(running.is_wanted, 0);
    running.busy_ticks = 0;
    SND_SET(running.when_busy, NULL);
    snd_sample_signal_stop();
    snd_sample_clear();
    snd_sample_codes_free(&snd_sample_state.codes); /* nobody is told of code that dies until the next start */
}

/* ---- the probe ---- */

static int
is_wanted(const snd_probe_wishes *wishes)
{
    return wishes->sample.rate_hz != 0 || wishes->memory.on; /* memory needs its threads and its tree */
}

static snd_status
start_as_wished(const snd_probe_wishes *wishes)
{
    snd_sample_options options = wishes->sample;

    options.resting = options.rate_hz == 0;
    has_measured |= !options.resting;
    return snd_sample_start(&options, wishes->interpreter, wishes->origin_ns);
}

static void
pause_time(int paused)
{
    if (!snd_sample_state.options.resting)
        snd_sample_set_paused(paused);
}

static void
end(void)
{
    snd_sample_set_paused(1);
}

static void
clear_all(void)
{
    snd_sample_clear();
    has_measured = 0;
}

static snd_status
update(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin, uint64_t now)
{
    (void)origin, (void)now; /* samples have the monotonic clock */
    return snd_sample_update(snapshot, profile);
}

static int
has_samples(void)
{
    return has_measured;
}

const snd_probe snd_sample_probe = {
    .name = "sample",
    .is_wanted = is_wanted,
    .start = start_as_wished,
    .stop = snd_sample_stop,
    .pause = pause_time,
    .end = end,
    .reset = snd_sample_reset,
    .clear = clear_all,
    .suspend = snd_sample_suspend,
    .resume = snd_sample_resume,
    .before_fork = snd_sample_before_fork,
    .after_fork = snd_sample_after_fork,
    .snapshot = update,
    .describe = snd_sample_describe,
    .note = snd_sample_note,
    .has_measured = has_samples,
};
