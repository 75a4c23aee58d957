/* The interpreter's allocators: small blocks never come to malloc, so they are counted here. */
#include "python/memory/memory_module.h"

#include "probe/counter/gc.h"
#include "probe/memory/memory.h"
#include "probe/memory/memory_hot.h"
#include "probe/region/region.h"
#include "python/module/hook.h"
#include "python/sampling/sample_module.h"

#include <string.h>

typedef struct domain {
    PyMemAllocatorDomain which;
    PyMemAllocatorEx below; /* what it leads to */
    size_t small;           /* blocks up to this size do not come to malloc, which counts the others */
    size_t quick;           /* some blocks: up to this size they only count; 0: all are looked at */
    int is_ours;            /* we stand in it, maybe below others */
} domain;

static domain domains[] = {{.which = PYMEM_DOMAIN_MEM}, {.which = PYMEM_DOMAIN_OBJ}};
#define DOMAINS (sizeof domains / sizeof domains[0])

/* ---- every block, for an exact measurement ---- */

/* Larger ones are malloc's business, but it is told whose they are. */
static void *
our_malloc(void *context, size_t size)
{
    const domain *self = context;

    snd_memory_mine.python++;
    void *block = self->below.malloc(self->below.ctx, size);
    snd_memory_mine.python--;
    if (size <= self->small)
        snd_memory_allocated(block, size, 1);
    return block;
}

static size_t
product(size_t count, size_t size)
{
    return size != 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
}

static void *
our_calloc(void *context, size_t count, size_t size)
{
    const domain *self = context;

    snd_memory_mine.python++;
    void *block = self->below.calloc(self->below.ctx, count, size);
    snd_memory_mine.python--;
    if (product(count, size) <= self->small)
        snd_memory_allocated(block, product(count, size), 1);
    return block;
}

static void
our_free(void *context, void *block)
{
    const domain *self = context;

    snd_memory_freed(block);
    self->below.free(self->below.ctx, block);
}

static void *
our_realloc(void *context, void *old, size_t size)
{
    const domain *self = context;
    int is_small = size <= self->small;
    snd_memory_kept kept;

    snd_memory_lift_old(old, &kept);
    snd_memory_mine.python++;
    snd_memory_mine.counted += (unsigned)is_small;
    void *block = self->below.realloc(self->below.ctx, old, size);
    snd_memory_mine.counted -= (unsigned)is_small;
    snd_memory_mine.python--;
    if (block == NULL && kept.node != UINT32_MAX)
        snd_memory_put_back(old, &kept);
    if (block != NULL && is_small)
        snd_memory_allocated(block, size, 1);
    return block;
}

/* ---- some blocks ---- */

/* A small block that is looked at is asked for as a larger one: so malloc gives it, and free, where we are anyway,
 * takes it. Blocks that are not looked at then cost a subtraction, and nothing when they are freed. */
static SND_COLD void *
take_malloc(const domain *self, size_t size)
{
    int is_small = size <= self->small;

    snd_memory_mine.python++;
    snd_memory_mine.counted += (unsigned)is_small;
    void *block = self->below.malloc(self->below.ctx, is_small ? self->small + 1 : size);
    snd_memory_mine.counted -= (unsigned)is_small;
    snd_memory_mine.python--;
    if (is_small)
        snd_memory_take(block, size, 1);
    return block;
}

static SND_COLD void *
take_calloc(const domain *self, size_t count, size_t size)
{
    size_t whole = product(count, size);
    int is_small = whole <= self->small;

    snd_memory_mine.python++;
    snd_memory_mine.counted += (unsigned)is_small;
    void *block = is_small ? self->below.calloc(self->below.ctx, 1, self->small + 1)
                           : self->below.calloc(self->below.ctx, count, size);
    snd_memory_mine.counted -= (unsigned)is_small;
    snd_memory_mine.python--;
    if (is_small)
        snd_memory_take(block, whole, 1);
    return block;
}

static int
runs_out(const domain *self, size_t size)
{
    return size > self->quick || (snd_memory_mine.left -= (int64_t)size) < 0;
}

static void *
some_realloc(const domain *self, void *old, size_t size)
{
    int is_small = size <= self->small, is_taken = is_small && runs_out(self, size);

    snd_memory_mine.python++;
    snd_memory_mine.counted += (unsigned)is_small;
    void *block = self->below.realloc(self->below.ctx, old, is_taken ? self->small + 1 : size);
    snd_memory_mine.counted -= (unsigned)is_small;
    snd_memory_mine.python--;
    if (is_taken)
        snd_memory_take(block, size, 1);
    return block;
}

/* The context is that of the allocator below, whose own function frees. */
#define SOME_BLOCKS(which, domain)                                        \
    static void *which##_malloc(void *context, size_t size)               \
    {                                                                     \
        if (SND_UNLIKELY(runs_out(domain, size)))                         \
            return take_malloc(domain, size);                             \
        return (domain)->below.malloc(context, size);                     \
    }                                                                     \
    static void *which##_calloc(void *context, size_t count, size_t size) \
    {                                                                     \
        size_t whole = product(count, size);                              \
        if (SND_UNLIKELY(runs_out(domain, whole)))                        \
            return take_calloc(domain, count, size);                      \
        return (domain)->below.calloc(context, count, size);              \
    }                                                                     \
    static void *which##_realloc(void *context, void *old, size_t size)   \
    {                                                                     \
        (void)context;                                                    \
        return some_realloc(domain, old, size);                           \
    }

SOME_BLOCKS(mem, &domains[0])
SOME_BLOCKS(obj, &domains[1])

/* ---- arenas: what they hold is counted block by block ---- */

static PyObjectArenaAllocator arenas;
static int has_arenas;

static void *
our_arena(void *context, size_t size)
{
    (void)context;
    snd_memory_mine.quiet++;
    void *arena = arenas.alloc(arenas.ctx, size);
    snd_memory_mine.quiet--;
    return arena;
}

static void
our_arena_free(void *context, void *arena, size_t size)
{
    (void)context;
    snd_memory_mine.quiet++;
    arenas.free(arenas.ctx, arena, size);
    snd_memory_mine.quiet--;
}

static void
hook_arenas(int on)
{
    PyObjectArenaAllocator ours = {NULL, our_arena, our_arena_free}, now;

    PyObject_GetArenaAllocator(&now);
    if (on && now.alloc != our_arena) {
        arenas = now;
        has_arenas = 1;
        PyObject_SetArenaAllocator(&ours);
    }
    else if (!on && has_arenas && now.alloc == our_arena)
        PyObject_SetArenaAllocator(&arenas);
}

/* ---- objects that come later ---- */

static PyObject *load_module(PyObject *module, PyObject *const *args, Py_ssize_t count);
static PyObject *load_library(PyObject *module, PyObject *args);

enum { MODULE, LIBRARY, METHODS };

static snd_method methods[METHODS] = {
    [MODULE] = {"_imp", "create_dynamic", METH_FASTCALL, SND_METHOD(load_module), NULL, NULL},
    [LIBRARY] = {"_ctypes", "dlopen", METH_VARARGS, load_library, NULL, NULL},
};

static void
hook_methods(int on)
{
    (void)snd_methods_hook(methods, methods[LIBRARY].definition == NULL ? LIBRARY : METHODS, on);
}

/* Not imported by us: it takes long, and newer libraries that come with it keep a file open. */
static void
find_library(PyObject *module)
{
    const char *name = module == NULL || !PyModule_Check(module) ? NULL : PyModule_GetName(module);

    if (name != NULL && methods[LIBRARY].definition == NULL && strcmp(name, methods[LIBRARY].module) == 0)
        snd_method_find(&methods[LIBRARY], module);
    PyErr_Clear();
}

static PyObject *
load_module(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *loaded = ((snd_fast_call *)(void (*)(void))methods[MODULE].original)(module, args, count);

    if (loaded != NULL && methods[LIBRARY].definition == NULL) {
        find_library(loaded);
        (void)snd_methods_hook(&methods[LIBRARY], methods[LIBRARY].definition != NULL, 1);
    }
    snd_memory_refresh(1);
    return loaded;
}

static PyObject *
load_library(PyObject *module, PyObject *args)
{
    PyObject *loaded = methods[LIBRARY].original(module, args);
    snd_memory_refresh(1);
    return loaded;
}

/* ---- start and stop ---- */

#define FAR ((int64_t)1 << 40)

/* Whether a block of this size comes to malloc, which is what counts it then: this thread's count goes down. */
static int
comes_to_malloc(const PyMemAllocatorEx *allocator, size_t size)
{
    int64_t left = snd_memory_mine.left, floor = SND_GET(snd_memory_floor);

    SND_SET(snd_memory_floor, 0);
    snd_memory_mine.left = FAR;
    void *block = allocator->malloc(allocator->ctx, size);
    int comes = snd_memory_mine.left != FAR;
    snd_memory_mine.left = left;
    SND_SET(snd_memory_floor, floor);
    allocator->free(allocator->ctx, block);
    return comes;
}

/* As the interpreter has it; with the debug allocators blocks are larger than what was asked for. */
#define SMALL 512u

static size_t
find_small(const PyMemAllocatorEx *allocator)
{
    size_t small = SMALL;

    if (!comes_to_malloc(allocator, 1 << 16))
        return SIZE_MAX;
    while (small > 0 && comes_to_malloc(allocator, small))
        small--;
    return small;
}

static int
is_ours(const PyMemAllocatorEx *allocator)
{
    return allocator->malloc == our_malloc || allocator->malloc == mem_malloc || allocator->malloc == obj_malloc;
}

static PyMemAllocatorEx
ours_for(domain *self, int exact)
{
    void *context = self->below.ctx;

    if (exact || self->small == SIZE_MAX) /* blocks that never come to malloc are seen to be freed here or nowhere */
        return (PyMemAllocatorEx){self, our_malloc, our_calloc, our_realloc, our_free};
    if (self->which == PYMEM_DOMAIN_MEM)
        return (PyMemAllocatorEx){context, mem_malloc, mem_calloc, mem_realloc, self->below.free};
    return (PyMemAllocatorEx){context, obj_malloc, obj_calloc, obj_realloc, self->below.free};
}

/* Where somebody else stands on ours, that leads to it, and stays as it is. */
static void
hook_domain(domain *self, int exact)
{
    PyMemAllocatorEx now;

    PyMem_GetAllocator(self->which, &now);
    int is_below_another = self->is_ours && !is_ours(&now);
    if (!self->is_ours) {
        self->below = now;
        self->small = find_small(&now);
        self->is_ours = 1;
    }
    self->quick = exact ? 0 : self->small;
    if (is_below_another)
        return;
    PyMemAllocatorEx ours = ours_for(self, exact);
    PyMem_SetAllocator(self->which, &ours);
}

static void
unhook_domain(domain *self)
{
    PyMemAllocatorEx now;

    PyMem_GetAllocator(self->which, &now);
    self->quick = self->small;
    if (self->is_ours && is_ours(&now)) {
        PyMem_SetAllocator(self->which, &self->below);
        self->is_ours = 0;
    }
}

void
snd_memory_python_start(int exact)
{
    hook_arenas(1);
    for (size_t i = 0; i < DOMAINS; i++)
        hook_domain(&domains[i], exact);
    PyObject *known = PyDict_GetItemString(PyImport_GetModuleDict(), methods[LIBRARY].module); /* borrowed */
    find_library(known);
    hook_methods(1);
}

void
snd_memory_python_stop(void)
{
    hook_methods(0);
    for (size_t i = 0; i < DOMAINS; i++)
        unhook_domain(&domains[i]);
    hook_arenas(0);
}

PyObject *
snd_py_memory_now(PyObject *module, PyObject *nothing)
{
    snd_memory_now now;

    (void)module, (void)nothing;
    snd_memory_get(&now);
    return Py_BuildValue("{s:K,s:K,s:d,s:d,s:K,s:K,s:K}", "live_bytes", (unsigned long long)now.live, "peak_bytes",
                         (unsigned long long)now.peak, "live_error_bytes", now.live_error, "peak_error_bytes",
                         now.peak_error, "alloc_bytes", (unsigned long long)now.allocated, "copied_bytes",
                         (unsigned long long)now.copied, "blocks", (unsigned long long)now.blocks);
}

PyObject *
snd_py_reset_peak(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_memory_reset_peak();
    Py_RETURN_NONE;
}

/* ---- the interpreter's garbage collections ---- */

/* With the GIL. */
static int is_paused;
static int has_own_clock; /* the program's: asking it would run Python code */

static uint64_t
number_of(PyObject *info, PyObject *key)
{
    PyObject *value = PyDict_Check(info) ? PyDict_GetItemWithError(info, key) : NULL; /* borrowed */
    return value != NULL && PyLong_Check(value) ? PyLong_AsUnsignedLongLongMask(value) : UINT64_MAX;
}

/* Called by the interpreter as callback(phase, info), without an exception set. Its data are "generation" and
 * "collected". Whoever collects may not expect that Python code runs or that the GIL changes hands: on 3.11 any
 * allocation collects. So nothing here may do either. */
static PyObject *
on_collection(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    int counts = SND_GET(snd_region_mode) != 0 && !is_paused && !has_own_clock;
    PyObject *words = ((snd_hook *)self)->data;

    (void)names;
    if (PyVectorcall_NARGS(flags) != 2 || !PyUnicode_Check(args[0]))
        Py_RETURN_NONE;
    if (PyUnicode_CompareWithASCIIString(args[0], "start") == 0) {
        snd_gc_begin(counts, (uintptr_t)snd_frame_top());
        snd_sample_safe_collects(1);
        Py_RETURN_NONE;
    }
    snd_sample_safe_collects(0);
    uint64_t generation = number_of(args[1], PyTuple_GET_ITEM(words, 0));
    uint64_t collected = number_of(args[1], PyTuple_GET_ITEM(words, 1));
    PyErr_Clear();
    snd_gc_end(counts && generation < SND_GC_GENERATIONS ? (unsigned)generation : SND_GC_GENERATIONS,
               collected == UINT64_MAX ? 0 : collected);
    Py_RETURN_NONE;
}

/* The list that the interpreter reads; kept, since a program may put another one into the module. */
static PyObject *
find_list(void)
{
    PyObject *module = PyImport_ImportModule("gc");
    PyObject *list = module == NULL ? NULL : PyObject_GetAttrString(module, "callbacks");

    Py_XDECREF(module);
    if (list != NULL && PyList_CheckExact(list))
        return list;
    Py_XDECREF(list);
    return NULL;
}

static void
put_in(snd_state *state)
{
    if (state->gc_list == NULL)
        state->gc_list = find_list();
    if (state->gc_function == NULL && snd_gc_prepare()) {
        PyObject *words = Py_BuildValue("ss", "generation", "collected");
        state->gc_function = words == NULL ? NULL : snd_hook_new(on_collection, words);
        Py_XDECREF(words);
    }
    state->is_gc_hooked =
        state->gc_list != NULL && state->gc_function != NULL && PyList_Append(state->gc_list, state->gc_function) == 0;
}

/* The program may have taken it out itself. */
static void
take_out(snd_state *state)
{
    SND_SET(snd_gc_frame, 0);
    state->is_gc_hooked = 0;
    for (Py_ssize_t i = PyList_GET_SIZE(state->gc_list); i-- > 0;)
        if (PyList_GET_ITEM(state->gc_list, i) == state->gc_function &&
            PyList_SetSlice(state->gc_list, i, i + 1, NULL) != 0)
            PyErr_Clear();
}

void
snd_gc_hook(snd_state *state, int on)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    has_own_clock = state->clock != NULL;
    if (on && !state->is_gc_hooked)
        put_in(state);
    else if (!on && state->is_gc_hooked)
        take_out(state);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

void
snd_gc_set_paused(int paused)
{
    is_paused = paused;
}
