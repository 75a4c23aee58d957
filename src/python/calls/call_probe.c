/* The Python object that takes a profile of calls: sonde._core.Calls. */
#include "python/calls/call_probe.h"

#include "base/alloc.h"
#include "base/map.h"
#include "collect/extras.h"
#include "probe/core/snapshot.h"
#include "python/calls/call.h"

#include <math.h>
#include <pthread.h>

/* ---- generators and coroutines that wait: since when, and under which signature they started ---- */

/* Guarded by the GIL. */
static snd_map by_address;
static snd_pause *pauses;
static uint32_t count;
static uint32_t capacity;

/* The entry of this address; NULL: there was never one. */
static snd_pause *
find(const void *generator)
{
    uint32_t cursor = 0;
    uint32_t at = snd_map_next(&by_address, (uint64_t)(uintptr_t)generator, &cursor);
    return at == SND_MAP_NONE ? NULL : &pauses[at];
}

static snd_pause *
add(const void *generator)
{
    if (!snd_make_room(&pauses, count + 1, &capacity, sizeof *pauses) ||
        snd_map_add(&by_address, (uint64_t)(uintptr_t)generator, count) != SND_OK)
        return NULL;
    return &pauses[count++];
}

void
snd_pause_begin(const void *generator, uint64_t now, uint32_t site)
{
    snd_pause *pause = find(generator);
    if (pause == NULL)
        pause = add(generator);
    if (pause != NULL) /* else its wait stays unknown */
        *pause = (snd_pause){now, site};
}

snd_pause
snd_pause_end(const void *generator)
{
    static const snd_pause none = {0, SND_NONE};
    snd_pause *pause = find(generator);
    snd_pause found = pause == NULL ? none : *pause;
    if (pause != NULL)
        *pause = none;
    return found;
}

static void
forget_pauses(void)
{
    snd_map_free(&by_address);
    snd_free(pauses);
    pauses = NULL;
    count = capacity = 0;
}

#define SIGNATURE_LIMIT 1000

/* The profile whose timer is asked. A clock function of the core gets no argument, hence this one pointer. */
static snd_py_calls *timed;

/* The profile whose timer this thread runs: it must not end or empty it. */
static _Thread_local const snd_py_calls *asking;

/* In nanoseconds. A timer that fails is reported as the interpreter reports what it cannot raise, and stands still. */
static uint64_t
read_timer(void)
{
    PyObject *type, *value, *trace;
    snd_py_calls *self = timed;
    snd_call_thread *thread = snd_call_mine_serial == self->probe.book->serial ? snd_call_mine : NULL;
    double unit = self->timeunit;

    if (thread != NULL)
        thread->is_muted++;
    PyErr_Fetch(&type, &value, &trace);
    const snd_py_calls *before = asking;
    asking = self;
    PyObject *timer = Py_NewRef(self->timer);
    PyObject *result = PyObject_CallNoArgs(timer);
    asking = before;
    double now = result == NULL ? -1.0 : PyFloat_AsDouble(result);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(timer);
    else
        self->last_time = now * (unit > 0 ? unit : 1.0) * 1e9;
    Py_XDECREF(result);
    Py_DECREF(timer);
    PyErr_Restore(type, value, trace);
    if (thread != NULL)
        thread->is_muted--;
    return self->last_time > 0 && self->last_time < 1.8e19 ? (uint64_t)llround(self->last_time) : 0;
}

static PyObject *
calls_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    snd_py_calls *self = (snd_py_calls *)type->tp_alloc(type, 0);

    (void)args, (void)keywords;
    if (self == NULL)
        return NULL;
    self->probe.book = snd_call_book_new(1);
    self->probe.codes = PyDict_New();
    self->probe.owner = (PyObject *)self;
    self->probe.wish = (snd_call_wish){.builtins = 1, .limit = SIGNATURE_LIMIT};
    self->probe.wish.include = PyTuple_New(0);
    self->probe.wish.exclude = PyTuple_New(0);
    if (self->probe.book == NULL || self->probe.codes == NULL || self->probe.wish.include == NULL ||
        self->probe.wish.exclude == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void
stop(snd_py_calls *self)
{
    if (snd_call_active != &self->probe)
        return;
    snd_call_hooks_stop(&self->probe, 0);
    snd_call_book_flush(self->probe.book);
    forget_pauses();
}

/* The same for a profile that nobody can read any more, maybe inside a garbage collection: no Python code may run, be
 * it the timer or an audit hook. */
static void
stop_silently(snd_py_calls *self)
{
    if (snd_call_active != &self->probe)
        return;
    snd_call_hooks_stop(&self->probe, 1);
    if (self->timer == NULL)
        snd_call_book_flush(self->probe.book);
    forget_pauses();
}

static int
calls_traverse(PyObject *object, visitproc visit, void *arg)
{
    snd_py_calls *self = (snd_py_calls *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->timer);
    Py_VISIT(self->probe.codes);
    Py_VISIT(self->probe.wish.include);
    Py_VISIT(self->probe.wish.exclude);
    return 0;
}

static int
calls_clear_references(PyObject *object)
{
    snd_py_calls *self = (snd_py_calls *)object;

    stop_silently(self);
    Py_CLEAR(self->timer);
    Py_CLEAR(self->probe.codes);
    Py_CLEAR(self->probe.wish.include);
    Py_CLEAR(self->probe.wish.exclude);
    return 0;
}

static void
calls_dealloc(PyObject *object)
{
    snd_py_calls *self = (snd_py_calls *)object;
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)calls_clear_references(object);
    if (timed == self)
        timed = NULL;
    snd_returns_free(&self->probe);
    snd_call_book_free(self->probe.book);
    type->tp_free(object);
    Py_DECREF(type);
}

/* A sequence of patterns as a tuple of bytes. */
static int
take_patterns(PyObject *given, PyObject **kept)
{
    if (given == NULL || given == Py_None)
        return 0;
    PyObject *items = PyUnicode_Check(given) ? Py_BuildValue("(O)", given) : PySequence_Tuple(given);
    PyObject *taken = items == NULL ? NULL : PyTuple_New(PyTuple_GET_SIZE(items));
    for (Py_ssize_t i = 0; taken != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        PyObject *bytes = PyUnicode_Check(item) ? PyUnicode_AsEncodedString(item, "utf-8", "backslashreplace") : NULL;
        if (bytes == NULL) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "a pattern must be a string");
            Py_CLEAR(taken);
        }
        else
            PyTuple_SET_ITEM(taken, i, bytes);
    }
    Py_XDECREF(items);
    if (taken == NULL)
        return -1;
    Py_XSETREF(*kept, taken);
    return 0;
}

static int
calls_init(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"timer",   "timeunit", "subcalls", "builtins", "signatures", "callables", "resumes",
                            "returns", "include",  "exclude",  "limit",    "shared",     NULL};
    snd_py_calls *self = (snd_py_calls *)object;
    snd_call_wish *wish = &self->probe.wish;
    PyObject *timer = Py_None, *include = NULL, *exclude = NULL;
    int subcalls = 1, shared = 0;
    long long limit = SIGNATURE_LIMIT;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Odppp$pppOOLp:Calls", names, &timer, &self->timeunit, &subcalls,
                                     &wish->builtins, &wish->signatures, &wish->callables, &wish->resumes,
                                     &wish->returns, &include, &exclude, &limit, &shared))
        return -1;
    if (timer != Py_None && !PyCallable_Check(timer)) {
        PyErr_SetString(PyExc_TypeError, "the timer must be callable");
        return -1;
    }
    if (limit < 0) {
        PyErr_SetString(PyExc_ValueError, "the limit of signatures must not be negative");
        return -1;
    }
    if (take_patterns(include, &wish->include) != 0 || take_patterns(exclude, &wish->exclude) != 0)
        return -1;
    stop(self);                        /* an object may be made anew while it measures */
    wish->returns &= wish->signatures; /* they are told with those */
    Py_XSETREF(self->timer, timer == Py_None ? NULL : Py_NewRef(timer));
    wish->limit = limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit;
    if (shared)
        Py_CLEAR(self->probe.codes); /* nobody will ask for them */
    self->probe.book->is_private = !shared;
    self->probe.book->is_flat = !subcalls;
    return 0;
}

static PyObject *
raise_busy(void)
{
    PyTypeObject *type = Py_TYPE(snd_call_active->owner);
    PyErr_Format(PyExc_ValueError,
                 "another call profile (%.200s) is enabled; only one can be at a time, so disable it first",
                 snd_call_active->book->is_private ? type->tp_name : "sonde trace");
    return NULL;
}

/* In the child of a fork the other threads are gone, and what they had open never ended. */
static void
after_fork_in_child(void)
{
    if (snd_call_active != NULL)
        snd_call_book_after_fork(snd_call_active->book);
}

static void
watch_forks(void)
{
    static int is_watching;
    if (!is_watching)
        is_watching = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
}

static PyObject *
calls_enable(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"subcalls", "builtins", NULL};
    snd_py_calls *self = (snd_py_calls *)object;
    int subcalls = !self->probe.book->is_flat, builtins = self->probe.wish.builtins;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|pp:enable", names, &subcalls, &builtins))
        return NULL;
    if (snd_call_active == &self->probe)
        Py_RETURN_NONE;
    if (snd_call_active != NULL)
        return raise_busy();
    if (self->probe.book->clock == NULL && self->timer == NULL)
        snd_clock_start(NULL);
    if (self->timer != NULL) {
        timed = self;
        self->probe.book->clock = read_timer;
    }
    self->probe.book->is_flat = !subcalls;
    self->probe.wish.builtins = builtins;
    watch_forks();
    snd_call_book_start(self->probe.book);
    if (!snd_call_hooks_start(&self->probe))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
refuse_timer(const char *what)
{
    PyErr_Format(PyExc_RuntimeError, "cannot %s a profile in its own timer", what);
    return NULL;
}

static PyObject *
calls_disable(PyObject *object, PyObject *nothing)
{
    snd_py_calls *self = (snd_py_calls *)object;

    (void)nothing;
    if (asking == self)
        return refuse_timer("disable");
    self->probe.is_lost = 0;
    stop(self);
    if (self->probe.is_lost &&
        PyErr_WarnEx(PyExc_RuntimeWarning,
                     "another profiler took over this thread's profile hook: later calls are missing", 1) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
calls_clear(PyObject *object, PyObject *nothing)
{
    snd_py_calls *self = (snd_py_calls *)object;

    (void)nothing;
    if (asking == self)
        return refuse_timer("clear");
    snd_call_book_clear(self->probe.book);
    snd_returns_free(&self->probe);
    Py_RETURN_NONE;
}

static PyObject *
calls_is_enabled(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return PyBool_FromLong(snd_call_active == &((snd_py_calls *)object)->probe);
}

snd_profile *
snd_calls_profile(snd_py_calls *self)
{
    snd_profile *profile = snd_profile_new();
    snd_snapshot snapshot = {0};
    snd_status status = profile == NULL ? SND_NO_MEMORY : SND_OK;
    uint64_t now = snd_call_now(self->probe.book);

    for (const snd_call_thread *thread = self->probe.book->threads; thread != NULL && status == SND_OK;
         thread = thread->next)
        status = snd_snapshot_add(&snapshot, profile, thread->track, 0, now);
    if (status == SND_OK)
        status = snd_returns_show(&self->probe, &snapshot, profile);
    snd_snapshot_free(&snapshot);
    if (status == SND_OK)
        status = snd_profile_set_info_number(profile, "lost_entries", self->probe.book->lost);
    if (status == SND_OK)
        status = snd_extras_rename_files(profile);
    if (status == SND_OK)
        return profile;
    snd_profile_free(profile);
    snd_raise_status(status, NULL);
    return NULL;
}

static PyObject *
calls_profile(PyObject *object, PyObject *nothing)
{
    snd_profile *profile = snd_calls_profile((snd_py_calls *)object);

    (void)nothing;
    return profile == NULL ? NULL : snd_profile_wrap(snd_state_of_kin(object), profile);
}

/* How calls are seen, for this profile. */
static PyObject *
calls_hook(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return PyUnicode_FromString(snd_call_hooks_name(((snd_py_calls *)object)->probe.wish.builtins));
}

/* Calls of an empty function, in ns each: the least of some tries. */
static const char cost_program[] = "def empty():\n"
                                   "    pass\n"
                                   "def measure(count):\n"
                                   "    for _ in range(count):\n"
                                   "        empty()\n";

static double
time_calls(PyObject *measure)
{
    enum { TRIES = 5, CALLS = 1000 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = snd_clock_monotonic_ns();
        PyObject *done = PyObject_CallFunction(measure, "i", (int)CALLS);
        uint64_t spent = snd_clock_monotonic_ns() - before;
        if (done == NULL)
            return -1.0;
        Py_DECREF(done);
        least = spent < least ? spent : least;
    }
    return (double)least / (double)CALLS;
}

/* What measuring adds to one call of a Python function, in ns. To be asked of an object that has measured nothing. */
static PyObject *
calls_own_cost(PyObject *object, PyObject *nothing)
{
    snd_py_calls *self = (snd_py_calls *)object;
    PyObject *names = PyDict_New();
    double with = -1.0, without = -1.0;

    (void)nothing;
    PyObject *done = names == NULL ? NULL : PyRun_String(cost_program, Py_file_input, names, names);
    PyObject *measure = done == NULL ? NULL : PyDict_GetItemString(names, "measure");
    if (measure != NULL && snd_call_active == NULL) {
        without = time_calls(measure);
        snd_clock_start(NULL);
        if (without >= 0 && snd_call_hooks_start(&self->probe)) {
            with = time_calls(measure);
            stop(self);
        }
    }
    Py_XDECREF(done);
    Py_XDECREF(names);
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromUnsignedLongLong(with > without ? (unsigned long long)(with - without) : 0);
}

static PyMethodDef methods[] = {
    {"enable", (PyCFunction)(void (*)(void))calls_enable, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("enable($self, subcalls=True, builtins=True)\n--\n\nStart or resume measuring calls on all threads.\n\n"
               ">>> profile.enable()\n")},
    {"disable", calls_disable, METH_NOARGS,
     PyDoc_STR("disable($self)\n--\n\nStop measuring. Open calls end here.\n\n>>> profile.disable()\n")},
    {"clear", calls_clear, METH_NOARGS,
     PyDoc_STR("clear($self)\n--\n\nDiscard everything measured so far.\n\n>>> profile.clear()\n")},
    {"is_enabled", calls_is_enabled, METH_NOARGS,
     PyDoc_STR("is_enabled($self)\n--\n\nWhether this profile is enabled now.\n\n>>> profile.is_enabled()\n")},
    {"getstats", snd_calls_getstats, METH_NOARGS,
     PyDoc_STR("getstats($self)\n--\n\nAll called functions, each with what it called.\n\n"
               ">>> entries = profile.getstats()\n")},
    {"pstats", snd_calls_pstats, METH_NOARGS,
     PyDoc_STR("pstats($self)\n--\n\nThe dictionary that the standard pstats module reads.\n\n"
               ">>> stats = profile.pstats()\n")},
    {"profile", calls_profile, METH_NOARGS, NULL},
    {"own_cost", calls_own_cost, METH_NOARGS, NULL},
    {"hook", calls_hook, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, calls_new},
    {Py_tp_init, calls_init},
    {Py_tp_dealloc, calls_dealloc},
    {Py_tp_traverse, calls_traverse},
    {Py_tp_clear, calls_clear_references},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)(uintptr_t)"The part in C of sonde.profiler.Profile."},
    {0},
};

PyType_Spec snd_calls_spec = {
    .name = "sonde._core.Calls",
    .basicsize = sizeof(snd_py_calls),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
