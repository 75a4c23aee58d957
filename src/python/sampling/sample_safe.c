/* Samples by the interpreter's own functions, with the GIL held: for an interpreter whose frames we cannot read.
 *
 * Before each tick everything is copied. Code that was met stays alive until the sampler stops, so that its
 * address means the same all the time. */
#include "base/alloc.h"
#include "base/map.h"
#include "python/sampling/sample_module.h"

#include <string.h>

typedef struct copied {
    uint32_t thread_id;
    snd_sample_stack stack;
} copied;

static copied *stacks;
static uint32_t stack_count, stack_capacity;
static PyObject *codes; /* a set: all that were met */
static snd_map by_address;
static snd_sample_code *known;
static uint32_t known_count, known_capacity;

/* The GIL comes some time after a collection is over: where one was met is kept then. With the GIL, but for the first.
 */
static _Atomic int is_asking;
static int asked_before;     /* when the collection began */
static copied in_collection; /* where it was; thread_id 0: none was met */

static char *
copy_text(PyObject *text)
{
    const char *utf8 = PyUnicode_AsUTF8(text);
    PyErr_Clear();
    return snd_strdup(utf8 == NULL ? "?" : utf8);
}

static int
is_whole(const snd_sample_code *code)
{
    return code->name != NULL && code->file != NULL && code->lines != NULL && code->is_call != NULL;
}

/* Which of the instructions call something is not told: time in native code counts as Python's, except outside the
 * interpreter, and there nobody looks. */
static int
describe_code(PyCodeObject *code, snd_sample_code *out)
{
    PyObject *bytes = PyCode_GetCode(code);
    uint32_t units = bytes == NULL ? 0 : (uint32_t)(PyBytes_GET_SIZE(bytes) / 2);
    snd_sample_code made = {
        .name = copy_text(code->co_qualname),
        .file = copy_text(code->co_filename),
        .first_line = code->co_firstlineno > 0 ? (uint32_t)code->co_firstlineno : 0,
        .unit_count = units,
        .lines = snd_calloc(units + 1u, sizeof(uint32_t)),
        .is_call = snd_calloc(units + 1u, 1),
    };
    Py_XDECREF(bytes);
    PyErr_Clear();
    for (uint32_t i = 0; i < units && made.lines != NULL; i++) {
        int line = PyCode_Addr2Line(code, (int)i * 2);
        made.lines[i] = line > 0 ? (uint32_t)line : 0;
    }
    *out = made;
    return is_whole(&made);
}

static void
meet_code(PyCodeObject *code)
{
    uint32_t cursor = 0;

    if (snd_map_next(&by_address, (uintptr_t)code, &cursor) != SND_MAP_NONE)
        return;
    if (!snd_make_room(&known, known_count + 1, &known_capacity, sizeof *known))
        return;
    if (codes == NULL)
        codes = PyList_New(0);
    if (codes == NULL || PyList_Append(codes, (PyObject *)code) != 0) {
        PyErr_Clear();
        return;
    }
    if (describe_code(code, &known[known_count]) && snd_map_add(&by_address, (uintptr_t)code, known_count) == SND_OK)
        known_count++;
    else
        snd_sample_code_free(&known[known_count]);
}

static void
copy_stack(PyFrameObject *innermost, snd_sample_stack *stack)
{
    PyFrameObject *frame = (PyFrameObject *)Py_NewRef(innermost);

    stack->count = stack->is_cut = stack->collects = 0;
    while (frame != NULL && stack->count < SND_SAMPLE_DEPTH) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        meet_code(code);
        stack->frames[stack->count++] = (snd_sample_frame){(uintptr_t)code, PyFrame_GetLasti(frame), 0, 0};
        PyFrameObject *caller = PyFrame_GetBack(frame);
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = caller;
    }
    stack->is_cut = frame != NULL;
    Py_XDECREF(frame);
}

void
snd_sample_safe_collects(int begins)
{
    PyThreadState *here = PyThreadState_Get();

    if (begins)
        asked_before = SND_GET(is_asking);
    if (begins || asked_before || !SND_GET(is_asking))
        return;
    PyFrameObject *frame = PyThreadState_GetFrame(here);
    if (frame != NULL) {
        in_collection.thread_id = (uint32_t)here->native_thread_id;
        copy_stack(frame, &in_collection.stack);
        in_collection.stack.collects = 1;
    }
    Py_XDECREF(frame);
    PyErr_Clear();
}

static snd_sample_stack *
add_stack(uint32_t thread_id)
{
    if (!snd_make_room(&stacks, stack_count + 1, &stack_capacity, sizeof *stacks))
        return NULL;
    stacks[stack_count].thread_id = thread_id;
    return &stacks[stack_count++].stack;
}

static void
copy_thread(PyThreadState *thread)
{
    PyFrameObject *frame = thread->native_thread_id == 0 ? NULL : PyThreadState_GetFrame(thread);
    snd_sample_stack *stack = frame == NULL ? NULL : add_stack((uint32_t)thread->native_thread_id);

    if (stack != NULL && in_collection.thread_id == (uint32_t)thread->native_thread_id)
        *stack = in_collection.stack;
    else if (stack != NULL)
        copy_stack(frame, stack);
    Py_XDECREF(frame);
    PyErr_Clear();
}

/* Nothing of the program's may run on this thread: no code of its own is called, no audit event is raised, and what is
 * allocated here starts no garbage collection with its finalisers. */
static void
copy_all(void)
{
    PyThreadState *here = PyThreadState_Get();
    int collects = PyGC_Disable();

    stack_count = 0;
    for (PyThreadState *thread = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(here)); thread != NULL;
         thread = PyThreadState_Next(thread))
        if (thread != here)
            copy_thread(thread);
    in_collection.thread_id = 0;
    if (collects)
        PyGC_Enable();
}

/* One for all looks of a thread: making one allocates, and tracemalloc, when it stops, crashes on those who do that
 * without the GIL. */
static _Thread_local PyThreadState *own;

void
snd_sample_safe_prepare(void)
{
    SND_SET(is_asking, 1);
    if (own == NULL)
        (void)PyGILState_Ensure();
    else
        PyEval_RestoreThread(own);
    SND_SET(is_asking, 0);
    copy_all();
    own = PyEval_SaveThread();
}

void
snd_sample_safe_finish(void)
{
    if (own == NULL)
        return;
    PyEval_RestoreThread(own);
    own = NULL;
    PyGILState_Release(PyGILState_UNLOCKED);
}

int
snd_sample_safe_walk(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack)
{
    (void)state;
    for (uint32_t i = 0; i < stack_count; i++)
        if (stacks[i].thread_id == thread_id) {
            *stack = stacks[i].stack;
            return 1;
        }
    return 0;
}

void
snd_sample_safe_list(snd_sample_take_thread *take, void *context)
{
    for (uint32_t i = 0; i < stack_count; i++)
        take(context, stacks[i].thread_id, 1);
}

static void *
copy_of(const void *data, size_t size)
{
    void *copy = snd_malloc(size);
    if (copy != NULL)
        memcpy(copy, data, size);
    return copy;
}

int
snd_sample_safe_code(uintptr_t code, snd_sample_code *out)
{
    uint32_t cursor = 0;
    uint32_t index = snd_map_next(&by_address, code, &cursor);
    if (index == SND_MAP_NONE)
        return 0;
    const snd_sample_code *from = &known[index];
    snd_sample_code copy = *from;
    copy.name = snd_strdup(from->name);
    copy.file = snd_strdup(from->file);
    copy.lines = copy_of(from->lines, (from->unit_count + 1u) * sizeof(uint32_t));
    copy.is_call = copy_of(from->is_call, from->unit_count + 1u);
    if (!is_whole(&copy)) {
        snd_sample_code_free(&copy);
        return 0;
    }
    *out = copy;
    return 1;
}

void
snd_sample_safe_stop(void)
{
    for (uint32_t i = 0; i < known_count; i++)
        snd_sample_code_free(&known[i]);
    snd_free(known);
    snd_free(stacks);
    snd_map_free(&by_address);
    known = NULL;
    stacks = NULL;
    known_count = known_capacity = stack_count = stack_capacity = in_collection.thread_id = 0;
    Py_CLEAR(codes);
}
