/* sys.monitoring from C. */
#include "python/compat/monitoring.h"

#include "python/module/hook.h"

#if SND_HAS_MONITORING

/* By an interned name: the interpreter's method cache keeps every name that it is asked for. */
static PyObject *
attribute(PyObject *object, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : PyObject_GetAttr(object, key);
    Py_XDECREF(key);
    return value;
}

static PyObject *
monitoring(void)
{
    PyObject *module = PySys_GetObject("monitoring"); /* borrowed */
    if (module == NULL)
        PyErr_SetString(PyExc_RuntimeError, "sys.monitoring is missing");
    return module;
}

int
snd_monitoring_call(const char *function, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *tuple = Py_VaBuildValue(format, args);
    va_end(args);
    PyObject *module = tuple == NULL ? NULL : monitoring();
    PyObject *callable = module == NULL ? NULL : attribute(module, function);
    PyObject *result = callable == NULL ? NULL : PyObject_CallObject(callable, tuple);
    Py_XDECREF(callable);
    Py_XDECREF(tuple);
    Py_XDECREF(result);
    return result != NULL;
}

long
snd_monitoring_event(const char *name)
{
    PyObject *module = monitoring();
    PyObject *events = module == NULL ? NULL : attribute(module, "events");
    PyObject *value = events == NULL ? NULL : attribute(events, name);
    long number = value == NULL ? 0 : PyLong_AsLong(value);
    Py_XDECREF(value);
    Py_XDECREF(events);
    return number;
}

static int is_exiting;

static PyObject *
note_exit(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    (void)self, (void)args, (void)count, (void)names;
    is_exiting = 1;
    Py_RETURN_NONE;
}

/* How many functions wait for the exit; -1: nobody knows. */
static long
count_at_exit(PyObject *module)
{
    PyObject *ask = attribute(module, "_ncallbacks");
    PyObject *answer = ask == NULL ? NULL : PyObject_CallNoArgs(ask);
    long count = answer == NULL || !PyLong_Check(answer) ? -1 : PyLong_AsLong(answer);

    Py_XDECREF(answer);
    Py_XDECREF(ask);
    PyErr_Clear();
    return count;
}

/* Functions that end our measurements were registered before, and are called after this one; it is registered again
 * where others came meanwhile. */
static void
watch_exit(void)
{
    static long last = -2;
    PyObject *module = PyImport_ImportModule("atexit");
    PyObject *take = module == NULL || count_at_exit(module) == last ? NULL : attribute(module, "register");
    PyObject *hook = take == NULL ? NULL : snd_hook_new(note_exit, NULL);
    PyObject *taken = hook == NULL ? NULL : PyObject_CallOneArg(take, hook);

    if (taken != NULL)
        last = count_at_exit(module);
    Py_XDECREF(taken);
    Py_XDECREF(hook);
    Py_XDECREF(take);
    Py_XDECREF(module);
    PyErr_Clear();
}

int
snd_monitoring_take_tool(const char *name)
{
    static const int order[] = {4, 3, 5, 1, 2, 0};

    watch_exit();
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (snd_monitoring_call("use_tool_id", "(is)", order[i], name))
            return order[i];
        PyErr_Clear();
    }
    return -1;
}

void
snd_monitoring_give_back(int tool, const char *const *events, size_t count, int silently)
{
    (void)snd_monitoring_call("set_events", "(il)", tool, 0L);
    PyErr_Clear();
    for (size_t i = 0; i < count && !silently && !is_exiting; i++) {
        (void)snd_monitoring_call("register_callback", "(ilO)", tool, snd_monitoring_event(events[i]), Py_None);
        PyErr_Clear();
    }
    (void)snd_monitoring_call("free_tool_id", "(i)", tool);
    PyErr_Clear();
}

#else
typedef int snd_monitoring_is_empty;
#endif
