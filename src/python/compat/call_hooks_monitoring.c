/* Calls through sys.monitoring, from 3.12 on: all threads at once, and nothing at all for code that a filter excludes.
 */
#include "python/calls/call.h"
#include "python/compat/monitoring.h"
#include "python/module/hook.h"

#if SND_HAS_MONITORING

static int tool = -1;
static PyObject *disable; /* sys.monitoring.DISABLE */
static PyObject *missing; /* sys.monitoring.MISSING */
static int has_disabled;  /* something was switched off for the filter at hand */

/* Where nothing is measured any more, the event is somebody else's. */
static PyObject *
switch_off(void)
{
    if (snd_call_active == NULL)
        Py_RETURN_NONE;
    has_disabled = 1;
    return Py_NewRef(disable);
}

/* The generator that runs; NULL where its pauses are not remembered. */
static const void *
generator_at_hand(const snd_code *known)
{
    snd_frame *frame = snd_event_has_pauses(snd_call_active, known) ? snd_frame_top() : NULL;
    return frame == NULL ? NULL : snd_frame_generator(frame);
}

#define HOOK(name) static PyObject *name(PyObject *self, PyObject *const *args, size_t count, PyObject *names)

HOOK(on_start)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (SND_UNLIKELY(known == NULL))
        return switch_off();
    SND_HOLDING(snd_call_active, snd_event_start(snd_call_active, (PyCodeObject *)args[0], known,
                                                 snd_call_active->wish.signatures ? snd_frame_top() : NULL));
    Py_RETURN_NONE;
}

HOOK(on_return)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (SND_UNLIKELY(known == NULL))
        return switch_off();
    SND_HOLDING(snd_call_active, snd_event_return(snd_call_active, (PyCodeObject *)args[0], args[2]));
    Py_RETURN_NONE;
}

HOOK(on_yield)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (SND_UNLIKELY(known == NULL))
        return switch_off();
    SND_HOLDING(snd_call_active,
                snd_event_yield(snd_call_active, (PyCodeObject *)args[0], known, generator_at_hand(known)));
    Py_RETURN_NONE;
}

HOOK(on_resume)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (SND_UNLIKELY(known == NULL))
        return switch_off();
    SND_HOLDING(snd_call_active,
                snd_event_resume(snd_call_active, (PyCodeObject *)args[0], known, generator_at_hand(known)));
    Py_RETURN_NONE;
}

/* Exceptions: these two cannot be switched off for some code only. */
HOOK(on_throw)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (known != NULL)
        SND_HOLDING(snd_call_active,
                    snd_event_resume(snd_call_active, (PyCodeObject *)args[0], known, generator_at_hand(known)));
    Py_RETURN_NONE;
}

HOOK(on_unwind)
{
    snd_code *known = snd_code_wanted((PyCodeObject *)args[0]);
    (void)self, (void)count, (void)names;
    if (known != NULL)
        SND_HOLDING(snd_call_active, snd_event_return(snd_call_active, (PyCodeObject *)args[0], NULL));
    Py_RETURN_NONE;
}

HOOK(on_call)
{
    (void)self, (void)count, (void)names;
    if (!PyFunction_Check(args[2]) && snd_code_may_call((PyCodeObject *)args[0]))
        SND_HOLDING(snd_call_active, snd_event_builtin(snd_call_active, args[2], args[3] == missing ? NULL : args[3]));
    Py_RETURN_NONE;
}

HOOK(on_c_return)
{
    (void)self, (void)count, (void)names;
    if (snd_code_may_call((PyCodeObject *)args[0]))
        SND_HOLDING(snd_call_active,
                    snd_event_builtin_end(snd_call_active, args[2], args[3] == missing ? NULL : args[3]));
    Py_RETURN_NONE;
}

static const struct {
    const char *event;
    vectorcallfunc call;
    int is_builtin; /* of C functions; C_RETURN and C_RAISE come with CALL */
} hooks[] = {
    {"PY_START", on_start, 0},   {"PY_RETURN", on_return, 0},  {"PY_YIELD", on_yield, 0},
    {"PY_RESUME", on_resume, 0}, {"PY_THROW", on_throw, 0},    {"PY_UNWIND", on_unwind, 0},
    {"CALL", on_call, 1},        {"C_RETURN", on_c_return, 1}, {"C_RAISE", on_c_return, 1},
};
#define HOOK_COUNT (sizeof hooks / sizeof hooks[0])

static int
set_hooks(const snd_call_probe *probe)
{
    long events = 0;
    int worked = 1;

    for (size_t i = 0; i < HOOK_COUNT && worked; i++) {
        PyObject *made = snd_hook_new(hooks[i].call, NULL);
        long event = snd_monitoring_event(hooks[i].event);
        worked = made != NULL && event != 0 && snd_monitoring_call("register_callback", "(ilO)", tool, event, made);
        if (!hooks[i].is_builtin || probe->wish.builtins)
            events |= event;
        Py_XDECREF(made);
    }
    return worked && snd_monitoring_call("set_events", "(il)", tool, events);
}

static PyObject *
constant(const char *name)
{
    PyObject *module = PySys_GetObject("monitoring");
    return module == NULL ? NULL : PyObject_GetAttrString(module, name);
}

const char *
snd_call_hooks_name(int with_builtins)
{
    (void)with_builtins;
    return "sys.monitoring";
}

int
snd_call_hooks_start(snd_call_probe *probe)
{
    if (disable == NULL && ((disable = constant("DISABLE")) == NULL || (missing = constant("MISSING")) == NULL))
        return 0;
    tool = snd_monitoring_take_tool("sonde calls");
    if (tool < 0) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "all tools of sys.monitoring are taken; stop another profiler, debugger or coverage tool first");
        return 0;
    }
    if (has_disabled && !snd_monitoring_call("restart_events", "()"))
        PyErr_Clear();
    has_disabled = 0;
    snd_call_active = probe;
    snd_call_serial = probe->book->serial;
    if (set_hooks(probe))
        return 1;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    snd_call_hooks_stop(probe, 0);
    PyErr_Restore(type, value, trace);
    return 0;
}

void
snd_call_hooks_stop(snd_call_probe *probe, int silently)
{
    PyObject *type, *value, *trace;
    const char *events[HOOK_COUNT];

    (void)probe;
    PyErr_Fetch(&type, &value, &trace);
    snd_call_active = NULL;
    snd_call_serial = SND_NO_SERIAL;
    for (size_t i = 0; i < HOOK_COUNT; i++)
        events[i] = hooks[i].event;
    if (tool >= 0)
        snd_monitoring_give_back(tool, events, HOOK_COUNT, silently);
    tool = -1;
    PyErr_Restore(type, value, trace);
}

#else
typedef int snd_call_hooks_monitoring_is_empty;
#endif
