/* What the module threading knows of threads, read without running a line of Python. */
#include "python/threads.h"

PyObject *
snd_threading_active(void)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "threading"); /* borrowed, as the rest is */
    PyObject *active = module == NULL || !PyModule_CheckExact(module)
                           ? NULL
                           : PyDict_GetItemString(PyModule_GetDict(module), "_active");

    return active != NULL && PyDict_CheckExact(active) ? active : NULL;
}

PyObject *
snd_thread_value(PyObject *thread, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL || snd_type_has(Py_TYPE(thread), key) ? NULL : PyObject_GenericGetAttr(thread, key);

    Py_XDECREF(key);
    PyErr_Clear();
    return value;
}
