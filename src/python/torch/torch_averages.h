/* Averages of operators as a Python object. */
#ifndef SND_PYTHON_OP_AVERAGES_H
#define SND_PYTHON_OP_AVERAGES_H

#include "python/module/state.h"
#include "view/ops/op_averages.h"

/* Takes the list over, whatever happens. NULL with an exception. */
PyObject *snd_op_averages_wrap(snd_state *state, snd_op_averages *list);

extern PyType_Spec snd_op_averages_spec;

/* _core.op_averages(rows): from rows as rows() gives them. */
PyObject *snd_py_op_averages(PyObject *module, PyObject *rows);

/* _core.op_time_text(time_us): as the table has it. */
PyObject *snd_py_op_time_text(PyObject *module, PyObject *time_us);

#endif
