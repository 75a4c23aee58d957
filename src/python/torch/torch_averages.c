/* The Python object around averages of operators: the table, comma-separated values, and rows. */
#include "python/torch/torch_averages.h"

#include "base/buffer.h"
#include "view/ops/op_sort.h"

#include <string.h>

typedef struct averages {
    PyObject_HEAD snd_op_averages *list;
} averages;

PyObject *
snd_op_averages_wrap(snd_state *state, snd_op_averages *list)
{
    averages *self = (averages *)state->op_averages_type->tp_alloc(state->op_averages_type, 0);
    if (self == NULL)
        snd_op_averages_free(list);
    else
        self->list = list;
    return (PyObject *)self;
}

static void
averages_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    snd_op_averages_free(((averages *)object)->list);
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t
averages_length(PyObject *object)
{
    return (Py_ssize_t)snd_op_averages_count(((averages *)object)->list);
}

static int
check_sort(const char *sort_by)
{
    if (sort_by == NULL || snd_op_sort_is_known(sort_by))
        return 1;
    PyErr_Format(PyExc_ValueError, "unknown sort_by '%s'; choose from %s", sort_by, snd_op_sort_names());
    return 0;
}

/* Uses `text` up. */
static PyObject *
text_object(snd_status status, snd_buffer *text)
{
    PyObject *result = NULL;

    if (status == SND_OK)
        result = PyUnicode_DecodeUTF8(snd_buffer_str(text), (Py_ssize_t)text->size, "replace");
    else
        snd_raise_status(status, NULL);
    snd_buffer_free(text);
    return result;
}

/* None means no limit. */
static int
read_width(PyObject *object, void *address)
{
    int *width = address;

    if (object == Py_None) {
        *width = -1;
        return 1;
    }
    long value = PyLong_AsLong(object);
    if (value == -1 && PyErr_Occurred())
        return 0;
    if (value < 1 || value > 1000000) {
        PyErr_SetString(PyExc_ValueError, "the width of a column must be from 1 to 1000000, or None");
        return 0;
    }
    *width = (int)value;
    return 1;
}

static PyObject *
averages_table(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"sort_by",
                            "row_limit",
                            "max_src_column_width",
                            "max_name_column_width",
                            "max_shapes_column_width",
                            "header",
                            "top_level_events_only",
                            "time_unit",
                            "use_device",
                            "profile_memory",
                            "with_flops",
                            NULL};
    snd_op_table_options options = SND_OP_TABLE_DEFAULTS;
    long long limit = options.row_limit;
    snd_buffer text = {0};

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zLO&O&O&zpzzpp:table", names, &options.sort_by, &limit,
                                     read_width, &options.max_source_width, read_width, &options.max_name_width,
                                     read_width, &options.max_shapes_width, &options.header, &options.top_level_only,
                                     &options.time_unit, &options.device, &options.has_memory, &options.has_flops))
        return NULL;
    options.row_limit = limit;
    if (!check_sort(options.sort_by))
        return NULL;
    snd_status status = snd_op_averages_text(((averages *)object)->list, &options, &text);
    if (status == SND_BAD_ARGUMENT) {
        PyErr_Format(PyExc_ValueError, "unknown time_unit '%s'; choose from s, ms and us", options.time_unit);
        return NULL;
    }
    return text_object(status, &text);
}

static PyObject *
averages_csv(PyObject *object, PyObject *args)
{
    const char *sort_by = NULL;
    snd_buffer text = {0};

    if (!PyArg_ParseTuple(args, "|z:csv", &sort_by) || !check_sort(sort_by))
        return NULL;
    snd_status status = snd_op_averages_csv(((averages *)object)->list, sort_by, &text);
    return text_object(status, &text);
}

/* The format of a row in both directions. */
#define ROW_FORMAT "sKddddddLLLLKsssiiiiiii"

static PyObject *
row_object(const snd_op_average *row)
{
    return Py_BuildValue("(" ROW_FORMAT ")", row->name, (unsigned long long)row->count, row->total_cpu_us,
                         row->self_cpu_us, snd_op_cpu_average(row), row->total_device_us, row->self_device_us,
                         snd_op_device_average(row), (long long)row->cpu_bytes, (long long)row->self_cpu_bytes,
                         (long long)row->device_bytes, (long long)row->self_device_bytes,
                         (unsigned long long)row->flops, row->shapes, row->overload, row->stack, row->node, row->device,
                         row->scope, row->is_async, row->is_legacy, row->is_annotation, row->has_parent);
}

static int
read_row(PyObject *object, snd_op_average *row)
{
    unsigned long long count, flops;
    long long cpu, self_cpu, device, self_device;
    double unused;

    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a row must be a tuple");
        return 0;
    }
    *row = (snd_op_average){0};
    if (!PyArg_ParseTuple(object, ROW_FORMAT, &row->name, &count, &row->total_cpu_us, &row->self_cpu_us, &unused,
                          &row->total_device_us, &row->self_device_us, &unused, &cpu, &self_cpu, &device, &self_device,
                          &flops, &row->shapes, &row->overload, &row->stack, &row->node, &row->device, &row->scope,
                          &row->is_async, &row->is_legacy, &row->is_annotation, &row->has_parent))
        return 0;
    row->count = count;
    row->flops = flops;
    row->cpu_bytes = cpu;
    row->self_cpu_bytes = self_cpu;
    row->device_bytes = device;
    row->self_device_bytes = self_device;
    return 1;
}

static PyObject *
averages_rows(PyObject *object, PyObject *nothing)
{
    const snd_op_averages *list = ((averages *)object)->list;
    uint32_t count = snd_op_averages_count(list);
    PyObject *rows = PyList_New((Py_ssize_t)count);

    (void)nothing;
    for (uint32_t i = 0; i < count && rows != NULL; i++) {
        PyObject *row = row_object(snd_op_averages_at(list, i));
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, (Py_ssize_t)i, row);
    }
    return rows;
}

static PyObject *
averages_total(PyObject *object, PyObject *nothing)
{
    snd_op_average total = snd_op_averages_total(((averages *)object)->list);

    (void)nothing;
    return row_object(&total);
}

/* join(other): the rows of another list are added. */
static PyObject *
averages_join(PyObject *object, PyObject *other)
{
    if (Py_TYPE(other) != Py_TYPE(object) || other == object)
        return PyErr_Format(PyExc_TypeError, "other averages are needed");
    const snd_op_averages *added = ((averages *)other)->list;
    uint32_t count = snd_op_averages_count(added);
    snd_status status = snd_op_averages_add(((averages *)object)->list, snd_op_averages_at(added, 0), count);
    if (status != SND_OK)
        return snd_raise_status(status, NULL);
    Py_RETURN_NONE;
}

PyObject *
snd_py_op_averages(PyObject *module, PyObject *rows)
{
    snd_op_averages *list = snd_op_averages_new();
    PyObject *items = PySequence_Fast(rows, "rows must be a sequence");
    snd_status status = list == NULL ? SND_NO_MEMORY : SND_OK;
    int failed = items == NULL;

    for (Py_ssize_t i = 0; !failed && status == SND_OK && i < PySequence_Fast_GET_SIZE(items); i++) {
        snd_op_average row;
        failed = !read_row(PySequence_Fast_GET_ITEM(items, i), &row);
        if (!failed)
            status = snd_op_averages_add(list, &row, 1);
    }
    Py_XDECREF(items);
    if (!failed && status == SND_OK)
        return snd_op_averages_wrap(snd_state_of_module(module), list);
    snd_op_averages_free(list);
    return failed ? NULL : snd_raise_status(status, NULL);
}

PyObject *
snd_py_op_time_text(PyObject *module, PyObject *time_us)
{
    double value = PyFloat_AsDouble(time_us);
    char text[400]; /* of the largest double */

    (void)module;
    if (value == -1 && PyErr_Occurred())
        return NULL;
    snd_op_time_text(value, text, sizeof text);
    return PyUnicode_FromString(text);
}

static PyMethodDef methods[] = {
    {"table", (PyCFunction)(void (*)(void))averages_table, METH_VARARGS | METH_KEYWORDS, NULL},
    {"csv", averages_csv, METH_VARARGS, NULL},
    {"join", averages_join, METH_O, NULL},
    {"rows", averages_rows, METH_NOARGS, NULL},
    {"total", averages_total, METH_NOARGS, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, averages_dealloc},
    {Py_tp_methods, methods},
    {Py_sq_length, averages_length},
    {0, NULL},
};

PyType_Spec snd_op_averages_spec = {
    .name = "sonde._core.OpAverages",
    .basicsize = sizeof(averages),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
