/* Everything that differs between CPython versions: one name with one meaning each. */
#ifndef SND_PYTHON_COMPAT_H
#define SND_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A running Python function. Valid while it runs. */
typedef struct _PyInterpreterFrame snd_frame;

/* The innermost Python function of the calling thread, which holds the GIL; NULL: none. */
snd_frame *snd_frame_top(void);

/* Its caller; NULL: none. */
snd_frame *snd_frame_back(const snd_frame *frame);

/* The generator, coroutine or asynchronous generator whose body it is; NULL: a plain function. Borrowed. */
PyObject *snd_frame_generator(snd_frame *frame);

PyCodeObject *snd_frame_code(const snd_frame *frame); /* borrowed */
int snd_frame_offset(const snd_frame *frame);         /* of its current instruction, in bytes */

/* Whether generators report their suspensions through sys.monitoring (else: through patched slots). */
#if PY_VERSION_HEX >= 0x030c0000
#define SND_HAS_MONITORING 1
#else
#define SND_HAS_MONITORING 0
#endif

/* Module slots that only newer versions know. */
#if PY_VERSION_HEX >= 0x030d0000
#define SND_MODULE_SLOTS \
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED}, {Py_mod_gil, Py_MOD_GIL_USED},
#elif PY_VERSION_HEX >= 0x030c0000
#define SND_MODULE_SLOTS {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#else
#define SND_MODULE_SLOTS
#endif

#endif
