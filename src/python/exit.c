/* Ways out of the process that no handler hears of: os._exit and os.exec*. While files are being written or threads are
 * looked at, they lead through us. */
#include "python/exit.h"

#include "collect/session.h"
#include "probe/sample.h"
#include "python/method.h"

static PyObject *leave(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
static PyObject *run_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *run_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

enum { LEAVE, EXECV, EXECVE, WAYS };

static snd_method ways[WAYS] = {
    [LEAVE] = {"posix", "_exit", METH_FASTCALL | METH_KEYWORDS, SND_METHOD(leave), NULL, NULL},
    [EXECV] = {"posix", "execv", METH_FASTCALL, SND_METHOD(run_with_list), NULL, NULL},
    [EXECVE] = {"posix", "execve", METH_FASTCALL | METH_KEYWORDS, SND_METHOD(run_with_names), NULL, NULL},
};

/* Without the GIL, which the sampler may need before it can end. */
static PyObject *
leave(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_BEGIN_ALLOW_THREADS;
    snd_session_save();
    Py_END_ALLOW_THREADS;
    return ((snd_named_call *)(void (*)(void))ways[LEAVE].original)(module, args, count, names);
}

/* The program is replaced by another, to which a signal of ours that is under way would be deadly. */
static void
before_exec(void)
{
    Py_BEGIN_ALLOW_THREADS;
    snd_session_pause();
    snd_session_checkpoint();
    snd_sample_be_silent(1);
    Py_END_ALLOW_THREADS;
}

static void
after_exec(void)
{
    snd_sample_be_silent(0);
    snd_session_resume();
}

static PyObject *
run_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    before_exec();
    PyObject *failed = ((snd_fast_call *)(void (*)(void))ways[EXECV].original)(module, args, count);
    after_exec();
    return failed;
}

static PyObject *
run_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    before_exec();
    PyObject *failed = ((snd_named_call *)(void (*)(void))ways[EXECVE].original)(module, args, count, names);
    after_exec();
    return failed;
}

/* A function's hash is made of its definition, and os.supports_fd has execve. */
static void
find_again(void)
{
    PyObject *os = PyImport_ImportModule("os");
    PyObject *set = os == NULL ? NULL : snd_attribute(os, "supports_fd");
    PyObject *all = set == NULL || !PySet_Check(set) ? NULL : PySequence_List(set);

    if (all != NULL && PySet_Clear(set) == 0)
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all); i++)
            (void)PySet_Add(set, PyList_GET_ITEM(all, i));
    Py_XDECREF(all);
    Py_XDECREF(set);
    Py_XDECREF(os);
    PyErr_Clear();
}

void
snd_exit_hook(int on)
{
    if (snd_methods_hook(ways, WAYS, on))
        find_again();
}
