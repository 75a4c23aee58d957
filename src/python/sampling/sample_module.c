/* The sampler's knowledge of this interpreter. */
#include "python/sampling/sample_module.h"

#include "base/alloc.h"
#include "collect/session.h"
#include "os/native/symbols.h"
#include "os/peek.h"
#include "os/process.h"
#include "probe/sample/sample.h"
#include "python/compat/compat_stack.h"
#include "python/module/hook.h"
#include "python/module/threads.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

/* ---- A program that waits for signals ---- */

static PyObject *wait_for(PyObject *module, PyObject *set);
static PyObject *wait_for_info(PyObject *module, PyObject *set);
static PyObject *wait_in_time(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *list_pending(PyObject *module, PyObject *nothing);

static PyObject *register_dump(PyObject *module, PyObject *args, PyObject *names);

enum { WAIT, WAIT_INFO, WAIT_IN_TIME, PENDING, DUMP, METHODS };

static snd_method methods[METHODS] = {
    [WAIT] = {"_signal", "sigwait", METH_O, wait_for, NULL, NULL},
    [WAIT_INFO] = {"_signal", "sigwaitinfo", METH_O, wait_for_info, NULL, NULL},
    [WAIT_IN_TIME] = {"_signal", "sigtimedwait", METH_FASTCALL, SND_METHOD(wait_in_time), NULL, NULL},
    [PENDING] = {"_signal", "sigpending", METH_NOARGS, list_pending, NULL, NULL},
    [DUMP] = {"faulthandler", "register", METH_VARARGS | METH_KEYWORDS, SND_METHOD(register_dump), NULL, NULL},
};

static void
be_silent(int on)
{
    Py_BEGIN_ALLOW_THREADS;
    snd_sample_be_silent(on);
    Py_END_ALLOW_THREADS;
}

static PyObject *
wait_for(PyObject *module, PyObject *set)
{
    be_silent(1);
    PyObject *answer = methods[WAIT].original(module, set);
    be_silent(0);
    return answer;
}

static PyObject *
wait_for_info(PyObject *module, PyObject *set)
{
    be_silent(1);
    PyObject *answer = methods[WAIT_INFO].original(module, set);
    be_silent(0);
    return answer;
}

static PyObject *
wait_in_time(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    be_silent(1);
    PyObject *answer = ((snd_fast_call *)(void (*)(void))methods[WAIT_IN_TIME].original)(module, args, count);
    be_silent(0);
    return answer;
}

static PyObject *
list_pending(PyObject *module, PyObject *nothing)
{
    be_silent(1);
    PyObject *answer = methods[PENDING].original(module, nothing);
    be_silent(0);
    return answer;
}

void
snd_sample_signals_leave(PyObject *number)
{
    long wanted = number != NULL && PyLong_Check(number) ? PyLong_AsLong(number) : 0;

    PyErr_Clear();
    Py_BEGIN_ALLOW_THREADS;
    snd_sample_leave_signal(wanted > 0 && wanted < NSIG ? (int)wanted : 0);
    Py_END_ALLOW_THREADS;
}

static PyObject *
register_dump(PyObject *module, PyObject *args, PyObject *names)
{
    PyObject *named = names == NULL ? NULL : PyDict_GetItemString(names, "signum");

    snd_sample_signals_leave(PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : named);
    return ((PyCFunctionWithKeywords)(void (*)(void))methods[DUMP].original)(module, args, names);
}

void
snd_sample_signals_hook(int on)
{
    (void)snd_methods_hook(methods, METHODS, on);
}

/* ---- is what we read of the interpreter's frames what it says itself? Asked once, on a stack that we know ---- */

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

/* 1: everything we read of a known stack is what the interpreter says of it. With the GIL held. */
static int
check_frames(void)
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

/* ---- the names of threads: those that are there, and those that come while samples are taken ---- */

static PyObject *get_native_id(PyObject *self, PyObject *nothing);

static snd_method method = {"_thread", "get_native_id", METH_NOARGS, get_native_id, NULL, NULL};

static void
name_thread(PyObject *thread, uint32_t thread_id)
{
    PyObject *name = snd_thread_value(thread, "_name");
    const char *text = name == NULL || !PyUnicode_Check(name) ? NULL : PyUnicode_AsUTF8(name);

    if (text != NULL && thread_id != 0)
        snd_sample_name_thread(thread_id, text);
    Py_XDECREF(name);
    PyErr_Clear();
}

/* Every new thread of Python asks for its number once, from a method of the Thread, which has the name. */
static PyObject *
get_native_id(PyObject *self, PyObject *nothing)
{
    PyObject *type, *value, *trace;
    unsigned long thread_id = PyThread_get_thread_native_id();
    snd_frame *caller = snd_frame_top();

    (void)self, (void)nothing;
    PyErr_Fetch(&type, &value, &trace);
    PyCodeObject *code = caller == NULL ? NULL : snd_frame_code(caller);
    if (code != NULL && code->co_argcount == 1 &&
        PyUnicode_CompareWithASCIIString(code->co_name, "_set_native_id") == 0) {
        PyObject *thread = snd_frame_local(caller, 0);
        if (thread != NULL)
            name_thread(thread, (uint32_t)thread_id);
    }
    PyErr_Restore(type, value, trace);
    return PyLong_FromUnsignedLong(thread_id);
}

/* A program without threads has not imported the module. */
static void
name_all(void)
{
    PyObject *active = snd_threading_active(), *ident, *thread;
    Py_ssize_t at = 0;

    while (active != NULL && PyDict_Next(active, &at, &ident, &thread)) {
        PyObject *number = snd_thread_value(Py_NewRef(thread), "_native_id");
        unsigned long id = number == NULL || !PyLong_Check(number) ? 0 : PyLong_AsUnsignedLong(number);
        PyErr_Clear();
        name_thread(thread, (uint32_t)id);
        Py_XDECREF(number);
        Py_DECREF(thread);
    }
}

void
snd_sample_names_start(void)
{
    (void)snd_methods_hook(&method, 1, 1);
    name_all();
}

void
snd_sample_names_stop(void)
{
    if (snd_sample_is_running())
        name_all(); /* some changed theirs */
    (void)snd_methods_hook(&method, 1, 0);
}

/* One a process, as the sampler is. */
static snd_sample_interpreter interpreter;

static int
ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* What runs a program, a statement of a notebook or a cell: who called that is of no interest. */
static int
is_launcher(const snd_sample_code *code, int is_own)
{
    if (is_own)
        return strcmp(code->name, "Program.run") == 0 || strcmp(code->name, "_Magics._measure") == 0;
    return strcmp(code->name, "InteractiveShell.run_code") == 0 &&
           ends_with(code->file, "/IPython/core/interactiveshell.py");
}

/* Frames of this package are not the program's. */
static int
mark_ours(snd_sample_code *code)
{
    int is_own = snd_is_own_file(code->file);

    if (is_launcher(code, is_own))
        code->is_ours = SND_SAMPLE_LAUNCHER;
    else if (is_own)
        code->is_ours = SND_SAMPLE_OURS;
    return 1;
}

static int
read_code(uintptr_t code, snd_sample_code *out)
{
    return snd_stack_read_code(code, out) && mark_ours(out);
}

static int
read_safe_code(uintptr_t code, snd_sample_code *out)
{
    return snd_sample_safe_code(code, out) && mark_ours(out);
}

/* The evaluation loop's machine code, and the interpreter's: they stay where they are. */
static int
find_ranges(void)
{
    snd_symbols *symbols = NULL;
    size_t count = 0;
    const char *name;
    uintptr_t inside = snd_stack_loop(&name), loader = (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr");

    if (interpreter.loop[0].end != 0)
        return 1;
    if (snd_symbols_new(&symbols) != SND_OK)
        return 0;
    snd_status status = snd_symbols_ranges(symbols, inside, name, interpreter.loop, SND_SAMPLE_LOOPS, &count);
    size_t texts = snd_symbols_text(symbols, inside, &interpreter.code[0], 1);
    if (loader != 0)
        (void)snd_symbols_text(symbols, loader, &interpreter.code[1], 1);
    snd_symbols_free(symbols);
    return status == SND_OK && count != 0 && texts == 1;
}

/* Asked once: an interpreter does not change. */
static int
is_readable(void)
{
    static int answer = -1;

    if (answer < 0)
        answer = snd_peek_works() && check_frames();
    return answer;
}

static void
use_safe_way(snd_sample_options *options)
{
    options->safe_frames = options->no_signals = 1;
    interpreter.prepare = snd_sample_safe_prepare;
    interpreter.finish = snd_sample_safe_finish;
    interpreter.walk_thread = snd_sample_safe_walk;
    interpreter.list_threads = snd_sample_safe_list;
    interpreter.read_code = read_safe_code;
    interpreter.walk_own = NULL;
}

const snd_sample_interpreter *
snd_sample_interpreter_start(snd_sample_options *options)
{
    if (snd_sample_is_running()) /* what the running one uses stays */
        return &interpreter;
    (void)snd_is_own_file(""); /* finds out where the package is while the GIL is held */
    interpreter.prepare = interpreter.finish = NULL;
    interpreter.walk_here = snd_stack_walk_here;
    interpreter.walk_own = snd_stack_walk_own;
    interpreter.walk_thread = snd_stack_walk_thread;
    interpreter.list_threads = snd_stack_list_threads;
    interpreter.read_code = read_code;
    interpreter.locks = snd_stack_locks();
    if (!find_ranges())
        snd_session_note(
            "cannot find the interpreter's machine code; separating Python and native time by the instruction only");
    if (options->safe_frames)
        use_safe_way(options);
    else if (!is_readable()) {
        use_safe_way(options);
        snd_session_note("cannot read this interpreter's frames directly; sampling under the GIL at a lower rate");
    }
    else if (!snd_stack_watch_code(snd_sample_forget_code, 1)) {
        use_safe_way(options);
        snd_session_note("this interpreter does not report freed code; sampling under the GIL at a lower rate");
    }
    return &interpreter;
}

int
snd_sample_needs_gil(void)
{
    return snd_sample_is_running() && interpreter.prepare != NULL;
}

void
snd_sample_interpreter_stop(void)
{
    (void)snd_stack_watch_code(snd_sample_forget_code, 0);
    snd_sample_safe_stop();
}
