/* The Python object that takes a profile of calls, shared by its files. */
#ifndef SND_PYTHON_CALLS_H
#define SND_PYTHON_CALLS_H

#include "python/calls/call.h"
#include "python/module/profile_object.h"

typedef struct snd_py_calls {
    PyObject_HEAD snd_call_probe probe;
    PyObject *timer; /* the program's own; NULL: the machine's */
    double timeunit; /* seconds; 0: the timer gives seconds */
    double last_time;
} snd_py_calls;

/* What was counted so far. The caller owns it; NULL with an exception set. */
snd_profile *snd_calls_profile(snd_py_calls *self);

/* call_stats.c: the answers in the shapes of the standard profiler. */
PyObject *snd_calls_getstats(PyObject *object, PyObject *nothing);
PyObject *snd_calls_pstats(PyObject *object, PyObject *nothing);
int snd_calls_make_types(snd_state *state);

#endif
