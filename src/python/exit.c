/* Saving before os._exit: the function's own method definition leads through us while files are being written. */
#include "python/exit.h"

#include "collect/session.h"
#include "python/compat.h"

typedef PyObject *fast_call(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

static PyMethodDef *method;
static PyCFunction original;

static PyObject *
save_and_exit(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_session_save();
    return ((fast_call *)(void (*)(void))original)(module, args, count, names);
}

static void
find_method(void)
{
    PyObject *module = PyImport_ImportModule("posix");
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, "_exit");

    if (function != NULL && PyCFunction_CheckExact(function) &&
        PyCFunction_GET_FLAGS(function) == (METH_FASTCALL | METH_KEYWORDS))
        method = ((PyCFunctionObject *)function)->m_ml;
    Py_XDECREF(function);
    Py_XDECREF(module);
    PyErr_Clear();
}

void
snd_exit_hook(int on)
{
    PyCFunction ours = (PyCFunction)(void (*)(void))save_and_exit;

    if (method == NULL)
        find_method();
    if (method == NULL)
        return;
    if (on && method->ml_meth != ours) {
        original = method->ml_meth;
        method->ml_meth = ours;
    }
    else if (!on && method->ml_meth == ours)
        method->ml_meth = original;
}
