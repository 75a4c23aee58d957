/* What a code object says, read without the GIL: it may be freed at any moment. */
#include "python/compat/compat_callees.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"
#include "os/peek.h"

#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: another header has the table */
#define NEED_OPCODE_METADATA
#include <internal/pycore_opcode_metadata.h>
#else
#define NEED_OPCODE_TABLES
#include <internal/pycore_opcode.h>
#endif
#include <opcode.h>
#include <string.h>

#define TEXT_LIMIT 4096
#define UNIT_LIMIT (1 << 22)
#define TABLE_LIMIT (1u << 25)

/* A copy of `size` bytes; the caller frees it. NULL: they are not there. */
static void *
copy_bytes(uintptr_t address, size_t size)
{
    void *copy = snd_malloc(size + 1);
    if (copy != NULL && size != 0 && !snd_peek(address, copy, size)) {
        snd_free(copy);
        return NULL;
    }
    return copy;
}

/* ---- texts ---- */

static void
put_character(snd_buffer *out, uint32_t c)
{
    if (c >= 0xdc80 && c <= 0xdcff) /* a byte of a file name that is not UTF-8 */
        snd_buffer_char(out, (char)(c - 0xdc00));
    else if (c < 0x80)
        snd_buffer_char(out, (char)c);
    else if (c < 0x800) {
        snd_buffer_char(out, (char)(0xc0 | c >> 6));
        snd_buffer_char(out, (char)(0x80 | (c & 0x3f)));
    }
    else if (c < 0x10000) {
        snd_buffer_char(out, (char)(0xe0 | c >> 12));
        snd_buffer_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        snd_buffer_char(out, (char)(0x80 | (c & 0x3f)));
    }
    else {
        snd_buffer_char(out, (char)(0xf0 | (c >> 18 & 7)));
        snd_buffer_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        snd_buffer_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        snd_buffer_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

static char *
encode(const void *data, size_t len, unsigned width)
{
    snd_buffer out = {0};

    for (size_t i = 0; i < len; i++)
        put_character(&out, width == 1   ? ((const uint8_t *)data)[i]
                            : width == 2 ? ((const uint16_t *)data)[i]
                                         : ((const uint32_t *)data)[i]);
    snd_buffer_char(&out, '\0');
    if (snd_buffer_status(&out) != SND_OK)
        snd_buffer_free(&out);
    return out.data;
}

char *
snd_stack_read_text(uintptr_t address)
{
    PyCompactUnicodeObject head;
    PyASCIIObject *base = (PyASCIIObject *)&head;

    if (!snd_peek(address, &head, sizeof head) || Py_TYPE(&head) != &PyUnicode_Type || !base->state.compact)
        return NULL;
    size_t len = (size_t)base->length;
    unsigned width = base->state.kind;
    if (width != 1 && width != 2 && width != 4)
        return NULL;
    if (len > TEXT_LIMIT)
        len = TEXT_LIMIT;
    uintptr_t at = address + (base->state.ascii ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject));
    void *data = copy_bytes(at, len * width);
    char *text = data == NULL ? NULL : encode(data, len, width);
    snd_free(data);
    return text;
}

/* ---- lines ---- */

typedef struct table {
    const unsigned char *at, *end;
} table;

static unsigned
next_number(table *self)
{
    unsigned value = 0;

    for (unsigned shift = 0; self->at < self->end && shift < 30; shift += 6) {
        unsigned byte = *self->at++;
        value |= (byte & 63u) << shift;
        if ((byte & 64u) == 0)
            break;
    }
    return value;
}

static int
next_signed(table *self)
{
    unsigned value = next_number(self);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* One entry of the table: how far the line moves; `*has_line` 0: the instructions belong to none. */
static int
next_entry(table *self, unsigned *units, int *has_line)
{
    unsigned first = *self->at++, kind = first >> 3 & 15;
    int moved = 0;

    *units = (first & 7) + 1;
    *has_line = kind != 15;
    if (kind == 14) {
        moved = next_signed(self);
        for (int i = 0; i < 3; i++)
            (void)next_number(self);
    }
    else if (kind == 13)
        moved = next_signed(self);
    else if (kind >= 10 && kind <= 12) {
        moved = (int)kind - 10;
        self->at += 2;
    }
    else if (kind < 10)
        self->at += 1;
    return moved;
}

static void
fill_lines(table entries, int line, uint32_t *lines, uint32_t count)
{
    uint32_t unit = 0;

    while (entries.at < entries.end && unit < count) {
        unsigned units;
        int has_line;
        line += next_entry(&entries, &units, &has_line);
        for (unsigned i = 0; i < units && unit < count; i++)
            lines[unit++] = has_line && line > 0 ? (uint32_t)line : 0;
    }
}

static int
read_lines(uintptr_t address, snd_sample_code *out)
{
    PyBytesObject head;

    if (!snd_peek(address, &head, sizeof head) || Py_TYPE(&head) != &PyBytes_Type)
        return 0;
    size_t size = (size_t)Py_SIZE(&head);
    unsigned char *data = size > TABLE_LIMIT ? NULL : copy_bytes(address + offsetof(PyBytesObject, ob_sval), size);
    if (data == NULL)
        return 0;
    fill_lines((table){data, data + size}, (int)out->first_line, out->lines, out->unit_count);
    snd_free(data);
    return 1;
}

/* ---- instructions ---- */

static int
is_call(unsigned char opcode)
{
    switch (_PyOpcode_Deopt[opcode]) {
    case CALL:
    case CALL_FUNCTION_EX:
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: with names */
    case CALL_KW:
    case INSTRUMENTED_CALL_KW:
#endif
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: while somebody monitors */
    case INSTRUMENTED_CALL:
    case INSTRUMENTED_CALL_FUNCTION_EX:
    case CALL_INTRINSIC_1:
    case CALL_INTRINSIC_2:
#else
    case PRECALL:
#endif
        return 1;
    default:
        return 0;
    }
}

static int
read_calls(uintptr_t address, const PyCodeObject *code, snd_sample_code *out)
{
    unsigned char *units = copy_bytes(address, (size_t)out->unit_count * 2);

    for (uint32_t i = 0; units != NULL && i < out->unit_count; i++)
        out->is_call[i] = (unsigned char)is_call(units[2 * (size_t)i]);
    if (units != NULL)
        snd_code_read_callees(code, units, out);
    snd_free(units);
    return units != NULL;
}

/* Code that no traceback shows has no line to begin at, such as what the interpreter puts around a call of __init__
 * from 3.12 on: its name is also its file. */
static int
is_hidden(const PyCodeObject *code)
{
    return code->_co_firsttraceable >= Py_SIZE(code);
}

/* What stays the same as long as the code lives, and hardly comes again when it does not. An interpreter that runs the
 * same as one before it may have everything at the same addresses, so that the texts count, too. */
static uint64_t
mark_of(const PyCodeObject *code, const char *name, const char *file)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: a number for each */
    uint64_t version = code->co_version;
#else
    uint64_t version = 0;
#endif
    const uint64_t facts[] = {
        version,
        name == NULL ? 0 : snd_hash(name, strlen(name), 0),
        file == NULL ? 0 : snd_hash(file, strlen(file), 0),
        (uintptr_t)code->co_linetable,
        (uintptr_t)code->co_consts,
        (uint64_t)code->co_firstlineno,
        (uint64_t)Py_SIZE(code),
    };

    return snd_hash(facts, sizeof facts, 0) | 1;
}

uint64_t
snd_stack_mark_code(uintptr_t code)
{
    PyCodeObject head;

    if (!snd_peek(code, &head, offsetof(PyCodeObject, co_code_adaptive)) || Py_TYPE(&head) != &PyCode_Type)
        return 0;
    char *name = snd_stack_read_text((uintptr_t)head.co_qualname),
         *file = snd_stack_read_text((uintptr_t)head.co_filename);
    uint64_t mark = mark_of(&head, name, file);
    snd_free(name);
    snd_free(file);
    return mark;
}

/* Of the interpreter's own code that imports modules. */
static int
importer_of(const char *file, const char *name)
{
    static const char *const entries[] = {"_find_and_load", "_handle_fromlist", "_gcd_import"};
    static const char own[] = "<frozen importlib._bootstrap";

    if (file == NULL || name == NULL || strncmp(file, own, sizeof own - 1) != 0)
        return 0;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(name, entries[i]) == 0)
            return SND_SAMPLE_IMPORTS;
    return SND_SAMPLE_IMPORTER;
}

int
snd_stack_read_code(uintptr_t code, snd_sample_code *out)
{
    PyCodeObject head;

    if (!snd_peek(code, &head, offsetof(PyCodeObject, co_code_adaptive)) || Py_TYPE(&head) != &PyCode_Type ||
        Py_SIZE(&head) < 0 || Py_SIZE(&head) > UNIT_LIMIT)
        return 0;
    snd_sample_code found = {
        .name = snd_stack_read_text((uintptr_t)head.co_qualname),
        .file = snd_stack_read_text((uintptr_t)head.co_filename),
        .first_line = head.co_firstlineno > 0 ? (uint32_t)head.co_firstlineno : 0,
        .unit_count = (uint32_t)Py_SIZE(&head),
        .lines = snd_calloc((size_t)Py_SIZE(&head) + 1, sizeof(uint32_t)),
        .is_call = snd_calloc((size_t)Py_SIZE(&head) + 1, 1),
        .is_ours = is_hidden(&head) ? SND_SAMPLE_OURS : 0,
    };
    found.is_importer = importer_of(found.file, found.name);
    found.mark = mark_of(&head, found.name, found.file);
    if (found.name != NULL && found.file != NULL && found.lines != NULL && found.is_call != NULL &&
        read_lines((uintptr_t)head.co_linetable, &found) &&
        read_calls(code + offsetof(PyCodeObject, co_code_adaptive), &head, &found)) {
        *out = found;
        return 1;
    }
    snd_sample_code_free(&found);
    return 0;
}
