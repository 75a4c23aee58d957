/* Running the program that somebody wants measured, as the interpreter itself would run it. */
#include "collect/session.h"
#include "python/module/state.h"

#include <stdio.h>

/* Prints what is raised as the interpreter does at its top level, and gives its class; SystemExit stays raised. */
static PyObject *
print_exception(void)
{
    PyObject *kind = Py_NewRef(PyErr_Occurred());

    if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
        Py_DECREF(kind);
        return NULL;
    }
    PyErr_Print();
    return kind;
}

/* _core.run_alone(start, function, *arguments): calls the first, and the second as if nobody had called us, so that the
 * program finds no function of ours below it, nor in a traceback. None, or the class of the exception that it ended
 * with and that has been printed. */
PyObject *
snd_py_run_alone(PyObject *module, PyObject *args)
{
    PyObject *result = NULL;

    (void)module;
    if (PyTuple_GET_SIZE(args) < 2) {
        PyErr_SetString(PyExc_TypeError, "run_alone needs two functions");
        return NULL;
    }
    PyObject *rest = PyTuple_GetSlice(args, 2, PyTuple_GET_SIZE(args));
    if (rest == NULL)
        return NULL;
    /* With our frames in sight: code of frames that sys.monitoring does not find when events are switched on is never
     * made ready for them, and 3.15 dies when an exception passes it. */
    PyObject *started = PyObject_CallNoArgs(PyTuple_GET_ITEM(args, 0));
    snd_hidden hidden = snd_frames_hide(PyCFunction_Check(PyTuple_GET_ITEM(args, 1)));
    if (started != NULL)
        result = PyObject_Call(PyTuple_GET_ITEM(args, 1), rest, NULL);
    if (result == NULL)
        result = print_exception();
    else
        Py_SETREF(result, Py_NewRef(Py_None));
    snd_frames_show(hidden);
    Py_XDECREF(started);
    Py_DECREF(rest);
    return result;
}

/* _core.end_after(seconds) */
PyObject *
snd_py_end_after(PyObject *module, PyObject *number)
{
    double seconds = PyFloat_AsDouble(number);

    (void)module;
    if (PyErr_Occurred())
        return NULL;
    snd_session_end_after((uint64_t)(seconds * 1e9));
    Py_RETURN_NONE;
}

/* _core.run_file(path, names): a program's text, from standard input when the path is None. Read by the interpreter's
 * own reader of files, whose messages about a broken file are not those of compile(). */
PyObject *
snd_py_run_file(PyObject *module, PyObject *args)
{
    PyObject *path, *names, *bytes = NULL;
    PyCompilerFlags flags = {.cf_feature_version = PY_MINOR_VERSION};
    FILE *file = stdin;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!:run_file", &path, &PyDict_Type, &names))
        return NULL;
    if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (bytes != NULL && (file = fopen(PyBytes_AS_STRING(bytes), "rbe")) == NULL) {
        Py_DECREF(bytes);
        return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
    }
    const char *name = bytes == NULL ? "<stdin>" : PyBytes_AS_STRING(bytes);
    PyObject *result = PyRun_FileExFlags(file, name, Py_file_input, names, names, bytes != NULL, &flags);
    Py_XDECREF(bytes);
    return result;
}
