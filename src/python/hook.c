/* Functions of ours that the interpreter calls. */
#include "python/hook.h"

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
