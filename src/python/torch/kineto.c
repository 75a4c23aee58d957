/* Reading the events of PyTorch's collection: one pass over its objects, each asked only for what a table needs. */
#include "python/torch/kineto.h"

#include "base/alloc.h"
#include "python/module/profile_object.h"

#include <string.h>

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
    PyObject *answer = NULL;

    if (self->has_failed)
        return NULL;
    if ((self->methods[word] != NULL && self->type == Py_TYPE(event)) || look_up(self, event, word))
        answer = PyObject_CallOneArg(self->methods[word], event);
    self->has_failed = answer == NULL;
    return answer;
}

int64_t
snd_kineto_number(snd_kineto *self, PyObject *event, snd_kineto_word word)
{
    PyObject *answer = snd_kineto_ask(self, event, word);

    if (answer != NULL && !PyLong_Check(answer)) /* an enumeration */
        Py_SETREF(answer, PyNumber_Index(answer));
    self->has_failed = answer == NULL;
    /* Thread numbers may have all 64 bits. */
    uint64_t number = answer == NULL ? 0 : PyLong_AsUnsignedLongLongMask(answer);
    Py_XDECREF(answer);
    return (int64_t)number;
}

static int
intern(snd_kineto *self, const char *text, size_t size, uint32_t *id)
{
    if (snd_intern_add(self->events.texts, text, size, id) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

static int
is_skipped(const char *name)
{
    static const char *const skipped[] = {"profiler::_record_function_enter",
                                          "profiler::_record_function_enter_new",
                                          "profiler::_record_function_exit",
                                          "aten::is_leaf",
                                          "aten::output_nr",
                                          "aten::_version"};

    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strcmp(name, skipped[i]) == 0)
            return 1;
    return 0;
}

/* Names of C++ are shown as people write them, and all steps have one name. 0 with an exception. */
static int
learn_name(snd_kineto *self, const char *name, Py_ssize_t size, snd_kineto_name *about)
{
    static const char step[] = "ProfilerStep#";
    PyObject *pretty = NULL;

    about->is_skipped = is_skipped(name) != 0;
    about->kind = strcmp(name, "[memory]") == 0        ? SND_TORCH_MEMORY
                  : strcmp(name, "[OutOfMemory]") == 0 ? SND_TORCH_FAILURE
                                                       : SND_TORCH_OPERATOR;
    if (size > 1) {
        pretty = PyObject_CallFunction(self->demangle, "s", name);
        name = pretty == NULL ? NULL : PyUnicode_AsUTF8AndSize(pretty, &size);
    }
    if (name != NULL && strncmp(name, step, sizeof step - 1) == 0) {
        name = "ProfilerStep*";
        size = sizeof step - 1;
    }
    int is_done = name != NULL && intern(self, name, (size_t)size, &about->shown);
    Py_XDECREF(pretty);
    return is_done;
}

/* 0 with an exception. */
static int
read_name(snd_kineto *self, PyObject *event, snd_kineto_name *out)
{
    PyObject *answer = snd_kineto_ask(self, event, SND_KINETO_name);
    Py_ssize_t size = 0;
    uint32_t id = 0;

    const char *text = answer == NULL ? NULL : PyUnicode_AsUTF8AndSize(answer, &size);
    int is_done = text != NULL && intern(self, text, (size_t)size, &id);
    if (is_done && !snd_make_longer(&self->names, id + 1, &self->name_count, sizeof *self->names, 0))
        is_done = PyErr_NoMemory() != NULL;
    if (is_done && self->names[id].shown == 0)
        is_done = learn_name(self, text, size, &self->names[id]);
    if (is_done)
        *out = self->names[id];
    Py_XDECREF(answer);
    return is_done;
}

static void
read_memory(snd_kineto *self, PyObject *event, snd_torch_event *out)
{
    out->start_ns = out->end_ns = snd_kineto_number(self, event, SND_KINETO_start_ns) - self->start_ns;
    out->bytes = snd_kineto_number(self, event, SND_KINETO_nbytes);
    out->thread = (uint64_t)snd_kineto_number(self, event, SND_KINETO_start_thread_id);
    out->device = (int32_t)snd_kineto_number(self, event, SND_KINETO_device_type);
    out->forward_thread = out->thread;
    out->sequence = out->linked = -1;
}

/* Whether it never leaves the CPU; then its kind says the rest. */
static int
read_kind(snd_kineto *self, PyObject *event, snd_torch_event *out)
{
    PyObject *answer = snd_kineto_ask(self, event, SND_KINETO_activity_type);
    const char *text = answer == NULL ? NULL : PyUnicode_AsUTF8(answer);
    int is_known = 1;

    if (text == NULL)
        self->has_failed = 1;
    else if (strcmp(text, "python_function") == 0)
        out->kind = SND_TORCH_PYTHON;
    else if (strcmp(text, "user_annotation") == 0)
        out->kind = SND_TORCH_ANNOTATION;
    else
        is_known = strcmp(text, "cpu_op") == 0;
    Py_XDECREF(answer);
    return is_known;
}

static void
read_device(snd_kineto *self, PyObject *event, snd_torch_event *out)
{
    out->device = (int32_t)snd_kineto_number(self, event, SND_KINETO_device_type);
    int64_t is_annotation = snd_kineto_number(self, event, SND_KINETO_is_user_annotation);
    out->linked = snd_kineto_number(self, event, SND_KINETO_linked_correlation_id);
    out->correlation = snd_kineto_number(self, event, SND_KINETO_correlation_id);
    if (is_annotation || out->kind == SND_TORCH_ANNOTATION)
        out->kind = is_annotation ? SND_TORCH_ANNOTATION : SND_TORCH_OPERATOR;
    if (self->elapsed >= 0 && out->device == SND_OP_CPU && !out->is_async) {
        int64_t elapsed = snd_kineto_number(self, event, (snd_kineto_word)self->elapsed);
        out->legacy_us = elapsed > 0 ? (double)elapsed : 0;
    }
}

static void
read_call(snd_kineto *self, PyObject *event, snd_torch_event *out)
{
    int is_known = read_kind(self, event, out);

    out->start_ns = snd_kineto_number(self, event, SND_KINETO_start_ns) - self->start_ns;
    out->end_ns = snd_kineto_number(self, event, SND_KINETO_end_ns) - self->start_ns;
    out->thread = (uint64_t)snd_kineto_number(self, event, SND_KINETO_start_thread_id);
    out->is_async = out->thread != (uint64_t)snd_kineto_number(self, event, SND_KINETO_end_thread_id);
    out->scope = (int32_t)snd_kineto_number(self, event, SND_KINETO_scope);
    out->is_async |= snd_kineto_number(self, event, SND_KINETO_is_async) != 0;
    if (self->reads_flops)
        out->flops = (uint64_t)snd_kineto_number(self, event, SND_KINETO_flops);
    if (!is_known || self->reads_devices)
        read_device(self, event, out);
}

/* 0 with an exception. */
static int
read_event(snd_kineto *self, PyObject *event)
{
    snd_kineto_name name;

    if (!read_name(self, event, &name))
        return 0;
    int is_call = name.kind == SND_TORCH_OPERATOR;
    if (name.is_skipped || (is_call && snd_kineto_number(self, event, SND_KINETO_is_hidden_event)))
        return !self->has_failed;
    snd_torch_event *added = snd_torch_events_add(&self->events);
    if (added == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    added->name = name.shown;
    added->kind = name.kind;
    if (is_call)
        read_call(self, event, added);
    else
        read_memory(self, event, added);
    return !self->has_failed && PyList_Append(self->sources, event) == 0;
}

static int
read_all(snd_kineto *self, PyObject *events)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(events); i++) {
        if (!read_event(self, PyList_GET_ITEM(events, i)) || (i % 4096 == 0 && PyErr_CheckSignals() != 0))
            return 0;
    }
    return 1;
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
    int reads_devices = 0, reads_flops = 0, has_device = 0, is_compensated = 0;
    long long start_ns;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!LO|ppppz:kineto_events", names, &PyList_Type, &events,
                                     &start_ns, &demangle, &reads_devices, &has_device, &reads_flops, &is_compensated,
                                     &elapsed))
        return NULL;
    snd_kineto *self = (snd_kineto *)state->kineto_type->tp_alloc(state->kineto_type, 0);
    if (self == NULL)
        return NULL;
    self->sources = PyList_New(0);
    self->demangle = Py_NewRef(demangle);
    self->start_ns = start_ns;
    self->reads_devices = reads_devices;
    self->reads_flops = reads_flops;
    self->elapsed = word_of(elapsed);
    self->events.has_device = has_device;
    self->events.is_compensated = is_compensated;
    if (snd_torch_events_start(&self->events) != SND_OK)
        PyErr_NoMemory();
    if (PyErr_Occurred() || !read_all(self, events))
        Py_CLEAR(self);
    return (PyObject *)self;
}

const snd_profile *
snd_kineto_profile(snd_kineto *self, unsigned wanted)
{
    snd_profile *made;

    if ((wanted & ~self->read) != 0) {
        Py_CLEAR(self->profile);
        if (!snd_kineto_read(self, wanted))
            return NULL;
    }
    if (self->profile == NULL) {
        snd_status status = snd_torch_profile(&self->events, &made);
        if (status != SND_OK) {
            (void)snd_raise_status(status, NULL);
            return NULL;
        }
        self->profile = snd_profile_wrap(snd_state_of((PyObject *)self), made);
    }
    return self->profile == NULL ? NULL : snd_profile_of(self->profile);
}

/* profile(shapes, overloads, stacks, copies): with what is wanted. */
static PyObject *
kineto_profile(PyObject *object, PyObject *args)
{
    snd_kineto *self = (snd_kineto *)object;
    int shapes, overloads, stacks, copies;

    if (!PyArg_ParseTuple(args, "pppp:profile", &shapes, &overloads, &stacks, &copies))
        return NULL;
    unsigned wanted = (shapes ? SND_KINETO_SHAPES : 0u) | (overloads ? SND_KINETO_OVERLOADS : 0u) |
                      (stacks ? SND_KINETO_STACKS : 0u) | (copies ? SND_KINETO_COPIES : 0u);
    return snd_kineto_profile(self, wanted) == NULL ? NULL : Py_NewRef(self->profile);
}

/* recorded(shapes): as a recording has it, a node for each place. */
static PyObject *
kineto_recorded(PyObject *object, PyObject *by_shapes)
{
    snd_kineto *self = (snd_kineto *)object;
    int shapes = PyObject_IsTrue(by_shapes);
    snd_profile *made;

    if (shapes < 0 || !snd_kineto_read(self, shapes ? SND_KINETO_SHAPES | SND_KINETO_TIMES : SND_KINETO_TIMES))
        return NULL;
    Py_CLEAR(self->profile); /* it may have less */
    self->events.by_place = 1;
    snd_status status = snd_torch_profile(&self->events, &made);
    self->events.by_place = 0;
    if (status == SND_OK)
        status = snd_profile_set_info(made, "probes", "op");
    return status == SND_OK ? snd_profile_wrap(snd_state_of(object), made) : snd_raise_status(status, NULL);
}

static int
kineto_traverse(PyObject *object, visitproc visit, void *arg)
{
    snd_kineto *self = (snd_kineto *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->sources);
    Py_VISIT(self->profile);
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
    Py_CLEAR(self->profile);
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
    snd_torch_events_free(&self->events);
    snd_free(self->names);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"profile", kineto_profile, METH_VARARGS, NULL},
    {"recorded", kineto_recorded, METH_O, NULL},
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
