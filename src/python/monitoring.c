/* sys.monitoring from C. */
#include "python/monitoring.h"

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

int
snd_monitoring_take_tool(const char *name)
{
    static const int order[] = {4, 3, 5, 1, 2, 0};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (snd_monitoring_call("use_tool_id", "(is)", order[i], name))
            return order[i];
        PyErr_Clear();
    }
    return -1;
}

#else
typedef int snd_monitoring_is_empty;
#endif
