/* Asking a running thread where it is: a signal, and the slot that its handler fills. */
#ifndef SND_PROBE_SAMPLE_SIGNAL_H
#define SND_PROBE_SAMPLE_SIGNAL_H

#include "os/context.h"
#include "probe/core/track.h"
#include "probe/sample/sample_stack.h"

#include <time.h>

#define SND_SAMPLE_NO_TIMER (-1)      /* not needed so far */
#define SND_SAMPLE_REFUSED_TIMER (-2) /* the system gives none */
#define SND_SAMPLE_NATIVE_SIZE 65536u /* bytes of C stack that are copied for unwinding */

/* One a thread. Written by the handler between `asked` and `answered`, else by the sampler. */
typedef struct snd_sample_slot {
    _Atomic uint32_t asked;
    _Atomic uint32_t answered;
    _Atomic uint32_t taken; /* the last answer that the sampler has looked at */
    uint32_t number;

    /* given by the sampler */
    _Atomic int timer;                /* the kernel's number of the one for the thread's CPU time */
    int timer_signal;                 /* that it sends */
    _Atomic(const snd_track *) track; /* whose region runs; NULL: none */
    _Atomic uintptr_t proven;         /* from here to its end the thread's stack can be read; 0: not known */
    unsigned char *native;            /* SND_SAMPLE_NATIVE_SIZE bytes for a piece of stack; NULL: not wanted */

    /* the answer */
    uintptr_t pc, sp;
    uintptr_t state; /* the interpreter's number of the thread; 0: none */
    const snd_node *region;
    snd_call call; /* how it stands to the kernel */
    uint64_t cost_ticks;
    _Atomic int processor;   /* that the thread was on; -1: unknown */
    snd_registers registers; /* these three only with `native` */
    uint32_t native_size;
    uintptr_t native_start; /* where the copied piece of stack begins */
    snd_sample_stack stack;
} snd_sample_slot;

/* Takes a signal that nobody uses. 0: none is free. */
int snd_sample_signal_start(const snd_sample_interpreter *interpreter);

/* From now on the handler does nothing. It stays: the default action would kill. */
void snd_sample_signal_stop(void);

/* Takes another one, if this is ours; returns whether it was. Under the sampler's lock. */
int snd_sample_signal_leave(int wanted);

/* NULL when there is no room. Slots are never freed, but given back and used again. */
snd_sample_slot *snd_sample_slot_take(void);
void snd_sample_slot_give_back(snd_sample_slot *slot);

/* Whether an answer that nobody has looked at has a frame of this code, which no thread runs any more. */
int snd_sample_is_pending(uintptr_t code);

/* Threads that shall not be asked. Under the sampler's lock. */
void snd_sample_signal_silence(uint32_t thread_id, int on);
int snd_sample_signal_is_silent(uint32_t thread_id);

/* Takes back a question that waits for the calling thread to let signals in. */
void snd_sample_signal_take_back(void);

/* Sends the signal. 0: it could not be sent. */
int snd_sample_ask(snd_sample_slot *slot, uint32_t thread_id);

/* The kernel sends the signal when its own tick next meets the thread running. That costs nothing and prefers no place:
 * a signal from another processor takes longer to arrive than many programs need to their next system call, and is
 * delivered there. But there are only some hundred of these ticks in a second. `clock` is the thread's CPU time. 0:
 * there is no such timer. */
int snd_sample_ask_at_kernel_tick(snd_sample_slot *slot, uint32_t thread_id, clockid_t clock);

/* Takes such a question back: no answer to it is expected any more. */
void snd_sample_forget_question(snd_sample_slot *slot);

static inline int
snd_sample_is_answered(const snd_sample_slot *slot)
{
    return atomic_load_explicit(&slot->answered, memory_order_acquire) == SND_GET(slot->asked);
}

#endif
