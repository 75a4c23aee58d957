/* Starting, stopping and asking a session from Python. */
#include "base/text.h"
#include "collect/extras.h"
#include "collect/session.h"
#include "format/table/format.h"
#include "os/clock.h"
#include "os/process.h"
#include "probe/sample/sample.h"
#include "python/memory/memory_module.h"
#include "python/module/profile_object.h"
#include "python/module/session_settings.h"
#include "python/module/threads.h"
#include "python/regions/owner.h"
#include "python/sampling/sample_module.h"

#include "os/usage/usage.h"
#include "probe/core/system_counter.h"
#include "python/module/state.h"
#include <string.h>

/* The state whose clock the session reads. A clock function of the core gets no argument, hence this one pointer. */
static snd_state *clock_state;

/* The program's own clock, in seconds. Keeps the last time when it fails, when a thread without the GIL asks, and where
 * no Python code may run. */
static uint64_t
read_python_clock(void)
{
    static _Atomic uint64_t last;
    PyObject *type, *value, *trace;

    if (!PyGILState_Check() || clock_state->clock_holds != 0)
        return SND_GET(last);
    PyErr_Fetch(&type, &value, &trace);
    PyObject *seconds = PyObject_CallNoArgs(clock_state->clock);
    double now = seconds == NULL ? -1.0 : PyFloat_AsDouble(seconds);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(clock_state->clock);
    else if (now >= 0)
        SND_SET(last, (uint64_t)(now * 1e9 + 0.5));
    Py_XDECREF(seconds);
    PyErr_Restore(type, value, trace);
    return SND_GET(last);
}

/* Runs no Python code: see threads.h. */
static int
name_thread(char *name, size_t size)
{
    PyObject *type, *value, *trace;
    int named = 0;

    if (!PyGILState_Check())
        return 0;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *active = snd_threading_active();
    PyObject *ident = active == NULL ? NULL : PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *thread = ident == NULL ? NULL : PyDict_GetItemWithError(active, ident); /* borrowed */
    PyObject *text = thread == NULL ? NULL : snd_thread_value(thread, "_name");
    const char *utf8 = text == NULL || !PyUnicode_Check(text) ? NULL : PyUnicode_AsUTF8(text);
    if (utf8 != NULL && strcmp(utf8, "MainThread") != 0) {
        strncpy(name, utf8, size - 1);
        name[size - 1] = '\0';
        named = 1;
    }
    Py_XDECREF(text);
    Py_XDECREF(ident);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return named;
}

/* The cost of one entry as Python programs pay it: a loop over an empty region, less the empty loop. */
static const char cost_program[] = "def measure(region, count):\n"
                                   "    for _ in range(count):\n"
                                   "        with region('sonde'):\n"
                                   "            pass\n"
                                   "def empty(region, count):\n"
                                   "    for _ in range(count):\n"
                                   "        pass\n";

static uint64_t
time_call(PyObject *names, const char *function, PyObject *region)
{
    enum { BATCHES = 5, ENTRIES = 200 };
    uint64_t least = UINT64_MAX;
    PyObject *code = PyDict_GetItemString(names, function);

    for (int i = 0; i < BATCHES && code != NULL; i++) {
        uint64_t before = snd_clock_monotonic_ns();
        PyObject *result = PyObject_CallFunction(code, "Oi", region, (int)ENTRIES);
        uint64_t spent = snd_clock_monotonic_ns() - before;
        if (result == NULL)
            return 0;
        Py_DECREF(result);
        least = spent < least ? spent : least;
    }
    return least / ENTRIES;
}

/* Before the session runs: it switches regions on and off again. */
static uint64_t
measure_own_cost(PyObject *module, int cpu, snd_system_counter_set counters)
{
    int mode = snd_region_mode_for(cpu, counters, 0);
    snd_track *mine = snd_track_mine;
    snd_track *scratch = snd_track_scratch();
    PyObject *names = PyDict_New();
    PyObject *region = PyObject_GetAttrString(module, "region");
    uint64_t cost = 0;

    if (scratch != NULL && names != NULL && region != NULL &&
        PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0) {
        PyObject *done = PyRun_String(cost_program, Py_file_input, names, names);
        snd_track_mine = scratch;
        SND_SET(snd_region_mode, mode);
        uint64_t with = done == NULL ? 0 : time_call(names, "measure", region);
        uint64_t without = done == NULL ? 0 : time_call(names, "empty", region);
        SND_SET(snd_region_mode, 0);
        snd_track_mine = mine;
        cost = with > without ? with - without : 0;
        Py_XDECREF(done);
    }
    Py_XDECREF(region);
    Py_XDECREF(names);
    PyErr_Clear();
    return cost;
}

/* Takes a new clock; one that is already running keeps its own. */
static int
set_clock(snd_state *state, PyObject *clock)
{
    if (clock == Py_None)
        clock = NULL;
    if (clock != NULL && !PyCallable_Check(clock)) {
        PyErr_SetString(PyExc_TypeError, "the clock must be callable");
        return 0;
    }
    if (snd_session_is_running())
        return 1;
    if (clock != state->clock)
        state->own_cost_ns = 0; /* to be measured again */
    Py_XINCREF(clock);
    Py_XSETREF(state->clock, clock);
    clock_state = state;
    snd_session_use_clock(clock == NULL ? NULL : read_python_clock);
    snd_clock_start(clock == NULL ? NULL : read_python_clock);
    return 1;
}

/* The words of a list as a JSON list. 0 with an exception set. */
static int
write_arguments(PyObject *list, snd_buffer *json)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "the arguments must be a list");
        return 0;
    }
    snd_buffer_char(json, '[');
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *bytes = PyUnicode_AsEncodedString(PyList_GET_ITEM(list, i), "utf-8", "surrogateescape");
        if (bytes == NULL)
            return 0;
        if (i != 0)
            snd_buffer_text(json, ", ");
        snd_json_string(json, PyBytes_AS_STRING(bytes));
        Py_DECREF(bytes);
    }
    snd_buffer_char(json, ']');
    return snd_buffer_status(json) == SND_OK || PyErr_NoMemory() != NULL;
}

static int
is_rate(uint32_t hz)
{
    if (hz > SND_SAMPLE_RATE_MAX)
        PyErr_Format(PyExc_ValueError, "rate must be from 1 to %u samples per second", SND_SAMPLE_RATE_MAX);
    return hz <= SND_SAMPLE_RATE_MAX;
}

/* Without the GIL, which the sampler may need before it can end. */
static void
stop_samples(void)
{
    snd_memory_python_stop();
    snd_sample_signals_hook(0);
    snd_sample_names_stop();
    Py_BEGIN_ALLOW_THREADS;
    snd_session_stop_samples();
    Py_END_ALLOW_THREADS;
    snd_sample_interpreter_stop();
}

/* Whether there is something to save at the end, or more than regions to look at. */
static int
has_outcome(const snd_session_options *options)
{
    return options->recording != NULL || options->chrome_trace != NULL || options->sample.rate_hz != 0 ||
           options->memory.on;
}

PyObject *
snd_py_start(PyObject *module, PyObject *given)
{
    snd_state *state = snd_state_of_module(module);
    snd_session_options options = {.sample.timeline = 1};
    snd_sample_options *sample = &options.sample;
    snd_buffer message = {0}, json = {0};
    char python[32];

    if (!snd_session_settings_read(given, &options) || !is_rate(sample->rate_hz))
        return NULL;
    PyObject *arguments = PyDict_GetItemString(given, "arguments"); /* borrowed, as the clock */
    if (!set_clock(state, PyDict_GetItemString(given, "clock")))
        return NULL;
    if (arguments != NULL && !write_arguments(arguments, &json)) {
        snd_buffer_free(&json);
        return NULL;
    }
    options.arguments = json.data;
    strncpy(python, Py_GetVersion(), sizeof python - 1);
    python[sizeof python - 1] = '\0';
    python[strcspn(python, " ")] = '\0';
    options.python = python;
    if (snd_is_free_threaded())
        options.python_note = "free-threaded Python: importing sonde turned the GIL on";
    if ((state->own_cost_ns == 0 || state->own_cost_cpu != options.cpu ||
         state->own_cost_counters != options.counters) &&
        !snd_session_is_running()) {
        state->own_cost_ns = measure_own_cost(module, options.cpu, options.counters);
        state->own_cost_cpu = options.cpu;
        state->own_cost_counters = options.counters;
    }
    options.own_cost_ns = state->own_cost_ns;
    snd_track_namer = name_thread;
    if (sample->rate_hz != 0 || options.memory.on)
        snd_session_use_interpreter(snd_sample_interpreter_start(sample));
    else
        stop_samples();
    snd_status status = snd_session_start(&options, &message);
    if (status == SND_OK) {
        if (sample->rate_hz != 0 || options.memory.on)
            snd_sample_names_start();
        snd_sample_signals_hook(sample->rate_hz != 0 && !sample->no_signals);
        if (options.memory.on)
            snd_memory_python_start(options.memory.exact);
        else
            snd_memory_python_stop();
        snd_suspend_start(state);
        snd_gc_set_paused(sample->paused);
        snd_gc_hook(state, has_outcome(&options));
        snd_exit_hook(has_outcome(&options));
    }
    PyObject *result = status == SND_OK ? Py_NewRef(Py_None) : snd_raise_status(status, snd_buffer_str(&message));
    snd_buffer_free(&message);
    snd_buffer_free(&json);
    return result;
}

/* (None or a line about what could not be saved, the profile as it was saved or None). */
PyObject *
snd_py_stop(PyObject *module, PyObject *nothing)
{
    snd_state *state = snd_state_of_module(module);
    snd_profile *last = NULL;
    snd_buffer message = {0};

    (void)nothing;
    snd_exit_hook(0);
    snd_gc_hook(state, 0);
    stop_samples();
    snd_status status = snd_session_stop(&message, &last);
    snd_suspend_stop(state);
    PyObject *profile = last == NULL ? Py_NewRef(Py_None) : snd_profile_wrap(state, last);
    PyObject *result =
        profile == NULL ? NULL : Py_BuildValue("zN", status == SND_OK ? NULL : snd_buffer_str(&message), profile);
    snd_buffer_free(&message);
    return result;
}

PyObject *
snd_py_end(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_session_end();
    Py_RETURN_NONE;
}

PyObject *
snd_py_reset(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_session_reset();
    Py_RETURN_NONE;
}

PyObject *
snd_py_is_running(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return PyBool_FromLong(snd_session_is_running() && !snd_session_is_orphan());
}

PyObject *
snd_py_outputs(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return Py_BuildValue("zz", snd_session_recording_path(), snd_session_trace_path());
}

/* _core.profile(is_complete=False): whether what the caller wanted to measure is over; the session may go on. */
PyObject *
snd_py_profile(PyObject *module, PyObject *args)
{
    snd_profile *profile = NULL;
    int is_complete = 0;

    if (!PyArg_ParseTuple(args, "|p:profile", &is_complete))
        return NULL;
    snd_status status = snd_session_profile(&profile);
    if (status == SND_OK && is_complete && (status = snd_profile_set_info(profile, "complete", "1")) != SND_OK)
        snd_profile_free(profile);
    if (status != SND_OK)
        return snd_raise_status(status, NULL);
    return snd_profile_wrap(snd_state_of_module(module), profile);
}

PyObject *
snd_py_before_fork(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    snd_session_pause();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static int
resume_later(void *nothing)
{
    (void)nothing;
    snd_session_resume();
    return 0;
}

PyObject *
snd_py_after_fork(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    /* from 3.13 on os.fork counts threads after this, and would warn of ours: they come back when it is done */
    int is_main = snd_thread_id() == snd_process_id(); /* pending calls are the main thread's */
    if (!snd_fork_counts_late() || !is_main || Py_AddPendingCall(resume_later, NULL) != 0)
        snd_session_resume();
    Py_RETURN_NONE;
}

PyObject *
snd_py_after_fork_in_child(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    if (!snd_exit_is_forking()) /* a question of ours would be deadly to the program that it runs next */
        snd_session_follow();
    Py_RETURN_NONE;
}

PyObject *
snd_py_pause_samples(PyObject *module, PyObject *paused)
{
    int is_paused = PyObject_IsTrue(paused);

    (void)module;
    if (is_paused < 0)
        return NULL;
    snd_gc_set_paused(is_paused);
    Py_BEGIN_ALLOW_THREADS;
    snd_session_pause_samples(is_paused);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

PyObject *
snd_py_set_info(PyObject *module, PyObject *args)
{
    const char *key, *value;

    (void)module;
    if (!PyArg_ParseTuple(args, "sz:set_info", &key, &value))
        return NULL;
    snd_status status = snd_extras_set_info(key, value == NULL ? "" : value);
    return status == SND_OK ? Py_NewRef(Py_None) : snd_raise_status(status, NULL);
}

PyObject *
snd_py_add_source(PyObject *module, PyObject *args)
{
    const char *file, *text;
    Py_ssize_t size;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss#:add_source", &file, &text, &size))
        return NULL;
    snd_status status = snd_extras_add_source(file, text, (size_t)size);
    return status == SND_OK ? Py_NewRef(Py_None) : snd_raise_status(status, NULL);
}

PyObject *
snd_py_name_file(PyObject *module, PyObject *args)
{
    const char *file, *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss:name_file", &file, &name))
        return NULL;
    snd_status status = snd_extras_name_file(file, name);
    return status == SND_OK ? Py_NewRef(Py_None) : snd_raise_status(status, NULL);
}

PyObject *
snd_py_quiet_threads(PyObject *module, PyObject *ids)
{
    uint32_t numbers[64];
    uint32_t count = 0;
    PyObject *list = PySequence_Fast(ids, "threads must be a list of numbers");

    (void)module;
    for (Py_ssize_t i = 0; list != NULL && i < PySequence_Fast_GET_SIZE(list) && count < 64; i++)
        numbers[count++] = (uint32_t)PyLong_AsUnsignedLongMask(PySequence_Fast_GET_ITEM(list, i));
    Py_XDECREF(list);
    if (PyErr_Occurred())
        return NULL;
    snd_sample_set_quiet(numbers, count);
    Py_RETURN_NONE;
}

static int
call_now(void *function)
{
    PyObject *answer = PyObject_CallNoArgs(function);

    if (answer == NULL)
        PyErr_WriteUnraisable(function);
    Py_XDECREF(answer);
    Py_DECREF((PyObject *)function);
    return 0;
}

/* call_soon(function): on the main thread, between two instructions. False: its list of such calls is full. */
PyObject *
snd_py_call_soon(PyObject *module, PyObject *function)
{
    (void)module;
    int is_asked = Py_AddPendingCall(call_now, Py_NewRef(function)) == 0;
    if (!is_asked)
        Py_DECREF(function);
    return PyBool_FromLong(is_asked);
}

static snd_usage began; /* with the GIL held */

PyObject *
snd_py_usage_begin(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    snd_usage_begin(&began);
    Py_RETURN_NONE;
}

/* A number for each counter that is known, and a text with the reason for each that is not. */
PyObject *
snd_py_usage_end(PyObject *module, PyObject *nothing)
{
    snd_usage used;
    PyObject *all = PyDict_New();

    (void)module, (void)nothing;
    snd_usage_end(&began, &used);
    for (unsigned i = 0; i < SND_USED_COUNT_OF && all != NULL; i++) {
        PyObject *value = used.why[i] == NULL ? PyFloat_FromDouble(used.values[i]) : PyUnicode_FromString(used.why[i]);
        if (value == NULL || PyDict_SetItemString(all, snd_used_get((snd_used)i)->name, value) != 0)
            Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

/* The names of the counters that a region may have. */
PyObject *
snd_py_counter_names(PyObject *module, PyObject *nothing)
{
    PyObject *names = PyTuple_New(SND_SYSTEM_COUNTER_COUNT_OF);

    (void)module, (void)nothing;
    for (unsigned i = 0; i < SND_SYSTEM_COUNTER_COUNT_OF && names != NULL; i++) {
        PyObject *name = PyUnicode_FromString(snd_system_counter_name((snd_system_counter)i));
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}
