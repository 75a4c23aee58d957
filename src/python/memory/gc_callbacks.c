/* The interpreter's garbage collections. */
#include "python/memory/gc_callbacks.h"

#include "probe/counter/gc.h"
#include "probe/region/region.h"
#include "python/module/hook.h"
#include "python/sampling/sample_module.h"

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
