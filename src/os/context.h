/* What a signal handler learns of the thread that it interrupted. All functions are async-signal-safe and lock-free. */
#ifndef SND_OS_CONTEXT_H
#define SND_OS_CONTEXT_H

#include "base/attr.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The registers that unwinding knows, by their DWARF numbers. */
#if defined(__x86_64__)
enum { SND_REGISTER_FP = 6, SND_REGISTER_SP = 7, SND_REGISTER_PC = 16, SND_REGISTER_COUNT };
#define SND_RED_ZONE 128u /* bytes below the stack pointer that a function may use: a copy starts there */
#else                     /* aarch64 */
enum { SND_REGISTER_FP = 29, SND_REGISTER_LR = 30, SND_REGISTER_SP = 31, SND_REGISTER_PC = 32, SND_REGISTER_COUNT };
#define SND_RED_ZONE 0u
#endif

typedef struct snd_registers {
    uint64_t value[SND_REGISTER_COUNT];
} snd_registers;

/* `context` is the third argument of the handler, here and below. */
static inline uint64_t
snd_context_pc(const void *context)
{
    const ucontext_t *self = context;
#if defined(__x86_64__)
    return (uint64_t)self->uc_mcontext.gregs[REG_RIP];
#else
    return self->uc_mcontext.pc;
#endif
}

static inline uint64_t
snd_context_sp(const void *context)
{
    const ucontext_t *self = context;
#if defined(__x86_64__)
    return (uint64_t)self->uc_mcontext.gregs[REG_RSP];
#else
    return self->uc_mcontext.sp;
#endif
}

/* The register that holds what a system call answered. */
static inline uint64_t
snd_context_result(const void *context)
{
    const ucontext_t *self = context;
#if defined(__x86_64__)
    return (uint64_t)self->uc_mcontext.gregs[REG_RAX];
#else
    return self->uc_mcontext.regs[0];
#endif
}

static inline void
snd_context_registers(const void *context, snd_registers *out)
{
    const ucontext_t *self = context;
#if defined(__x86_64__)
    static const unsigned char order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                          REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                          REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < SND_REGISTER_COUNT; i++)
        out->value[i] = (uint64_t)self->uc_mcontext.gregs[order[i]];
#else
    for (unsigned i = 0; i < SND_REGISTER_SP; i++)
        out->value[i] = self->uc_mcontext.regs[i];
    out->value[SND_REGISTER_SP] = self->uc_mcontext.sp;
    out->value[SND_REGISTER_PC] = self->uc_mcontext.pc;
#endif
}

/* How the thread stands to the kernel. */
typedef enum snd_call {
    SND_CALL_NONE,        /* in code of its own */
    SND_CALL_RETURNED,    /* just behind a system call that did what it should */
    SND_CALL_INTERRUPTED, /* just behind one that the signal ended: it answered EINTR */
    SND_CALL_RESTARTS, /* at one that it is about to do: mostly one that the signal interrupted and that starts again */
} snd_call;

/* Whether a few bytes of code can be read, without a fault when they cannot: rt_sigprocmask copies its set before it
 * refuses what it shall do with it. Half a microsecond. */
static inline int
snd_code_is_readable(uint64_t address)
{
    int saved = errno;
    long answer = syscall(SYS_rt_sigprocmask, -1, (const void *)(uintptr_t)(address & ~UINT64_C(7)), NULL, 8);
    int is_readable = answer == -1 && errno != EFAULT;

    errno = saved;
    return is_readable;
}

/* Whether the instruction for a system call starts at `address`, which must be readable. */
static inline int
snd_code_is_call(uint64_t address)
{
#if defined(__x86_64__)
    static const unsigned char call[] = {0x0f, 0x05};
#else
    static const unsigned char call[] = {0x01, 0x00, 0x00, 0xd4};
#endif
    unsigned char bytes[sizeof call];

    memcpy(bytes, (const void *)(uintptr_t)address, sizeof bytes);
    return memcmp(bytes, call, sizeof call) == 0;
}

/* How a thread at `pc` whose result register holds `result` stands to the kernel. `pc` must be where code runs: that
 * page can be read, but the one before it, or the next one, need not be there. */
static inline snd_call
snd_code_call(uint64_t pc, uint64_t result)
{
#if defined(__x86_64__)
    const uint64_t size = 2;
#else
    const uint64_t size = 4;
#endif
    const uint64_t page = 4096; /* larger ones only make the question below more frequent than it need be */

    if ((int64_t)pc < 0) /* the legacy page of x86, which runs but cannot be read */
        return SND_CALL_NONE;
    if ((pc % page >= size || snd_code_is_readable(pc - size)) && snd_code_is_call(pc - size))
        return result == (uint64_t)-EINTR ? SND_CALL_INTERRUPTED : SND_CALL_RETURNED;
    if ((pc % page <= page - size || snd_code_is_readable(pc + size - 1)) && snd_code_is_call(pc))
        return SND_CALL_RESTARTS;
    return SND_CALL_NONE;
}

static inline snd_call
snd_context_call(const void *context)
{
    return snd_code_call(snd_context_pc(context), snd_context_result(context));
}

#endif
