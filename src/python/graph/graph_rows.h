/* Room: compiled functions, as their adapter in Python describes them. */
/* Compiled functions as Python knows them. */
#ifndef SND_PYTHON_GRAPH_H
#define SND_PYTHON_GRAPH_H

#include "python/module/state.h"

/* _core.graph_profile(rows, infos): a profile of rows (parent, kind, name, detail, numbers), parents first, -1 for
 * none, with facts about the run. */
PyObject *snd_py_graph_profile(PyObject *module, PyObject *args);

/* _core.graph_attach(rows): the running measurement has these, in place of those before. */
PyObject *snd_py_graph_attach(PyObject *module, PyObject *rows);

#endif
