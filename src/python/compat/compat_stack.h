/* Looking into the interpreter without its help: frames, threads and code read from where they lie. */
#ifndef SND_PYTHON_COMPAT_STACK_H
#define SND_PYTHON_COMPAT_STACK_H

#include "python/compat/compat.h"

#include "probe/sample/sample_stack.h"

/* As snd_sample_interpreter has them. */
void snd_stack_walk_here(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state);
int snd_stack_walk_thread(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack);
void snd_stack_list_threads(snd_sample_take_thread *take, void *context);
snd_range snd_stack_find_compiled(uintptr_t compiled);
int snd_stack_read_code(uintptr_t code, snd_sample_code *out);
uint64_t snd_stack_mark_code(uintptr_t code);

/* Whether frames, threads and code of the running interpreter lie as in the headers that we were compiled with, as far
 * as it says so itself. */
int snd_stack_is_as_compiled(void);

/* Where the GIL's lock is. */
snd_range snd_stack_locks(void);

/* An address inside the evaluation loop, the loop's name, and how the names of functions begin that it calls for each
 * instruction, where it does; NULL: where it does not. */
uintptr_t snd_stack_loop(const char **name, const char **handlers);

/* A place on the C stack that is a variable of the calling thread's innermost run of the loop; 0: none runs. */
uintptr_t snd_stack_marker(void);

/* From now on `died` hears of every code object that is about to be freed, or not any more. Two may listen. 0: it
 * cannot be told. */
typedef void snd_code_died(uintptr_t code);
int snd_stack_watch_code(snd_code_died *died, int on);

#endif
