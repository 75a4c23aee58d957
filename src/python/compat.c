/* Reading the interpreter's frames. */
#include "python/compat.h"

#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 moved the frame's layout */
#include <internal/pycore_genobject.h>
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif

/* Frames that stand for a piece of the C stack, not for a function. */
static snd_frame *
skip_entries(snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed */
    while (frame != NULL && frame->owner == FRAME_OWNED_BY_INTERPRETER)
        frame = frame->previous;
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: new */
    while (frame != NULL && frame->owner == FRAME_OWNED_BY_CSTACK)
        frame = frame->previous;
#endif
    return frame;
}

snd_frame *
snd_frame_top(void)
{
    PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    return skip_entries(thread->current_frame);
#else
    return skip_entries(thread->cframe->current_frame);
#endif
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
