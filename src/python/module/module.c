/* The extension module sonde._core: its state, its types and its list of functions. */
#include "base/alloc.h"
#include "collect/signals.h"
#include "os/terminal.h"
#include "python/calls/call_probe.h"
#include "python/compat/compat.h"
#include "python/graph/graph_rows.h"
#include "python/memory/memory_module.h"
#include "python/module/session_settings.h"
#include "python/module/state.h"
#include "python/numpy/numpy_ops.h"
#include "python/regions/owner.h"
#include "python/torch/kineto.h"
#include "python/torch/torch_averages.h"

#include <unistd.h>

/* ---- standard error ---- */

/* _core.say(text): writes to descriptor 2, as os/terminal.h has it; the GIL is released meanwhile. */
static PyObject *
say(PyObject *module, PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    size_t left = bytes == NULL ? 0 : (size_t)PyBytes_GET_SIZE(bytes);

    (void)module;
    while (left != 0 && PyErr_CheckSignals() == 0) { /* a handler of the program's may end the wait */
        const char *rest = PyBytes_AS_STRING(bytes) + (size_t)PyBytes_GET_SIZE(bytes) - left;
        Py_BEGIN_ALLOW_THREADS;
        left = snd_terminal_say(rest, left, 1);
        Py_END_ALLOW_THREADS;
    }
    Py_XDECREF(bytes);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* _core.look(): options for Profile.format for what is written there. */
static PyObject *
look_at_error(PyObject *module, PyObject *nothing)
{
    snd_terminal look = snd_terminal_look(STDERR_FILENO);

    (void)module, (void)nothing;
    return Py_BuildValue("{sOsOsI}", "unicode", look.unicode ? Py_True : Py_False, "colour",
                         look.colour ? Py_True : Py_False, "width", look.width);
}

/* _core.announce(): this process says where its recording is when it ends without a report. */
static PyObject *
announce(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_signals_announce();
    Py_RETURN_NONE;
}

PyMODINIT_FUNC PyInit__core(void);

snd_state *
snd_state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

snd_state *
snd_state_of(PyObject *object)
{
    return PyType_GetModuleState(Py_TYPE(object));
}

PyObject *
snd_raise_status(snd_status status, const char *message)
{
    const char *text = message == NULL || *message == '\0' ? snd_status_text(status) : message;

    if (status == SND_NO_MEMORY)
        return PyErr_NoMemory();
    if (status == SND_BAD_ARGUMENT)
        PyErr_SetString(PyExc_ValueError, text);
    else if (status == SND_ALREADY || status == SND_NOT_RUNNING)
        PyErr_SetString(PyExc_RuntimeError, text);
    else
        PyErr_SetString(PyExc_OSError, text);
    return NULL;
}

PyObject *
snd_text_object(snd_status status, snd_buffer *text)
{
    PyObject *result = NULL;

    if (status == SND_OK)
        result = PyUnicode_DecodeUTF8(snd_buffer_str(text), (Py_ssize_t)text->size, "replace");
    else
        snd_raise_status(status, NULL);
    snd_buffer_free(text);
    return result;
}

#define FAST(function) (PyCFunction)(void (*)(void)) function

static PyMethodDef functions[] = {
    {"region", FAST(snd_py_region), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("region(name=None, asglobal=False)\n--\n\n"
               "Measure a region of your program, as a with block or a decorator.\n\n"
               "Without a name, it is named after its place: ``f() <file.py:16>``. With ``asglobal=True``\n"
               "(or ``as_global``), it appears at the top level, whoever calls it.\n\n"
               ">>> with region('load'):\n...     data = load()\n")},
    {"push", snd_py_push, METH_O,
     PyDoc_STR("push(name, /)\n--\n\nEnter a region; pop() leaves it. The cheapest form, for hot loops.\n\n"
               ">>> push('step')\n>>> step()\n>>> pop()\n")},
    {"pop", snd_py_pop, METH_NOARGS,
     PyDoc_STR("pop()\n--\n\nLeave the region that push() entered last.\n\n>>> pop()\n")},
    {"counter", FAST(snd_py_counter), METH_FASTCALL,
     PyDoc_STR("counter(name, value, /)\n--\n\n"
               "Set a named value: a curve in the timeline, with its minimum, average and maximum.\n\n"
               "Every thread has its own value. Costs next to nothing while nothing is recorded.\n\n"
               ">>> counter('queue', len(queue))\n")},
    {"mark", FAST(snd_py_mark), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("mark(name, /, **details)\n--\n\n"
               "Mark this moment in the timeline. Details say more about it.\n\n"
               ">>> mark('deployed', version='2.1')\n")},
    {"iter_proxy", FAST(snd_py_iter_proxy), METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("iter_proxy(iterable, name=None, asglobal=False)\n--\n\n"
               "Iterate over the same items, and measure every next() as a region.\n\n"
               "len() and attributes are those of the iterable.\n\n"
               ">>> for batch in iter_proxy(loader, 'fetch'):\n...     train(batch)\n")},
    {"func", FAST(snd_py_func), METH_VARARGS | METH_KEYWORDS, NULL},
    {"place", snd_py_place, METH_VARARGS, NULL},
    {"settings", snd_py_settings, METH_NOARGS, NULL},
    {"start", snd_py_start, METH_O, NULL},
    {"end", snd_py_end, METH_NOARGS, NULL},
    {"stop", snd_py_stop, METH_NOARGS, NULL},
    {"reset", snd_py_reset, METH_NOARGS, NULL},
    {"memory_now", snd_py_memory_now, METH_NOARGS, NULL},
    {"reset_peak", snd_py_reset_peak, METH_NOARGS, NULL},
    {"is_running", snd_py_is_running, METH_NOARGS, NULL},
    {"outputs", snd_py_outputs, METH_NOARGS, NULL},
    {"profile", snd_py_profile, METH_VARARGS, NULL},
    {"before_fork", snd_py_before_fork, METH_NOARGS, NULL},
    {"after_fork", snd_py_after_fork, METH_NOARGS, NULL},
    {"after_fork_in_child", snd_py_after_fork_in_child, METH_NOARGS, NULL},
    {"pause_samples", snd_py_pause_samples, METH_O, NULL},
    {"set_info", snd_py_set_info, METH_VARARGS, NULL},
    {"add_source", snd_py_add_source, METH_VARARGS, NULL},
    {"name_file", snd_py_name_file, METH_VARARGS, NULL},
    {"counter_names", snd_py_counter_names, METH_NOARGS, NULL},
    {"usage_begin", snd_py_usage_begin, METH_NOARGS, NULL},
    {"usage_end", snd_py_usage_end, METH_NOARGS, NULL},
    {"say", say, METH_O, NULL},
    {"look", look_at_error, METH_NOARGS, NULL},
    {"announce", announce, METH_NOARGS, NULL},
    {"quiet_threads", snd_py_quiet_threads, METH_O, NULL},
    {"call_soon", snd_py_call_soon, METH_O, NULL},
    {"ops_start", FAST(snd_py_ops_start), METH_VARARGS | METH_KEYWORDS, NULL},
    {"ops_stop", snd_py_ops_stop, METH_NOARGS, NULL},
    {"ops_refresh", snd_py_ops_refresh, METH_NOARGS, NULL},
    {"ops_hooked", snd_py_ops_hooked, METH_NOARGS, NULL},
    {"end_after", snd_py_end_after, METH_O, NULL},
    {"call_at_program", snd_py_call_at_program, METH_VARARGS, NULL},
    {"part_path", snd_py_part_path, METH_O, NULL},
    {"make_parts", snd_py_make_parts, METH_NOARGS, NULL},
    {"parts", snd_py_parts, METH_NOARGS, NULL},
    {"look_at_parts", snd_py_look_at_parts, METH_NOARGS, NULL},
    {"gather", snd_py_gather, METH_NOARGS, NULL},
    {"read", snd_py_read, METH_O, NULL},
    {"run_alone", snd_py_run_alone, METH_VARARGS, NULL},
    {"run_file", snd_py_run_file, METH_VARARGS, NULL},
    {"check_columns", snd_py_check_columns, METH_O, NULL},
    {"kineto_events", FAST(snd_py_kineto_events), METH_VARARGS | METH_KEYWORDS, NULL},
    {"op_time_text", snd_py_op_time_text, METH_O, NULL},
    {"kineto_begin", snd_py_kineto_begin, METH_NOARGS, NULL},
    {"kineto_end", snd_py_kineto_end, METH_VARARGS, NULL},
    {"torch_profile", snd_py_torch_profile, METH_O, NULL},
    {"graph_attach", snd_py_graph_attach, METH_O, NULL},
    {"graph_profile", snd_py_graph_profile, METH_VARARGS, NULL},
    {"format_cells", snd_py_format_cells, METH_VARARGS, NULL},
    {"page", FAST(snd_py_page), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("page(path, /, second=None, *, source=True)\n--\n\nThe report page of a recording, or of two to "
               "compare, as HTML text.")},
    {"write_page", snd_py_write_page, METH_VARARGS, NULL},
    {0},
};

static int
add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **kept)
{
    *kept = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *kept == NULL ? -1 : PyModule_AddType(module, *kept);
}

static int
module_exec(PyObject *module)
{
    snd_state *state = snd_state_of_module(module);

    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "sonde measures the main interpreter only, not subinterpreters");
        return -1;
    }
    if (!snd_gil_is_on()) {
        PyErr_SetString(PyExc_ImportError, "sonde needs the GIL: do not set PYTHON_GIL=0 or -X gil=0");
        return -1;
    }
    if (add_type(module, &snd_region_spec, &state->region_type) != 0 ||
        add_type(module, &snd_func_spec, &state->func_type) != 0 ||
        add_type(module, &snd_iter_spec, &state->iter_type) != 0 ||
        add_type(module, &snd_profile_spec, &state->profile_type) != 0 ||
        add_type(module, &snd_calls_spec, &state->calls_type) != 0 ||
        add_type(module, &snd_op_averages_spec, &state->op_averages_type) != 0 ||
        add_type(module, &snd_kineto_spec, &state->kineto_type) != 0 || !snd_calls_make_types(state))
        return -1;
    return PyModule_AddStringConstant(module, "__version__", SND_VERSION);
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    snd_state *state = snd_state_of_module(module);

    Py_VISIT(state->region_type);
    Py_VISIT(state->func_type);
    Py_VISIT(state->iter_type);
    Py_VISIT(state->profile_type);
    Py_VISIT(state->calls_type);
    Py_VISIT(state->entry_type);
    Py_VISIT(state->subentry_type);
    Py_VISIT(state->op_averages_type);
    Py_VISIT(state->kineto_type);
    Py_VISIT(state->watched);
    Py_VISIT(state->clock);
    Py_VISIT(state->gc_list);
    Py_VISIT(state->gc_function);
    return snd_sites_visit(state, visit, arg);
}

static int
module_clear(PyObject *module)
{
    snd_state *state = snd_state_of_module(module);

    snd_ops_close();
    while (state->region_pool_count > 0) {
        PyObject *object = state->region_pool[--state->region_pool_count];
        PyTypeObject *type = Py_TYPE(object);
        type->tp_free(object);
        Py_DECREF(type);
    }
    Py_CLEAR(state->region_type);
    Py_CLEAR(state->func_type);
    Py_CLEAR(state->iter_type);
    Py_CLEAR(state->profile_type);
    Py_CLEAR(state->calls_type);
    Py_CLEAR(state->entry_type);
    Py_CLEAR(state->subentry_type);
    Py_CLEAR(state->op_averages_type);
    Py_CLEAR(state->kineto_type);
    Py_CLEAR(state->watched);
    Py_CLEAR(state->clock);
    Py_CLEAR(state->gc_list);
    Py_CLEAR(state->gc_function);
    snd_sites_clear(state);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
    SND_MODULE_SLOTS{0},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "sonde._core",       .m_size = sizeof(snd_state), .m_methods = functions,
    .m_slots = slots,      .m_traverse = module_traverse, .m_clear = module_clear,
};

snd_state *
snd_state_of_kin(const PyObject *object)
{
    return PyModule_GetState(PyType_GetModuleByDef(Py_TYPE(object), &definition));
}

PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
