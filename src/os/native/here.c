/* The calling thread's own native stack, followed by the compiler's library. */
#include "os/native/here.h"

#include <unwind.h>

typedef struct search {
    uintptr_t wanted;
    uintptr_t pc, sp; /* of the function before this one */
    uintptr_t found;
} search;

/* A function's variables lie between its stack pointer and that of its caller. */
static _Unwind_Reason_Code
look(struct _Unwind_Context *context, void *argument)
{
    search *self = argument;
    uintptr_t sp = _Unwind_GetCFA(context);

    if (self->pc != 0 && self->wanted >= self->sp && self->wanted < sp) {
        self->found = self->pc;
        return _URC_END_OF_STACK;
    }
    self->pc = _Unwind_GetIP(context);
    self->sp = sp;
    return _URC_NO_REASON;
}

uintptr_t
snd_here_around(uintptr_t address)
{
    search self = {.wanted = address};

    (void)_Unwind_Backtrace(look, &self);
    return self.found;
}
