/* Room: the memory probe in the interpreter: its allocators and its garbage collector. */
/* Memory of this interpreter. */
#ifndef SND_PYTHON_MEMORY_H
#define SND_PYTHON_MEMORY_H

#include "python/compat/compat.h"

/* Leads the interpreter's allocators through ours, once memory is measured; with the GIL held. */
void snd_memory_python_start(int exact);

/* Gives them back as far as nobody has put others on top. What stays only passes on. */
void snd_memory_python_stop(void);

/* {"live_bytes": …} */
PyObject *snd_py_memory_now(PyObject *module, PyObject *nothing);
PyObject *snd_py_reset_peak(PyObject *module, PyObject *nothing);

#endif
