/* One sample of a thread: does it run or wait, where is it, and how much time does that stand for.
 *
 * A thread's CPU clock says how long it ran since its last sample, the wall clock how long it did not. Both are kept
 * until the thread is seen running, or waiting, and then stand for what it was seen doing. So nothing is counted
 * twice, and everything once. */
#include "probe/sample/sample_private.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "os/peek.h"
#include "os/process.h"

#define UNANSWERED_LIMIT 50u               /* ticks in which it ran, but did not answer */
#define MOST_PENDING_NS UINT64_C(16000000) /* of CPU time, until a thread is asked wherever it is */
#define MUTE_NS UINT64_C(200000000)        /* of CPU time, in which the kernel's tick should have met it */
#define TICK_QUESTIONS 256u                /* at the kernel's tick, after an answer from a system call */
#define PATIENCE_NS UINT64_C(1000000000)   /* of waiting, until such a question is taken back */

enum { PYTHON, NATIVE, SYSTEM, WAIT_CPU, WAIT_LOCK, WAIT_GIL, WAIT_IO, WAIT_SLEEP, WAIT_OTHER };
_Static_assert(WAIT_OTHER + 1 == SND_SAMPLE_STATES, "the states follow the list of metrics");

/* The import that a frame of the interpreter's own code is part of; SND_NONE: none, somebody else called it. */
static uint32_t
import_of(snd_sampler *self, uint32_t node, const snd_sample_frame *caller, int is_entry)
{
    if (self->tree.nodes[node].is_import)
        return node;
    const char *module = caller == NULL ? NULL : snd_sample_imported(&self->codes, self->python, caller);
    if (module == NULL && is_entry)
        module = "(by name)"; /* importlib.import_module(name), which no code names */
    return module == NULL ? SND_NONE : snd_sample_tree_import(&self->tree, node, module);
}

uint32_t
snd_sample_add_frame(snd_sampler *self, uint32_t base, uint32_t node, const snd_sample_frame *frame,
                     const snd_sample_frame *caller, int *is_call)
{
    snd_sample_place place = snd_sample_place_of(&self->codes, self->python, frame);

    *is_call = place.is_call;
    if (place.is_launcher)
        return base;
    uint32_t import =
        place.is_importer ? import_of(self, node, caller, place.is_importer == SND_SAMPLE_IMPORTS) : SND_NONE;
    if (import != SND_NONE)
        return import;
    return place.site == SND_NONE ? node : snd_sample_tree_child(&self->tree, node, place.site);
}

uint32_t
snd_sample_stack_node(snd_sampler *self, uint32_t parent, const snd_sample_stack *stack, int *leaf_calls)
{
    uint32_t node = parent;

    *leaf_calls = 0;
    if (stack->is_cut)
        node = snd_sample_tree_other(&self->tree, node, "[deeper]");
    for (uint32_t i = stack->count; i-- > 0;) {
        const snd_sample_frame *caller = i + 1 < stack->count ? &stack->frames[i + 1] : NULL;
        node = snd_sample_add_frame(self, parent, node, &stack->frames[i], caller, leaf_calls);
        if (i + 1 == stack->collects) {
            node = snd_sample_tree_other(&self->tree, node, SND_SITE_COLLECTION);
            *leaf_calls = 1; /* and what runs is no Python, wherever in the interpreter it is */
        }
    }
    return node;
}

uint32_t
snd_sample_base(snd_sampler *self, uint32_t row, const snd_node *region)
{
    uint32_t root = self->tree.rows[row].root;

    while (region != NULL && region->parent != NULL && snd_site_kind_get(region->site) == SND_SITE_OP)
        region = region->parent; /* a tree of stacks for each kind of call would be a large one */
    if (region == NULL || region->parent == NULL)
        return root;
    return snd_sample_tree_region(&self->tree, root, region);
}

const snd_node *
snd_sample_region(const snd_sampler *self, uint32_t row)
{
    const snd_track *track = self->tree.rows[row].track;
    return track == NULL ? NULL : SND_GET(track->running);
}

static unsigned
cpu_state(snd_sampler *self, const snd_sample_slot *slot, int leaf_calls)
{
    const snd_sample_interpreter *python = self->python;

    if (slot->call != SND_CALL_NONE)
        return SYSTEM;
    if (python == NULL || slot->stack.count == 0)
        return NATIVE;
    int is_inside = snd_sample_is_evaluating(python, &slot->stack, slot->pc);
    if (!leaf_calls) {
        self->plain++;
        self->plain_inside += is_inside != 0;
    }
    if (is_inside)
        return PYTHON;
    return !leaf_calls && snd_sample_is_in(python->code, 2, slot->pc) ? PYTHON : NATIVE;
}

/* A line in which native code runs: by what it calls, if the code names that, and native frames say no more. */
static uint32_t
as_called(snd_sampler *self, uint32_t node, const snd_sample_stack *stack)
{
    const snd_sample_node *found = &self->tree.nodes[node];

    if (stack->count == 0 || stack->collects != 0 || found->site == SND_NONE)
        return node;
    uint32_t site = snd_sample_called_site(&self->codes, self->python, &stack->frames[0], found->site);
    return site == SND_NONE ? node : snd_sample_tree_child(&self->tree, found->parent, site);
}

/* A thread's root and a region are no place where it can be: nobody saw where it was. */
static uint32_t
as_place(snd_sampler *self, uint32_t node)
{
    return self->tree.nodes[node].site != SND_NONE ? node : snd_sample_tree_other(&self->tree, node, "[not seen]");
}

/* All that it ran and nobody saw where. A thread answers as soon as it is outside the kernel, so what it ran since the
 * question, which may be a long system call, is of the answer as well. */
static void
charge_cpu(snd_sampler *self, snd_sample_thread *thread, uint32_t node, unsigned state, uint64_t now_ns)
{
    uint64_t ns = thread->pending_cpu_ns;

    thread->run_node = as_place(self, node);
    if (!thread->is_ours) {
        self->weighed_ns += ns;
        self->weighed_ns2 += (double)ns * (double)ns;
    }
    snd_sample_tree_add(&self->tree, thread->run_node, state, ns, now_ns);
    thread->pending_cpu_ns = 0;
}

/* A signal from another processor arrives after some microseconds, or at the next system call if that is sooner. A
 * thread that was met at one may have run anywhere: from then on it is asked in a way that prefers no place. */
static void
note_manner(const snd_sampler *self, snd_sample_thread *thread)
{
    if (thread->waits_for_tick)
        thread->tick_questions--;
    else if (thread->slot->call != SND_CALL_NONE && !self->shares_processor && !self->has_one_processor)
        thread->tick_questions = TICK_QUESTIONS;
    thread->waits_for_tick = 0;
}

void
snd_sample_take_answer(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    snd_sample_slot *slot = thread->slot;
    int leaf_calls;

    if (!thread->is_asked || !snd_sample_is_answered(slot))
        return;
    note_manner(self, thread);
    thread->is_asked = thread->is_mute = 0;
    thread->unanswered = 0;
    if (slot->state != 0) {
        thread->state = slot->state;
        self->tree.rows[thread->row].is_python = 1;
    }
    self->answers++;
    self->answer_ticks += slot->cost_ticks;
    self->interrupted += slot->call == SND_CALL_INTERRUPTED;
    if (slot->stack.compiled != 0 && self->python->find_compiled != NULL)
        slot->stack.jit = self->python->find_compiled(slot->stack.compiled);
    uint32_t base = snd_sample_base(self, thread->row, slot->region);
    uint32_t node = snd_sample_stack_node(self, base, &slot->stack, &leaf_calls);
    unsigned state = cpu_state(self, slot, leaf_calls);
    if (slot->native != NULL && snd_sample_need_native(self))
        node = snd_sample_stitch(self, base, slot);
    else if (slot->stack.count == 0 && snd_sample_need_native(self))
        node = snd_sample_native_child(self->native, &self->tree, base, slot->pc);
    if (state != PYTHON)
        node = as_called(self, node, &slot->stack);
    charge_cpu(self, thread, node, state, now_ns);
    atomic_store_explicit(&slot->taken, SND_GET(slot->asked), memory_order_release);
}

/* What was read while the thread went on may never have been a frame. */
static int
is_all_code(snd_sampler *self, const snd_sample_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++)
        if (!snd_sample_place_of(&self->codes, self->python, &stack->frames[i]).is_known)
            return 0;
    return 1;
}

/* Where another thread stands that may go on at any moment. Its CPU clock tells whether it did. */
static int
node_of_other(snd_sampler *self, snd_sample_thread *thread, uint32_t base, uint32_t *node, int *leaf_calls)
{
    uint64_t after;
    int found = self->python->walk_thread(thread->task.thread_id, thread->state, &self->scratch);

    if (!found || (thread->is_waiting && snd_task_cpu_ns(&thread->task, &after) && after != thread->cpu_ns) ||
        !is_all_code(self, &self->scratch))
        return 0;
    *node = snd_sample_stack_node(self, base, &self->scratch, leaf_calls);
    return 1;
}

static int
node_from_outside(snd_sampler *self, snd_sample_thread *thread, uint32_t *node, int *leaf_calls)
{
    uint32_t base = snd_sample_base(self, thread->row, snd_sample_region(self, thread->row));

    if (self->python == NULL || thread->state == 0) {
        *node = base;
        return 1;
    }
    SND_SET(self->is_reading, 1);
    atomic_thread_fence(memory_order_seq_cst);
    int found = node_of_other(self, thread, base, node, leaf_calls);
    atomic_store_explicit(&self->is_reading, 0, memory_order_release);
    return found;
}

static unsigned
wait_state(const snd_sampler *self, snd_task_state state, uintptr_t address)
{
    switch (state) {
    case SND_TASK_LOCK:
        return self->python != NULL && snd_sample_is_in(&self->python->locks, 1, address) ? WAIT_GIL : WAIT_LOCK;
    case SND_TASK_IO:
        return WAIT_IO;
    case SND_TASK_SLEEP:
        return WAIT_SLEEP;
    default:
        return WAIT_OTHER;
    }
}

static int
keeps_waiting(const snd_sampler *self, const snd_sample_thread *thread)
{
    return !self->options.cpu_only && !thread->is_quiet;
}

static void
charge_wait(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    if (keeps_waiting(self, thread) && thread->wait_node != SND_NONE)
        snd_sample_tree_add(&self->tree, thread->wait_node, thread->wait_state, thread->pending_wait_ns, now_ns);
    thread->charged_wait_ns += thread->pending_wait_ns;
    thread->pending_wait_ns = 0;
}

static void
observe_waiting(snd_sampler *self, snd_sample_thread *thread, snd_task_state state, uintptr_t address, uint64_t now_ns)
{
    uint32_t node;
    int leaf_calls;

    thread->is_waiting = 1;
    if (!keeps_waiting(self, thread)) {
        thread->pending_wait_ns = 0;
        return;
    }
    if (!node_from_outside(self, thread, &node, &leaf_calls)) {
        thread->is_waiting = 0; /* it went on: look again next time */
        return;
    }
    thread->wait_node = node;
    thread->wait_state = wait_state(self, state, address);
    charge_wait(self, thread, now_ns);
}

/* A thread that runs, as far as that can be told without stopping it: its leaf tells Python from native. */
static void
read_running(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    uint32_t node;
    int leaf_calls = 1;

    if (!node_from_outside(self, thread, &node, &leaf_calls)) {
        atomic_fetch_add_explicit(&self->missed, 1, memory_order_relaxed);
        return;
    }
    if (leaf_calls)
        node = as_called(self, node, &self->scratch);
    charge_cpu(self, thread, node, leaf_calls ? NATIVE : PYTHON, now_ns);
}

/* Ready, but not running: the kernel knows for how long, once it is over. So far it was taken for the wait before it,
 * and may have been charged: that is put right. */
static void
charge_delay(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    uint64_t delay = snd_task_delay_ns(&thread->task);
    uint64_t ns = delay > thread->delay_ns ? delay - thread->delay_ns : 0;
    uint32_t node = thread->run_node != SND_NONE ? thread->run_node : thread->wait_node;
    uint64_t pending = ns < thread->pending_wait_ns ? ns : thread->pending_wait_ns;
    uint64_t charged = ns - pending < thread->charged_wait_ns ? ns - pending : thread->charged_wait_ns;

    if (thread->delay_ns == SND_SAMPLE_NO_DELAY)
        thread->delay_ns = delay;
    if (ns == 0)
        return;
    thread->delay_ns = delay;
    if (pending + charged == 0 || node == SND_NONE || !keeps_waiting(self, thread))
        return;
    thread->pending_wait_ns -= pending;
    thread->charged_wait_ns -= charged;
    if (charged != 0)
        self->tree.nodes[thread->wait_node].values[thread->wait_state] -= charged;
    snd_sample_tree_add(&self->tree, node, WAIT_CPU, pending + charged, now_ns);
}

static int
asks_at_tick(const snd_sampler *self, const snd_sample_thread *thread)
{
    return thread->tick_questions != 0 && !self->shares_processor;
}

static void
note_silence(snd_sampler *self, snd_sample_thread *thread, int has_run)
{
    if (thread->waits_for_tick) {
        thread->is_mute = thread->pending_cpu_ns > MUTE_NS;
        return;
    }
    atomic_fetch_add_explicit(&self->missed, 1, memory_order_relaxed);
    thread->unanswered += has_run != 0;
    thread->is_mute = thread->unanswered > UNANSWERED_LIMIT;
}

/* One that did not run could not answer; one that ran and did not is asked again once it has answered. */
static void
ask(snd_sampler *self, snd_sample_thread *thread, int has_run, uint64_t now_ns)
{
    if (thread->slot == NULL)
        thread->slot = snd_sample_slot_take();
    if (thread->slot == NULL || thread->is_mute || self->options.no_signals ||
        snd_sample_signal_is_silent(thread->task.thread_id)) {
        read_running(self, thread, now_ns);
        return;
    }
    if (thread->is_asked) {
        note_silence(self, thread, has_run);
        return;
    }
    if (self->options.native && thread->slot->native == NULL)
        thread->slot->native = snd_malloc(SND_SAMPLE_NATIVE_SIZE);
    SND_SET(thread->slot->track, self->tree.rows[thread->row].track);
    thread->waits_for_tick = asks_at_tick(self, thread) &&
                             snd_sample_ask_at_kernel_tick(thread->slot, thread->task.thread_id, thread->task.clock);
    thread->is_asked = thread->waits_for_tick || snd_sample_ask(thread->slot, thread->task.thread_id);
    if (!thread->is_asked)
        read_running(self, thread, now_ns);
}

void
snd_sample_unask(snd_sample_thread *thread)
{
    if (!thread->is_asked || !thread->waits_for_tick)
        return;
    snd_sample_forget_question(thread->slot);
    thread->is_asked = thread->waits_for_tick = 0;
}

void
snd_sample_be_silent(int on)
{
    snd_lock_take(&snd_sample_state.lock);
    snd_sample_signal_silence(snd_thread_id(), on);
    snd_lock_leave(&snd_sample_state.lock);
    if (on)
        snd_sample_signal_take_back();
}

static void
observe_ours(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    uint32_t root = self->tree.rows[thread->row].root;

    self->own_cpu_ns += thread->pending_cpu_ns;
    thread->pending_wait_ns = 0;
    if (thread->pending_cpu_ns != 0)
        charge_cpu(self, thread, snd_sample_tree_other(&self->tree, root, "[sonde]"), NATIVE, now_ns);
}

/* One that is ready is where the kernel took its processor away, which is more often at a system call than its time
 * is: what it ran waits until it is met running. On a single processor that can never be, and on a crowded machine it
 * may take too long, since our thread runs when this one does not. */
static int
is_time_to_ask(const snd_sampler *self, const snd_sample_thread *thread)
{
    uint64_t now;
    return self->has_one_processor || self->shares_processor || thread->pending_cpu_ns >= MOST_PENDING_NS ||
           (snd_task_cpu_ns(&thread->task, &now) && now != thread->cpu_ns);
}

/* The clocks are read one after the other: what one sample takes too much, a later one has too little. Taken for
 * waiting, it would add up to more than the thread lived. */
static uint64_t
waited_of(snd_sample_thread *thread, uint64_t ran, uint64_t passed)
{
    uint64_t away = passed > ran ? passed - ran : 0;
    uint64_t back = away < thread->ahead_ns ? away : thread->ahead_ns;

    thread->ahead_ns += ran > passed ? ran - passed : 0;
    thread->ahead_ns -= back;
    return away - back;
}

/* How long it ran and how long passed, since the last time. 0: the thread is gone. */
static int
read_clocks(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns, uint64_t *ran, uint64_t *passed)
{
    uint64_t cpu;

    if (!snd_task_cpu_ns(&thread->task, &cpu) || cpu < thread->cpu_ns)
        return 0;
    *ran = cpu - thread->cpu_ns;
    *passed = now_ns > thread->wall_ns ? now_ns - thread->wall_ns : 0;
    thread->cpu_ns = cpu;
    thread->wall_ns = now_ns;
    thread->pending_cpu_ns += *ran;
    thread->pending_wait_ns += waited_of(thread, *ran, *passed);
    self->seen_cpu_ns += *ran;
    return 1;
}

int
snd_sample_walk_own(const snd_sampler *self, snd_sample_stack *out)
{
    uintptr_t state, here = (uintptr_t)&state;

    out->count = out->is_cut = out->collects = 0;
    if (self->python == NULL || self->python->prepare != NULL)
        return 0;
    self->python->walk_here(out, snd_stack_end(here), &state);
    return 1;
}

/* What it ran before an open question stays with that. */
void
snd_sample_charge_here(void)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t now = snd_clock_monotonic_ns(), ran, passed;
    int leaf_calls;

    snd_lock_take(&self->lock);
    snd_sample_thread *thread = snd_sample_find_thread(snd_thread_id());
    uint64_t asked = thread != NULL && thread->is_asked ? thread->pending_cpu_ns : 0;
    if (thread != NULL && !SND_GET(self->is_paused) && snd_sample_walk_own(self, &self->scratch) &&
        read_clocks(self, thread, now, &ran, &passed)) {
        uint32_t base = snd_sample_base(self, thread->row, snd_sample_region(self, thread->row));
        thread->pending_cpu_ns -= asked;
        charge_cpu(self, thread, snd_sample_stack_node(self, base, &self->scratch, &leaf_calls), SYSTEM, now);
        thread->pending_cpu_ns = asked;
    }
    snd_lock_leave(&self->lock);
}

int
snd_sample_observe(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns, int *has_moved)
{
    uint64_t ran, passed;
    uintptr_t address;

    snd_sample_take_answer(self, thread, now_ns);
    if (!read_clocks(self, thread, now_ns, &ran, &passed))
        return 0;
    *has_moved = ran != 0;
    if (thread->is_ours) {
        *has_moved = 0;
        observe_ours(self, thread, now_ns);
        return 1;
    }
    if (ran == 0 && thread->is_waiting) {
        charge_wait(self, thread, now_ns);
        if (thread->charged_wait_ns > PATIENCE_NS) /* the program may come to use the signal itself */
            snd_sample_unask(thread);
        return 1;
    }
    int was_away = passed > ran && passed - ran > passed / 8;
    if (was_away)
        charge_delay(self, thread, now_ns);
    thread->charged_wait_ns = 0;
    snd_task_state state = snd_task_read_state(&thread->task, &address);
    if (state == SND_TASK_UNKNOWN) /* the file is closed to us: the clock still tells */
        state = ran != 0 ? SND_TASK_RUNS : SND_TASK_OTHER;
    if (state != SND_TASK_RUNS) {
        observe_waiting(self, thread, state, address, now_ns);
        return 1;
    }
    thread->is_waiting = 0;
    if (!(was_away || SND_GET(self->is_late)) || asks_at_tick(self, thread) || is_time_to_ask(self, thread))
        ask(self, thread, ran != 0, now_ns);
    return 1;
}

void
snd_sample_settle(snd_sampler *self, snd_sample_thread *thread, uint64_t now_ns)
{
    uint32_t root = self->tree.rows[thread->row].root;

    snd_sample_take_answer(self, thread, now_ns);
    if (thread->pending_cpu_ns != 0)
        charge_cpu(self, thread, root, NATIVE, now_ns);
    if (thread->pending_wait_ns != 0 && !thread->is_ours && keeps_waiting(self, thread))
        snd_sample_tree_add(&self->tree, as_place(self, root), WAIT_OTHER, thread->pending_wait_ns, now_ns);
    thread->pending_wait_ns = 0;
    snd_sample_unask(thread);
    thread->is_asked = 0;
}

/* ---- code that dies ---- */

static void
forget(uintptr_t code)
{
    snd_sample_codes_forget(&snd_sample_state.codes, code);
    snd_sample_tell_code_gone();
}

static void
take_and_forget(uintptr_t code)
{
    snd_sampler *self = &snd_sample_state;
    uint64_t now = snd_clock_monotonic_ns();

    for (uint32_t i = 0; i < self->thread_count; i++)
        snd_sample_take_answer(self, &self->threads[i], now);
    forget(code);
}

void
snd_sample_forget_code(uintptr_t code)
{
    snd_sampler *self = &snd_sample_state;

    atomic_thread_fence(memory_order_seq_cst); /* who reads from outside meets no frame of it, or is seen here */
    if (!snd_sample_is_running())
        return;
    /* in this order: what is pending becomes known before it is not pending any more */
    if (!SND_GET(self->is_reading) && !snd_sample_is_pending(code) && !snd_sample_codes_may_know(&self->codes, code))
        return;
    snd_lock_take(&self->lock);
    int is_pending = snd_sample_is_pending(code);
    if (!is_pending)
        forget(code);
    snd_lock_leave(&self->lock);
    if (is_pending) /* its native callers may need files */
        snd_sample_with_files(take_and_forget, code);
}
