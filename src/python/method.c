/* Functions of the interpreter that lead through ours while something is measured. */
#include "python/method.h"

PyObject *
snd_attribute(PyObject *object, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : PyObject_GetAttr(object, key);

    Py_XDECREF(key);
    return value;
}

static PyMethodDef *
find(const snd_method *self)
{
    PyMethodDef *found = NULL;
    PyObject *module = PyImport_ImportModule(self->module);
    PyObject *function = module == NULL ? NULL : snd_attribute(module, self->name);

    if (function != NULL && PyCFunction_CheckExact(function) && PyCFunction_GET_FLAGS(function) == self->flags)
        found = ((PyCFunctionObject *)function)->m_ml;
    Py_XDECREF(function);
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

int
snd_methods_hook(snd_method *methods, size_t count, int on)
{
    int changed = 0;

    for (snd_method *method = methods; method < methods + count; method++) {
        if (method->definition == NULL && on)
            method->definition = find(method);
        if (method->definition == NULL || (method->definition->ml_meth == method->ours) == (on != 0))
            continue;
        if (on)
            method->original = method->definition->ml_meth;
        method->definition->ml_meth = on ? method->ours : method->original;
        changed = 1;
    }
    return changed;
}
