/* What the call instructions of a code object call, as far as the code names it.
 *
 * Nobody tells which C function runs below a line. But the instructions before a call load what it calls, by name:
 * from the call back over its arguments, whose number and whose effect on the stack are known, that load is found.
 * An operator has the name of the function that does the same, in the module `operator`. */
#include "python/compat/compat_callees.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "os/peek.h"

#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: another header has the tables */
#include <internal/pycore_opcode_metadata.h>
#else
#include <internal/pycore_opcode.h>
#endif
#include <opcode.h>
#include <string.h>

#define UNIT_LIMIT (1u << 16) /* a module of data is larger, and calls nothing */
#define BACK_LIMIT 256u       /* instructions from a call back to what it calls */
#define NAME_PARTS 4u         /* of a.b.c.d, from the last on */

typedef struct instruction {
    uint32_t unit;
    int opcode, argument;
} instruction;

/* A tuple of texts of the code's: read when first asked for. */
typedef struct texts {
    uintptr_t items; /* where the tuple has them */
    uint32_t count;
    char **known;
} texts;

typedef struct reader {
    instruction *instructions;
    uint32_t count;
    texts names, locals;
    uintptr_t constants;
    uint32_t constant_count;
} reader;

/* ---- tuples ---- */

static int
find_items(uintptr_t tuple, uintptr_t *items, uint32_t *count)
{
    PyTupleObject head;

    if (!snd_peek(tuple, &head, offsetof(PyTupleObject, ob_item)) || Py_TYPE(&head) != &PyTuple_Type ||
        Py_SIZE(&head) < 0 || (size_t)Py_SIZE(&head) > UNIT_LIMIT)
        return 0;
    *items = tuple + offsetof(PyTupleObject, ob_item);
    *count = (uint32_t)Py_SIZE(&head);
    return 1;
}

static int
open_texts(uintptr_t tuple, texts *out)
{
    if (!find_items(tuple, &out->items, &out->count))
        return 0;
    out->known = snd_calloc(out->count + 1u, sizeof *out->known);
    return out->known != NULL;
}

static void
close_texts(texts *self)
{
    for (uint32_t i = 0; self->known != NULL && i < self->count; i++)
        snd_free(self->known[i]);
    snd_free((void *)self->known);
}

static const char *
text_at(texts *self, int index)
{
    uintptr_t item;

    if (index < 0 || (uint32_t)index >= self->count)
        return NULL;
    if (self->known[index] == NULL && snd_peek(self->items + (size_t)index * sizeof item, &item, sizeof item))
        self->known[index] = snd_stack_read_text(item);
    return self->known[index];
}

/* A method of a constant: of which type. */
static const char *
constant_type(const reader *self, int index)
{
    uintptr_t item;
    PyObject head;

    if (index < 0 || (uint32_t)index >= self->constant_count ||
        !snd_peek(self->constants + (size_t)index * sizeof item, &item, sizeof item) ||
        !snd_peek(item, &head, sizeof head))
        return NULL;
    return Py_TYPE(&head) == &PyUnicode_Type ? "str" : Py_TYPE(&head) == &PyBytes_Type ? "bytes" : NULL;
}

/* ---- instructions ---- */

/* While somebody monitors, instructions are others, and say nothing of the room behind them. */
static int
list_instructions(reader *self, const unsigned char *units, uint32_t unit_count)
{
    int extended = 0;

    for (uint32_t i = 0; i < unit_count; i++) {
        int opcode = _PyOpcode_Deopt[units[2 * (size_t)i]];
        int argument = extended | units[2 * (size_t)i + 1];
#ifdef MIN_INSTRUMENTED_OPCODE /* 3.12 */
        if (opcode >= MIN_INSTRUMENTED_OPCODE)
            return 0;
#endif
        extended = opcode == EXTENDED_ARG ? (int)((unsigned)argument << 8 & 0x7fffffffu) : 0;
        if (opcode == EXTENDED_ARG)
            continue;
        self->instructions[self->count++] = (instruction){i, opcode, argument};
        i += _PyOpcode_Caches[opcode];
    }
    return 1;
}

/* An instruction that goes elsewhere, or is gone to: then what lies before it did not run before it. */
static int
is_straight(const instruction *at, int *effect)
{
    *effect = PyCompile_OpcodeStackEffectWithJump(at->opcode, at->argument, 0);
    return *effect != PY_INVALID_STACK_EFFECT &&
           *effect == PyCompile_OpcodeStackEffectWithJump(at->opcode, at->argument, 1);
}

static int
is_jump(int opcode)
{
    switch (opcode) {
    case FOR_ITER:
    case JUMP_BACKWARD:
    case JUMP_FORWARD:
#ifdef POP_JUMP_IF_FALSE /* from 3.12 on */
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_TRUE:
    case POP_JUMP_IF_NONE:
    case POP_JUMP_IF_NOT_NONE:
#else
    case POP_JUMP_FORWARD_IF_FALSE:
    case POP_JUMP_FORWARD_IF_TRUE:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_FORWARD_IF_NOT_NONE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
    case JUMP_IF_FALSE_OR_POP:
    case JUMP_IF_TRUE_OR_POP:
#endif
    case SEND:
        return 1;
    default:
        return 0;
    }
}

/* How many values the call takes that were loaded behind what it calls; negative: it is no call that says. */
static int
arguments_of(const instruction *call)
{
    switch (call->opcode) {
    case CALL:
#if PY_VERSION_HEX < 0x030c0000 /* 3.11: a call is two instructions */
    case PRECALL:
#endif
        return call->argument;
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: and their names */
    case CALL_KW:
        return call->argument + 1;
#endif
    case CALL_FUNCTION_EX:
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: always a place for named ones */
        return 2;
#else
        return 1 + (call->argument & 1);
#endif
    default:
        return -1;
    }
}

/* What may stand between the load of what is called and its arguments. */
static int
is_between(int opcode)
{
#ifdef KW_NAMES /* until 3.12 */
    if (opcode == KW_NAMES)
        return 1;
#endif
    return opcode == PUSH_NULL || opcode == NOP;
}

/* The instruction that loaded what is called; UINT32_MAX: it is not in a straight line before it. */
static uint32_t
find_load(const reader *self, uint32_t call)
{
    int needed = arguments_of(&self->instructions[call]), effect;
    uint32_t at = call;

#if PY_VERSION_HEX < 0x030c0000 /* 3.11: the arguments stand before both */
    if (at > 0 && self->instructions[at].opcode == CALL && self->instructions[at - 1].opcode == PRECALL)
        at--;
#endif
    while (at > 0 && call - at < BACK_LIMIT) {
        const instruction *before = &self->instructions[--at];
        if (is_jump(before->opcode) || !is_straight(before, &effect))
            return UINT32_MAX;
        if (needed == 0 && is_between(before->opcode))
            continue;
        if (needed == 0)
            return at;
        needed -= effect;
        if (needed < 0)
            return UINT32_MAX;
    }
    return UINT32_MAX;
}

/* ---- names ---- */

/* The part of a name that one instruction says; `*goes_on`: it is an attribute of what was loaded before. */
static const char *
part_of(reader *self, const instruction *at, int *goes_on)
{
    *goes_on = 0;
    switch (at->opcode) {
    case LOAD_NAME:
        return text_at(&self->names, at->argument);
    case LOAD_GLOBAL:
        return text_at(&self->names, at->argument >> 1);
    case LOAD_FAST:
    case LOAD_DEREF:
#ifdef LOAD_FAST_CHECK /* 3.12 */
    case LOAD_FAST_CHECK:
#endif
#ifdef LOAD_FAST_BORROW /* 3.14 */
    case LOAD_FAST_BORROW:
#endif
        return text_at(&self->locals, at->argument);
#ifdef LOAD_FAST_BORROW_LOAD_FAST_BORROW /* 3.14 */
    case LOAD_FAST_BORROW_LOAD_FAST_BORROW:
#endif
#ifdef LOAD_FAST_LOAD_FAST /* 3.13 */
    case LOAD_FAST_LOAD_FAST:
    case STORE_FAST_LOAD_FAST:
        return text_at(&self->locals, at->argument & 15);
#endif
    case LOAD_CONST:
        return constant_type(self, at->argument);
    case LOAD_ATTR:
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: whether it is a method stands below the name */
        *goes_on = 1;
        return text_at(&self->names, at->argument >> 1);
#else
    case LOAD_METHOD:
        *goes_on = 1;
        return text_at(&self->names, at->argument);
#endif
    default:
        return NULL;
    }
}

/* As "data.count", or ".count" of something without a name. */
static int
put_name(reader *self, uint32_t load, snd_buffer *out)
{
    const char *parts[NAME_PARTS];
    uint32_t count = 0;
    int goes_on = 1;

    for (uint32_t at = load; goes_on && count < NAME_PARTS; at--) {
        const char *part = part_of(self, &self->instructions[at], &goes_on);
        if (part == NULL && count == 0)
            return 0;
        parts[count++] = part == NULL ? "" : part;
        if (part == NULL || at == 0)
            break;
    }
    while (count-- > 0)
        snd_buffer_printf(out, "%s%s", parts[count], count == 0 ? "" : ".");
    return 1;
}

static const char *
binary_name(int argument)
{
    static const char *const names[] = {
        [NB_ADD] = "add",
        [NB_AND] = "and_",
        [NB_FLOOR_DIVIDE] = "floordiv",
        [NB_LSHIFT] = "lshift",
        [NB_MATRIX_MULTIPLY] = "matmul",
        [NB_MULTIPLY] = "mul",
        [NB_REMAINDER] = "mod",
        [NB_OR] = "or_",
        [NB_POWER] = "pow",
        [NB_RSHIFT] = "rshift",
        [NB_SUBTRACT] = "sub",
        [NB_TRUE_DIVIDE] = "truediv",
        [NB_XOR] = "xor",
        [NB_INPLACE_ADD] = "iadd",
        [NB_INPLACE_AND] = "iand",
        [NB_INPLACE_FLOOR_DIVIDE] = "ifloordiv",
        [NB_INPLACE_LSHIFT] = "ilshift",
        [NB_INPLACE_MATRIX_MULTIPLY] = "imatmul",
        [NB_INPLACE_MULTIPLY] = "imul",
        [NB_INPLACE_REMAINDER] = "imod",
        [NB_INPLACE_OR] = "ior",
        [NB_INPLACE_POWER] = "ipow",
        [NB_INPLACE_RSHIFT] = "irshift",
        [NB_INPLACE_SUBTRACT] = "isub",
        [NB_INPLACE_TRUE_DIVIDE] = "itruediv",
        [NB_INPLACE_XOR] = "ixor",
#ifdef NB_SUBSCR /* 3.14 */
        [NB_SUBSCR] = "getitem",
#endif
    };
    return (size_t)argument < sizeof names / sizeof names[0] ? names[argument] : NULL;
}

static const char *
comparison_name(int argument)
{
    static const char *const names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: other things stand below */
    argument >>= 5;
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12 */
    argument >>= 4;
#endif
    return (size_t)argument < sizeof names / sizeof names[0] ? names[argument] : NULL;
}

/* The function of the module `operator` that does the same; NULL: there is none. */
static const char *
operator_name(const instruction *at)
{
    switch (at->opcode) {
    case BINARY_OP:
        return binary_name(at->argument);
    case COMPARE_OP:
        return comparison_name(at->argument);
    case CONTAINS_OP:
        return "contains";
    case UNARY_NEGATIVE:
        return "neg";
    case UNARY_INVERT:
        return "invert";
#ifdef BINARY_SUBSCR /* until 3.13 */
    case BINARY_SUBSCR:
#endif
#ifdef BINARY_SLICE /* 3.12 */
    case BINARY_SLICE:
#endif
        return "getitem";
#ifdef STORE_SLICE /* 3.12 */
    case STORE_SLICE:
#endif
    case STORE_SUBSCR:
        return "setitem";
    default:
        return NULL;
    }
}

/* Where the name of an imported module starts; 0: it has none. `from . import a` names what it imports later. */
static uint32_t
put_module(reader *self, uint32_t index, snd_buffer *out)
{
    const instruction *next = index + 1 < self->count ? &self->instructions[index + 1] : NULL;
    int argument = self->instructions[index].argument;
#if PY_VERSION_HEX >= 0x030f0000 /* 3.15: whether it is lazy stands below the name */
    argument >>= 2;
#endif
    const char *name = text_at(&self->names, argument);
    uint32_t start = (uint32_t)out->size;

    if (name == NULL)
        return 0;
    const char *part =
        *name == '\0' && next != NULL && next->opcode == IMPORT_FROM ? text_at(&self->names, next->argument) : NULL;
    snd_buffer_printf(out, "%s%s", part == NULL ? name : ".", part == NULL ? "" : part);
    snd_buffer_char(out, '\0');
    return start;
}

/* Where the name of what an instruction calls or imports starts; 0: it does not, or there is none. */
static uint32_t
put_callee(reader *self, uint32_t index, snd_sample_code *code, snd_buffer *out)
{
    const instruction *at = &self->instructions[index];
    const char *operator = operator_name(at);
    uint32_t start = (uint32_t)out->size;

    if (at->opcode == IMPORT_NAME)
        return put_module(self, index, out);
    if (operator != NULL) {
        code->is_call[at->unit] = SND_SAMPLE_OPERATOR;
        snd_buffer_printf(out, "operator.%s", operator);
    }
    else {
        uint32_t load = arguments_of(at) < 0 ? UINT32_MAX : find_load(self, index);
        if (load == UINT32_MAX || !put_name(self, load, out))
            return 0;
    }
    snd_buffer_char(out, '\0');
    return start;
}

/* One text after the other; the first is empty. The call of a line that comes again has its text again. */
static void
put_callees(reader *self, snd_sample_code *out)
{
    snd_buffer all = {0};
    uint32_t *callees = snd_calloc(out->unit_count + 1u, sizeof *callees);

    snd_buffer_char(&all, '\0');
    for (uint32_t i = 0; callees != NULL && i < self->count; i++)
        callees[self->instructions[i].unit] = put_callee(self, i, out, &all);
    if (callees == NULL || snd_buffer_status(&all) != SND_OK) {
        snd_buffer_free(&all);
        snd_free(callees);
        return;
    }
    out->callee_texts = all.data;
    out->callees = callees;
}

void
snd_code_read_callees(const PyCodeObject *code, const unsigned char *units, snd_sample_code *out)
{
    reader self = {0};

    if (out->unit_count > UNIT_LIMIT)
        return;
    self.instructions = snd_malloc((out->unit_count + 1u) * sizeof *self.instructions);
    if (self.instructions != NULL && open_texts((uintptr_t)code->co_names, &self.names) &&
        open_texts((uintptr_t)code->co_localsplusnames, &self.locals) &&
        find_items((uintptr_t)code->co_consts, &self.constants, &self.constant_count) &&
        list_instructions(&self, units, out->unit_count))
        put_callees(&self, out);
    close_texts(&self.names);
    close_texts(&self.locals);
    snd_free(self.instructions);
}
