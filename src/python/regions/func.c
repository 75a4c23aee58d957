/* The wrapper that func() puts around a plain function: one vectorcall between two clock reads. */
#include "python/module/state.h"

#include <structmember.h>

typedef struct func {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *wrapped;
    PyObject *dict;
    PyObject *weak;
    snd_state *state; /* lives as long as the module, which the type keeps alive */
    uint32_t site;
    int is_global;
} func;

static PyObject *
func_vectorcall(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    func *self = (func *)object;
    snd_span *span = NULL;

    if (SND_LIKELY(SND_GET(snd_region_mode))) {
        snd_track *track = snd_track_get();
        if (SND_LIKELY(track != NULL && self->site != SND_NONE))
            span = snd_python_enter(self->state, track, self->site, self->is_global, 0);
    }
    uint32_t serial = span == NULL ? 0 : span->serial;
    PyObject *result = PyObject_Vectorcall(self->wrapped, args, flags, names);
    if (SND_LIKELY(span != NULL && span->serial == serial))
        snd_python_leave(self->state, span);
    return result;
}

/* As a plain function does: an instance binds it. */
static PyObject *
func_get(PyObject *object, PyObject *instance, PyObject *owner)
{
    (void)owner;
    if (instance == NULL || instance == Py_None)
        return Py_NewRef(object);
    return PyMethod_New(object, instance);
}

/* functools.update_wrapper copies annotations up to 3.13, and from 3.14 on the function that makes them when they are
 * asked for: they are the wrapped function's then. */
static PyObject *
func_getattro(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(object, name);

    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError) ||
        PyUnicode_CompareWithASCIIString(name, "__annotations__") != 0)
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(((func *)object)->wrapped, name);
}

static PyObject *
func_reduce(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return PyObject_GetAttrString(object, "__qualname__"); /* a global name, as for a function */
}

static PyObject *
func_copy(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return Py_NewRef(object);
}

static PyObject *
func_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<sonde region around %R>", ((func *)object)->wrapped);
}

static int
func_traverse(PyObject *object, visitproc visit, void *arg)
{
    func *self = (func *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->wrapped);
    Py_VISIT(self->dict);
    return 0;
}

static int
func_clear(PyObject *object)
{
    func *self = (func *)object;
    Py_CLEAR(self->wrapped);
    Py_CLEAR(self->dict);
    return 0;
}

static void
func_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((func *)object)->weak != NULL)
        PyObject_ClearWeakRefs(object);
    func_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* _core.func(function, name, asglobal) */
PyObject *
snd_py_func(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"function", "name", "asglobal", NULL};
    snd_state *state = snd_state_of_module(module);
    PyObject *function, *name;
    int is_global = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|p:func", names, &function, &name, &is_global))
        return NULL;
    uint32_t site = snd_site_of_name(state, name);
    if (site == SND_NONE && PyErr_Occurred())
        return NULL;
    func *self = (func *)state->func_type->tp_alloc(state->func_type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = func_vectorcall;
    self->wrapped = Py_NewRef(function);
    self->state = state;
    self->site = site;
    self->is_global = is_global;
    return (PyObject *)self;
}

static PyMethodDef func_methods[] = {
    {"__reduce__", func_reduce, METH_NOARGS, NULL},
    {"__copy__", func_copy, METH_NOARGS, NULL},
    {"__deepcopy__", func_copy, METH_O, NULL},
    {0},
};

static PyMemberDef func_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(func, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(func, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(func, weak), READONLY, NULL},
    {0},
};

static PyGetSetDef func_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {0},
};

static PyType_Slot func_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_descr_get, func_get},
    {Py_tp_repr, func_repr},
    {Py_tp_traverse, func_traverse},
    {Py_tp_clear, func_clear},
    {Py_tp_dealloc, func_dealloc},
    {Py_tp_methods, func_methods},
    {Py_tp_members, func_members},
    {Py_tp_getset, func_getset},
    {Py_tp_getattro, func_getattro},
    {0},
};

PyType_Spec snd_func_spec = {
    .name = "sonde._core.Func",
    .basicsize = sizeof(func),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = func_slots,
};
