/* Where the program of a process begins, what it starts, and what is left of that. */
#ifndef SND_PYTHON_CHILDREN_H
#define SND_PYTHON_CHILDREN_H

#include "python/module/state.h"

/* _core.call_at_program(begin, starts): see the source. */
PyObject *snd_py_call_at_program(PyObject *module, PyObject *args);

/* _core.part_path(folder), _core.make_parts(), _core.parts(), _core.look_at_parts(), _core.gather(), _core.read(path).
 */
PyObject *snd_py_part_path(PyObject *module, PyObject *folder);
PyObject *snd_py_make_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_look_at_parts(PyObject *module, PyObject *nothing);
PyObject *snd_py_gather(PyObject *module, PyObject *nothing);
PyObject *snd_py_read(PyObject *module, PyObject *path);

#endif
