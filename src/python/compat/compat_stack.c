/* Frames, threads and code, read from where they lie. What may be gone or half written is copied by the kernel, which
 * says so when it cannot; what was copied is checked before it is followed. */
#include "python/compat/compat_stack.h"

#include "os/peek.h"
#include "probe/counter/gc.h"

#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED           /* 3.12: the macro would rename the function of an internal header */
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 moved the frame's layout */
#include <internal/pycore_interpframe.h>
#include <internal/pycore_optimizer.h>
#else
#include <internal/pycore_frame.h>
#endif
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include <stddef.h>
#include <string.h>

#define HEAD_SIZE offsetof(struct _PyInterpreterFrame, localsplus)
#define BLOCK_SIZE 4096u
#define BLOCKS 12u
#define THREAD_LIMIT 100000u
#define STEP_LIMIT (4 * SND_SAMPLE_DEPTH)
#define TRIES 3 /* to read the chain of a thread that goes on */
#define INTERPRETER_LIMIT 256u

/* ---- where things lie ----
 *
 * From 3.13 on the interpreter says where its fields are. Those of the interpreter's state have moved between two
 * releases of 3.14, and are looked for there; all others have to be as we were compiled, or are not read. */

#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: a table of offsets */
#define IN_INTERPRETER(field, member) (_PyRuntime.debug_offsets.interpreter_state.field)
#define COLLECTING (_PyRuntime.debug_offsets.interpreter_state.gc + _PyRuntime.debug_offsets.gc.collecting)
#define LIES(part, field, type, member) (_PyRuntime.debug_offsets.part.field == offsetof(type, member))
#else
#define IN_INTERPRETER(field, member) offsetof(PyInterpreterState, member)
#define COLLECTING offsetof(PyInterpreterState, gc.collecting)
#endif

int
snd_stack_is_as_compiled(void)
{
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: a table of offsets */
    return memcmp(_PyRuntime.debug_offsets.cookie, _Py_Debug_Cookie, sizeof _PyRuntime.debug_offsets.cookie) == 0 &&
           LIES(thread_state, next, PyThreadState, next) && LIES(thread_state, interp, PyThreadState, interp) &&
           LIES(thread_state, current_frame, PyThreadState, current_frame) &&
           LIES(thread_state, native_thread_id, PyThreadState, native_thread_id) &&
           LIES(thread_state, datastack_chunk, PyThreadState, datastack_chunk) &&
           LIES(interpreter_frame, previous, struct _PyInterpreterFrame, previous) &&
           LIES(interpreter_frame, executable, struct _PyInterpreterFrame, f_executable) &&
           LIES(interpreter_frame, instr_ptr, struct _PyInterpreterFrame, instr_ptr) &&
           LIES(interpreter_frame, owner, struct _PyInterpreterFrame, owner) &&
           LIES(interpreter_frame, localsplus, struct _PyInterpreterFrame, localsplus) &&
           LIES(code_object, filename, PyCodeObject, co_filename) &&
           LIES(code_object, qualname, PyCodeObject, co_qualname) &&
           LIES(code_object, linetable, PyCodeObject, co_linetable) &&
           LIES(code_object, firstlineno, PyCodeObject, co_firstlineno) &&
           LIES(code_object, co_code_adaptive, PyCodeObject, co_code_adaptive);
#else
    return 1;
#endif
}

/* A word of an interpreter's state, which may be gone. */
static int
peek_interpreter(const PyInterpreterState *interpreter, uint64_t offset, uintptr_t *out)
{
    return snd_peek((uintptr_t)interpreter + offset, out, sizeof *out);
}

/* ---- a chain of frames ---- */

/* Memory that can be read without asking: as it lies, or a copy of it. */
typedef struct window {
    uintptr_t start, room; /* a frame's head fits where it begins less than `room` behind the start */
    uintptr_t apart;       /* how much further on the copy lies; 0: it is no copy */
} window;

typedef struct walk {
    window windows[BLOCKS];
    window now; /* where the last frame was */
    unsigned count;
    char *blocks;         /* room for copies of BLOCK_SIZE; NULL: windows are memory as it lies */
    uintptr_t next_chunk; /* of the interpreter's own stack, which grows in pieces */
    uintptr_t collecting; /* the frame in which a garbage collection runs; 0: none */
    uintptr_t first;      /* the thread's first frame, which is of no function; 0: there is none such */
    snd_frame copy;
} walk;

static void
add_window(walk *self, uintptr_t start, uintptr_t end, const char *bytes)
{
    if (self->count < BLOCKS && end > start && end - start >= HEAD_SIZE)
        self->windows[self->count++] = (window){start, end - start - HEAD_SIZE + 1, (uintptr_t)bytes - start};
}

/* An address may be anything, also the last there is. */
static const snd_frame *
find_in_windows(walk *self, uintptr_t address)
{
    for (unsigned i = self->count; i-- > 0;)
        if (address - self->windows[i].start < self->windows[i].room) {
            self->now = self->windows[i];
            return (const snd_frame *)(address + self->now.apart);
        }
    return NULL;
}

/* The next older piece of the interpreter's stack becomes a window. */
static int
open_chunk(walk *self)
{
    _PyStackChunk head;

    if (self->next_chunk == 0 || self->count == BLOCKS || !snd_peek(self->next_chunk, &head, sizeof head))
        return 0;
    add_window(self, self->next_chunk, self->next_chunk + head.size, (const char *)self->next_chunk);
    self->next_chunk = (uintptr_t)head.previous;
    return 1;
}

/* A frame's callers mostly lie right before it. */
static int
copy_block(walk *self, uintptr_t address)
{
    uintptr_t start = address + 512 > BLOCK_SIZE ? address + 512 - BLOCK_SIZE : 0;
    char *room = self->blocks + (size_t)self->count * BLOCK_SIZE;

    if (self->count == BLOCKS || !snd_peek(start, room, BLOCK_SIZE))
        return 0;
    add_window(self, start, start + BLOCK_SIZE, room);
    return 1;
}

/* NULL: there is no frame. */
static const snd_frame *
frame_at(walk *self, uintptr_t address)
{
    if (address % sizeof(void *) != 0)
        return NULL;
    if (address - self->now.start < self->now.room) /* most lie where the one before did */
        return (const snd_frame *)(address + self->now.apart);
    const snd_frame *found = find_in_windows(self, address);
    if (found == NULL && self->blocks != NULL && copy_block(self, address))
        found = find_in_windows(self, address);
    while (found == NULL && self->blocks == NULL && open_chunk(self))
        found = find_in_windows(self, address);
    if (found == NULL && snd_peek(address, &self->copy, HEAD_SIZE))
        found = &self->copy;
    return found;
}

static uintptr_t
code_of(const snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: tagged */
    return (uintptr_t)frame->f_executable.bits & ~(uintptr_t)3;
#elif PY_VERSION_HEX >= 0x030d0000 /* 3.13: any executable */
    return (uintptr_t)frame->f_executable;
#else
    return (uintptr_t)frame->f_code;
#endif
}

static int32_t
offset_of(const snd_frame *frame, uintptr_t code)
{
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: renamed */
    uintptr_t at = (uintptr_t)frame->instr_ptr;
#else
    uintptr_t at = (uintptr_t)frame->prev_instr;
#endif
    intptr_t offset = (intptr_t)(at - (code + offsetof(PyCodeObject, co_code_adaptive)));
    return offset < -2 || offset > INT32_MAX ? -2 : (int32_t)offset;
}

/* Frames that stand for a piece of the C stack, not for a function. */
static int
is_shim(const snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed, and those of the C stack come behind it */
    return frame->owner >= FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: new */
    return frame->owner == FRAME_OWNED_BY_CSTACK;
#else
    return frame == NULL;
#endif
}

static int
is_entry(const snd_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: the shim behind it says so */
    return frame == NULL;
#else
    return frame->is_entry;
#endif
}

/* Where the collection at hand runs. Somebody may have taken our callback away in its middle: then the interpreter
 * still knows that it is over. */
static uintptr_t
collecting_frame(void)
{
    uintptr_t frame = SND_GET(snd_gc_frame);
    int is_collecting = 0;

    if (frame != 0) /* the main interpreter is always there */
        memcpy(&is_collecting, (const char *)PyInterpreterState_Main() + COLLECTING, sizeof is_collecting);
    return is_collecting ? frame : 0;
}

/* 0: it was torn: it breaks off, ends at a generator that has just stopped, or goes in a circle. A circle meets the
 * frame again that was remembered last, which is done at every power of two, so that it lies within the circle sooner
 * or later. */
static int
walk_frames(walk *self, uintptr_t address, int is_foreign, snd_sample_stack *stack)
{
    snd_sample_frame *next = stack->frames + stack->count, *limit = stack->frames + SND_SAMPLE_DEPTH;
    uintptr_t remembered = 0;
    int is_generator = 0, is_whole = 0;

    for (unsigned steps = 0; steps < STEP_LIMIT; steps++) {
        is_whole = address == 0 || address == self->first;
        if (is_whole || address == remembered)
            break;
        const snd_frame *frame = frame_at(self, address);
        if (frame == NULL)
            break;
        if ((steps & (steps - 1)) == 0)
            remembered = address;
        if (address == self->collecting)
            stack->collects = (uint32_t)(next - stack->frames) + 1;
        if (is_shim(frame)) {
            if (next != stack->frames)
                next[-1].is_entry = 1;
        }
        else if (next == limit) {
            stack->is_cut = is_whole = 1;
            break;
        }
        else {
            uintptr_t code = code_of(frame);
            *next++ = (snd_sample_frame){code, offset_of(frame, code), is_entry(frame) != 0, is_foreign != 0};
        }
        is_generator = frame->owner == FRAME_OWNED_BY_GENERATOR;
        address = (uintptr_t)frame->previous;
    }
    stack->count = (uint32_t)(next - stack->frames);
    return is_whole && (stack->is_cut || !is_generator);
}

/* ---- the frames of a thread ---- */

/* Code of other interpreters dies without a word to us, and its address would soon mean another one. */
static int
is_foreign(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: each interpreter has watchers of its own */
    return thread->interp != PyInterpreterState_Main();
#else
    return thread == NULL;
#endif
}

/* What the calling thread runs at the moment; NULL: it is not the interpreter's. A thread that is in another
 * interpreter has another state now, which only a variable of the thread knows. The loader may allocate memory when
 * that is read, so a signal handler does it only where there are other interpreters; the youngest of them is the first
 * in the list. */
static const PyThreadState *
state_here(void)
{
    const PyThreadState *first = PyGILState_GetThisThreadState(), *now = NULL;

    if (first == NULL || PyInterpreterState_Head() == PyInterpreterState_Main())
        return first;
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13: renamed */
    now = PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030c0000 /* 3.12: each thread has its own; before, it was that of who has the GIL */
    now = _PyThreadState_UncheckedGet();
#endif
    return now == NULL ? first : now;
}

/* The innermost frame of the calling thread; 0: none. */
static uintptr_t
top_of(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    return (uintptr_t)thread->current_frame;
#else
    return thread->cframe == NULL ? 0 : (uintptr_t)thread->cframe->current_frame;
#endif
}

/* What the interpreter has made of what the thread runs; 0: it runs the loop. */
static uintptr_t
compiled_of(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: executors */
    return (uintptr_t)thread->current_executor;
#else
    return thread == NULL;
#endif
}

snd_range
snd_stack_find_compiled(uintptr_t compiled)
{
    snd_range found = {0};
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: executors have machine code, if it has the JIT */
    _PyExecutorObject head;
    if (snd_peek(compiled, &head, offsetof(_PyExecutorObject, exits)) && head.jit_code != NULL &&
        head.jit_size < SIZE_MAX / 2)
        found = (snd_range){(uintptr_t)head.jit_code, (uintptr_t)head.jit_code + head.jit_size};
#else
    (void)compiled;
#endif
    return found;
}

/* The threads of one interpreter, any of which may be freed meanwhile; how many. */
static unsigned
each_state(const PyInterpreterState *one, void (*take)(void *context, const PyThreadState *thread, uintptr_t state),
           void *context)
{
    PyThreadState thread;
    uintptr_t state;
    unsigned count = 0;

    if (!peek_interpreter(one, IN_INTERPRETER(threads_head, threads.head), &state))
        return 0;
    for (; state != 0 && count < THREAD_LIMIT && snd_peek(state, &thread, sizeof thread); count++) {
        if (thread.interp != one)
            break; /* it was freed meanwhile */
        take(context, &thread, state);
        state = (uintptr_t)thread.next;
    }
    return count;
}

typedef struct wanted_state {
    uint32_t thread_id;
    PyThreadState found;
    int is_found;
} wanted_state;

static void
note_state(void *context, const PyThreadState *thread, uintptr_t state)
{
    wanted_state *wanted = context;

    (void)state;
    if (thread->native_thread_id == wanted->thread_id && !wanted->is_found) {
        wanted->found = *thread;
        wanted->is_found = 1;
    }
}

/* What the thread ran in the main interpreter before it entered another one, copied. 0: nothing. */
static int
find_outer(const PyThreadState *thread, wanted_state *out)
{
    out->thread_id = (uint32_t)thread->native_thread_id;
    out->is_found = 0;
    if (is_foreign(thread))
        (void)each_state(PyInterpreterState_Main(), note_state, out);
    return out->is_found;
}

static uintptr_t
first_of(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030f0000 /* 3.15: new */
    return (uintptr_t)thread->base_frame;
#else
    (void)thread;
    return 0;
#endif
}

static void
forget_windows(walk *self, const _PyStackChunk *chunk)
{
    self->count = 0;
    self->now = (window){0};
    self->next_chunk = 0;
    if (chunk != NULL) {
        add_window(self, (uintptr_t)chunk, (uintptr_t)chunk + chunk->size, (const char *)chunk);
        self->next_chunk = (uintptr_t)chunk->previous;
    }
}

/* This runs on the thread itself: what belongs to it is where it says. A signal handler may have come between any two
 * instructions, also where the program's own handler allocates: the innermost frame may not be there yet. */
void
snd_stack_walk_here(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state)
{
    walk self;
    wanted_state outer;
    const PyThreadState *thread = state_here();

    *state = (uintptr_t)thread;
    self.blocks = NULL;
    self.collecting = collecting_frame();
    stack->count = stack->is_cut = stack->collects = 0;
    if (thread != NULL)
        stack->compiled = compiled_of(thread);
    while (thread != NULL) {
        forget_windows(&self, thread->datastack_chunk);
        self.first = first_of(thread);
        add_window(&self, (uintptr_t)&self, stack_end, (const char *)&self);
        (void)walk_frames(&self, top_of(thread), is_foreign(thread), stack); /* what can be read of it counts */
        thread = find_outer(thread, &outer) ? &outer.found : NULL;
    }
}

/* Adds the frames of a thread's state that was copied. */
static int
walk_copied(const PyThreadState *thread, snd_sample_stack *stack)
{
    static char blocks[BLOCKS * BLOCK_SIZE]; /* of the one thread that looks */
    walk self = {.blocks = blocks, .collecting = collecting_frame(), .first = first_of(thread)};
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    uintptr_t top = (uintptr_t)thread->current_frame;
#else
    _PyCFrame between;
    if (!snd_peek((uintptr_t)thread->cframe, &between, sizeof between))
        return 0;
    uintptr_t top = (uintptr_t)between.current_frame;
#endif
    return walk_frames(&self, top, is_foreign(thread), stack);
}

static int
walk_once(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack)
{
    PyThreadState thread;
    wanted_state outer;

    if (!snd_peek(state, &thread, sizeof thread) || thread.native_thread_id != thread_id)
        return 0;
    stack->count = stack->is_cut = stack->collects = 0;
    if (!walk_copied(&thread, stack))
        return 0;
    return stack->is_cut || !find_outer(&thread, &outer) || walk_copied(&outer.found, stack);
}

int
snd_stack_walk_thread(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack)
{
    int found = 0;

    for (int i = 0; i < TRIES && (!found || stack->count == 0); i++) /* a stack without a frame is a rare one */
        found = walk_once(thread_id, state, stack);
    return found;
}

static int
has_frames(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030f0000 /* 3.15: a frame of no function is the first of every thread */
    return thread->current_frame != NULL && thread->current_frame != thread->base_frame;
#elif PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    return thread->current_frame != NULL;
#else
    return thread->cframe != NULL;
#endif
}

typedef struct listing {
    snd_sample_take_thread *take;
    void *context;
} listing;

/* A thread that was in another interpreter has a state there still, without frames. */
static void
take_state(void *context, const PyThreadState *thread, uintptr_t state)
{
    const listing *self = context;

    if (!is_foreign(thread) || has_frames(thread))
        self->take(self->context, (uint32_t)thread->native_thread_id, state);
}

/* The youngest interpreter comes last: a thread that is in several entered that one from another. */
void
snd_stack_list_threads(snd_sample_take_thread *take, void *context)
{
    PyInterpreterState *all[INTERPRETER_LIMIT], *one = PyInterpreterState_Head();
    listing self = {take, context};
    unsigned count = 0, threads = 0;

    while (one != NULL && count < INTERPRETER_LIMIT) {
        uintptr_t next;
        all[count++] = one;
        if (!peek_interpreter(one, IN_INTERPRETER(next, next), &next)) /* any of them may be freed meanwhile */
            break;
        one = (PyInterpreterState *)next;
    }
    while (count-- > 0 && threads < THREAD_LIMIT)
        threads += each_state(all[count], take_state, &self);
}

snd_range
snd_stack_locks(void)
{
    return (snd_range){(uintptr_t)&_PyRuntime, (uintptr_t)&_PyRuntime + sizeof _PyRuntime};
}

uintptr_t
snd_stack_loop(const char **name, const char **handlers)
{
    *name = "_PyEval_EvalFrameDefault";
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: may be built with tail calls */
    *handlers = "_TAIL_CALL_*";
#else
    *handlers = NULL;
#endif
    return (uintptr_t)&_PyEval_EvalFrameDefault;
}

uintptr_t
snd_stack_marker(void)
{
    const PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame: the shim does as well */
    const snd_frame *frame = thread->current_frame;
    while (frame != NULL && !is_shim(frame))
        frame = frame->previous;
    return (uintptr_t)frame;
#else
    return (uintptr_t)thread->cframe;
#endif
}

/* ---- the end of a code object ---- */

#define LISTENERS 2

static snd_code_died *listeners[LISTENERS];

static void
tell_of_death(uintptr_t code)
{
    for (int i = 0; i < LISTENERS; i++)
        if (listeners[i] != NULL)
            listeners[i](code);
}

#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: watchers */
static int watcher = -1;

static int
on_code(PyCodeEvent event, PyCodeObject *code)
{
    if (event == PY_CODE_EVENT_DESTROY)
        tell_of_death((uintptr_t)code);
    return 0;
}

static int
watch(int on)
{
    if (on && watcher < 0) {
        watcher = PyCode_AddWatcher(on_code);
        PyErr_Clear();
    }
    else if (!on && watcher >= 0) {
        PyCode_ClearWatcher(watcher);
        PyErr_Clear();
        watcher = -1;
    }
    return !on || watcher >= 0;
}
#else
static destructor free_code;

static void
on_code_end(PyObject *code)
{
    tell_of_death((uintptr_t)code);
    free_code(code);
}

/* The slot is given back only if it is still ours; else we go on to pass everything through. */
static int
watch(int on)
{
    if (on && free_code == NULL) {
        free_code = PyCode_Type.tp_dealloc;
        PyCode_Type.tp_dealloc = on_code_end;
    }
    else if (!on && free_code != NULL && PyCode_Type.tp_dealloc == on_code_end) {
        PyCode_Type.tp_dealloc = free_code;
        free_code = NULL;
    }
    return 1;
}
#endif

int
snd_stack_watch_code(snd_code_died *died, int on)
{
    int place = 0, any = 0;

    while (place < LISTENERS && listeners[place] != died)
        place++;
    for (int i = 0; i < LISTENERS && place == LISTENERS; i++)
        if (listeners[i] == NULL)
            place = i;
    if (on && (place == LISTENERS || !watch(1)))
        return 0;
    if (place < LISTENERS)
        listeners[place] = on ? died : NULL;
    for (int i = 0; i < LISTENERS; i++)
        any |= listeners[i] != NULL;
    return any || watch(0);
}
