/* Frames, threads and code, read from where they lie. What may be gone or half written is copied by the kernel, which
 * says so when it cannot; what was copied is checked before it is followed. */
#include "python/compat/compat_stack.h"

#include "os/peek.h"
#include "probe/counter/gc.h"

#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED           /* 3.12: the macro would rename the function of an internal header */
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14 moved the frame's layout */
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include <stddef.h>

#define HEAD_SIZE offsetof(struct _PyInterpreterFrame, localsplus)
#define BLOCK_SIZE 4096u
#define BLOCKS 12u
#define THREAD_LIMIT 100000u
#define STEP_LIMIT (4 * SND_SAMPLE_DEPTH)
#define TRIES 3 /* to read the chain of a thread that goes on */

/* ---- a chain of frames ---- */

/* Memory that can be read without asking: as it lies, or a copy of it. */
typedef struct window {
    uintptr_t start, end;
    const char *bytes;
} window;

typedef struct walk {
    window windows[BLOCKS];
    unsigned count;
    char *blocks;         /* room for copies of BLOCK_SIZE; NULL: windows are memory as it lies */
    uintptr_t next_chunk; /* of the interpreter's own stack, which grows in pieces */
    uintptr_t collecting; /* the frame in which a garbage collection runs; 0: none */
    snd_frame copy;
} walk;

static void
add_window(walk *self, uintptr_t start, uintptr_t end, const char *bytes)
{
    if (self->count < BLOCKS && start < end)
        self->windows[self->count++] = (window){start, end, bytes};
}

static const snd_frame *
find_in_windows(const walk *self, uintptr_t address)
{
    for (unsigned i = self->count; i-- > 0;)
        if (address >= self->windows[i].start && address + HEAD_SIZE <= self->windows[i].end)
            return (const snd_frame *)(self->windows[i].bytes + (address - self->windows[i].start));
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
    const snd_frame *found = find_in_windows(self, address);

    if (address % sizeof(void *) != 0)
        return NULL;
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
#if PY_VERSION_HEX >= 0x030e0000 /* 3.14: renamed */
    return frame->owner == FRAME_OWNED_BY_INTERPRETER;
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

    return frame != 0 && PyInterpreterState_Main()->gc.collecting ? frame : 0;
}

/* 0: it was torn: it breaks off, ends at a generator that has just stopped, or goes in a circle. A circle meets the
 * frame again that was remembered last, which is done at every power of two, so that it lies within the circle sooner
 * or later. */
static int
walk_frames(walk *self, uintptr_t address, snd_sample_stack *stack)
{
    uintptr_t remembered = 0;
    int is_generator = 0;

    stack->count = stack->is_cut = stack->collects = 0;
    for (unsigned steps = 0; address != 0; steps++) {
        const snd_frame *frame = frame_at(self, address);
        if (frame == NULL || address == remembered || steps == STEP_LIMIT)
            return 0;
        if ((steps & (steps - 1)) == 0)
            remembered = address;
        if (address == self->collecting)
            stack->collects = stack->count + 1;
        if (is_shim(frame)) {
            if (stack->count != 0)
                stack->frames[stack->count - 1].is_entry = 1;
        }
        else if (stack->count == SND_SAMPLE_DEPTH) {
            stack->is_cut = 1;
            return 1;
        }
        else {
            uintptr_t code = code_of(frame);
            stack->frames[stack->count++] = (snd_sample_frame){code, offset_of(frame, code), (uint32_t)is_entry(frame)};
        }
        is_generator = frame->owner == FRAME_OWNED_BY_GENERATOR;
        address = (uintptr_t)frame->previous;
    }
    return !is_generator;
}

/* ---- the frames of a thread ---- */

/* Code of other interpreters dies without a word to us, and its address would soon mean another one. */
static int
is_silent(const PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030c0000 /* 3.12: each interpreter has watchers of its own */
    return thread->interp != PyInterpreterState_Main();
#else
    return thread == NULL;
#endif
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

/* This runs in a signal handler, on the thread itself: what belongs to the thread is where it says. */
void
snd_stack_walk_here(snd_sample_stack *stack, uintptr_t stack_end, uintptr_t *state)
{
    walk self;
    PyThreadState *thread = PyGILState_GetThisThreadState();

    *state = (uintptr_t)thread;
    self.count = 0;
    self.blocks = NULL;
    self.next_chunk = 0;
    self.collecting = collecting_frame();
    if (thread == NULL || is_silent(thread))
        return;
    const _PyStackChunk *chunk = thread->datastack_chunk;
    if (chunk != NULL) {
        add_window(&self, (uintptr_t)chunk, (uintptr_t)chunk + chunk->size, (const char *)chunk);
        self.next_chunk = (uintptr_t)chunk->previous;
    }
    add_window(&self, (uintptr_t)&self, stack_end, (const char *)&self);
    (void)walk_frames(&self, top_of(thread), stack); /* what can be read of it counts */
}

/* The thread asks for its own frames, and does not move meanwhile: they are read as they lie. */
void
snd_stack_walk_own(snd_sample_stack *stack)
{
    PyThreadState *thread = PyGILState_GetThisThreadState();
    const snd_frame *frame = thread == NULL || is_silent(thread) ? NULL : (const snd_frame *)top_of(thread);
    uintptr_t collecting = collecting_frame();
    uint32_t count = 0;

    stack->collects = 0;
    for (; frame != NULL && count < SND_SAMPLE_DEPTH; frame = frame->previous) {
        if ((uintptr_t)frame == collecting)
            stack->collects = count + 1;
        if (is_shim(frame))
            continue;
        uintptr_t code = code_of(frame);
        stack->frames[count++] = (snd_sample_frame){code, offset_of(frame, code), 0};
    }
    stack->count = count;
    stack->is_cut = frame != NULL;
}

static int
walk_once(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack)
{
    static char blocks[BLOCKS * BLOCK_SIZE]; /* of the one thread that looks */
    PyThreadState thread;
    walk self = {.blocks = blocks, .collecting = collecting_frame()};

    if (!snd_peek(state, &thread, sizeof thread) || thread.native_thread_id != thread_id)
        return 0;
    stack->count = stack->is_cut = stack->collects = 0;
    if (is_silent(&thread))
        return 1;
#if PY_VERSION_HEX >= 0x030d0000 /* 3.13 dropped the C frame between thread and frame */
    uintptr_t top = (uintptr_t)thread.current_frame;
#else
    _PyCFrame between;
    if (!snd_peek((uintptr_t)thread.cframe, &between, sizeof between))
        return 0;
    uintptr_t top = (uintptr_t)between.current_frame;
#endif
    return walk_frames(&self, top, stack);
}

int
snd_stack_walk_thread(uint32_t thread_id, uintptr_t state, snd_sample_stack *stack)
{
    int found = 0;

    for (int i = 0; i < TRIES && (!found || stack->count == 0); i++) /* a stack without a frame is a rare one */
        found = walk_once(thread_id, state, stack);
    return found;
}

void
snd_stack_list_threads(snd_sample_take_thread *take, void *context)
{
    PyThreadState thread;
    PyInterpreterState *one = PyInterpreterState_Head(), *next;
    unsigned count = 0;

    for (; one != NULL && count < THREAD_LIMIT; one = next, count++) { /* any of them may be freed meanwhile */
        uintptr_t state;
        if (!snd_peek((uintptr_t)&one->threads.head, &state, sizeof state) ||
            !snd_peek((uintptr_t)&one->next, &next, sizeof(PyInterpreterState *)))
            return;
        for (; state != 0 && count < THREAD_LIMIT && snd_peek(state, &thread, sizeof thread); count++) {
            if (thread.interp != one)
                break; /* it was freed meanwhile */
            take(context, (uint32_t)thread.native_thread_id, state);
            state = (uintptr_t)thread.next;
        }
    }
}

snd_range
snd_stack_locks(void)
{
    return (snd_range){(uintptr_t)&_PyRuntime, (uintptr_t)&_PyRuntime + sizeof _PyRuntime};
}

uintptr_t
snd_stack_loop(const char **name)
{
    *name = "_PyEval_EvalFrameDefault";
    return (uintptr_t)&_PyEval_EvalFrameDefault;
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
