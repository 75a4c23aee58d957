/* The report page for Python. */
#ifndef SND_PYTHON_PAGE_H
#define SND_PYTHON_PAGE_H

#include "python/module/state.h"

#include "model/profile.h"

/* The text of the page of one or two profiles; NULL after an exception, which is OSError where there is no page. */
PyObject *snd_page_object(const snd_profile *const *profiles, unsigned count, int source);

/* _core.page(path, second=None, *, source=True) and _core.write_page(path, text). */
PyObject *snd_py_page(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *snd_py_write_page(PyObject *module, PyObject *args);

#endif
