/* The Python object around rows of operators: the table, comma-separated values, and rows. */
#include "python/torch/torch_averages.h"

#include "base/buffer.h"

typedef struct averages {
    PyObject_HEAD snd_ops ops;
} averages;

PyObject *
snd_op_averages_make(snd_state *state, const snd_ops_question *asked)
{
    averages *self = (averages *)state->op_averages_type->tp_alloc(state->op_averages_type, 0);
    snd_status status = self == NULL ? SND_OK : snd_ops_make(asked, &self->ops);

    if (status != SND_OK) {
        Py_CLEAR(self);
        return snd_raise_status(status, NULL);
    }
    return (PyObject *)self;
}

static void
averages_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    snd_ops_free(&((averages *)object)->ops);
    type->tp_free(object);
    Py_DECREF(type);
}

static Py_ssize_t
averages_length(PyObject *object)
{
    return (Py_ssize_t)((averages *)object)->ops.count;
}

static int
check_sort(const char *sort_by)
{
    if (sort_by == NULL || snd_op_sort_is_known(sort_by))
        return 1;
    PyErr_Format(PyExc_ValueError, "unknown sort_by '%s'; choose from %s", sort_by, snd_op_sort_names());
    return 0;
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
    snd_status status = snd_ops_text(&((averages *)object)->ops, &options, &text);
    if (status == SND_BAD_ARGUMENT) {
        PyErr_Format(PyExc_ValueError, "unknown time_unit '%s'; choose from s, ms and us", options.time_unit);
        return NULL;
    }
    return snd_text_object(status, &text);
}

static PyObject *
averages_csv(PyObject *object, PyObject *args)
{
    const char *sort_by = NULL;
    snd_buffer text = {0};

    if (!PyArg_ParseTuple(args, "|z:csv", &sort_by) || !check_sort(sort_by))
        return NULL;
    snd_status status = snd_ops_csv(&((averages *)object)->ops, sort_by, &text);
    return snd_text_object(status, &text);
}

static PyObject *
row_object(const snd_ops_row *row)
{
    return Py_BuildValue("(sKddddddLLLLLsssiiiiiii)", row->name, (unsigned long long)row->count, row->total_cpu_us,
                         row->self_cpu_us, snd_op_cpu_average(row), row->total_device_us, row->self_device_us,
                         snd_op_device_average(row), (long long)row->cpu_bytes, (long long)row->self_cpu_bytes,
                         (long long)row->device_bytes, (long long)row->self_device_bytes,
                         row->flops < 1e18 ? (long long)row->flops : 0, row->shapes, row->overload, row->stack,
                         -1 /* node_id: Kineto knows none */, row->detail.device, row->detail.scope,
                         row->detail.is_async, row->detail.is_legacy, row->is_annotation, row->has_parent);
}

static PyObject *
averages_rows(PyObject *object, PyObject *nothing)
{
    const snd_ops *ops = &((averages *)object)->ops;
    PyObject *rows = PyList_New((Py_ssize_t)ops->count);

    (void)nothing;
    for (uint32_t i = 0; i < ops->count && rows != NULL; i++) {
        PyObject *row = row_object(&ops->rows[i]);
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
    snd_ops_row total = snd_ops_total(&((averages *)object)->ops);

    (void)nothing;
    return row_object(&total);
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
