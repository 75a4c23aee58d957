/* A program that waits for signals, asks which are pending or takes one for itself meets none of the sampler's. */
#include "probe/sample/sample.h"
#include "python/module/hook.h"
#include "python/sampling/sample_module.h"

#include <signal.h>

static PyObject *wait_for(PyObject *module, PyObject *set);
static PyObject *wait_for_info(PyObject *module, PyObject *set);
static PyObject *wait_in_time(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *list_pending(PyObject *module, PyObject *nothing);

static PyObject *register_dump(PyObject *module, PyObject *args, PyObject *names);

enum { WAIT, WAIT_INFO, WAIT_IN_TIME, PENDING, DUMP, METHODS };

static snd_method methods[METHODS] = {
    [WAIT] = {"_signal", "sigwait", METH_O, wait_for, NULL, NULL},
    [WAIT_INFO] = {"_signal", "sigwaitinfo", METH_O, wait_for_info, NULL, NULL},
    [WAIT_IN_TIME] = {"_signal", "sigtimedwait", METH_FASTCALL, SND_METHOD(wait_in_time), NULL, NULL},
    [PENDING] = {"_signal", "sigpending", METH_NOARGS, list_pending, NULL, NULL},
    [DUMP] = {"faulthandler", "register", METH_VARARGS | METH_KEYWORDS, SND_METHOD(register_dump), NULL, NULL},
};

static void
be_silent(int on)
{
    Py_BEGIN_ALLOW_THREADS;
    snd_sample_be_silent(on);
    Py_END_ALLOW_THREADS;
}

static PyObject *
ask_silently(int which, PyObject *module, PyObject *argument)
{
    be_silent(1);
    PyObject *answer = methods[which].original(module, argument);
    be_silent(0);
    return answer;
}

static PyObject *
wait_for(PyObject *module, PyObject *set)
{
    return ask_silently(WAIT, module, set);
}

static PyObject *
wait_for_info(PyObject *module, PyObject *set)
{
    return ask_silently(WAIT_INFO, module, set);
}

static PyObject *
wait_in_time(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    be_silent(1);
    PyObject *answer = ((snd_fast_call *)(void (*)(void))methods[WAIT_IN_TIME].original)(module, args, count);
    be_silent(0);
    return answer;
}

static PyObject *
list_pending(PyObject *module, PyObject *nothing)
{
    return ask_silently(PENDING, module, nothing);
}

void
snd_sample_signals_leave(PyObject *number)
{
    long wanted = number != NULL && PyLong_Check(number) ? PyLong_AsLong(number) : 0;

    PyErr_Clear();
    Py_BEGIN_ALLOW_THREADS;
    snd_sample_leave_signal(wanted > 0 && wanted < NSIG ? (int)wanted : 0);
    Py_END_ALLOW_THREADS;
}

static PyObject *
register_dump(PyObject *module, PyObject *args, PyObject *names)
{
    PyObject *named = names == NULL ? NULL : PyDict_GetItemString(names, "signum");

    snd_sample_signals_leave(PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : named);
    return ((PyCFunctionWithKeywords)(void (*)(void))methods[DUMP].original)(module, args, names);
}

void
snd_sample_signals_hook(int on)
{
    (void)snd_methods_hook(methods, METHODS, on);
}
