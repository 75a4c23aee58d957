/* What only some tables need of PyTorch's events: input shapes, overloads and stacks. */
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
        snd_intern_add(snd_op_events_texts(self->events), snd_buffer_str(text), text->size, id) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

/* Reads something of one event; `text` is empty and may be used. 0 with an exception. */
typedef int reader(snd_kineto *self, PyObject *source, snd_op_event *event, snd_buffer *text);

static int
read_of_all(snd_kineto *self, reader *read)
{
    snd_buffer text = {0};
    int is_fine = 1;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->sources) && is_fine; i++) {
        snd_buffer_clear(&text);
        is_fine = read(self, PyList_GET_ITEM(self->sources, i), snd_op_events_at(self->events, (uint32_t)i), &text);
        if (is_fine && i % 4096 == 0)
            is_fine = PyErr_CheckSignals() == 0;
    }
    snd_buffer_free(&text);
    return is_fine;
}

static int
read_shapes(snd_kineto *self, PyObject *source, snd_op_event *event, snd_buffer *text)
{
    PyObject *shapes = snd_kineto_ask(self, source, SND_KINETO_shapes);
    int is_fine = shapes != NULL && put_value(shapes, text, 0);

    Py_XDECREF(shapes);
    return is_fine && keep_text(self, text, &event->shapes);
}

static int
read_overload(snd_kineto *self, PyObject *source, snd_op_event *event, snd_buffer *text)
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
read_stack(snd_kineto *self, PyObject *source, snd_op_event *event, snd_buffer *text)
{
    PyObject *lines = snd_kineto_ask(self, source, SND_KINETO_stack);
    int64_t forward_thread;

    if (lines == NULL)
        return 0;
    int is_fine = put_lines(lines, text);
    Py_DECREF(lines);
    if (!is_fine || !keep_text(self, text, &event->stack) ||
        !snd_kineto_ask_whole(self, source, SND_KINETO_fwd_thread_id, &forward_thread) ||
        !snd_kineto_ask_whole(self, source, SND_KINETO_sequence_nr, &event->sequence))
        return 0;
    event->forward_thread = (uint64_t)forward_thread;
    return 1;
}

int
snd_kineto_read_shapes(snd_kineto *self)
{
    if (!self->has_shapes)
        self->has_shapes = read_of_all(self, read_shapes);
    return self->has_shapes;
}

int
snd_kineto_read_overloads(snd_kineto *self)
{
    if (!self->has_overloads)
        self->has_overloads = read_of_all(self, read_overload);
    return self->has_overloads;
}

int
snd_kineto_read_stacks(snd_kineto *self)
{
    if (self->has_stacks)
        return 1;
    if (!read_of_all(self, read_stack))
        return 0;
    if (snd_op_events_share_stacks(self->events) != SND_OK) {
        PyErr_NoMemory();
        return 0;
    }
    self->has_stacks = 1;
    return 1;
}
