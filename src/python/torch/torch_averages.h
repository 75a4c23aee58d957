/* Rows of operators as a Python object. */
#ifndef SND_PYTHON_TORCH_AVERAGES_H
#define SND_PYTHON_TORCH_AVERAGES_H

#include "python/module/state.h"
#include "view/ops/ops.h"

/* The answer to a question as sonde._core.OpAverages. NULL with an exception. */
PyObject *snd_op_averages_make(snd_state *state, const snd_ops_question *asked);

extern PyType_Spec snd_op_averages_spec;

/* _core.op_time_text(time_us): as the table has it. */
PyObject *snd_py_op_time_text(PyObject *module, PyObject *time_us);

/* _core.torch_profile(rows): PyTorch's own averages as a profile. torch_rows.c */
PyObject *snd_py_torch_profile(PyObject *module, PyObject *rows);

#endif
