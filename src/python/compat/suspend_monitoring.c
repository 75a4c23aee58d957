/* Seeing generators suspend and resume through sys.monitoring: local events on the code objects that opened a region,
 * nothing anywhere else. */
#include "collect/session.h"
#include "python/compat/monitoring.h"
#include "python/regions/owner.h"

#if SND_HAS_MONITORING

static snd_state *
state_and_generator(PyObject *module, PyObject **generator)
{
    snd_frame *frame = snd_frame_top();
    *generator = frame == NULL ? NULL : snd_frame_generator(frame);
    return snd_state_of_module(module);
}

static PyObject *
on_suspend(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *generator;
    snd_state *state = state_and_generator(module, &generator);

    (void)args, (void)count;
    if (generator != NULL)
        snd_owner_suspended(state, generator);
    Py_RETURN_NONE;
}

static PyObject *
on_resume(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *generator;
    snd_state *state = state_and_generator(module, &generator);

    (void)args, (void)count;
    if (generator != NULL)
        snd_owner_resumed(state, generator);
    Py_RETURN_NONE;
}

static PyMethodDef suspend_method = {"on_suspend", (PyCFunction)(void (*)(void))on_suspend, METH_FASTCALL, NULL};
static PyMethodDef resume_method = {"on_resume", (PyCFunction)(void (*)(void))on_resume, METH_FASTCALL, NULL};

static const char *const events[] = {"PY_YIELD", "PY_RESUME", "PY_THROW"};

static int
set_callback(snd_state *state, const char *name, PyMethodDef *method)
{
    PyObject *module = PyType_GetModule(state->region_type);
    PyObject *function = module == NULL ? NULL : PyCFunction_New(method, module);
    int worked = function != NULL && snd_monitoring_call("register_callback", "(ilO)", state->watch_tool,
                                                         snd_monitoring_event(name), function);
    Py_XDECREF(function);
    return worked;
}

static int
start(snd_state *state)
{
    if (state->is_watching)
        return state->watch_tool >= 0;
    state->is_watching = 1;
    state->watch_tool = snd_monitoring_take_tool("sonde regions");
    if (state->watch_tool < 0) {
        snd_session_note("waiting time of tasks is unknown: all tools of sys.monitoring are taken");
        return 0;
    }
    state->watched = PySet_New(NULL);
    return state->watched != NULL && set_callback(state, "PY_YIELD", &suspend_method) &&
           set_callback(state, "PY_RESUME", &resume_method) && set_callback(state, "PY_THROW", &resume_method) &&
           snd_monitoring_call("set_events", "(il)", state->watch_tool, snd_monitoring_event("PY_THROW"));
}

static int
watch_code(snd_state *state, PyObject *code)
{
    int known = PySet_Contains(state->watched, code);
    if (known != 0)
        return known > 0;
    return snd_monitoring_call("set_local_events", "(iOl)", state->watch_tool, code,
                               snd_monitoring_event("PY_YIELD") | snd_monitoring_event("PY_RESUME")) &&
           PySet_Add(state->watched, code) == 0;
}

void
snd_suspend_start(snd_state *state)
{
    (void)state; /* nothing is watched before somebody needs it */
}

void
snd_suspend_watch(snd_state *state)
{
    PyObject *type, *value, *trace;
    snd_frame *frame = snd_frame_top();

    PyErr_Fetch(&type, &value, &trace);
    if (start(state) && frame != NULL)
        (void)watch_code(state, (PyObject *)snd_frame_code(frame));
    PyErr_Clear(); /* without it the suspended column stays 0 */
    PyErr_Restore(type, value, trace);
}

void
snd_suspend_stop(snd_state *state)
{
    PyObject *code;

    if (!state->is_watching)
        return;
    state->is_watching = 0;
    while (state->watched != NULL && (code = PySet_Pop(state->watched)) != NULL) {
        if (!snd_monitoring_call("set_local_events", "(iOl)", state->watch_tool, code, 0L))
            PyErr_Clear();
        Py_DECREF(code);
    }
    PyErr_Clear();
    Py_CLEAR(state->watched);
    if (state->watch_tool >= 0)
        snd_monitoring_give_back(state->watch_tool, events, sizeof events / sizeof events[0], 0);
}

#else
typedef int snd_suspend_monitoring_is_empty;
#endif
