/* Reading the interpreter's frames. */
#include "python/compat/compat.h"

#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 moved the frame's layout */
#include <internal/pycore_genobject.h>
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#include <internal/pycore_code.h>

/* Frames that stand for a piece of the C stack, not for a function. */
static snd_frame *
skip_entries(snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed, and those of the C stack come behind it */
    while (frame != NULL && frame->owner >= FRAME_OWNED_BY_INTERPRETER)
        frame = frame->previous;
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: new */
    while (frame != NULL && frame->owner == FRAME_OWNED_BY_CSTACK)
        frame = frame->previous;
#endif
    return frame;
}

/* Where a thread keeps its innermost frame. */
static snd_frame **
top_of(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    return &thread->current_frame;
#else
    return &thread->cframe->current_frame;
#endif
}

snd_frame *
snd_frame_top(void)
{
    return skip_entries(*top_of(PyThreadState_Get()));
}

/* How many more calls may be open, and how many in all. */
static int *
remaining_of(PyThreadState *thread, int *limit)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12 counts calls from C apart */
    *limit = thread->py_recursion_limit;
    return &thread->py_recursion_remaining;
#else
    *limit = thread->recursion_limit;
    return &thread->recursion_remaining;
#endif
}

/* The same for calls from C; NULL: they count as the others do. */
static int *
c_remaining_of(PyThreadState *thread, int *limit)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 looks at the stack itself */
    static int nobodys;
    (void)thread;
    *limit = nobodys;
    return &nobodys;
#elif PY_VERSION_HEX >= 0x030d0000 /* 3.13: renamed */
    *limit = Py_C_RECURSION_LIMIT;
    return &thread->c_recursion_remaining;
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: new */
    *limit = C_RECURSION_LIMIT;
    return &thread->c_recursion_remaining;
#else
    (void)thread;
    *limit = 0;
    return NULL;
#endif
}

int
snd_is_free_threaded(void)
{
    PyObject *flags = PySys_GetObject("abiflags"); /* borrowed */
    const char *text = flags != NULL && PyUnicode_Check(flags) ? PyUnicode_AsUTF8(flags) : NULL;
    return text != NULL && strchr(text, 't') != NULL;
}

int
snd_gil_is_on(void)
{
    PyObject *ask = PySys_GetObject("_is_gil_enabled"); /* borrowed; new in 3.13 */
    PyObject *answer = ask == NULL ? NULL : PyObject_CallNoArgs(ask);
    int is_on = answer != Py_False;

    PyErr_Clear();
    Py_XDECREF(answer);
    return is_on;
}

snd_hidden
snd_frames_hide(int is_builtin)
{
    PyThreadState *thread = PyThreadState_Get();
    snd_frame **top = top_of(thread);
    int limit, c_limit;
    int *remaining = remaining_of(thread, &limit), *c_remaining = c_remaining_of(thread, &c_limit);
    int c_depth = c_remaining == NULL ? 0 : c_limit - *c_remaining;
    int is_known = c_depth >= 0 && c_depth < 100; /* else the interpreter has another limit than its headers say */
    snd_hidden hidden = {*top, limit - *remaining, is_known ? c_depth : 0};

    *(c_remaining == NULL ? &hidden.depth : &hidden.c_depth) += is_builtin != 0; /* its call counts, too */
    *remaining += hidden.depth;
    if (c_remaining != NULL)
        *c_remaining += hidden.c_depth;
#if PY_VERSION_HEX >= 0x030f0000 /* 3.15: a frame of no function is the first of every thread */
    *top = thread->base_frame;
#else
    *top = NULL;
#endif
    return hidden;
}

void
snd_frames_show(snd_hidden hidden)
{
    PyThreadState *thread = PyThreadState_Get();
    int limit;
    int *c_remaining = c_remaining_of(thread, &limit);

    *remaining_of(thread, &limit) -= hidden.depth;
    if (c_remaining != NULL)
        *c_remaining -= hidden.c_depth;
    *top_of(thread) = hidden.top;
}

snd_frame *
snd_frame_back(const snd_frame *frame)
{
    return skip_entries(frame->previous);
}

PyObject *
snd_frame_generator(snd_frame *frame)
{
    if (frame->owner != FRAME_OWNED_BY_GENERATOR)
        return NULL;
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed */
    return (PyObject *)_PyGen_GetGeneratorFromFrame(frame);
#else
    return (PyObject *)_PyFrame_GetGenerator(frame);
#endif
}

PyCodeObject *
snd_frame_code(const snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: any executable, and 3.14 tags it */
    return _PyFrame_GetCode((snd_frame *)(uintptr_t)frame);
#else
    return frame->f_code;
#endif
}

int
snd_frame_offset(const snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: a function for it */
    return PyUnstable_InterpreterFrame_GetLasti((snd_frame *)(uintptr_t)frame);
#else
    return _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
#endif
}

PyObject *
snd_frame_local(const snd_frame *frame, int number)
{
    PyCodeObject *code = snd_frame_code(frame);
    if (number >= code->co_nlocalsplus)
        return NULL;
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: tagged references */
    PyObject *value = PyStackRef_AsPyObjectBorrow(frame->localsplus[number]);
#else
    PyObject *value = frame->localsplus[number];
#endif
    unsigned char kind = (unsigned char)PyBytes_AS_STRING(code->co_localspluskinds)[number];
    if (value != NULL && (kind & CO_FAST_CELL) && PyCell_Check(value))
        return PyCell_GET(value); /* an inner function uses it too */
    return value;
}

PyObject *
snd_type_dict(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: built-in types keep it elsewhere */
    return PyType_GetDict(type);
#else
    return Py_XNewRef(type->tp_dict);
#endif
}

int
snd_type_has(PyTypeObject *type, PyObject *name)
{
    return _PyType_Lookup(type, name) != NULL;
}

int
snd_fork_counts_late(void)
{
    return PY_VERSION_HEX >= 0x030d0000;
}
