/* What the module threading knows of threads, read without running a line of Python.
 *
 * A thread may be met inside a garbage collection, or under C code that holds the GIL and relies on keeping it: Python
 * code that ran there could give it away. */
#ifndef SND_PYTHON_THREADS_H
#define SND_PYTHON_THREADS_H

#include "python/compat/compat.h"

/* Its threads by their idents, a dict. Borrowed; NULL without an exception where it is not imported. */
PyObject *snd_threading_active(void);

/* What a thread's own `_name` or `_native_id` holds: a new reference, NULL without an exception when there is none or
 * its class makes something else of it. */
PyObject *snd_thread_value(PyObject *thread, const char *name);

/* Needs the GIL at the first call only. */
int snd_is_own_file(const char *file);

#endif
