/* What the module threading knows of threads, read without running a line of Python. */
#include "python/module/threads.h"
#include "python/compat/compat.h"
#include <string.h>

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

int
snd_is_own_file(const char *file)
{
    static char folder[4096];

    if (folder[0] == '\0') {
        PyObject *package = Py_XNewRef(PyDict_GetItemString(PyImport_GetModuleDict(), "sonde"));
        PyObject *path = package == NULL ? NULL : PyModule_GetFilenameObject(package);
        const char *text = path == NULL ? NULL : PyUnicode_AsUTF8(path);
        const char *end = text == NULL ? NULL : strrchr(text, '/');
        if (end != NULL && (size_t)(end - text) + 2 < sizeof folder)
            memcpy(folder, text, (size_t)(end - text) + 1);
        Py_XDECREF(path);
        Py_XDECREF(package);
        PyErr_Clear();
    }
    return folder[0] != '\0' && strncmp(file, folder, strlen(folder)) == 0;
}
