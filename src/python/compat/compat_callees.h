/* What the call instructions of a code object call, as far as the code names it. */
#ifndef SND_PYTHON_COMPAT_CALLEES_H
#define SND_PYTHON_COMPAT_CALLEES_H

#include "python/compat/compat_stack.h"

/* Fills `callees` and `callee_texts`, as far as names can be read; `code` is a copy of the object's head, `units` one
 * of its instructions. Leaves both NULL when nothing is known. */
void snd_code_read_callees(const PyCodeObject *code, const unsigned char *units, snd_sample_code *out);

/* A text at this address, which may be gone; the caller frees it. NULL: this is no text. */
char *snd_stack_read_text(uintptr_t address);

#endif
