/* A call of an operation as numbers, and these as text. Built at every call, on the stack. */
#include "python/numpy/numpy_ops.h"

#include "python/module/hook.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOK_LIMIT = 8,  /* elements of a sequence that are told one by one */
    TEXT_LIMIT = 48, /* bytes of a text, or of the name of a type */
};

/* The lowest byte of a word says what it is; what follows depends on that. */
typedef enum tag {
    ARRAY = 1, /* then its dimensions */
    DTYPE,
    NUMBER, /* then its value */
    INT,
    FLOAT,
    COMPLEX,
    TRUE,
    FALSE,
    NONE,
    TEXT, /* these four: then their bytes, eight to a word */
    TYPE,
    OTHER,
    KEYWORD,  /* then its value, as any other */
    SEQUENCE, /* then its elements */
    LONG_SEQUENCE,
    CUT,
} tag;

enum { ORDER_C, ORDER_F, ORDER_ROWS, ORDER_NONE };
static const char *const orders[] = {"", " F", " part", " strided"};

/* An array's or a dtype's word: tag 8, number 16, dimensions 8, order 4, other byte order 4, size 24 bits. */
#define SIZE_LIMIT 0xffffff

static inline void
add(snd_op_key *key, uint64_t word)
{
    if (SND_LIKELY(key->count < SND_OP_WORDS - 1))
        key->words[key->count++] = word;
    else
        key->words[SND_OP_WORDS - 1] = CUT, key->count = SND_OP_WORDS;
}

static void
add_bytes(snd_op_key *key, tag what, const char *text, size_t len)
{
    size_t told = len < TEXT_LIMIT ? len : TEXT_LIMIT;

    add(key, what | (uint64_t)told << 8 | (uint64_t)(told != len) << 32);
    for (size_t at = 0; at < told; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text + at, told - at < 8 ? told - at : 8);
        add(key, word);
    }
}

static void
add_text(snd_op_key *key, tag what, PyObject *text)
{
    if (PyUnicode_IS_COMPACT_ASCII(text))
        add_bytes(key, what, PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text));
    else
        add_bytes(key, what, "?", 1);
}

static inline uint64_t
dtype_word(const snd_dtype *dtype)
{
    uint64_t size = (uint64_t)snd_dtype_size(dtype);
    int is_swapped = dtype->byte_order == '>' || dtype->byte_order == '<';

    if (SND_UNLIKELY(size > SIZE_LIMIT))
        size = SIZE_LIMIT;
    return (uint64_t)(uint16_t)dtype->number << 8 | (uint64_t)is_swapped << 36 | size << 40;
}

static inline uint64_t
order_of(const snd_array *array)
{
    if (SND_LIKELY(array->flags & SND_ARRAY_C_ORDER))
        return ORDER_C;
    return array->flags & SND_ARRAY_F_ORDER ? ORDER_F : snd_array_has_rows(array) ? ORDER_ROWS : ORDER_NONE;
}

static inline void
add_array(snd_op_key *key, const snd_array *array)
{
    add(key, ARRAY | dtype_word(array->dtype) | (uint64_t)array->dimension_count << 24 | order_of(array) << 32);
    for (int i = 0; i < array->dimension_count; i++)
        add(key, (uint64_t)array->dimensions[i]);
}

static void
add_number(snd_op_key *key, const snd_op *op, PyObject *value)
{
    int overflow = 0;
    long long number = op->tells_values ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;

    if (!op->tells_values || overflow != 0) {
        add(key, INT);
        return;
    }
    add(key, NUMBER);
    add(key, (uint64_t)number);
    key->value_count++;
}

static void add_value(snd_op_key *key, const snd_op *op, PyObject *value, int depth);

static void
add_sequence(snd_op_key *key, const snd_op *op, PyObject *value)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    int is_long = count > LOOK_LIMIT;

    add(key, (is_long ? LONG_SEQUENCE : SEQUENCE) | (uint64_t)count << 8);
    for (Py_ssize_t i = 0; i < (is_long ? 1 : count); i++)
        add_value(key, op, PySequence_Fast_GET_ITEM(value, i), 1);
}

/* Everything but arrays. */
static void
add_other(snd_op_key *key, const snd_op *op, PyObject *value, int depth)
{
    if (PyLong_CheckExact(value))
        add_number(key, op, value);
    else if (PyFloat_CheckExact(value))
        add(key, FLOAT);
    else if (value == Py_None || value == Py_True || value == Py_False)
        add(key, value == Py_None ? NONE : value == Py_True ? TRUE : FALSE);
    else if (PyUnicode_CheckExact(value))
        add_text(key, TEXT, value);
    else if ((PyTuple_CheckExact(value) || PyList_CheckExact(value)) && depth == 0)
        add_sequence(key, op, value);
    else if (snd_dtype_is(value))
        add(key, DTYPE | dtype_word((snd_dtype *)value));
    else if (PyComplex_CheckExact(value))
        add(key, COMPLEX);
    else {
        const char *name = snd_type_name(PyType_Check(value) ? (PyTypeObject *)value : Py_TYPE(value));
        add_bytes(key, PyType_Check(value) ? TYPE : OTHER, name, strlen(name));
    }
}

static inline void
add_value(snd_op_key *key, const snd_op *op, PyObject *value, int depth)
{
    if (SND_LIKELY(snd_array_is(value)))
        add_array(key, (snd_array *)value);
    else
        add_other(key, op, value, depth);
}

static void
add_named(snd_op_key *key, const snd_op *op, PyObject *name, PyObject *value)
{
    if (PyUnicode_Check(name))
        add_text(key, KEYWORD, name);
    add_value(key, op, value, 0);
}

static void
add_keywords(snd_op_key *key, const snd_op *op, const snd_op_arguments *arguments)
{
    Py_ssize_t count = arguments->names == NULL ? 0 : PyTuple_GET_SIZE(arguments->names);
    Py_ssize_t at = 0;
    PyObject *name, *value;

    for (Py_ssize_t i = 0; i < count; i++)
        add_named(key, op, PyTuple_GET_ITEM(arguments->names, i), arguments->values[arguments->count + i]);
    while (arguments->keywords != NULL && PyDict_Next(arguments->keywords, &at, &name, &value))
        add_named(key, op, name, value);
}

static char numpy_folder[1024]; /* with a slash at its end; "": unknown */
static size_t numpy_len;

void
snd_op_key_learn(PyObject *numpy)
{
    PyObject *file = snd_attribute(numpy, "__file__");
    const char *text = file == NULL || !PyUnicode_Check(file) ? NULL : PyUnicode_AsUTF8(file);
    const char *slash = text == NULL ? NULL : strrchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text) + 1;

    PyErr_Clear();
    numpy_len = len < sizeof numpy_folder ? len : 0;
    memcpy(numpy_folder, numpy_len == 0 ? "" : text, numpy_len);
    Py_XDECREF(file);
}

/* Whether a function is NumPy's own, or of the import system, by which NumPy imports its parts, and ours in it. */
static int
is_numpys(const PyCodeObject *code)
{
    static const char importing[] = "<frozen importlib.", ours[] = "/sonde/_runtime/imports.py";
    Py_ssize_t len = 0;

    if (numpy_len == 0)
        return 0;
    const char *file = PyUnicode_AsUTF8AndSize(code->co_filename, &len); /* kept by the text from the first time on */
    if (file == NULL)
        PyErr_Clear();
    return file != NULL && (((size_t)len > numpy_len && memcmp(file, numpy_folder, numpy_len) == 0) ||
                            strncmp(file, importing, sizeof importing - 1) == 0 ||
                            ((size_t)len > sizeof ours && strcmp(file + len - (sizeof ours - 1), ours) == 0));
}

/* Where the operation is called from: the innermost function that is not NumPy's own, if there is one. */
static void
add_place(snd_op_key *key)
{
    snd_frame *top = snd_frame_top(), *frame = top;

    while (frame != NULL && is_numpys(snd_frame_code(frame)))
        frame = snd_frame_back(frame);
    if (frame == NULL)
        frame = top;
    if (frame != NULL) {
        key->code = snd_frame_code(frame);
        key->offset = snd_frame_offset(frame);
    }
    key->words[1] = (uint64_t)(uintptr_t)key->code;
    key->words[2] = (uint64_t)(uint32_t)key->offset;
}

void
snd_op_key_make(snd_op_key *key, const snd_op *op, const snd_op_arguments *arguments, snd_op_wishes wishes)
{
    key->count = 3;
    key->value_count = 0;
    key->code = NULL;
    key->offset = 0;
    key->words[0] = (uint64_t)(uintptr_t)op | (uint64_t)wishes.shapes; /* the address is even */
    key->words[1] = key->words[2] = 0;
    if (SND_UNLIKELY(wishes.stacks))
        add_place(key);
    if (!wishes.shapes)
        return;
    if (arguments->self != NULL && snd_array_is(arguments->self))
        add_array(key, (snd_array *)arguments->self);
    for (Py_ssize_t i = op->traits & SND_OP_HAS_SELF ? 1 : 0; i < arguments->count; i++)
        add_value(key, op, arguments->values[i], 0);
    if (arguments->names != NULL || arguments->keywords != NULL)
        add_keywords(key, op, arguments);
}

/* ---- as text ---- */

static void
write_dtype(snd_description *out, uint64_t word)
{
    static const char *const names[] = {"bool",    "int8",     "uint8",     "int16",      "uint16",      "int32",
                                        "uint32",  "int64",    "uint64",    "int64",      "uint64",      "float32",
                                        "float64", "float128", "complex64", "complex128", "complex256",  "object",
                                        "bytes",   "str",      "void",      "datetime64", "timedelta64", "float16"};
    enum { BYTES = 18, STR = 19, VOID = 20, KNOWN = sizeof names / sizeof names[0] };
    unsigned number = (unsigned)(word >> 8 & 0xffff);
    unsigned size = (unsigned)(word >> 40);
    char text[40];

    if (word >> 36 & 1)
        snd_description_text(out, "swapped ");
    if (number >= KNOWN)
        snprintf(text, sizeof text, "dtype%u", number);
    else if (number >= BYTES && number <= VOID)
        snprintf(text, sizeof text, "%s%u", names[number], number == STR ? size / 4 : size);
    else
        snprintf(text, sizeof text, "%s", names[number]);
    snd_description_text(out, text);
}

static const uint64_t *
write_array(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    uint64_t word = *at++;
    unsigned count = (unsigned)(word >> 24 & 0xff), order = (unsigned)(word >> 32 & 0xf);
    char text[24];

    write_dtype(out, word);
    snd_description_text(out, "[");
    for (unsigned i = 0; i < count && at < end; i++) {
        snprintf(text, sizeof text, i == 0 ? "%llu" : ",%llu", (unsigned long long)*at++);
        snd_description_text(out, text);
    }
    snd_description_text(out, "]");
    snd_description_text(out, orders[order]);
    return at;
}

static const uint64_t *
write_bytes(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    size_t len = (size_t)(*at >> 8 & 0xffffff);
    int is_cut = (int)(*at++ >> 32 & 1);

    for (size_t done = 0; done < len && at < end; done += 8, at++)
        snd_description_add(out, (const char *)at, len - done < 8 ? len - done : 8);
    if (is_cut)
        snd_description_text(out, "…");
    return at;
}

static const uint64_t *write_value(snd_description *out, const uint64_t *at, const uint64_t *end);

static const uint64_t *
write_sequence(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    int is_long = (*at & 0xff) == LONG_SEQUENCE;
    uint64_t count = *at++ >> 8;
    char text[40];

    snd_description_text(out, "(");
    for (uint64_t i = 0; i < (is_long ? 1 : count) && at < end; i++) {
        if (i != 0)
            snd_description_text(out, ", ");
        at = write_value(out, at, end);
    }
    snprintf(text, sizeof text, " … %llu", (unsigned long long)count);
    if (is_long)
        snd_description_text(out, text);
    snd_description_text(out, count == 1 ? ",)" : ")");
    return at;
}

static const uint64_t *
write_number(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    char text[24];

    if (++at == end)
        return at;
    snprintf(text, sizeof text, "%lld", (long long)*at);
    snd_description_text(out, text);
    return at + 1;
}

static const uint64_t *
write_quoted(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    snd_description_text(out, "'");
    at = write_bytes(out, at, end);
    snd_description_text(out, "'");
    return at;
}

static const uint64_t *
write_keyword(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    at = write_bytes(out, at, end);
    snd_description_text(out, "=");
    return at < end ? write_value(out, at, end) : at;
}

static const uint64_t *
write_value(snd_description *out, const uint64_t *at, const uint64_t *end)
{
    static const char *const words[] = {[INT] = "int",   [FLOAT] = "float", [COMPLEX] = "complex",
                                        [TRUE] = "True", [FALSE] = "False", [NONE] = "None",
                                        [CUT] = "…"};
    switch ((tag)(*at & 0xff)) {
    case ARRAY:
        return write_array(out, at, end);
    case DTYPE:
        write_dtype(out, *at);
        return at + 1;
    case NUMBER:
        return write_number(out, at, end);
    case TEXT:
        return write_quoted(out, at, end);
    case TYPE:
    case OTHER:
        return write_bytes(out, at, end);
    case KEYWORD:
        return write_keyword(out, at, end);
    case SEQUENCE:
    case LONG_SEQUENCE:
        return write_sequence(out, at, end);
    default:
        snd_description_text(out, words[*at & 0xff]);
        return at + 1;
    }
}

void
snd_op_key_text(const uint64_t *words, uint32_t count, snd_description *out)
{
    const uint64_t *at = words + 3, *end = words + count;

    while (at < end) {
        if (at != words + 3)
            snd_description_text(out, ", ");
        at = write_value(out, at, end);
    }
    snd_description_end(out, "…");
}
