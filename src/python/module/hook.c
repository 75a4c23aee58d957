/* Functions of ours that the interpreter calls. */
#include "python/module/hook.h"

#include <structmember.h>

static void
hook_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(((snd_hook *)object)->data);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(snd_hook, call), READONLY, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, members},
    {Py_tp_dealloc, hook_dealloc},
    {0},
};

static PyType_Spec spec = {
    .name = "sonde._core.Hook",
    .basicsize = sizeof(snd_hook),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *
snd_hook_new(vectorcallfunc call, PyObject *data)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    snd_hook *made = type == NULL ? NULL : (snd_hook *)type->tp_alloc(type, 0);

    Py_XDECREF(type);
    if (made != NULL) {
        made->call = call;
        made->data = Py_XNewRef(data);
    }
    return (PyObject *)made;
}

PyObject *
snd_attribute(PyObject *object, const char *name)
{
    PyObject *key = PyUnicode_InternFromString(name);
    PyObject *value = key == NULL ? NULL : PyObject_GetAttr(object, key);

    Py_XDECREF(key);
    return value;
}

void
snd_method_find(snd_method *method, PyObject *module)
{
    PyObject *function = snd_attribute(module, method->name);

    if (function != NULL && PyCFunction_CheckExact(function) && PyCFunction_GET_FLAGS(function) == method->flags)
        method->definition = ((PyCFunctionObject *)function)->m_ml;
    Py_XDECREF(function);
    PyErr_Clear();
}

static void
find(snd_method *method)
{
    PyObject *module = PyImport_ImportModule(method->module);

    if (module != NULL)
        snd_method_find(method, module);
    Py_XDECREF(module);
    PyErr_Clear();
}

int
snd_methods_hook(snd_method *methods, size_t count, int on)
{
    int changed = 0;

    for (snd_method *method = methods; method < methods + count; method++) {
        if (method->definition == NULL && on)
            find(method);
        if (method->definition == NULL || (method->definition->ml_meth == method->ours) == (on != 0))
            continue;
        if (on)
            method->original = method->definition->ml_meth;
        method->definition->ml_meth = on ? method->ours : method->original;
        changed = 1;
    }
    return changed;
}
