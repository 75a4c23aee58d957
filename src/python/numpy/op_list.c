/* Which operations NumPy has: found in its modules and types, so that another version's are found too. */
#include "python/module/hook.h"
#include "python/numpy/numpy_ops.h"

#include "base/alloc.h"

#include <stdio.h>

enum { SLOTS = 8192, CALLABLE_LIMIT = SLOTS / 2 };

static snd_op *by_address[SLOTS];
static uint32_t callable_count;
static snd_op *first, *last;

static const char *const ufunc_methods[SND_OP_UFUNC_METHODS] = {"reduce", "accumulate", "reduceat", "outer", "at"};

/* C functions of NumPy that make or work on arrays, and are no array functions; some only in one version. */
static const char *const builtins[] = {
    "arange",    "array",       "asanyarray", "asarray", "ascontiguousarray",    "asfortranarray", "c_einsum",
    "correlate", "correlate2",  "empty",      "execute", "fastCopyAndTranspose", "from_dlpack",    "frombuffer",
    "fromfile",  "fromiter",    "fromstring", "zeros",   "compare_chararrays",   "interp",         "interp_complex",
    "_place",    "_vec_string",
};

snd_op *
snd_ops_first(void)
{
    return first;
}

/* Not base/map: every call of an operator looks here, and an address needs no hash of bytes. */
static uint32_t
slot_of(const PyObject *callable)
{
    return (uint32_t)((uint64_t)(uintptr_t)callable * 0x9e3779b97f4a7c15u >> 51);
}

snd_op *
snd_op_find(const PyObject *callable)
{
    uint32_t at = slot_of(callable);

    while (by_address[at % SLOTS] != NULL && by_address[at % SLOTS]->callable != callable)
        at++;
    return by_address[at % SLOTS];
}

static int
is_known_definition(const PyMethodDef *definition)
{
    for (const snd_op *op = first; op != NULL; op = op->next)
        if (op->definition == definition)
            return 1;
    return 0;
}

/* NULL when memory runs out, without an exception. */
static snd_op *
make(const char *name)
{
    snd_op *op = snd_calloc(1, sizeof *op);
    char *copy = snd_strdup(name);

    if (op == NULL || copy == NULL) {
        snd_free(op);
        snd_free(copy);
        return NULL;
    }
    op->name = copy;
    op->method = -1;
    op->other = SND_NONE;
    op->tells_values = 1;
    snd_op_know(op);
    return op;
}

static void
drop(snd_op *op)
{
    snd_free(op->name);
    snd_free(op);
}

static void
append(snd_op *op)
{
    if (last == NULL)
        first = op;
    else
        last->next = op;
    last = op;
}

static void
add_callable(PyObject *callable, const char *name, int traits)
{
    if (snd_op_find(callable) != NULL || callable_count == CALLABLE_LIMIT)
        return;
    snd_op *op = make(name);
    if (op == NULL)
        return;
    op->callable = callable;
    op->traits |= traits;
    op->tells_values = (traits & SND_OP_LOOP) == 0; /* a number beside an array is a number */
    if (!snd_op_assign(op)) {
        drop(op);
        return;
    }
    Py_INCREF(callable);
    uint32_t at = slot_of(callable);
    while (by_address[at % SLOTS] != NULL)
        at++;
    by_address[at % SLOTS] = op;
    callable_count++;
    append(op);
}

static void
add_definition(PyMethodDef *definition, PyObject *owner, const char *name, int method)
{
    if (is_known_definition(definition))
        return;
    snd_op *op = make(name);
    if (op == NULL)
        return;
    op->definition = definition;
    op->method = method;
    if (!snd_op_assign(op)) {
        drop(op);
        return;
    }
    op->owner = Py_NewRef(owner);
    append(op);
}

snd_op *
snd_op_of_method(snd_op *method, const PyObject *ufunc)
{
    snd_op *op = snd_op_find(ufunc);
    char name[256];

    if (op == NULL)
        return method; /* made by the program: it may die, and another one take its address */
    if (op->methods[method->method] == NULL) {
        snprintf(name, sizeof name, "%s.%s", op->name, ufunc_methods[method->method]);
        snd_op *made = make(name);
        if (made == NULL)
            return method;
        if (op->formula == SND_FLOPS_EACH)
            made->formula = method->formula;
        made->traits |= method->traits;
        op->methods[method->method] = made;
    }
    return op->methods[method->method];
}

/* ---- what a module has ---- */

/* "numpy.linalg.solve" from what the function says of itself. 0: it says nothing. */
static int
name_itself(PyObject *function, char *name, size_t size)
{
    PyObject *module = snd_attribute(function, "__module__");
    PyObject *own = module == NULL ? NULL : snd_attribute(function, "__name__");
    const char *module_text = own != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    const char *own_text = module_text != NULL && PyUnicode_Check(own) ? PyUnicode_AsUTF8(own) : NULL;

    if (own_text != NULL)
        snprintf(name, size, "%s.%s", module_text, own_text);
    Py_XDECREF(module);
    Py_XDECREF(own);
    PyErr_Clear();
    return own_text != NULL;
}

/* A ufunc has several names; its own counts where NumPy offers it under that. */
static void
name_ufunc(PyObject *ufunc, PyObject *numpy, const char *found, char *name, size_t size)
{
    PyObject *own = snd_attribute(ufunc, "__name__");
    PyObject *offered = own == NULL ? NULL : PyObject_GetAttr(numpy, own);

    PyErr_Clear();
    if (offered == ufunc)
        snprintf(name, size, "numpy.%s", PyUnicode_AsUTF8(own));
    else
        snprintf(name, size, "%s", found);
    Py_XDECREF(own);
    Py_XDECREF(offered);
    PyErr_Clear();
}

static int
is_builtin_wanted(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i], name) == 0)
            return 1;
    return 0;
}

typedef struct kinds {
    PyObject *numpy;
    PyTypeObject *ufunc, *function;
} kinds;

static void
look_at(const kinds *known, const char *module, const char *attribute, PyObject *value)
{
    char found[256], name[256];

    snprintf(found, sizeof found, "%s.%s", module, attribute);
    if (Py_IS_TYPE(value, known->ufunc)) {
        name_ufunc(value, known->numpy, found, name, sizeof name);
        add_callable(value, name, SND_OP_LOOP);
    }
    else if (Py_IS_TYPE(value, known->function))
        add_callable(value, name_itself(value, name, sizeof name) ? name : found, 0);
    else if (PyCFunction_CheckExact(value) && is_builtin_wanted(attribute) &&
             (PyCFunction_GET_SELF(value) == NULL || PyModule_Check(PyCFunction_GET_SELF(value))))
        add_definition(((PyCFunctionObject *)value)->m_ml, value, found, -1);
}

static void
look_into_module(const kinds *known, const char *name, PyObject *module)
{
    PyObject *names = PyDict_Copy(PyModule_GetDict(module)); /* NumPy's code may run meanwhile */
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (names != NULL && PyDict_Next(names, &at, &key, &value)) {
        const char *attribute = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        if (attribute != NULL)
            look_at(known, name, attribute, value);
        PyErr_Clear();
    }
    Py_XDECREF(names);
    PyErr_Clear();
}

static int
is_numpy(const char *name)
{
    return (strncmp(name, "numpy.", 6) == 0 && strstr(name, "test") == NULL) || strcmp(name, "numpy") == 0;
}

static int
look_into_modules(const kinds *known)
{
    PyObject *modules = PyDict_Copy(PyImport_GetModuleDict());
    PyObject *key, *value;
    Py_ssize_t at = 0;

    if (modules == NULL)
        return 0;
    look_into_module(known, "numpy", known->numpy);
    while (PyDict_Next(modules, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        if (name != NULL && is_numpy(name) && PyModule_Check(value))
            look_into_module(known, name, value);
        PyErr_Clear();
    }
    Py_DECREF(modules);
    return 1;
}

/* ---- what a type has ---- */

static int
is_method_wanted(const char *name)
{
    return name[0] != '_' || strcmp(name, "__copy__") == 0 || strcmp(name, "__deepcopy__") == 0;
}

static int
ufunc_method(const char *name)
{
    for (int i = 0; i < SND_OP_UFUNC_METHODS; i++)
        if (strcmp(ufunc_methods[i], name) == 0)
            return i;
    return -1;
}

/* A function of Cython's own type: the head is that of a C function. */
static int
is_of_cython(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);
    return strcmp(snd_type_name(type), "cython_function_or_method") == 0 &&
           type->tp_vectorcall_offset == (Py_ssize_t)offsetof(PyCFunctionObject, vectorcall);
}

/* One that takes a tuple of arguments has nothing in its slot. */
static void
add_of_cython(PyObject *value, const char *name)
{
    PyCFunctionObject *function = (PyCFunctionObject *)value;

    if (function->vectorcall != NULL)
        add_callable(value, name, SND_OP_HAS_SELF);
    else
        add_definition(function->m_ml, value, name, -1);
}

static void
look_into_type(PyTypeObject *type, int is_ufunc)
{
    PyObject *names = snd_type_dict(type);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    char full[256];

    while (names != NULL && PyDict_Next(names, &at, &key, &value)) {
        const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;
        int method = name != NULL && is_ufunc ? ufunc_method(name) : -1;
        if (name == NULL || !is_method_wanted(name) || (is_ufunc && method < 0))
            continue;
        snprintf(full, sizeof full, "%s.%s", snd_type_name(type), name);
        if (Py_IS_TYPE(value, &PyMethodDescr_Type))
            add_definition(((PyMethodDescrObject *)value)->d_method, value, full, method);
        else if (is_of_cython(value))
            add_of_cython(value, full);
    }
    Py_XDECREF(names);
    PyErr_Clear();
}

/* The classes of random generators, where they have been imported. */
static void
look_into_random(void)
{
    static const char *const types[] = {"Generator", "RandomState"};
    PyObject *random = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.random");

    for (size_t i = 0; random != NULL && i < sizeof types / sizeof types[0]; i++) {
        PyObject *type = snd_attribute(random, types[i]);
        if (type != NULL && PyType_Check(type))
            look_into_type((PyTypeObject *)type, 0);
        Py_XDECREF(type);
        PyErr_Clear();
    }
}

/* The type of one of NumPy's functions; NULL with an exception. */
static PyTypeObject *
type_of(PyObject *numpy, const char *name)
{
    PyObject *sample = snd_attribute(numpy, name);
    PyTypeObject *type = sample == NULL ? NULL : (PyTypeObject *)Py_NewRef(Py_TYPE(sample));

    Py_XDECREF(sample);
    return type;
}

int
snd_ops_collect(PyObject *numpy)
{
    kinds known = {numpy, type_of(numpy, "add"), NULL};
    int is_done = 0;

    known.function = known.ufunc == NULL ? NULL : type_of(numpy, "dot");
    if (known.function != NULL) {
        is_done = look_into_modules(&known);
        look_into_type(snd_array_type, 0);
        look_into_type(known.ufunc, 1);
        look_into_random();
    }
    Py_XDECREF(known.ufunc);
    Py_XDECREF(known.function);
    return is_done;
}
