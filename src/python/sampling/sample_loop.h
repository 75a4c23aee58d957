/* Where the evaluation loop's machine code is. */
#ifndef SND_PYTHON_SAMPLE_LOOP_H
#define SND_PYTHON_SAMPLE_LOOP_H

#include "probe/sample/sample_stack.h"

/* Fills `loop`, `handlers` and `code` of the interpreter, and tries whether calls of each kind come out of the loop.
 * 0: some do not, or it was not found; then `loop` is empty. With the GIL. An interpreter does not change: what was
 * found once is. */
int snd_loop_find(snd_sample_interpreter *out);

#endif
