/* Calls on 3.11: through the interpreter's evaluation hook, and through its profile hook when C functions are asked for
 * or the C stack gets short, since every call under the evaluation hook takes some of that. */
#include "python/calls/call.h"

#if !SND_HAS_MONITORING

#include "collect/session.h"

#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#include <internal/pycore_interp.h>
#include <opcode.h>
#include <pthread.h>

#define STACK_RESERVE (256u << 10) /* bytes that stay free for C code that the program calls */
#define STACK_SHARE 4u             /* or this part of a small stack */

static snd_call_probe *hooked; /* whose hooks stand; NULL: none */
static _PyFrameEvalFunction before;
static int uses_profile;
static int has_evaluation; /* the evaluation hook is ours */
static PyObject *thread_module;
static PyObject *start_thread; /* the interpreter's own _thread.start_new_thread */
static PyObject *our_start_thread;
static _Thread_local uintptr_t stack_limit __attribute__((tls_model("initial-exec")));

static PyObject *evaluate(PyThreadState *thread, snd_frame *frame, int throws);
static int watch_threads(void);
static int profile_event(PyObject *self, PyFrameObject *object, int what, PyObject *arg);

/* The address below which the evaluation hook must not go on this thread. */
static uintptr_t
find_stack_limit(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &size);
        pthread_attr_destroy(&attributes);
    }
    return (uintptr_t)lowest + (size / STACK_SHARE < STACK_RESERVE ? size / STACK_SHARE : STACK_RESERVE);
}

static int
stack_is_short(void)
{
    char here;
    if (SND_UNLIKELY(stack_limit == 0))
        stack_limit = find_stack_limit();
    return (uintptr_t)&here < stack_limit;
}

static void
set_profile(PyThreadState *thread, Py_tracefunc function, PyObject *object)
{
    PyObject *old = thread->c_profileobj;

    thread->c_profilefunc = function;
    thread->c_profileobj = Py_XNewRef(object);
    thread->cframe->use_tracing = function != NULL || thread->c_tracefunc != NULL ? 255 : 0;
    Py_XDECREF(old);
}

/* On all threads that have no other. */
static void
set_profile_everywhere(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    for (PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter); thread != NULL;
         thread = PyThreadState_Next(thread))
        if (thread->c_profilefunc == NULL)
            set_profile(thread, profile_event, Py_None);
    uses_profile = 1;
}

/* Gives the slot back if it is still ours; who came after us may still call our hook, which then passes everything on.
 */
static void
give_back_evaluation(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    if (!has_evaluation || _PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate)
        return;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, before == NULL ? _PyEval_EvalFrameDefault : before);
    has_evaluation = 0;
}

/* For the rest of this profile: what was entered so far ends by its own hook or by the other, whichever comes first. */
static void
go_on_with_profile(void)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    give_back_evaluation();
    set_profile_everywhere();
    (void)watch_threads();
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

/* Whether the frame is one that only makes a generator. */
static int
makes_generator(const snd_frame *frame, const PyCodeObject *code)
{
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0 &&
           frame->owner != FRAME_OWNED_BY_GENERATOR;
}

/* Whether a generator's frame has not run yet. */
static int
is_fresh(const snd_frame *frame)
{
    return _Py_OPCODE(*frame->prev_instr) == RETURN_GENERATOR;
}

static int
is_suspended(const void *generator)
{
    return ((const PyGenObject *)generator)->gi_frame_state == FRAME_SUSPENDED;
}

static PyObject *
evaluate_next(PyThreadState *thread, snd_frame *frame, int throws)
{
    return before == NULL ? _PyEval_EvalFrameDefault(thread, frame, throws) : before(thread, frame, throws);
}

/* A generator's frame, which may go on, and may pause again. */
static PyObject *
evaluate_generator(PyThreadState *thread, snd_frame *frame, int throws, PyCodeObject *code, snd_code *known)
{
    snd_call_probe *probe = hooked;
    uint64_t serial = probe->book->serial;
    snd_call_thread *calls = snd_call_thread_get(probe->book);
    PyObject *generator = snd_frame_generator(frame);
    uint32_t depth = calls->depth;

    if (is_fresh(frame) && !throws)
        SND_HOLDING(probe, snd_event_start(probe, code, known, frame));
    else
        SND_HOLDING(probe, snd_event_resume(probe, code, known, generator));
    PyObject *result = evaluate_next(thread, frame, throws);
    if (hooked == NULL || hooked->book->serial != serial || calls->depth <= depth)
        return result; /* stopped meanwhile */
    if (result != NULL && is_suspended(generator))
        SND_HOLDING(hooked, snd_event_yield(hooked, code, known, generator));
    else
        SND_HOLDING(hooked, snd_event_return(hooked, code, result));
    return result;
}

static PyObject *
evaluate(PyThreadState *thread, snd_frame *frame, int throws)
{
    snd_call_probe *probe = hooked;
    PyCodeObject *code = frame->f_code;
    snd_code *known;

    if (SND_UNLIKELY(probe == NULL || uses_profile || thread->tracing != 0 || makes_generator(frame, code)))
        return evaluate_next(thread, frame, throws);
    known = snd_code_wanted(code);
    if (known == NULL)
        return evaluate_next(thread, frame, throws);
    uint64_t serial = probe->book->serial;
    snd_call_thread *calls;
    SND_HOLDING(probe, calls = snd_call_thread_get(probe->book));
    if (SND_UNLIKELY(hooked != probe || calls == NULL || calls->is_muted))
        return evaluate_next(thread, frame, throws);
    if (SND_UNLIKELY(stack_is_short())) {
        go_on_with_profile();
        return evaluate_next(thread, frame, throws);
    }
    if (frame->owner == FRAME_OWNED_BY_GENERATOR)
        return evaluate_generator(thread, frame, throws, code, known);
    uint32_t depth = calls->depth;
    SND_HOLDING(probe, snd_event_start(probe, code, known, frame));
    PyObject *result = evaluate_next(thread, frame, throws);
    if (SND_LIKELY(hooked != NULL && hooked->book->serial == serial && calls->depth > depth))
        SND_HOLDING(hooked, snd_event_return(hooked, code, result));
    return result;
}

/* A function starts or a generator goes on. */
static void
on_call(snd_call_probe *probe, snd_frame *frame, PyCodeObject *code, snd_code *known)
{
    int opcode = _Py_OPCODE(*frame->prev_instr);
    if ((opcode == RESUME || opcode == RESUME_QUICK) && _Py_OPARG(*frame->prev_instr) == 0)
        SND_HOLDING(probe, snd_event_start(probe, code, known, frame));
    else
        SND_HOLDING(probe, snd_event_resume(probe, code, known, snd_frame_generator(frame)));
}

static void
on_return(snd_call_probe *probe, snd_frame *frame, PyCodeObject *code, snd_code *known, PyObject *value)
{
    if (value != NULL && _Py_OPCODE(*frame->prev_instr) == YIELD_VALUE)
        SND_HOLDING(probe, snd_event_yield(probe, code, known, snd_frame_generator(frame)));
    else
        SND_HOLDING(probe, snd_event_return(probe, code, value));
}

static int
profile_event(PyObject *self, PyFrameObject *object, int what, PyObject *arg)
{
    snd_call_probe *probe = hooked;
    snd_frame *frame = object->f_frame;
    PyCodeObject *code = frame->f_code;

    (void)self;
    if (SND_UNLIKELY(probe == NULL))
        return 0;
    if (what == PyTrace_C_CALL || what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) {
        if (!probe->wish.builtins || !snd_code_may_call(code))
            return 0;
        if (what == PyTrace_C_CALL)
            SND_HOLDING(probe, snd_event_builtin(probe, arg, arg));
        else
            SND_HOLDING(probe, snd_event_builtin_end(probe, arg, arg));
        return 0;
    }
    snd_code *known = snd_code_wanted(code);
    if (known == NULL)
        return 0;
    if (what == PyTrace_CALL)
        on_call(probe, frame, code, known);
    else if (what == PyTrace_RETURN)
        on_return(probe, frame, code, known, arg);
    return 0;
}

/* Runs on a new thread, before anything of the program does. */
static PyObject *
run_thread(PyObject *self, PyObject *args)
{
    PyObject *function = PyTuple_GET_ITEM(args, 0);
    PyObject *given = PyTuple_GET_ITEM(args, 1);
    PyObject *named = PyTuple_GET_SIZE(args) > 2 ? PyTuple_GET_ITEM(args, 2) : NULL;

    (void)self;
    if (hooked != NULL && uses_profile)
        set_profile(PyThreadState_Get(), profile_event, Py_None);
    PyObject *result = PyObject_Call(function, given, named);
    if (result != NULL || PyErr_ExceptionMatches(PyExc_SystemExit))
        return result;
    _PyErr_WriteUnraisableMsg("in thread started by", function); /* as the interpreter says it of the function itself */
    Py_RETURN_NONE;
}

static PyMethodDef run_thread_method = {"run_thread", run_thread, METH_VARARGS, NULL};

static PyObject *
start_new_thread(PyObject *self, PyObject *args)
{
    Py_ssize_t count = PyTuple_GET_SIZE(args);

    (void)self;
    if (hooked == NULL || count < 2 || count > 3 || !PyCallable_Check(PyTuple_GET_ITEM(args, 0)) ||
        !PyTuple_Check(PyTuple_GET_ITEM(args, 1)) || (count == 3 && !PyDict_Check(PyTuple_GET_ITEM(args, 2))))
        return PyObject_Call(start_thread, args, NULL); /* which knows what to say */
    PyObject *runner = PyCFunction_New(&run_thread_method, NULL);
    PyObject *result = runner == NULL ? NULL : PyObject_CallFunctionObjArgs(start_thread, runner, args, NULL);
    Py_XDECREF(runner);
    return result;
}

static PyMethodDef start_new_thread_method = {"start_new_thread", start_new_thread, METH_VARARGS, NULL};

/* The names under which a thread is started. */
static void
replace_start_thread(PyObject *with, PyObject *what)
{
    static const char *const names[][2] = {
        {"_thread", "start_new_thread"}, {"_thread", "start_new"}, {"threading", "_start_new_thread"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), names[i][0]);
        PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, names[i][1]);
        if (found == what)
            (void)PyObject_SetAttrString(module, names[i][1], with);
        Py_XDECREF(found);
        PyErr_Clear();
    }
}

/* The profile hook belongs to a thread, so that new threads must get it when they start. */
static int
watch_threads(void)
{
    if (thread_module == NULL) {
        thread_module = PyImport_ImportModule("_thread");
        start_thread = thread_module == NULL ? NULL : PyObject_GetAttrString(thread_module, "start_new_thread");
        our_start_thread = PyCFunction_New(&start_new_thread_method, NULL);
        if (start_thread == NULL || our_start_thread == NULL) {
            Py_CLEAR(thread_module);
            return 0;
        }
    }
    replace_start_thread(our_start_thread, start_thread);
    return 1;
}

static int
start_profile(void)
{
    PyThreadState *thread = PyThreadState_Get();

    if (thread->c_profilefunc != NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "another profiler ('%.200s') holds this thread's profile hook; stop it first, or leave out C "
                     "functions (builtins=False)",
                     thread->c_profileobj == NULL ? "unknown" : Py_TYPE(thread->c_profileobj)->tp_name);
        return 0;
    }
    if (!watch_threads())
        return 0;
    set_profile_everywhere();
    return 1;
}

/* ---- whether the evaluation hook sees every call: in the first 3.11 versions a specialised c[0] goes past it ---- */

static const char check_program[] = "class C:\n"
                                    "    def __getitem__(self, i):\n"
                                    "        return i\n"
                                    "def check(c, n):\n"
                                    "    for _ in range(n):\n"
                                    "        c[0]\n"
                                    "c = C()\n";
static uint32_t evaluated;

static PyObject *
count_evaluation(PyThreadState *thread, snd_frame *frame, int throws)
{
    evaluated++;
    return _PyEval_EvalFrameDefault(thread, frame, throws);
}

static int
run_check(PyObject *names, int count)
{
    PyObject *done =
        PyObject_CallFunction(PyDict_GetItemString(names, "check"), "Oi", PyDict_GetItemString(names, "c"), count);
    Py_XDECREF(done);
    return done != NULL;
}

/* Asked once; the first run lets the interpreter specialise. */
static int
evaluation_is_complete(void)
{
    enum { RUNS = 100 };
    static int answer = -1;
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    PyThreadState *thread = PyThreadState_Get();
    uint8_t tracing = thread->cframe->use_tracing;
    PyObject *names = answer >= 0 ? NULL : PyDict_New();

    thread->cframe->use_tracing =
        0; /* under a trace function nothing is specialised, and this is none of its business */
    PyObject *made = names == NULL ? NULL : PyRun_String(check_program, Py_file_input, names, names);
    if (made != NULL && run_check(names, RUNS)) {
        _PyFrameEvalFunction standing = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        evaluated = 0;
        _PyInterpreterState_SetEvalFrameFunc(interpreter, count_evaluation);
        int ran = run_check(names, RUNS);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, standing);
        answer = ran && evaluated >= RUNS + 1;
    }
    thread->cframe->use_tracing = tracing;
    Py_XDECREF(made);
    Py_XDECREF(names);
    PyErr_Clear();
    return answer > 0;
}

const char *
snd_call_hooks_name(int with_builtins)
{
    return with_builtins || !evaluation_is_complete() ? "the profile hook" : "the evaluation hook";
}

int
snd_call_hooks_start(snd_call_probe *probe)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    int is_complete = probe->wish.builtins || evaluation_is_complete();
    if (!is_complete && !probe->book->is_private)
        snd_session_note("this Python's evaluation hook misses some calls: using the slower profile hook");
    hooked = probe;
    uses_profile = 0;
    if (probe->wish.builtins || !is_complete) {
        if (!start_profile()) {
            hooked = NULL;
            return 0;
        }
    }
    else if (!has_evaluation) {
        before = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        if (before == _PyEval_EvalFrameDefault)
            before = NULL;
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
        has_evaluation = 1;
    }
    snd_call_active = probe;
    snd_call_serial = probe->book->serial;
    return 1;
}

void
snd_call_hooks_stop(snd_call_probe *probe, int silently)
{
    PyObject *type, *value, *trace;
    PyInterpreterState *interpreter = PyInterpreterState_Get();

    (void)silently; /* nothing here runs Python code */
    PyErr_Fetch(&type, &value, &trace);
    probe->is_lost = uses_profile && PyThreadState_Get()->c_profilefunc != profile_event;
    for (PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter); thread != NULL;
         thread = PyThreadState_Next(thread))
        if (thread->c_profilefunc == profile_event)
            set_profile(thread, NULL, NULL);
    if (uses_profile && our_start_thread != NULL)
        replace_start_thread(start_thread, our_start_thread);
    give_back_evaluation();
    if (probe->is_lost && !probe->book->is_private)
        snd_session_note("another profiler took over the profile hook: later calls are missing");
    hooked = NULL;
    snd_call_active = NULL;
    snd_call_serial = SND_NO_SERIAL;
    uses_profile = 0;
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

#else
typedef int snd_call_hooks_eval_is_empty;
#endif
