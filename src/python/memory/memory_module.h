/* Room: the memory probe in the interpreter: its allocators and its garbage collector. */
/* Memory of this interpreter. */
#ifndef SND_PYTHON_MEMORY_H
#define SND_PYTHON_MEMORY_H

#include "python/compat/compat.h"
#include "python/module/state.h"

/* Leads the interpreter's allocators through ours, once memory is measured; with the GIL held. */
void snd_memory_python_start(int exact);

/* Gives them back as far as nobody has put others on top. What stays only passes on. */
void snd_memory_python_stop(void);

/* {"live_bytes": …} */
PyObject *snd_py_memory_now(PyObject *module, PyObject *nothing);
PyObject *snd_py_reset_peak(PyObject *module, PyObject *nothing);

/* ---- the interpreter's garbage collections, as they happen ---- */

/* A callback of ours at the end of gc.callbacks, while something is measured that shows it; the other callbacks stay as
 * they are. Where it cannot be, collections are not counted. Nothing raises. */
void snd_gc_hook(snd_state *state, int on);

/* While the measurement is paused no collection counts. */
void snd_gc_set_paused(int paused);

#endif
