/* From a function's registers to those of its caller. */
#include "os/native/unwind.h"

#include <stddef.h>

#if defined(__aarch64__)
#define RETURN_REGISTER SND_REGISTER_LR
/* Above the address there may be a signature of it. */
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#else
#define RETURN_REGISTER SND_REGISTER_PC
#define ADDRESS_MASK UINT64_MAX
#endif

static snd_step
read_word(const snd_stack_copy *stack, uint64_t address, uint64_t *out)
{
    if (address < stack->address)
        return SND_STEP_BROKEN;
    uint64_t offset = address - stack->address;
    if (stack->size < sizeof *out || offset > stack->size - sizeof *out)
        return SND_STEP_TRUNCATED;
    memcpy(out, stack->bytes + offset, sizeof *out);
    return SND_STEP_DONE;
}

static snd_step
find_base(const snd_unwind_rule *rule, const snd_stack_copy *stack, const snd_registers *registers, uint64_t *out)
{
    *out = registers->value[rule->base] + (uint64_t)(int64_t)rule->base_offset;
    if (rule->base_kind == SND_BASE_MEMORY)
        return read_word(stack, *out, out);
    if (rule->base_kind == SND_BASE_PLT && (registers->value[SND_REGISTER_PC] & 15) >= rule->threshold)
        *out += 8;
    return SND_STEP_DONE;
}

snd_step
snd_unwind_step(const snd_unwind_rule *rule, const snd_stack_copy *stack, snd_registers *registers)
{
    const snd_registers before = *registers;
    uint64_t sp = before.value[SND_REGISTER_SP], base;

    if (rule->is_outermost)
        return SND_STEP_OUTERMOST;
    snd_step step = find_base(rule, stack, &before, &base);
    if (step != SND_STEP_DONE)
        return step;
    if (base < sp)
        return SND_STEP_BROKEN; /* stacks grow downwards: the caller's part is above */
    for (unsigned i = 0; i < rule->move_count; i++) {
        const snd_move *move = &rule->moves[i];
        uint64_t from =
            (move->kind == SND_MOVE_BASED ? before.value[move->from] : base) + (uint64_t)(int64_t)move->offset;
        if (move->kind == SND_MOVE_BASE)
            registers->value[move->target] = from;
        else
            step = read_word(stack, from, &registers->value[move->target]);
        if (step != SND_STEP_DONE)
            return step;
    }
    uint64_t pc = registers->value[rule->return_register] & ADDRESS_MASK;
    registers->value[SND_REGISTER_PC] = pc;
    if (pc == 0)
        return SND_STEP_OUTERMOST;
    /* Without a move of either the walk would stay where it is. */
    if (registers->value[SND_REGISTER_SP] == sp && pc == before.value[SND_REGISTER_PC])
        return SND_STEP_BROKEN;
    return SND_STEP_DONE;
}

snd_unwind_rule
snd_unwind_by_frame_pointer(void)
{
    snd_unwind_rule rule;

    memset(&rule, 0, sizeof rule);
    rule.base_kind = SND_BASE_REGISTER;
    rule.base = SND_REGISTER_FP;
    rule.base_offset = 16;
    rule.return_register = RETURN_REGISTER;
    rule.move_count = 3;
    rule.moves[0].kind = rule.moves[1].kind = SND_MOVE_SAVED;
    rule.moves[0].target = SND_REGISTER_FP;
    rule.moves[0].offset = -16;
    rule.moves[1].target = RETURN_REGISTER;
    rule.moves[1].offset = -8;
    rule.moves[2].kind = SND_MOVE_BASE;
    rule.moves[2].target = SND_REGISTER_SP;
    return rule;
}

/* DWARF for aarch64 has no number for the program counter, so the kernel describes nothing: one looks for its code. */
int
snd_unwind_is_handlers_return(uint64_t pc)
{
#if defined(__aarch64__)
    static const uint32_t code[] = {0xd2801168, 0xd4000001}; /* mov x8, #__NR_rt_sigreturn; svc #0 */

    return pc % sizeof code[0] == 0 && snd_code_is_readable(pc) && snd_code_is_readable(pc + sizeof code[0]) &&
           memcmp((const void *)(uintptr_t)pc, code, sizeof code) == 0;
#else
    (void)pc;
    return 0;
#endif
}

/* The kernel's frame is at the stack pointer: what it says of the signal, then the context, with all registers. */
snd_unwind_rule
snd_unwind_by_signal_frame(void)
{
    snd_unwind_rule rule;

    memset(&rule, 0, sizeof rule);
    rule.base_kind = SND_BASE_REGISTER;
    rule.base = SND_REGISTER_SP;
    rule.is_signal = 1;
    rule.return_register = SND_REGISTER_PC;
#if defined(__aarch64__)
    _Static_assert(offsetof(mcontext_t, pc) == offsetof(mcontext_t, regs) + SND_REGISTER_PC * sizeof(uint64_t),
                   "the registers have the order of their DWARF numbers");
    rule.base_offset = sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs);
    rule.move_count = SND_REGISTER_COUNT;
    for (unsigned i = 0; i < SND_REGISTER_COUNT; i++) {
        rule.moves[i].kind = SND_MOVE_SAVED;
        rule.moves[i].target = (uint8_t)i;
        rule.moves[i].offset = (int32_t)(i * sizeof(uint64_t));
    }
#endif
    return rule;
}
