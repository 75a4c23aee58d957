/* Ways out of the process that no handler hears of: os._exit and os.exec*. While files are being written or threads are
 * looked at, the functions' own method definitions lead through us. */
#include "python/exit.h"

#include "collect/session.h"
#include "python/compat.h"

typedef PyObject *fast_call(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *named_call(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

typedef struct way_out {
    const char *name;
    int flags;
    PyCFunction ours;
    PyMethodDef *method; /* NULL: not found, or not of this kind */
    PyCFunction original;
} way_out;

static PyObject *leave(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
static PyObject *run_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *run_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

#define FUNCTION(function) ((PyCFunction)(void (*)(void))(function))

enum { LEAVE, EXECV, EXECVE, WAYS };

static way_out ways[WAYS] = {
    [LEAVE] = {"_exit", METH_FASTCALL | METH_KEYWORDS, FUNCTION(leave), NULL, NULL},
    [EXECV] = {"execv", METH_FASTCALL, FUNCTION(run_with_list), NULL, NULL},
    [EXECVE] = {"execve", METH_FASTCALL | METH_KEYWORDS, FUNCTION(run_with_names), NULL, NULL},
};

static PyObject *
leave(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_session_save();
    return ((named_call *)(void (*)(void))ways[LEAVE].original)(module, args, count, names);
}

/* The program is replaced by another, to which a signal of ours that is under way would be deadly. */
static void
before_exec(void)
{
    Py_BEGIN_ALLOW_THREADS;
    snd_session_pause();
    snd_session_checkpoint();
    Py_END_ALLOW_THREADS;
}

static PyObject *
run_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    before_exec();
    PyObject *failed = ((fast_call *)(void (*)(void))ways[EXECV].original)(module, args, count);
    snd_session_resume();
    return failed;
}

static PyObject *
run_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    before_exec();
    PyObject *failed = ((named_call *)(void (*)(void))ways[EXECVE].original)(module, args, count, names);
    snd_session_resume();
    return failed;
}

static void
find_methods(void)
{
    static int is_done;
    PyObject *module = is_done ? NULL : PyImport_ImportModule("posix");

    for (unsigned i = 0; module != NULL && i < WAYS; i++) {
        PyObject *function = PyObject_GetAttrString(module, ways[i].name);
        if (function != NULL && PyCFunction_CheckExact(function) && PyCFunction_GET_FLAGS(function) == ways[i].flags)
            ways[i].method = ((PyCFunctionObject *)function)->m_ml;
        Py_XDECREF(function);
    }
    is_done = 1;
    Py_XDECREF(module);
    PyErr_Clear();
}

void
snd_exit_hook(int on)
{
    find_methods();
    for (way_out *way = ways; way < ways + WAYS; way++) {
        if (way->method == NULL)
            continue;
        if (on && way->method->ml_meth != way->ours) {
            way->original = way->method->ml_meth;
            way->method->ml_meth = way->ours;
        }
        else if (!on && way->method->ml_meth == way->ours)
            way->method->ml_meth = way->original;
    }
}
