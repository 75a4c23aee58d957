/* What Python says of a session. */
#ifndef SND_PYTHON_SESSION_SETTINGS_H
#define SND_PYTHON_SESSION_SETTINGS_H

#include "collect/session.h"
#include "python/module/state.h"

/* Reads a dictionary of settings, by their keywords, into `out`, which is left as it was where there are none. Texts
 * belong to the dictionary. 0 with an exception set. "clock" and "arguments" are the caller's to read. */
int snd_session_settings_read(PyObject *given, snd_session_options *out);

/* _core.settings(): the table of settings, as a list of dictionaries. */
PyObject *snd_py_settings(PyObject *module, PyObject *nothing);

#endif
