/* The names of threads: those that are there, and those that come while samples are taken. */
#include "probe/sample/sample.h"
#include "python/module/hook.h"
#include "python/module/threads.h"
#include "python/sampling/sample_module.h"

static PyObject *get_native_id(PyObject *self, PyObject *nothing);

static snd_method method = {"_thread", "get_native_id", METH_NOARGS, get_native_id, NULL, NULL};

static void
name_thread(PyObject *thread, uint32_t thread_id)
{
    PyObject *name = snd_thread_value(thread, "_name");
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);

    if (text != NULL && thread_id != 0)
        snd_sample_name_thread(thread_id, text);
    Py_XDECREF(name);
    PyErr_Clear();
}

/* Every new thread of Python asks for its number once, from a method of the Thread, which has the name. */
static PyObject *
get_native_id(PyObject *self, PyObject *nothing)
{
    PyObject *type, *value, *trace;
    unsigned long thread_id = PyThread_get_thread_native_id();
    snd_frame *caller = snd_frame_top();

    (void)self, (void)nothing;
    PyErr_Fetch(&type, &value, &trace);
    PyCodeObject *code = caller == NULL ? NULL : snd_frame_code(caller);
    if (code != NULL && code->co_argcount == 1 &&
        PyUnicode_CompareWithASCIIString(code->co_name, "_set_native_id") == 0) {
        PyObject *thread = snd_frame_local(caller, 0);
        if (thread != NULL)
            name_thread(thread, (uint32_t)thread_id);
    }
    PyErr_Restore(type, value, trace);
    return PyLong_FromUnsignedLong(thread_id);
}

/* A program without threads has not imported the module. */
static void
name_all(void)
{
    PyObject *active = snd_threading_active(), *ident, *thread;
    Py_ssize_t at = 0;

    while (active != NULL && PyDict_Next(active, &at, &ident, &thread)) {
        PyObject *number = snd_thread_value(Py_NewRef(thread), "_native_id");
        unsigned long id = number == NULL || !PyLong_Check(number) ? 0 : PyLong_AsUnsignedLong(number);
        PyErr_Clear();
        name_thread(thread, (uint32_t)id);
        Py_XDECREF(number);
        Py_DECREF(thread);
    }
}

void
snd_sample_names_start(void)
{
    (void)snd_methods_hook(&method, 1, 1);
    name_all();
}

void
snd_sample_names_stop(void)
{
    if (snd_sample_is_running())
        name_all(); /* some changed theirs */
    (void)snd_methods_hook(&method, 1, 0);
}
