/* What the process uses between two moments, for `sonde stat -c`, and what regions can count. */
#include "os/usage.h"
#include "probe/counted.h"
#include "python/state.h"

static snd_usage began; /* with the GIL held */

PyObject *
snd_py_usage_begin(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_usage_begin(&began);
    Py_RETURN_NONE;
}

/* A number for each counter that is known, and a text with the reason for each that is not. */
PyObject *
snd_py_usage_end(PyObject *module, PyObject *nothing)
{
    snd_usage used;
    PyObject *all = PyDict_New();

    (void)module, (void)nothing;
    snd_usage_end(&began, &used);
    for (unsigned i = 0; i < SND_USED_COUNT_OF && all != NULL; i++) {
        PyObject *value = used.why[i] == NULL ? PyFloat_FromDouble(used.values[i]) : PyUnicode_FromString(used.why[i]);
        if (value == NULL || PyDict_SetItemString(all, snd_used_get((snd_used)i)->name, value) != 0)
            Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

/* The names of the counters that a region may have. */
PyObject *
snd_py_counter_names(PyObject *module, PyObject *nothing)
{
    PyObject *names = PyTuple_New(SND_COUNTED_COUNT_OF);

    (void)module, (void)nothing;
    for (unsigned i = 0; i < SND_COUNTED_COUNT_OF && names != NULL; i++) {
        PyObject *name = PyUnicode_FromString(snd_counted_name((snd_counted)i));
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}
