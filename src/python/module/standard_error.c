#include "python/module/standard_error.h"

#include "collect/signals.h"
#include "os/terminal.h"

#include <unistd.h>

PyObject *
snd_py_say(PyObject *module, PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    size_t left = bytes == NULL ? 0 : (size_t)PyBytes_GET_SIZE(bytes);

    (void)module;
    while (left != 0 && PyErr_CheckSignals() == 0) { /* a handler of the program's may end the wait */
        const char *rest = PyBytes_AS_STRING(bytes) + (size_t)PyBytes_GET_SIZE(bytes) - left;
        Py_BEGIN_ALLOW_THREADS;
        left = snd_terminal_say(rest, left, 1);
        Py_END_ALLOW_THREADS;
    }
    Py_XDECREF(bytes);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

PyObject *
snd_py_look(PyObject *module, PyObject *nothing)
{
    snd_terminal look = snd_terminal_look(STDERR_FILENO);

    (void)module, (void)nothing;
    return Py_BuildValue("{sOsOsI}", "unicode", look.unicode ? Py_True : Py_False, "colour",
                         look.colour ? Py_True : Py_False, "width", look.width);
}

PyObject *
snd_py_announce(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_signals_announce();
    Py_RETURN_NONE;
}
