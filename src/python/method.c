/* Functions of the interpreter that lead through ours while something is measured. */
#include "python/method.h"

static PyMethodDef *
find(const snd_method *self)
{
    PyMethodDef *found = NULL;
    PyObject *module = PyImport_ImportModule(self->module);
    PyObject *function = module == NULL ? NULL : PyObject_GetAttrString(module, self->name);

    if (function != NULL && PyCFunction_CheckExact(function) && PyCFunction_GET_FLAGS(function) == self->flags)
        found = ((PyCFunctionObject *)function)->m_ml;
    Py_XDECREF(function);
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

void
snd_methods_hook(snd_method *methods, size_t count, int on)
{
    for (snd_method *method = methods; method < methods + count; method++) {
        if (method->definition == NULL && on)
            method->definition = find(method);
        if (method->definition == NULL)
            continue;
        if (on && method->definition->ml_meth != method->ours) {
            method->original = method->definition->ml_meth;
            method->definition->ml_meth = method->ours;
        }
        else if (!on && method->definition->ml_meth == method->ours)
            method->definition->ml_meth = method->original;
    }
}
