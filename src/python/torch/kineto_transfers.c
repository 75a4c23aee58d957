/* Where data moves: copies, transfers between host and device and waits for a data loader, by the line that asked. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/work.h"
#include "format/table/format.h"
#include "python/torch/kineto.h"
#include "view/ops/op_sort.h"

#include <string.h>

/* What an event moves; waits move what nobody counted. */
enum { MOVES_NOTHING, MOVES_TENSOR, MOVES_TO_DEVICE, MOVES_UNKNOWN };

static int
begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int
what_moves(const char *name)
{
    if (strcmp(name, "aten::copy_") == 0)
        return MOVES_TENSOR;
    if (begins_with(name, "Memcpy"))
        return MOVES_TO_DEVICE;
    return begins_with(name, "enumerate(DataLoader)") ? MOVES_UNKNOWN : MOVES_NOTHING;
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

static int
is_program_line(const char *name)
{
    return !begins_with(name, "<built-in") && !begins_with(name, "nn.Module") && !begins_with(name, "torch/") &&
           strchr(name, '(') != NULL;
}

/* The innermost function of the program that an event is in; SND_OP_NO_EVENT: none is known. */
static uint32_t
program_function(snd_op_events *events, uint32_t index)
{
    const snd_intern *texts = snd_op_events_texts(events);

    for (; index != SND_OP_NO_EVENT; index = snd_op_events_at(events, index)->parent) {
        const snd_op_event *event = snd_op_events_at(events, index);
        if (event->is_python && is_program_line(snd_intern_text(texts, event->name)))
            return index;
    }
    return SND_OP_NO_EVENT;
}

/* The operator that an event of a device belongs to, else the event itself. */
static uint32_t
launcher_of(snd_op_events *events, const snd_map *operators, uint32_t index)
{
    const snd_op_event *event = snd_op_events_at(events, index);
    uint32_t cursor = 0;

    if (event->linked <= 0)
        return index;
    uint32_t found = snd_map_next(operators, (uint64_t)event->linked, &cursor);
    return found == SND_MAP_NONE ? index : found;
}

static snd_status
map_operators(snd_op_events *events, snd_map *out)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < snd_op_events_count(events) && status == SND_OK; i++) {
        const snd_op_event *event = snd_op_events_at(events, i);
        if (event->linked == 0 && event->correlation > 0)
            status = snd_map_add(out, (uint64_t)event->correlation, i);
    }
    return status;
}

/* The first line of the stack, or the function around it. "": not known. */
static const char *
place_of(snd_kineto *self, const snd_map *operators, uint32_t index, snd_buffer *line)
{
    uint32_t asker = launcher_of(self->events, operators, index);
    const snd_intern *texts = snd_op_events_texts(self->events);
    const char *stack = snd_intern_text(texts, snd_op_events_at(self->events, asker)->stack);

    snd_buffer_clear(line);
    if (*stack == '\0') {
        uint32_t function = program_function(self->events, asker);
        if (function != SND_OP_NO_EVENT)
            snd_buffer_text(line, snd_intern_text(texts, snd_op_events_at(self->events, function)->name));
    }
    else {
        snd_buffer_put(line, stack, (size_t)(strchrnul(stack, '\n') - stack));
    }
    return snd_buffer_str(line);
}

/* A row for the averages: the bytes stand in cpu_bytes, and flops counts those whose bytes are not known. */
static int
add_transfer(snd_kineto *self, uint32_t index, const char *place, int what, snd_op_averages *out)
{
    const snd_op_event *event = snd_op_events_at(self->events, index);
    PyObject *source = PyList_GET_ITEM(self->sources, (Py_ssize_t)index);
    int64_t bytes = what == MOVES_TENSOR      ? tensor_bytes(self, source)
                    : what == MOVES_TO_DEVICE ? driver_bytes(self, source)
                                              : -1;
    if (PyErr_Occurred())
        return 0;
    snd_op_average row = {
        .name = snd_intern_text(snd_op_events_texts(self->events), event->name),
        .stack = place,
        .count = 1,
        .total_cpu_us = (double)(event->end_ns - event->start_ns) / 1000.0,
        .cpu_bytes = bytes < 0 ? 0 : bytes,
        .flops = bytes < 0,
    };
    if (snd_op_averages_add(out, &row, 1) == SND_OK)
        return 1;
    PyErr_NoMemory();
    return 0;
}

static int
collect(snd_kineto *self, snd_op_averages *out)
{
    snd_map operators = {0};
    snd_buffer line = {0};
    int is_fine = map_operators(self->events, &operators) == SND_OK;

    if (!is_fine)
        PyErr_NoMemory();
    for (uint32_t i = 0; is_fine && i < (uint32_t)PyList_GET_SIZE(self->sources); i++) {
        const snd_op_event *event = snd_op_events_at(self->events, i);
        int what = what_moves(snd_intern_text(snd_op_events_texts(self->events), event->name));
        if (what != MOVES_NOTHING && !event->is_removed)
            is_fine = add_transfer(self, i, place_of(self, &operators, i, &line), what, out);
    }
    snd_buffer_free(&line);
    snd_map_free(&operators);
    return is_fine;
}

static const snd_column columns[] = {
    {"name", "name", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN},
    {"place", "place", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_NO_EMPTY},
    {"count", "count", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    {"time_ns", "time", SND_UNIT_NS, SND_COLUMN_SHOWN},
    {"bytes", "bytes", SND_UNIT_BYTES, SND_COLUMN_SHOWN},
    {"bytes_per_second", "rate", SND_UNIT_RATE, SND_COLUMN_SHOWN},
};
enum { NAME, PLACE, COUNT, TIME, BYTES, RATE, COLUMN_COUNT };

static void
add_row(snd_table *table, const snd_op_average *row)
{
    snd_cell *cells = snd_table_row(table, 0);

    snd_set_text(table, &cells[NAME], row->name);
    snd_set_text(table, &cells[PLACE], row->stack);
    snd_set_whole(&cells[COUNT], row->count);
    snd_set_whole(&cells[TIME], (uint64_t)(int64_t)(row->total_cpu_us * 1000 + 0.5));
    if (row->flops != 0)
        return;
    snd_set_whole(&cells[BYTES], (uint64_t)row->cpu_bytes);
    if (row->total_cpu_us > 0)
        snd_set_whole(&cells[RATE], (uint64_t)((double)row->cpu_bytes / row->total_cpu_us * 1e6));
}

/* Those that took longest first. */
static snd_table *
make_table(const void *context)
{
    const snd_op_averages *list = context;
    snd_table *table = snd_table_new("transfers", columns, COLUMN_COUNT);
    uint32_t *order;

    snd_work_need(snd_op_sort(list, "cpu_time_total", &order));
    for (uint32_t i = 0; i < snd_op_averages_count(list); i++)
        add_row(table, snd_op_averages_at(list, order[i]));
    return table;
}

/* transfers(format, with_stack): the table as text. */
PyObject *
snd_kineto_transfers(PyObject *object, PyObject *args)
{
    snd_kineto *self = (snd_kineto *)object;
    const char *name;
    int with_stack;

    if (!PyArg_ParseTuple(args, "sp:transfers", &name, &with_stack))
        return NULL;
    const snd_format *format = snd_format_find(name);
    if (format == NULL || format->write_table == NULL)
        return PyErr_Format(PyExc_ValueError, "unknown format '%s'; choose from table, csv, json and html", name);
    if (with_stack && !snd_kineto_read_stacks(self))
        return NULL;
    snd_op_averages *list = snd_op_averages_new();
    if (list == NULL)
        return PyErr_NoMemory();
    snd_table *table;
    int is_made = collect(self, list) && snd_table_make(make_table, list, &table) == SND_OK;
    snd_op_averages_free(list);
    if (!is_made)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    snd_buffer text = {0};
    format->write_table(table, &(snd_format_options){0}, &text);
    PyObject *result = snd_buffer_status(&text) == SND_OK
                           ? PyUnicode_DecodeUTF8(snd_buffer_str(&text), (Py_ssize_t)text.size, "replace")
                           : PyErr_NoMemory();
    snd_buffer_free(&text);
    snd_table_free(table);
    return result;
}
