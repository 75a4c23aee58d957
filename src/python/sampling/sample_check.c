/* Is what we read of the interpreter's frames what it says itself? Asked once, on a stack that we know. */
#include "python/sampling/sample_module.h"

#include "base/alloc.h"
#include "os/process.h"
#include "python/compat/compat_stack.h"

#include <string.h>

/* Plain calls, a generator, and a function that is called from C. */
static const char program[] = "def inner(check):\n"
                              "    return check()\n"
                              "def numbers(check):\n"
                              "    yield inner(\n"
                              "        check)\n"
                              "def middle(check):\n"
                              "    return next(numbers(check))\n"
                              "def outer(check):\n"
                              "    return list(map(lambda _: middle(check), [0]))[0]\n";

static snd_sample_stack here, outside; /* with the GIL held */

static int
is_same_stack(const snd_sample_stack *a, const snd_sample_stack *b)
{
    if (a->count != b->count || a->is_cut != b->is_cut)
        return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->frames[i].code != b->frames[i].code || a->frames[i].offset != b->frames[i].offset)
            return 0;
    return 1;
}

static int
is_same_text(PyObject *text, const char *found)
{
    const char *wanted = PyUnicode_AsUTF8(text);

    if (wanted == NULL) { /* a file name that is no UTF-8: nothing to compare */
        PyErr_Clear();
        return 1;
    }
    return strncmp(wanted, found, 4096) == 0;
}

static int
is_same_code(PyCodeObject *code, int offset, int line)
{
    snd_sample_code found;
    if (!snd_stack_read_code((uintptr_t)code, &found))
        return 0;
    uint32_t unit = (uint32_t)offset / 2;
    int same = is_same_text(code->co_filename, found.file) && is_same_text(code->co_qualname, found.name) &&
               found.first_line == (uint32_t)code->co_firstlineno && unit < found.unit_count &&
               found.lines[unit] == (uint32_t)line;
    snd_sample_code_free(&found);
    return same;
}

/* Frame by frame, what the interpreter's own functions say. */
static int
is_same_as_told(void)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    uint32_t i = 0;
    int same = 1;

    while (frame != NULL && same && i < here.count) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyFrameObject *caller = PyFrame_GetBack(frame);
        same = here.frames[i].code == (uintptr_t)code && here.frames[i].offset == PyFrame_GetLasti(frame) &&
               is_same_code(code, here.frames[i].offset, PyFrame_GetLineNumber(frame));
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = caller;
        i++;
    }
    same = same && (here.is_cut || (frame == NULL && i == here.count));
    Py_XDECREF(frame);
    return same;
}

typedef struct wanted_thread {
    uint32_t thread_id;
    uintptr_t state;
    int is_there;
} wanted_thread;

static void
look_for(void *context, uint32_t thread_id, uintptr_t state)
{
    wanted_thread *wanted = context;
    wanted->is_there |= thread_id == wanted->thread_id && state == wanted->state;
}

static PyObject *
check(PyObject *self, PyObject *nothing)
{
    wanted_thread mine = {.thread_id = snd_thread_id()};

    (void)self, (void)nothing;
    snd_stack_walk_here(&here, 0, &mine.state);
    snd_stack_list_threads(look_for, &mine);
    int same = mine.state == (uintptr_t)PyThreadState_Get() && mine.is_there && here.count >= 5 &&
               snd_stack_walk_thread(mine.thread_id, mine.state, &outside) && is_same_stack(&here, &outside) &&
               is_same_as_told();
    return PyBool_FromLong(same);
}

int
snd_sample_check(void)
{
    static PyMethodDef definition = {"check", check, METH_NOARGS, NULL};
    PyObject *names = PyDict_New();
    PyObject *function = PyCFunction_New(&definition, NULL);
    PyObject *done = NULL, *answer = NULL;

    if (names != NULL && function != NULL && PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0)
        done = PyRun_String(program, Py_file_input, names, names);
    if (done != NULL)
        answer = PyObject_CallOneArg(PyDict_GetItemString(names, "outer"), function);
    int same = answer == Py_True;
    Py_XDECREF(answer);
    Py_XDECREF(done);
    Py_XDECREF(function);
    Py_XDECREF(names);
    PyErr_Clear();
    return same;
}
