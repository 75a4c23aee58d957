/* Ways out of the process that no handler hears of: os._exit, os.exec*, the children of subprocess, and signals that
 * get their default action back. While files are being written or threads are looked at, they lead through us. */
#include "python/module/state.h"

#include "collect/session.h"
#include "probe/sample/sample.h"
#include "python/module/hook.h"
#include "python/sampling/sample_module.h"

static PyObject *leave(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);
static PyObject *run_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *run_with_names(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names);

static PyObject *fork_with_tuple(PyObject *module, PyObject *args);
static PyObject *fork_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *set_action(PyObject *module, PyObject *const *args, Py_ssize_t count);

enum { LEAVE, EXECV, EXECVE, FORK_OLD, FORK, ACTION, WAYS };

static snd_method ways[WAYS] = {
    [LEAVE] = {"posix", "_exit", METH_FASTCALL | METH_KEYWORDS, SND_METHOD(leave), NULL, NULL},
    [EXECV] = {"posix", "execv", METH_FASTCALL, SND_METHOD(run_with_list), NULL, NULL},
    [EXECVE] = {"posix", "execve", METH_FASTCALL | METH_KEYWORDS, SND_METHOD(run_with_names), NULL, NULL},
    /* one version has the one, another the other */
    [FORK_OLD] = {"_posixsubprocess", "fork_exec", METH_VARARGS, fork_with_tuple, NULL, NULL},
    [FORK] = {"_posixsubprocess", "fork_exec", METH_FASTCALL, SND_METHOD(fork_with_list), NULL, NULL},
    [ACTION] = {"_signal", "signal", METH_FASTCALL, SND_METHOD(set_action), NULL, NULL},
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

/* ---- a child that runs another program ---- */

static _Thread_local int is_forking; /* the child, too, when this is its thread */

/* It may fork with the GIL held, and without a hook of Python's: the sampler ends for that, and may need the GIL. */
static int
before_fork(void)
{
    int is_paused = snd_sample_needs_gil();

    is_forking = 1;
    if (is_paused) {
        Py_BEGIN_ALLOW_THREADS;
        snd_session_pause();
        Py_END_ALLOW_THREADS;
    }
    return is_paused;
}

static void
after_fork(int is_paused)
{
    is_forking = 0;
    if (is_paused)
        snd_session_resume();
}

static PyObject *
fork_with_tuple(PyObject *module, PyObject *args)
{
    int is_paused = before_fork();
    PyObject *answer = ways[FORK_OLD].original(module, args);
    after_fork(is_paused);
    return answer;
}

static PyObject *
fork_with_list(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int is_paused = before_fork();
    PyObject *answer = ((snd_fast_call *)(void (*)(void))ways[FORK].original)(module, args, count);
    after_fork(is_paused);
    return answer;
}

/* The sampler makes way for a program that takes its signal; and one that takes the default action saves before. */
static PyObject *
set_action(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    snd_sample_signals_leave(count > 0 ? args[0] : NULL);
    PyObject *before = ((snd_fast_call *)(void (*)(void))ways[ACTION].original)(module, args, count);
    if (before != NULL)
        snd_session_watch_signals();
    return before;
}

int
snd_exit_is_forking(void)
{
    return is_forking;
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
