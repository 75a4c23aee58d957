/* Functions of ours that the interpreter calls: objects with a vectorcall slot of their own, called without a detour.
 */
#ifndef SND_PYTHON_HOOK_H
#define SND_PYTHON_HOOK_H

#include "python/compat/compat.h"

typedef struct snd_hook {
    PyObject_HEAD vectorcallfunc call;
    PyObject *data; /* for `call`; NULL: none */
} snd_hook;

/* A new reference, or NULL with an exception. `data` may be NULL; no cycle may lead through it. */
PyObject *snd_hook_new(vectorcallfunc call, PyObject *data);

/* The function's own definition is changed: whoever holds the function is reached, and sees no other object. */
typedef struct snd_method {
    const char *module, *name;
    int flags; /* how it is called; one that is called otherwise is left alone */
    PyCFunction ours;
    PyMethodDef *definition; /* NULL: not found so far */
    PyCFunction original;
} snd_method;

#define SND_METHOD(function) ((PyCFunction)(void (*)(void))(function))

typedef PyObject *snd_fast_call(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *snd_named_call(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);

/* Finds it in a module that is loaded; snd_methods_hook imports the module of one that is not found so far. */
void snd_method_find(snd_method *method, PyObject *module);

/* Returns whether anything changed. With the GIL held. */
int snd_methods_hook(snd_method *methods, size_t count, int on);

/* An attribute, or NULL with an exception. By one name object for all: the interpreter's cache of attributes keeps each
 * that it has seen. */
PyObject *snd_attribute(PyObject *object, const char *name);

#endif
