/* Standard error, for the package. */
#ifndef SND_PYTHON_TERMINAL_H
#define SND_PYTHON_TERMINAL_H

#include "python/compat/compat.h"

/* _core.say(text): writes to descriptor 2, as os/terminal.h has it; the GIL is released meanwhile. */
PyObject *snd_py_say(PyObject *module, PyObject *text);

/* _core.look(): options for Profile.format for what is written there. */
PyObject *snd_py_look(PyObject *module, PyObject *nothing);

/* _core.announce(): this process says where its recording is when it ends without a report. */
PyObject *snd_py_announce(PyObject *module, PyObject *nothing);

#endif
