/* Room: the sampler: a thread that finds out where all others are, and what they wait for. */
/* The sampler: a thread that samples all others a thousand times a second and keeps where it found them. */
#ifndef SND_PROBE_SAMPLE_H
#define SND_PROBE_SAMPLE_H

#include "probe/core/probe.h"
#include "probe/sample/sample_stack.h"

extern const snd_probe snd_sample_probe;

/* Who shares the sampler's thread and its tree is told what happens to them. */
typedef struct snd_sample_listener {
    void (*before_tick)(void);        /* on each thread of the sampler's, without the lock */
    void (*on_tick)(uint64_t now_ns); /* under the lock, as the others are */
    void (*on_clear)(void);           /* all nodes go */
    void (*on_code_gone)(void);
} snd_sample_listener;

/* One listener, from now on; it must live on. */
void snd_sample_listen(const snd_sample_listener *listener);

/* Starts the thread, if it does not run; what was seen before stays. `interpreter` may be NULL (a program without
 * Python) and must live on. `origin`: the start of the recording on the monotonic clock. SND_SYSTEM: no thread, or no
 * signal is free. */
SND_MUST_USE snd_status snd_sample_start(const snd_sample_options *options, const snd_sample_interpreter *interpreter,
                                         uint64_t origin_ns);

/* Ends the thread; what was seen stays until the next start. Everything that a thread used is accounted for then. */
void snd_sample_stop(void);

int snd_sample_is_running(void);

/* Whether its samples are kept one by one, also when it has stopped. */
int snd_sample_keeps_timeline(void);

/* Something that was asked for and does not work here, as a sentence; NULL: nothing. Static storage. */
const char *snd_sample_note(void);

/* Once the program has run for a moment the sampler's thread calls `function`, and again until that says 1. */
void snd_sample_call_when_busy(int (*function)(void));

/* Samples stop and go on. */
void snd_sample_set_paused(int paused);

/* Forgets what was seen; the places stay known. */
void snd_sample_reset(void);

/* Forgets everything, before a new recording. No sampler may run. */
void snd_sample_clear(void);

/* Ends the thread and starts it again, around a fork or before the process runs another program. */
void snd_sample_suspend(void);
void snd_sample_resume(void);

/* Around fork, while suspended, so that no child inherits a lock that nobody will release. In the child nothing was
 * seen yet, and no thread of ours runs. */
void snd_sample_before_fork(void);
void snd_sample_after_fork(int in_child);

/* The code object at this address is about to be freed. */
void snd_sample_forget_code(uintptr_t code);

/* From now on the calling thread gets no signal of the sampler's, and none is on its way; or it may again. */
void snd_sample_be_silent(int on);

/* The program is about to give a signal an action of its own: if it is ours, another one is taken, and no question by
 * this one is under way any more. */
void snd_sample_leave_signal(int number);

/* Threads of the program's surroundings, such as a notebook's, until it is called again: what they wait for is not
 * kept, and they are shown once they have used a processor for a moment. Their calls are not counted. More than 64 are
 * not taken. */
void snd_sample_set_quiet(const uint32_t *thread_ids, uint32_t count);
int snd_sample_is_quiet(uint32_t thread_id);

/* The name of a thread, as its program has it. */
void snd_sample_name_thread(uint32_t thread_id, const char *name);

/* Brings `profile` up to date; times count from the start's origin. */
SND_MUST_USE snd_status snd_sample_update(snd_snapshot *snapshot, snd_profile *profile);

/* Gives the events since the last call to `take`: profile nodes and tracks. The profile must be up to date. */
typedef void snd_sample_take_event(void *context, const snd_profile_event *event);
void snd_sample_drain(const snd_snapshot *snapshot, const snd_profile *profile, snd_sample_take_event *take,
                      void *context);

/* What is to be said of the samples as a whole: rate, number, missed, our own cost. */
SND_MUST_USE snd_status snd_sample_describe(snd_profile *profile);

#endif
