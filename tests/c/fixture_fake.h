/* An interpreter for tests of the sampler: threads whose frames are known. */
#ifndef SND_TEST_FIXTURE_FAKE_H
#define SND_TEST_FIXTURE_FAKE_H

#include "model/profile.h"
#include "probe/sample/sample_stack.h"

/* None of this may be called but from a fake thread, or by the sampler. */
extern const snd_sample_interpreter fake_python;

/* The calling thread is one of the interpreter's from now on; and it is not any more. */
void fake_attach(void);
void fake_detach(void);

/* Enters and leaves a function. Its line tells its version, but for a frame that is not of this version. */
void fake_push(unsigned code);
void fake_pop(void);

/* A garbage collection begins in the innermost function, or ends there. */
void fake_collect(int on);

/* The function is freed, and another comes to its address: `version` + 1. No thread may be in it. */
void fake_replace(unsigned code);

#define FAKE_CODES 64u
#define FAKE_WRONG_LINE 999999u

/* A thread that works until it is told to end. */
typedef struct fake_thread {
    struct fake_state *state;
    void (*work)(struct fake_thread *self); /* again and again */
    unsigned code;
    _Atomic int may_end, is_ready, is_done;
    uint32_t thread_id;
    unsigned long handle;
} fake_thread;

void fake_start(fake_thread *self, void (*work)(fake_thread *self), unsigned code);

/* Works no more, but lives on and waits. */
void fake_halt(fake_thread *self);

/* Ends after a halt, or without one. */
void fake_end(fake_thread *self);

/* Uses the CPU for a while. */
void spin_us(unsigned us);

/* Waits until a thread has had so much of a processor, which others may want too. */
void let_run(uint32_t thread_id, unsigned ms);

/* ---- what the sampler has seen ---- */

/* In a profile of the caller's. */
snd_profile *sampled_profile(void);

/* Sum of a metric over all nodes, or over those of one track. */
uint64_t sampled_sum(const snd_profile *profile, snd_metric metric, uint32_t track);

/* The same for the three of CPU, and for all waiting. */
uint64_t sampled_cpu(const snd_profile *profile, uint32_t track);
uint64_t sampled_wait(const snd_profile *profile, uint32_t track);

/* The track of a thread's number; SND_NONE: there is none. */
uint32_t sampled_track(const snd_profile *profile, uint32_t thread_id);

/* A fact of snd_sample_describe. */
uint64_t sampled_fact(const char *key);

#endif
