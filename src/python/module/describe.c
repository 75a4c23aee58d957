/* Values as text. The common ones are read from their memory; the rest asks the library's own properties. */
#include "python/module/describe.h"

#include "base/alloc.h"

#include <stdio.h>

#define DEPTH_LIMIT 3 /* containers in containers */
#define LOOK_LIMIT 16 /* elements looked at */
#define KIND_LIMIT 3  /* different types named of a container */
#define TUPLE_LIMIT 4 /* a tuple up to this length has its elements named one by one */
#define DTYPE_CACHE 8u

/* The head of an array and of its dtype, as NumPy 1 and 2 have them. */
typedef struct array_head {
    PyObject_HEAD char *data;
    int dimension_count;
    Py_ssize_t *dimensions;
    Py_ssize_t *strides;
    PyObject *base;
    struct dtype_head *dtype;
    int flags;
} array_head;

typedef struct dtype_head {
    PyObject_HEAD PyTypeObject *type;
    char kind, letter, byte_order, unused;
    int number;
} dtype_head;

enum { IS_C_ORDER = 1, IS_F_ORDER = 2 };

static void describe(PyObject *value, int depth, snd_description *out);

void
snd_description_end(snd_description *self, const char *tail)
{
    size_t limit = sizeof self->text - 1;

    if (self->size == limit) {
        self->size = limit - strlen(tail);
        while (self->size > 0 && ((unsigned char)self->text[self->size] & 0xc0) == 0x80)
            self->size--;
        snd_description_text(self, tail);
    }
    self->text[self->size] = '\0';
}

static void
add_number(snd_description *out, Py_ssize_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    size_t left = number < 0 ? 0 : (size_t)number;

    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) != 0);
    snd_description_add(out, digits + at, sizeof digits - at);
}

const char *
snd_type_name(const PyTypeObject *type)
{
    const char *dot = strrchr(type->tp_name, '.');
    return dot == NULL ? type->tp_name : dot + 1;
}

static void
add_shape(snd_description *out, const Py_ssize_t *dimensions, int count)
{
    snd_description_text(out, "shape=(");
    for (int i = 0; i < count; i++) {
        if (i != 0)
            snd_description_text(out, ", ");
        add_number(out, dimensions[i]);
    }
    if (count == 1)
        snd_description_text(out, ",");
    snd_description_text(out, ")");
}

/* The library's class of this name, once the program has imported it; borrowed, NULL: not there. */
static PyObject *
library_class(const char *module, const char *name)
{
    PyObject *found = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    PyObject *names = found == NULL || !PyModule_Check(found) ? NULL : PyModule_GetDict(found);
    return names == NULL ? NULL : PyDict_GetItemString(names, name);
}

static PyObject *array_type; /* NumPy's; it stays where it is once it is there */

static int
is_array(PyTypeObject *type)
{
    if (array_type == NULL) {
        if (strcmp(type->tp_name, "numpy.ndarray") != 0)
            return 0;
        array_type = library_class("numpy", "ndarray");
        if (array_type == NULL)
            return 0;
        Py_INCREF(array_type);
    }
    /* what is made from it is made at run time */
    return (PyObject *)type == array_type ||
           ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && PyType_IsSubtype(type, (PyTypeObject *)array_type));
}

/* Names by NumPy's own numbers; what has no fixed size or another byte order has to be asked. */
static const char *
plain_dtype(const dtype_head *dtype)
{
    static const char *const names[] = {"bool",    "int8",     "uint8",     "int16",      "uint16",     "int32",
                                        "uint32",  "int64",    "uint64",    "int64",      "uint64",     "float32",
                                        "float64", "float128", "complex64", "complex128", "complex256", "object"};
    int is_known = dtype->number >= 0 && dtype->number < (int)(sizeof names / sizeof names[0]);
    if (dtype->number == 23)
        return dtype->byte_order == '=' ? "float16" : NULL;
    return is_known && (dtype->byte_order == '=' || dtype->byte_order == '|') ? names[dtype->number] : NULL;
}

/* The text of an object of a library; its own code may run. */
static void
add_str(snd_description *out, PyObject *object)
{
    PyObject *text = PyObject_Str(object);
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    snd_description_text(out, utf8 == NULL ? "?" : utf8);
    Py_XDECREF(text);
    PyErr_Clear();
}

/* Kept dtypes, so that their addresses are their own, and their texts. */
static struct {
    PyObject *dtype;
    char *text;
} dtypes[DTYPE_CACHE];

/* Its own text; NumPy's Python code runs, and another thread may come in between. */
static void
add_asked_dtype(snd_description *out, PyObject *dtype)
{
    size_t slot = ((uintptr_t)dtype >> 4) % DTYPE_CACHE;

    if (dtypes[slot].dtype != dtype) {
        snd_description made = {0};
        add_str(&made, dtype);
        snd_description_end(&made, "…");
        char *text = snd_strdup(made.text);
        if (text == NULL)
            return;
        snd_free(dtypes[slot].text);
        dtypes[slot].text = text;
        Py_XSETREF(dtypes[slot].dtype, Py_NewRef(dtype));
    }
    snd_description_text(out, dtypes[slot].text);
}

static void
add_dtype(snd_description *out, dtype_head *dtype)
{
    const char *plain = plain_dtype(dtype);

    if (plain != NULL) {
        snd_description_text(out, plain);
        return;
    }
    Py_INCREF(dtype); /* the array may get another one meanwhile */
    add_asked_dtype(out, (PyObject *)dtype);
    Py_DECREF(dtype);
}

static void
describe_array(PyObject *value, snd_description *out)
{
    const array_head *array = (array_head *)value;

    if ((PyObject *)Py_TYPE(value) == array_type)
        snd_description_text(out, "ndarray(dtype=");
    else {
        snd_description_text(out, snd_type_name(Py_TYPE(value)));
        snd_description_text(out, "(dtype=");
    }
    add_dtype(out, array->dtype);
    snd_description_text(out, ", ");
    add_shape(out, array->dimensions, array->dimension_count);
    if ((array->flags & IS_C_ORDER) == 0)
        snd_description_text(out, array->flags & IS_F_ORDER ? ", order=F" : ", strided");
    snd_description_text(out, ")");
}

/* What is told of the classes of other libraries. The class is found under its module without importing it. */
static const struct {
    const char *type_name; /* as tp_name has it */
    const char *module, *name;
    const char *attributes[3];
} libraries[] = {
    {"Tensor", "torch", "Tensor", {"dtype", "shape", "device"}},
    {"Parameter", "torch.nn.parameter", "Parameter", {"dtype", "shape", "device"}},
    {"DataFrame", "pandas", "DataFrame", {"shape", "dtypes", NULL}},
    {"Series", "pandas", "Series", {"shape", "dtype", NULL}},
    {"DataFrame", "polars", "DataFrame", {"shape", "dtypes", NULL}},
    {"Series", "polars", "Series", {"shape", "dtype", NULL}},
    {"ArrayImpl", "jaxlib._jax", "ArrayImpl", {"dtype", "shape", "device"}},
    {"ArrayImpl", "jaxlib.xla_extension", "ArrayImpl", {"dtype", "shape", "device"}},
    {"ArrayImpl", "jax._src.array", "ArrayImpl", {"dtype", "shape", "device"}},
};

/* The number of the library class that this type is itself, not a class made from it; -1: none. */
static int
library_of(PyTypeObject *type)
{
    const char *name = snd_type_name(type);

    if (name[0] != 'T' && name[0] != 'P' && name[0] != 'D' && name[0] != 'S' && name[0] != 'A')
        return -1; /* most end here */
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strcmp(libraries[i].type_name, name) == 0 &&
            library_class(libraries[i].module, libraries[i].name) == (PyObject *)type)
            return (int)i;
    return -1;
}

static void
add_sequence(snd_description *out, PyObject *sequence)
{
    PyObject *items = PySequence_Fast(sequence, "");
    Py_ssize_t count = items == NULL ? 0 : PySequence_Fast_GET_SIZE(items);

    snd_description_text(out, "(");
    for (Py_ssize_t i = 0; i < count && i < LOOK_LIMIT; i++) {
        if (i != 0)
            snd_description_text(out, ", ");
        add_str(out, PySequence_Fast_GET_ITEM(items, i));
    }
    snd_description_text(out, count == 1 ? ",)" : count > LOOK_LIMIT ? ", …)" : ")");
    Py_XDECREF(items);
    PyErr_Clear();
}

static void
add_attribute(snd_description *out, const char *name, PyObject *value)
{
    const char *prefix = "torch.";

    snd_description_text(out, name);
    snd_description_text(out, "=");
    if (strcmp(name, "shape") == 0 || strcmp(name, "dtypes") == 0) {
        add_sequence(out, value);
        return;
    }
    snd_description part = {0};
    add_str(&part, value);
    snd_description_end(&part, "…");
    snd_description_text(out, strncmp(part.text, prefix, strlen(prefix)) == 0 ? part.text + strlen(prefix) : part.text);
}

static void
describe_library(PyObject *value, int library, snd_description *out)
{
    int is_first = 1;

    snd_description_text(out, libraries[library].name[0] == 'A' ? "Array" : libraries[library].name);
    snd_description_text(out, "(");
    for (int i = 0; i < 3 && libraries[library].attributes[i] != NULL; i++) {
        PyObject *name = PyUnicode_InternFromString(libraries[library].attributes[i]);
        PyObject *found = name == NULL ? NULL : PyObject_GetAttr(value, name);
        if (found != NULL) {
            snd_description_text(out, is_first ? "" : ", ");
            add_attribute(out, libraries[library].attributes[i], found);
            is_first = 0;
        }
        Py_XDECREF(found);
        Py_XDECREF(name);
        PyErr_Clear();
    }
    snd_description_text(out, ")");
}

/* The types in a container, each once: "int", "int|str", "int|str|…". */
typedef struct kinds {
    const PyTypeObject *types[KIND_LIMIT];
    int count;
    int has_more;
} kinds;

static void
add_kind(kinds *self, PyObject *value, int depth, snd_description *out)
{
    for (int i = 0; i < self->count; i++)
        if (self->types[i] == Py_TYPE(value))
            return;
    if (self->count == KIND_LIMIT) {
        self->has_more = 1;
        return;
    }
    if (self->count > 0)
        snd_description_text(out, "|");
    self->types[self->count++] = Py_TYPE(value);
    describe(value, depth, out);
}

static void
end_kinds(const kinds *self, snd_description *out)
{
    if (self->has_more)
        snd_description_text(out, "|…");
}

/* Of what is held here nothing can go while a library's code runs. */
static void
add_items(PyObject *const *items, Py_ssize_t count, int depth, snd_description *out)
{
    kinds met = {0};
    for (Py_ssize_t i = 0; i < count; i++)
        add_kind(&met, items[i], depth, out);
    end_kinds(&met, out);
}

/* The first elements, held. */
static Py_ssize_t
hold_items(PyObject *const *items, Py_ssize_t count, PyObject **held)
{
    Py_ssize_t taken = count < LOOK_LIMIT ? count : LOOK_LIMIT;
    for (Py_ssize_t i = 0; i < taken; i++)
        held[i] = Py_NewRef(items[i]);
    return taken;
}

static void
release(PyObject **held, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        Py_DECREF(held[i]);
}

/* How many there are is said of the outermost container only. */
static void
add_size(Py_ssize_t count, int depth, snd_description *out)
{
    if (depth == DEPTH_LIMIT) {
        snd_description_text(out, "×");
        add_number(out, count);
    }
}

static void
end_container(Py_ssize_t count, int depth, snd_description *out)
{
    snd_description_text(out, "]");
    add_size(count, depth, out);
}

static void
describe_list(PyObject *value, int depth, snd_description *out)
{
    PyObject *held[LOOK_LIMIT];
    Py_ssize_t size = PyList_GET_SIZE(value);
    Py_ssize_t count = hold_items(((PyListObject *)value)->ob_item, size, held);

    add_items(held, count, depth - 1, out);
    end_container(size, depth, out);
    release(held, count);
}

static void
describe_tuple(PyObject *value, int depth, snd_description *out)
{
    PyObject *held[LOOK_LIMIT];
    Py_ssize_t size = PyTuple_GET_SIZE(value);
    Py_ssize_t count = hold_items(&PyTuple_GET_ITEM(value, 0), size, held);

    if (size > TUPLE_LIMIT) {
        add_items(held, count, depth - 1, out);
        end_container(size, depth, out);
    }
    else {
        for (Py_ssize_t i = 0; i < count; i++) {
            if (i != 0)
                snd_description_text(out, ", ");
            describe(held[i], depth - 1, out);
        }
        snd_description_text(out, "]");
    }
    release(held, count);
}

static void
describe_dict(PyObject *value, int depth, snd_description *out)
{
    PyObject *key, *item, *keys[LOOK_LIMIT], *items[LOOK_LIMIT];
    Py_ssize_t size = PyDict_GET_SIZE(value);
    Py_ssize_t at = 0, count = 0;

    for (; count < LOOK_LIMIT && PyDict_Next(value, &at, &key, &item); count++) {
        keys[count] = Py_NewRef(key);
        items[count] = Py_NewRef(item);
    }
    add_items(keys, count, 0, out);
    if (count > 0)
        snd_description_text(out, ", ");
    add_items(items, count, depth - 1, out);
    end_container(size, depth, out);
    release(keys, count);
    release(items, count);
}

/* Containers of these very types; what is made from them may have its own ideas. */
static int
describe_container(PyObject *value, int depth, snd_description *out)
{
    PyTypeObject *type = Py_TYPE(value);

    if (type != &PyList_Type && type != &PyTuple_Type && type != &PyDict_Type && type != &PySet_Type &&
        type != &PyFrozenSet_Type)
        return 0;
    snd_description_text(out, snd_type_name(type));
    if (depth <= 0)
        return 1;
    if (type == &PySet_Type || type == &PyFrozenSet_Type) { /* what is in it is not ours to take out */
        add_size(PySet_GET_SIZE(value), depth, out);
        return 1;
    }
    snd_description_text(out, "[");
    if (type == &PyList_Type)
        describe_list(value, depth, out);
    else if (type == &PyTuple_Type)
        describe_tuple(value, depth, out);
    else
        describe_dict(value, depth, out);
    return 1;
}

/* Types of one word. */
static int
describe_plain(PyObject *value, snd_description *out)
{
    PyTypeObject *type = Py_TYPE(value);

    if (type == &PyLong_Type)
        snd_description_text(out, "int");
    else if (type == &PyFloat_Type)
        snd_description_text(out, "float");
    else if (type == &PyUnicode_Type)
        snd_description_text(out, "str");
    else if (type == &PyBool_Type)
        snd_description_text(out, "bool");
    else if (value == Py_None)
        snd_description_text(out, "None");
    else
        return 0;
    return 1;
}

static void
describe(PyObject *value, int depth, snd_description *out)
{
    PyTypeObject *type = Py_TYPE(value);
    int library;

    if (is_array(type))
        describe_array(value, out);
    else if (describe_plain(value, out) || describe_container(value, depth, out))
        return;
    else if (PyType_Check(value)) {
        snd_description_text(out, "type[");
        snd_description_text(out, snd_type_name((PyTypeObject *)value));
        snd_description_text(out, "]");
    }
    else if ((library = library_of(type)) >= 0)
        describe_library(value, library, out);
    else
        snd_description_text(out, snd_type_name(type));
}

void
snd_describe(PyObject *value, snd_description *out)
{
    describe(value, DEPTH_LIMIT, out);
}

int
snd_put_repr(PyObject *object, snd_buffer *out)
{
    PyObject *repr = PyObject_Repr(object);
    const char *text = repr == NULL ? NULL : PyUnicode_AsUTF8(repr);

    if (text != NULL)
        snd_buffer_text(out, text);
    Py_XDECREF(repr);
    return text != NULL;
}
