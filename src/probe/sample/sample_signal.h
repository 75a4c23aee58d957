/* Asking a running thread where it is: a signal, and the slot that its handler fills. */
#ifndef SND_PROBE_SAMPLE_SIGNAL_H
#define SND_PROBE_SAMPLE_SIGNAL_H

#include "os/context.h"
#include "probe/core/track.h"
#include "probe/sample/sample_stack.h"

#define SND_SAMPLE_NATIVE_SIZE 65536u /* bytes of C stack that are copied for unwinding */

/* One a thread. Written by the handler between `asked` and `answered`, else by the sampler. */
typedef struct snd_sample_slot {
    _Atomic uint32_t asked;
    _Atomic uint32_t answered;
    _Atomic uint32_t taken; /* the last answer that the sampler has looked at */
    uint32_t number;

    /* given by the sampler */
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

static inline int
snd_sample_is_answered(const snd_sample_slot *slot)
{
    return atomic_load_explicit(&slot->answered, memory_order_acquire) == SND_GET(slot->asked);
}

#endif
