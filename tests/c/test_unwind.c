/* Single steps by rules made by hand: sound, truncated and broken stacks. */
#include "check.h"
#include "os/native/unwind.h"

enum { STACK = 0x1000, SIZE = 256 };

static unsigned char bytes[SIZE];
static const snd_stack_copy stack = {bytes, STACK, SIZE};

static void
put(uint64_t address, uint64_t value)
{
    memcpy(bytes + (address - STACK), &value, sizeof value);
}

static snd_registers
registers_at(uint64_t sp, uint64_t fp)
{
    snd_registers registers = {{0}};

    registers.value[SND_REGISTER_PC] = 0x400000;
    registers.value[SND_REGISTER_SP] = sp;
    registers.value[SND_REGISTER_FP] = fp;
    return registers;
}

/* As a compiler describes a function that moved the stack pointer by `size`, with the return address on top. */
static snd_unwind_rule
rule_for(int32_t size)
{
    snd_unwind_rule rule = snd_unwind_by_frame_pointer();

    rule.base = SND_REGISTER_SP;
    rule.base_offset = size;
    return rule;
}

static void
a_step_restores_what_was_saved(void)
{
    snd_registers registers = registers_at(STACK + 16, 5);
    snd_unwind_rule rule = rule_for(48);

    put(STACK + 48, 0x7777);
    put(STACK + 56, 0x401234);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x401234);
    CHECK_NUMBER(registers.value[SND_REGISTER_FP], 0x7777);
    CHECK_NUMBER(registers.value[SND_REGISTER_SP], STACK + 64);
}

static void
a_frame_pointer_leads_to_the_caller(void)
{
    snd_registers registers = registers_at(STACK, STACK + 80);
    snd_unwind_rule rule = snd_unwind_by_frame_pointer();

    put(STACK + 80, STACK + 200);
    put(STACK + 88, 0x401000);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x401000);
    CHECK_NUMBER(registers.value[SND_REGISTER_FP], STACK + 200);
    CHECK_NUMBER(registers.value[SND_REGISTER_SP], STACK + 96);
}

static void
what_is_behind_the_copy_is_truncated(void)
{
    static const int32_t sizes[] = {SIZE + 8, SIZE + 9, SIZE + 16, 100000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snd_registers registers = registers_at(STACK, 0);
        snd_unwind_rule rule = rule_for(sizes[i]);
        CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_TRUNCATED);
    }
    const snd_stack_copy none = {bytes, STACK, 0};
    snd_registers registers = registers_at(STACK, 0);
    snd_unwind_rule rule = rule_for(16);
    CHECK(snd_unwind_step(&rule, &none, &registers) == SND_STEP_TRUNCATED);
}

static void
the_last_word_of_the_copy_is_read(void)
{
    snd_registers registers = registers_at(STACK, 0);
    snd_unwind_rule rule = rule_for(SIZE);

    put(STACK + SIZE - 8, 0x405000);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x405000);
}

static void
what_cannot_be_a_stack_is_broken(void)
{
    static const uint64_t pointers[] = {0, 8, STACK - 100, STACK - 16};
    snd_unwind_rule by_pointer = snd_unwind_by_frame_pointer();

    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        snd_registers registers = registers_at(STACK + 8, pointers[i]);
        CHECK(snd_unwind_step(&by_pointer, &stack, &registers) == SND_STEP_BROKEN);
    }
    /* Saved below all that was copied. */
    snd_registers registers = registers_at(STACK, 0);
    snd_unwind_rule below = rule_for(16);
    below.moves[0].offset = -64;
    CHECK(snd_unwind_step(&below, &stack, &registers) == SND_STEP_BROKEN);
}

static void
a_step_that_goes_nowhere_is_broken(void)
{
    snd_unwind_rule still;
    snd_registers registers = registers_at(STACK, 0);

    memset(&still, 0, sizeof still);
    still.base = SND_REGISTER_SP;
    still.return_register = SND_REGISTER_PC;
    CHECK(snd_unwind_step(&still, &stack, &registers) == SND_STEP_BROKEN);
}

static void
the_outermost_function_has_no_caller(void)
{
    snd_unwind_rule rule = rule_for(16);
    snd_registers registers = registers_at(STACK, 0);

    put(STACK + 8, 0);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_OUTERMOST);
    put(STACK + 8, 0x401000);
    rule.is_outermost = 1;
    registers = registers_at(STACK, 0);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_OUTERMOST);
}

static void
the_base_may_stand_in_memory(void)
{
    snd_unwind_rule rule = rule_for(24);
    snd_registers registers = registers_at(STACK, 0);

    rule.base_kind = SND_BASE_MEMORY;
    put(STACK + 24, STACK + 128);
    put(STACK + 120, 0x402000);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x402000);
    CHECK_NUMBER(registers.value[SND_REGISTER_SP], STACK + 128);
    put(STACK + 24, STACK - 8); /* below the stack pointer */
    registers = registers_at(STACK, 0);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_BROKEN);
}

static void
a_linkage_table_pushes_a_word_half_way(void)
{
    snd_unwind_rule rule = rule_for(16);
    snd_registers registers = registers_at(STACK, 0);

    rule.base_kind = SND_BASE_PLT;
    rule.threshold = 11;
    put(STACK + 8, 0x401000);
    put(STACK + 16, 0x402000);
    registers.value[SND_REGISTER_PC] = 0x40000a;
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x401000);
    registers = registers_at(STACK, 0);
    registers.value[SND_REGISTER_PC] = 0x40000b;
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_PC], 0x402000);
}

static void
a_register_may_stand_where_another_points(void)
{
    snd_unwind_rule rule = rule_for(32);
    snd_registers registers = registers_at(STACK + 8, 0);

    rule.moves[0].kind = SND_MOVE_BASED;
    rule.moves[0].from = SND_REGISTER_SP;
    rule.moves[0].offset = 64;
    put(STACK + 72, 99);
    put(STACK + 32, 0x401000);
    CHECK(snd_unwind_step(&rule, &stack, &registers) == SND_STEP_DONE);
    CHECK_NUMBER(registers.value[SND_REGISTER_FP], 99);
}

int
main(void)
{
    RUN(a_step_restores_what_was_saved);
    RUN(a_frame_pointer_leads_to_the_caller);
    RUN(what_is_behind_the_copy_is_truncated);
    RUN(the_last_word_of_the_copy_is_read);
    RUN(what_cannot_be_a_stack_is_broken);
    RUN(a_step_that_goes_nowhere_is_broken);
    RUN(the_outermost_function_has_no_caller);
    RUN(the_base_may_stand_in_memory);
    RUN(a_linkage_table_pushes_a_word_half_way);
    RUN(a_register_may_stand_where_another_points);
    return check_report();
}
