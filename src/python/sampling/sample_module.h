/* Room: what the sampler must know of the interpreter. */
/* The sampler's knowledge of this interpreter. */
#ifndef SND_PYTHON_SAMPLE_H
#define SND_PYTHON_SAMPLE_H

#include "python/module/state.h"

#include "probe/core/probe.h"
#include "probe/sample/sample_stack.h"

/* Makes the sampler ready to look into this interpreter, with the GIL held: checks on a known stack that it reads it
 * right. `options` may be changed: what cannot be trusted here is switched off, and a note says so. */
const snd_sample_interpreter *snd_sample_interpreter_start(snd_sample_options *options);

/* After the sampler has started: the threads get their names, now and when new ones come. */
void snd_sample_names_start(void);

/* Before the sampler stops, and after it. */
void snd_sample_names_stop(void);
void snd_sample_interpreter_stop(void);

/* While samples are taken: whoever waits for signals gets none of ours. */
void snd_sample_signals_hook(int on);

/* The program takes this signal; if it was the sampler's, that takes another. Whatever is wrong with the number is told
 * by the function that gets it. */
void snd_sample_signals_leave(PyObject *number);

/* Whether the running sampler takes the GIL, so that nobody who has it may wait for the sampler. */
int snd_sample_needs_gil(void);

/* The slow and safe way: with the GIL, by the interpreter's own functions. */
void snd_sample_safe_prepare(void);
void snd_sample_safe_finish(void);
int snd_sample_safe_walk(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack);
void snd_sample_safe_list(snd_sample_take_thread *take, void *context);
int snd_sample_safe_code(uintptr_t code, snd_sample_code *out);
void snd_sample_safe_stop(void);

/* A garbage collection begins or ends on the calling thread, which has the GIL all the time. */
void snd_sample_safe_collects(int begins);

/* Whether the interpreter's frames can be read as they lie. 1: everything we read of a known stack is what the
 * interpreter says of it. With the GIL held. */
int snd_sample_check(void);

/* Where the evaluation loop's machine code is. Fills `loop`, `handlers` and `code` of the interpreter, and tries
 * whether calls of each kind come out of the loop. 0: some do not, or it was not found; then `loop` is empty. With the
 * GIL. An interpreter does not change: what was found once is. */
int snd_loop_find(snd_sample_interpreter *out);

#endif
