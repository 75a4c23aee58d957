/* Room: everything that differs between CPython versions. */
/* Everything that differs between CPython versions: one name with one meaning each. */
#ifndef SND_PYTHON_COMPAT_H
#define SND_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A running Python function. Valid while it runs. */
typedef struct _PyInterpreterFrame snd_frame;

/* The innermost Python function of the calling thread, which holds the GIL; NULL: none. */
snd_frame *snd_frame_top(void);

typedef struct snd_hidden {
    snd_frame *top;
    int depth, c_depth; /* of recursion */
} snd_hidden;

/* From now on the calling thread looks as if no Python function ran on it, and recursion begins anew; gives what
 * snd_frames_show brings back. `is_builtin`: what is called next is written in C. */
snd_hidden snd_frames_hide(int is_builtin);
void snd_frames_show(snd_hidden hidden);

/* Its caller; NULL: none. */
snd_frame *snd_frame_back(const snd_frame *frame);

/* The generator, coroutine or asynchronous generator whose body it is; NULL: a plain function. Borrowed. */
PyObject *snd_frame_generator(snd_frame *frame);

PyCodeObject *snd_frame_code(const snd_frame *frame); /* borrowed */
int snd_frame_offset(const snd_frame *frame);         /* of its current instruction, in bytes */

/* Its parameters and variables by number, cells opened; NULL: unset. Borrowed. */
PyObject *snd_frame_local(const snd_frame *frame, int number);

/* Whether os.fork counts the threads of the process after its hooks, and warns when there are several. */
int snd_fork_counts_late(void);

/* What a class itself defines; a new reference, NULL without an exception when there is none. */
PyObject *snd_type_dict(PyTypeObject *type);

/* Whether a class, or one that it is made from, defines the name: if not, PyObject_GenericGetAttr looks at the object's
 * own values only, and runs no code. */
int snd_type_has(PyTypeObject *type, PyObject *name);

/* Whether generators report their suspensions through sys.monitoring (else: through patched slots). */
#if PY_VERSION_HEX >= 0x030c0000
#define SND_HAS_MONITORING 1
#else
#define SND_HAS_MONITORING 0
#endif

/* Whether the interpreter could do without a GIL, which importing us switches on. */
int snd_is_free_threaded(void);

/* Whether there is a GIL: a free-threaded build keeps it off whatever is imported if its user says so. */
int snd_gil_is_on(void);

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
