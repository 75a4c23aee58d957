/* What a signal handler finds of the code it interrupted. All of it async-signal-safe. */
#ifndef SND_OS_CONTEXT_H
#define SND_OS_CONTEXT_H

#include "base/attr.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

typedef enum snd_call_state {
    SND_CALL_NONE,
    SND_CALL_IN,    /* in a system call, which goes on */
    SND_CALL_ENDED, /* the signal ended it early: the program gets EINTR */
} snd_call_state;

/* What unwinding starts from. */
typedef struct snd_registers {
    uint64_t values[33]; /* by their DWARF numbers */
    uint64_t pc;
} snd_registers;

#if defined(__x86_64__)
static inline uintptr_t
snd_context_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t
snd_context_sp(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}

/* A call that is made again stands before its instruction, one that has an answer behind it. */
static inline snd_call_state
snd_context_call(const void *context)
{
    static const unsigned char instruction[] = {0x0f, 0x05};
    const unsigned char *pc = (const unsigned char *)snd_context_pc(context);
    long long answer = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RAX];

    if (pc == NULL)
        return SND_CALL_NONE;
    if (memcmp(pc, instruction, 2) == 0)
        return SND_CALL_IN;
    if (((uintptr_t)pc & 4095) < 2 || memcmp(pc - 2, instruction, 2) != 0)
        return SND_CALL_NONE;
    return answer == -EINTR ? SND_CALL_ENDED : SND_CALL_IN;
}

static inline void
snd_context_registers(const void *context, snd_registers *out)
{
    static const unsigned char order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                          REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    const greg_t *from = ((const ucontext_t *)context)->uc_mcontext.gregs;

    for (unsigned i = 0; i < sizeof order; i++)
        out->values[i] = (uint64_t)from[order[i]];
    out->pc = (uint64_t)from[REG_RIP];
    out->values[16] = out->pc;
}
#elif defined(__aarch64__)
static inline uintptr_t
snd_context_pc(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
}

static inline uintptr_t
snd_context_sp(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
}

static inline snd_call_state
snd_context_call(const void *context)
{
    const uint32_t instruction = 0xd4000001;
    const uint32_t *pc = (const uint32_t *)snd_context_pc(context);
    long long answer = (long long)((const ucontext_t *)context)->uc_mcontext.regs[0];

    if (pc == NULL)
        return SND_CALL_NONE;
    if (*pc == instruction)
        return SND_CALL_IN;
    if (((uintptr_t)pc & 4095) < 4 || pc[-1] != instruction)
        return SND_CALL_NONE;
    return answer == -EINTR ? SND_CALL_ENDED : SND_CALL_IN;
}

static inline void
snd_context_registers(const void *context, snd_registers *out)
{
    const mcontext_t *from = &((const ucontext_t *)context)->uc_mcontext;

    for (unsigned i = 0; i < 31; i++)
        out->values[i] = from->regs[i];
    out->values[31] = from->sp;
    out->pc = from->pc;
    out->values[32] = from->pc;
}
#else
#error "sonde knows x86-64 and aarch64"
#endif

#endif
