/* ops_start, ops_stop: NumPy's operations are measured between them. */
#include "python/numpy/numpy_ops.h"

#include "collect/extras.h"
#include "python/module/hook.h"

#include <stdio.h>

static int start_count;

/* Borrowed; NULL: the program has not imported it. */
static PyObject *
imported_numpy(void)
{
    PyObject *numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    return numpy != NULL && PyModule_Check(numpy) ? numpy : NULL;
}

static void
hook_all(int on)
{
    for (snd_op *op = snd_ops_first(); op != NULL; op = op->next)
        snd_op_hook(op, on);
}

/* Some versions import these when they are first used. Not while NumPy itself is being imported: they need it. */
static void
import_parts(void)
{
    static const char *const parts[] = {"numpy.linalg", "numpy.fft", "numpy.random"};
    PyObject *numpy = imported_numpy();
    PyObject *spec = numpy == NULL ? NULL : snd_attribute(numpy, "__spec__");
    PyObject *is_initializing = spec == NULL ? NULL : snd_attribute(spec, "_initializing");

    if (is_initializing == Py_False)
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            Py_XDECREF(PyImport_ImportModule(parts[i]));
            PyErr_Clear();
        }
    Py_XDECREF(is_initializing);
    Py_XDECREF(spec);
    PyErr_Clear();
}

/* Measured once a process, and told to every recording. */
static void
tell_own_cost(PyObject *numpy)
{
    static uint64_t cost;
    char text[24];
    PyObject *add = snd_attribute(numpy, "add");
    snd_op *op = add == NULL ? NULL : snd_op_find(add);
    PyObject *array = op == NULL || cost != 0 ? NULL : PyObject_CallMethod(numpy, "zeros", "i", 8);

    if (array != NULL)
        cost = snd_op_own_cost_ns(op, array);
    PyErr_Clear();
    Py_XDECREF(array);
    Py_XDECREF(add);
    snprintf(text, sizeof text, "%llu", (unsigned long long)cost);
    if (cost != 0)
        (void)snd_extras_set_info("own_op_cost_ns", text); /* or it is unknown */
}

/* Hooks NumPy where it is there. 0 with an exception set. */
static int
refresh(void)
{
    PyObject *numpy = imported_numpy();
    if (numpy == NULL || !PyObject_HasAttrString(numpy, "dot") || !PyObject_HasAttrString(numpy, "add"))
        return 1; /* not there, or still being imported */
    const char *reason = snd_array_learn(numpy);
    if (reason != NULL) {
        PyErr_Format(PyExc_RuntimeError, "cannot profile NumPy's operators: %s", reason);
        return 0;
    }
    snd_op_key_learn(numpy);
    if (!snd_ops_collect(numpy))
        return 0;
    tell_own_cost(numpy);
    hook_all(1);
    return 1;
}

/* ops_start(shapes=True, stacks=False): what the first of several wants counts. */
PyObject *
snd_py_ops_start(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shapes", "stacks", NULL};
    snd_op_wishes wishes = {1, 0};

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|pp:ops_start", names, &wishes.shapes, &wishes.stacks))
        return NULL;
    snd_op_hooks_use(snd_state_of_module(module));
    if (start_count == 0)
        snd_op_wanted = wishes;
    import_parts();
    if (!refresh())
        return NULL;
    start_count++;
    Py_RETURN_NONE;
}

PyObject *
snd_py_ops_stop(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    if (start_count == 0)
        return PyErr_Format(PyExc_RuntimeError, "operators are not being profiled");
    if (--start_count == 0)
        hook_all(0);
    Py_RETURN_NONE;
}

void
snd_ops_close(void)
{
    if (start_count != 0)
        hook_all(0);
    start_count = 0;
}

/* Hooks what has been imported since. */
PyObject *
snd_py_ops_refresh(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    if (start_count != 0 && !refresh())
        return NULL;
    Py_RETURN_NONE;
}

PyObject *
snd_py_ops_hooked(PyObject *module, PyObject *nothing)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)nothing;
    for (const snd_op *op = snd_ops_first(); list != NULL && op != NULL; op = op->next) {
        PyObject *name = op->is_hooked ? PyUnicode_FromString(op->name) : NULL;
        if (name != NULL && PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}
