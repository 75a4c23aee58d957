/* What only some tables need of PyTorch's events: input shapes, overloads, stacks, copies, threads of the system. */
#include "python/torch/kineto.h"

#include "base/buffer.h"
#include "python/module/describe.h"

#include <string.h>

/* As str() writes a list of lists of numbers, many times faster. 0 with an exception. */
static int
put_value(PyObject *value, snd_buffer *out, int depth)
{
    if (PyLong_CheckExact(value)) {
        long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred())
            return 0;
        if (number >= 0)
            snd_buffer_number(out, (uint64_t)number);
        else
            snd_buffer_printf(out, "%lld", number);
        return 1;
    }
    if (!PyList_CheckExact(value) || depth > 8)
        return snd_put_repr(value, out);
    snd_buffer_char(out, '[');
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++) {
        if (i != 0)
            snd_buffer_text(out, ", ");
        if (!put_value(PyList_GET_ITEM(value, i), out, depth + 1))
            return 0;
    }
    snd_buffer_char(out, ']');
    return 1;
}

static int
keep_text(snd_kineto *self, snd_buffer *text, uint32_t *id)
{
    if (snd_buffer_status(text) == SND_OK &&
        snd_intern_add(self->events.texts, snd_buffer_str(text), text->size, id) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

/* Reads something of one event; `text` is empty and may be used. 0 with an exception. */
typedef int reader(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text);

static int
read_of_all(snd_kineto *self, reader *read)
{
    snd_buffer text = {0};
    int is_fine = 1;

    for (uint32_t i = 0; i < self->events.count && is_fine; i++) {
        snd_torch_event *event = &self->events.list[i];
        snd_buffer_clear(&text);
        if (event->kind != SND_TORCH_MEMORY && event->kind != SND_TORCH_FAILURE)
            is_fine = read(self, PyList_GET_ITEM(self->sources, (Py_ssize_t)i), event, &text);
        if (is_fine && i % 4096 == 0)
            is_fine = PyErr_CheckSignals() == 0;
    }
    snd_buffer_free(&text);
    return is_fine;
}

static int
read_shapes(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text)
{
    PyObject *shapes = snd_kineto_ask(self, source, SND_KINETO_shapes);
    int is_fine = shapes != NULL && put_value(shapes, text, 0);

    Py_XDECREF(shapes);
    return is_fine && keep_text(self, text, &event->shapes);
}

static int
read_overload(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text)
{
    PyObject *answer = snd_kineto_ask(self, source, SND_KINETO_overload_name);
    const char *overload = answer == NULL ? NULL : PyUnicode_AsUTF8(answer);

    if (overload != NULL)
        snd_buffer_text(text, overload);
    Py_XDECREF(answer);
    return overload != NULL && keep_text(self, text, &event->overload);
}

/* Lines of PyTorch's own that say nothing about the program. */
static int
is_line_shown(const char *line)
{
    static const char *const hidden[][2] = {
        {"autograd/__init__", "_make_grads"},
        {"autograd/__init__", "backward"},
        {"torch/tensor", "backward"},
        {"_internal/common_utils", "prof_callable"},
        {"_internal/common_utils", "prof_func_call"},
        {"_internal/common_utils", "prof_meth_call"},
    };

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (strstr(line, hidden[i][0]) != NULL && strstr(line, hidden[i][1]) != NULL)
            return 0;
    return 1;
}

static int
put_lines(PyObject *lines, snd_buffer *out)
{
    PyObject *items = PySequence_Fast(lines, "the stack of an event is not a sequence");

    for (Py_ssize_t i = 0; items != NULL && i < PySequence_Fast_GET_SIZE(items); i++) {
        const char *line = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(items, i));
        if (line == NULL) {
            Py_CLEAR(items);
            break;
        }
        if (!is_line_shown(line))
            continue;
        if (out->size != 0)
            snd_buffer_char(out, '\n');
        snd_buffer_text(out, line);
    }
    Py_XDECREF(items);
    return !PyErr_Occurred();
}

static int
read_stack(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text)
{
    PyObject *lines = snd_kineto_ask(self, source, SND_KINETO_stack);
    int is_fine = lines != NULL && put_lines(lines, text) && keep_text(self, text, &event->stack);

    Py_XDECREF(lines);
    if (!is_fine)
        return 0;
    event->forward_thread = (uint64_t)snd_kineto_number(self, source, SND_KINETO_fwd_thread_id);
    event->sequence = snd_kineto_number(self, source, SND_KINETO_sequence_nr);
    return !self->has_failed;
}

/* Bytes of an element, by the name that its type has in C++; 0: not known. */
static int64_t
element_size(const char *type)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {
        {"float", 4},
        {"double", 8},
        {"long int", 8},
        {"long", 8},
        {"int", 4},
        {"short int", 2},
        {"short", 2},
        {"signed char", 1},
        {"unsigned char", 1},
        {"bool", 1},
        {"c10::Half", 2},
        {"c10::BFloat16", 2},
        {"c10::complex<float>", 8},
        {"c10::complex<double>", 16},
        {"c10::complex<c10::Half>", 4},
        {"c10::Float8_e5m2", 1},
        {"c10::Float8_e4m3fn", 1},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0)
            return types[i].size;
    return 0;
}

static int64_t
product_of(PyObject *shape)
{
    int64_t product = 1;

    if (!PyList_Check(shape))
        return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(shape); i++) {
        long long size = PyLong_AsLongLong(PyList_GET_ITEM(shape, i));
        if (size < 0 || __builtin_mul_overflow(product, size, &product))
            return -1;
    }
    return product;
}

/* The first input of copy_ is where it copies to. -1: not known. An exception may be set. */
static int64_t
tensor_bytes(snd_kineto *self, PyObject *event)
{
    PyObject *shapes = snd_kineto_ask(self, event, SND_KINETO_shapes);
    PyObject *types = shapes == NULL ? NULL : snd_kineto_ask(self, event, SND_KINETO_dtypes);
    int64_t bytes = -1;

    if (types != NULL && PyList_Check(shapes) && PyList_Check(types) && PyList_GET_SIZE(shapes) > 0 &&
        PyList_GET_SIZE(types) > 0) {
        const char *type = PyUnicode_AsUTF8(PyList_GET_ITEM(types, 0));
        int64_t size = type == NULL ? 0 : element_size(type), count = product_of(PyList_GET_ITEM(shapes, 0));
        if (size <= 0 || count < 0 || __builtin_mul_overflow(size, count, &bytes))
            bytes = -1;
    }
    Py_XDECREF(shapes);
    Py_XDECREF(types);
    return bytes;
}

/* What the driver said of the transfer. -1: nothing. An exception may be set. */
static int64_t
driver_bytes(snd_kineto *self, PyObject *event)
{
    PyObject *about = snd_kineto_ask(self, event, SND_KINETO_extra_meta);
    PyObject *text = about != NULL && PyDict_Check(about) ? PyDict_GetItemString(about, "bytes") : NULL;
    int64_t bytes = -1;

    if (text != NULL) {
        PyObject *number = PyNumber_Long(text);
        if (number != NULL)
            bytes = PyLong_AsLongLong(number);
        else
            PyErr_Clear();
        Py_XDECREF(number);
    }
    Py_XDECREF(about);
    return bytes;
}

/* What an event moves; of waits for a data loader nobody counted it. */
static int
read_copy(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text)
{
    const char *name = snd_intern_text(self->events.texts, event->name);

    (void)text;
    event->bytes = -1;
    event->is_copy = 1;
    if (strcmp(name, "aten::copy_") == 0)
        event->bytes = tensor_bytes(self, source);
    else if (strncmp(name, "Memcpy", 6) == 0)
        event->bytes = driver_bytes(self, source);
    else
        event->is_copy = strncmp(name, "enumerate(DataLoader)", 21) == 0;
    return !PyErr_Occurred();
}

static int
read_thread(snd_kineto *self, PyObject *source, snd_torch_event *event, snd_buffer *text)
{
    (void)text;
    event->thread_id = (uint32_t)snd_kineto_number(self, source, SND_KINETO_device_resource_id);
    return !self->has_failed;
}

int
snd_kineto_read(snd_kineto *self, unsigned wanted)
{
    static reader *const readers[] = {read_shapes, read_overload, read_stack, read_copy, read_thread};

    self->has_failed = 0;
    for (unsigned i = 0; i < sizeof readers / sizeof *readers; i++) {
        if ((wanted & ~self->read & 1u << i) == 0)
            continue;
        if (!read_of_all(self, readers[i]))
            return 0;
        self->read |= 1u << i;
    }
    self->events.has_shapes = (self->read & SND_KINETO_SHAPES) != 0;
    self->events.has_stacks = (self->read & SND_KINETO_STACKS) != 0;
    self->events.has_times = (self->read & SND_KINETO_TIMES) != 0;
    return 1;
}
