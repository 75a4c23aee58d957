/* Reading the events of PyTorch's collection: one pass over its objects, each asked only for what a table needs. */
#include "python/torch/kineto.h"

#include "base/alloc.h"
#include "python/torch/torch_averages.h"

#include <string.h>

enum { NAME_NEW, NAME_SHOWN, NAME_SKIPPED, NAME_MEMORY, NAME_FAILED_MEMORY };

#define WORD_TEXT(name) #name,
static const char *const words[] = {SND_KINETO_MAP(WORD_TEXT)};

/* Methods are looked up once for a type: calling them through the instance would look them up each time. */
static int
look_up(snd_kineto *self, PyObject *event, snd_kineto_word word)
{
    if (self->type != Py_TYPE(event)) {
        for (int i = 0; i < SND_KINETO_COUNT; i++)
            Py_CLEAR(self->methods[i]);
        Py_XSETREF(self->type, (PyTypeObject *)Py_NewRef(Py_TYPE(event)));
    }
    if (self->methods[word] == NULL)
        self->methods[word] = PyObject_GetAttrString((PyObject *)self->type, words[word]);
    return self->methods[word] != NULL;
}

PyObject *
snd_kineto_ask(snd_kineto *self, PyObject *event, snd_kineto_word word)
{
    if ((self->methods[word] == NULL || self->type != Py_TYPE(event)) && !look_up(self, event, word))
        return NULL;
    return PyObject_CallOneArg(self->methods[word], event);
}

int
snd_kineto_ask_whole(snd_kineto *self, PyObject *event, snd_kineto_word word, int64_t *out)
{
    PyObject *answer = snd_kineto_ask(self, event, word);
    if (answer != NULL && !PyLong_Check(answer)) /* an enumeration */
        Py_SETREF(answer, PyNumber_Index(answer));
    if (answer == NULL)
        return 0;
    /* Thread numbers may have all 64 bits. */
    *out = (int64_t)PyLong_AsUnsignedLongLongMask(answer);
    Py_DECREF(answer);
    return !PyErr_Occurred();
}

int
snd_kineto_ask_truth(snd_kineto *self, PyObject *event, snd_kineto_word word, int *out)
{
    PyObject *answer = snd_kineto_ask(self, event, word);
    if (answer == NULL)
        return 0;
    *out = answer == Py_False ? 0 : answer == Py_True ? 1 : PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return *out >= 0;
}

static int
intern(snd_kineto *self, const char *text, size_t size, uint32_t *id)
{
    if (snd_intern_add(snd_op_events_texts(self->events), text, size, id) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

static int
kind_of_name(const char *name)
{
    static const char *const skipped[] = {"profiler::_record_function_enter",
                                          "profiler::_record_function_enter_new",
                                          "profiler::_record_function_exit",
                                          "aten::is_leaf",
                                          "aten::output_nr",
                                          "aten::_version"};

    if (strcmp(name, "[memory]") == 0)
        return NAME_MEMORY;
    if (strcmp(name, "[OutOfMemory]") == 0)
        return NAME_FAILED_MEMORY;
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strcmp(name, skipped[i]) == 0)
            return NAME_SKIPPED;
    return NAME_SHOWN;
}

/* Names of C++ are shown as people write them, and all steps have one name. */
static int
show_name(snd_kineto *self, const char *name, Py_ssize_t size, uint32_t *shown)
{
    static const char step[] = "ProfilerStep#";
    PyObject *pretty = NULL;

    if (size > 1) {
        pretty = PyObject_CallFunction(self->demangle, "s", name);
        name = pretty == NULL ? NULL : PyUnicode_AsUTF8AndSize(pretty, &size);
    }
    if (name == NULL) {
        Py_XDECREF(pretty);
        return 0;
    }
    int is_step = strncmp(name, step, sizeof step - 1) == 0;
    int done = is_step ? intern(self, "ProfilerStep*", 13, shown) : intern(self, name, (size_t)size, shown);
    Py_XDECREF(pretty);
    return done;
}

/* NULL with an exception. Valid until the next name. */
static const snd_kineto_name *
name_of(snd_kineto *self, PyObject *event)
{
    PyObject *answer = snd_kineto_ask(self, event, SND_KINETO_name);
    const snd_kineto_name *result = NULL;
    Py_ssize_t size = 0;
    uint32_t id = 0;

    const char *text = answer == NULL ? NULL : PyUnicode_AsUTF8AndSize(answer, &size);
    if (text != NULL && intern(self, text, (size_t)size, &id)) {
        uint32_t before = self->name_capacity;
        if (!snd_make_room(&self->names, id + 1, &self->name_capacity, sizeof *self->names))
            PyErr_NoMemory();
        else {
            memset(self->names + before, 0, (self->name_capacity - before) * sizeof *self->names);
            snd_kineto_name *about = &self->names[id];
            if (about->kind != NAME_NEW || show_name(self, text, size, &about->shown)) {
                about->kind = about->kind == NAME_NEW ? (uint8_t)kind_of_name(text) : about->kind;
                result = about;
            }
        }
    }
    Py_XDECREF(answer);
    return result;
}

static int
read_memory(snd_kineto *self, PyObject *event, const snd_kineto_name *name)
{
    snd_op_memory memory = {.name = name->shown, .is_failure = name->kind == NAME_FAILED_MEMORY};
    int64_t thread, device;

    if (!snd_kineto_ask_whole(self, event, SND_KINETO_start_ns, &memory.start_ns) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_nbytes, &memory.bytes) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_start_thread_id, &thread) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_device_type, &device))
        return 0;
    memory.start_ns -= self->start_ns;
    memory.thread = (uint64_t)thread;
    memory.device = (int32_t)device;
    if (snd_op_events_add_memory(self->events, &memory) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

/* What the kinds of events that never leave the CPU are called; the kind says the rest. */
enum { KIND_OTHER, KIND_OPERATOR, KIND_PYTHON, KIND_ANNOTATION };

static int
kind_of_event(snd_kineto *self, PyObject *event)
{
    PyObject *answer = snd_kineto_ask(self, event, SND_KINETO_activity_type);
    const char *text = answer == NULL ? NULL : PyUnicode_AsUTF8(answer);
    int kind = -1;

    if (text != NULL)
        kind = strcmp(text, "cpu_op") == 0            ? KIND_OPERATOR
               : strcmp(text, "python_function") == 0 ? KIND_PYTHON
               : strcmp(text, "user_annotation") == 0 ? KIND_ANNOTATION
                                                      : KIND_OTHER;
    Py_XDECREF(answer);
    return kind;
}

static int
read_device(snd_kineto *self, PyObject *event, snd_op_event *out)
{
    int64_t device, elapsed = 0;
    int is_annotation;

    if (!snd_kineto_ask_whole(self, event, SND_KINETO_device_type, &device) ||
        !snd_kineto_ask_truth(self, event, SND_KINETO_is_user_annotation, &is_annotation) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_linked_correlation_id, &out->linked) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_correlation_id, &out->correlation))
        return 0;
    out->device = (int32_t)device;
    out->is_annotation = (uint8_t)is_annotation;
    if (self->elapsed >= 0 && device == SND_OP_CPU && !out->is_async) {
        if (!snd_kineto_ask_whole(self, event, (snd_kineto_word)self->elapsed, &elapsed))
            return 0;
        out->legacy_us = elapsed > 0 ? (double)elapsed : 0;
    }
    return 1;
}

static int
read_event(snd_kineto *self, PyObject *event, snd_op_event *out)
{
    int64_t thread, end_thread, scope, flops = 0;
    int is_async, kind = kind_of_event(self, event);

    if (kind < 0 || !snd_kineto_ask_whole(self, event, SND_KINETO_start_ns, &out->start_ns) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_end_ns, &out->end_ns) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_start_thread_id, &thread) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_end_thread_id, &end_thread) ||
        !snd_kineto_ask_whole(self, event, SND_KINETO_scope, &scope) ||
        !snd_kineto_ask_truth(self, event, SND_KINETO_is_async, &is_async))
        return 0;
    out->start_ns -= self->start_ns;
    out->end_ns -= self->start_ns;
    out->thread = (uint64_t)thread;
    out->scope = (int32_t)scope;
    out->is_async = is_async || thread != end_thread;
    out->is_python = kind == KIND_PYTHON;
    out->is_annotation = kind == KIND_ANNOTATION;
    if (self->reads_flops && !snd_kineto_ask_whole(self, event, SND_KINETO_flops, &flops))
        return 0;
    out->flops = (uint64_t)flops;
    return kind == KIND_OTHER || self->reads_devices ? read_device(self, event, out) : 1;
}

static int
add_event(snd_kineto *self, PyObject *event, const snd_kineto_name *name)
{
    uint32_t shown = name->shown;
    int is_hidden;

    if (!snd_kineto_ask_truth(self, event, SND_KINETO_is_hidden_event, &is_hidden))
        return 0;
    if (is_hidden)
        return 1;
    snd_op_event *added = snd_op_events_add(self->events);
    if (added == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    added->name = shown;
    return read_event(self, event, added) && PyList_Append(self->sources, event) == 0;
}

static int
read_all(snd_kineto *self, PyObject *events)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(events); i++) {
        PyObject *event = PyList_GET_ITEM(events, i);
        const snd_kineto_name *name = name_of(self, event);
        if (name == NULL)
            return 0;
        if (name->kind == NAME_SHOWN) {
            if (!add_event(self, event, name))
                return 0;
        }
        else if (name->kind != NAME_SKIPPED && !read_memory(self, event, name)) {
            return 0;
        }
        if (i % 4096 == 0 && PyErr_CheckSignals() != 0)
            return 0;
    }
    if (snd_op_events_arrange(self->events) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

static int
word_of(const char *text)
{
    for (int i = 0; text != NULL && i < SND_KINETO_COUNT; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

/* _core.kineto_events(events, start_ns, demangle, reads_devices, has_device, reads_flops, is_compensated, elapsed) */
PyObject *
snd_py_kineto_events(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"events",         "start_ns", "demangle", "reads_devices", "has_device", "reads_flops",
                            "is_compensated", "elapsed",  NULL};
    snd_state *state = snd_state_of_module(module);
    PyObject *events, *demangle;
    const char *elapsed = NULL;
    int reads_devices = 0, reads_flops = 0;
    snd_op_events_options options = {0};
    long long start_ns;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!LO|ppppz:kineto_events", names, &PyList_Type, &events,
                                     &start_ns, &demangle, &reads_devices, &options.has_device, &reads_flops,
                                     &options.is_compensated, &elapsed))
        return NULL;
    snd_kineto *self = (snd_kineto *)state->kineto_type->tp_alloc(state->kineto_type, 0);
    if (self == NULL)
        return NULL;
    self->events = snd_op_events_new(&options);
    self->sources = PyList_New(0);
    self->demangle = Py_NewRef(demangle);
    self->start_ns = start_ns;
    self->reads_devices = reads_devices;
    self->reads_flops = reads_flops;
    self->elapsed = word_of(elapsed);
    if (self->events == NULL)
        PyErr_NoMemory();
    if (self->events == NULL || self->sources == NULL || !read_all(self, events))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *
kineto_averages(PyObject *object, PyObject *args)
{
    snd_kineto *self = (snd_kineto *)object;
    snd_op_grouping grouping = {0};
    unsigned stack_count = 0;

    if (!PyArg_ParseTuple(args, "pIp:averages", &grouping.by_shapes, &stack_count, &grouping.by_overload))
        return NULL;
    grouping.stack_count = stack_count;
    if ((grouping.by_shapes && !snd_kineto_read_shapes(self)) ||
        (grouping.by_overload && !snd_kineto_read_overloads(self)) ||
        (stack_count > 0 && !snd_kineto_read_stacks(self)))
        return NULL;
    snd_op_averages *list = snd_op_averages_new();
    if (list == NULL || snd_op_events_average(self->events, &grouping, list) != SND_OK) {
        snd_op_averages_free(list);
        return PyErr_NoMemory();
    }
    return snd_op_averages_wrap(snd_state_of(object), list);
}

static int
kineto_traverse(PyObject *object, visitproc visit, void *arg)
{
    snd_kineto *self = (snd_kineto *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->sources);
    Py_VISIT(self->type);
    Py_VISIT(self->demangle);
    for (int i = 0; i < SND_KINETO_COUNT; i++)
        Py_VISIT(self->methods[i]);
    return 0;
}

static int
kineto_clear(PyObject *object)
{
    snd_kineto *self = (snd_kineto *)object;

    Py_CLEAR(self->sources);
    Py_CLEAR(self->type);
    Py_CLEAR(self->demangle);
    for (int i = 0; i < SND_KINETO_COUNT; i++)
        Py_CLEAR(self->methods[i]);
    return 0;
}

static void
kineto_dealloc(PyObject *object)
{
    snd_kineto *self = (snd_kineto *)object;
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    kineto_clear(object);
    snd_op_events_free(self->events);
    snd_free(self->names);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"averages", kineto_averages, METH_VARARGS, NULL},
    {"transfers", snd_kineto_transfers, METH_VARARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, kineto_dealloc},
    {Py_tp_traverse, kineto_traverse},
    {Py_tp_clear, kineto_clear},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec snd_kineto_spec = {
    .name = "sonde._core.KinetoEvents",
    .basicsize = sizeof(snd_kineto),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
