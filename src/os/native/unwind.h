/* From a function's registers to those of its caller, by rules; the stack is a copy, since the thread runs on. */
#ifndef SND_OS_UNWIND_H
#define SND_OS_UNWIND_H

#include "os/context.h"

/* A part of a thread's stack as it was when the registers were taken. It should start SND_RED_ZONE bytes below the
 * stack pointer. Nothing outside it is ever read: the rest of the stack is another one by now. */
typedef struct snd_stack_copy {
    const unsigned char *bytes;
    uint64_t address; /* where the first byte was */
    size_t size;
} snd_stack_copy;

/* The frame's base (CFA) is what the stack pointer was before the call. */
typedef enum snd_base_kind {
    SND_BASE_REGISTER, /* a register + offset */
    SND_BASE_MEMORY,   /* what stands in memory at a register + offset */
    SND_BASE_PLT,      /* in a linkage table: a register + offset, and 8 more from byte `threshold` of 16 on */
} snd_base_kind;

typedef enum snd_move_kind {
    SND_MOVE_SAVED, /* stands in memory at the base + offset */
    SND_MOVE_BASE,  /* is the base + offset */
    SND_MOVE_BASED, /* stands in memory at the register `from` + offset */
} snd_move_kind;

/* Where the caller's value of a register is. */
typedef struct snd_move {
    uint8_t kind;
    uint8_t target;
    uint8_t from; /* SND_MOVE_BASED */
    uint8_t unused;
    int32_t offset;
} snd_move;

/* How to get from one function to its caller. A register without a move keeps its value. Nothing but fields, and 0 in
 * those that are not used, so that rules can be compared as bytes. */
typedef struct snd_unwind_rule {
    uint8_t base_kind;
    uint8_t base;            /* register */
    uint8_t threshold;       /* SND_BASE_PLT */
    uint8_t return_register; /* what holds the caller's pc after the moves */
    uint8_t is_outermost;    /* nobody called this function */
    uint8_t is_signal;       /* the caller was interrupted: its pc is not behind a call */
    uint8_t move_count;
    uint8_t unused;
    int32_t base_offset;
    snd_move moves[SND_REGISTER_COUNT];
} snd_unwind_rule;

/* How a walk ended. */
typedef enum snd_unwind_end {
    SND_UNWIND_WHOLE,     /* at the outermost function */
    SND_UNWIND_TRUNCATED, /* the copy of the stack, or the room for the answer, ended first */
    SND_UNWIND_BROKEN,    /* the stack makes no sense above the last frame, or code says nothing of its frames */
} snd_unwind_end;

typedef enum snd_step { SND_STEP_DONE, SND_STEP_OUTERMOST, SND_STEP_TRUNCATED, SND_STEP_BROKEN } snd_step;

/* Turns the registers into the caller's. They are undefined unless the answer is SND_STEP_DONE. */
snd_step snd_unwind_step(const snd_unwind_rule *rule, const snd_stack_copy *stack, snd_registers *registers);

/* The rule for code that keeps a frame pointer. Whether it does is not known: it is a guess that the caller checks. */
snd_unwind_rule snd_unwind_by_frame_pointer(void);

/* Whether a signal handler returns to `pc`: code that no debug information describes on aarch64 (elsewhere it does, and
 * the answer is no). Its rule is the other one. */
int snd_unwind_is_handlers_return(uint64_t pc);
snd_unwind_rule snd_unwind_by_signal_frame(void);

#endif
