/* Functions of ours that the interpreter calls: objects with a vectorcall slot of their own, called without a detour.
 */
#ifndef SND_PYTHON_HOOK_H
#define SND_PYTHON_HOOK_H

#include "python/compat.h"

typedef struct snd_hook {
    PyObject_HEAD vectorcallfunc call;
    PyObject *data; /* for `call`; NULL: none */
} snd_hook;

/* A new reference, or NULL with an exception. `data` may be NULL; no cycle may lead through it. */
PyObject *snd_hook_new(vectorcallfunc call, PyObject *data);

#endif
