/* The Python object around a profile: views of it as text and as rows. */
#include "python/module/profile_object.h"

#include "base/alloc.h"
#include "base/text.h"
#include "format/table/reports.h"
#include "model/rollup.h"
#include "os/worker.h"
#include "python/module/state.h"
#include "python/torch/torch_averages.h"
#include "store/writer.h"
#include "view/core/arrange.h"
#include "view/core/view.h"
#include "view/graph/graph_tree.h"
#include "view/sampled/facts.h"

#include <errno.h>

typedef struct profile {
    PyObject_HEAD snd_profile *profile;
} profile;

PyObject *
snd_profile_wrap(snd_state *state, snd_profile *taken)
{
    profile *self = (profile *)state->profile_type->tp_alloc(state->profile_type, 0);
    if (self == NULL)
        snd_profile_free(taken);
    else
        self->profile = taken;
    return (PyObject *)self;
}

const snd_profile *
snd_profile_of(PyObject *object)
{
    return ((profile *)object)->profile;
}

static void
profile_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    snd_profile_free(((profile *)object)->profile);
    type->tp_free(object);
    Py_DECREF(type);
}

static snd_table *
make_view(profile *self, const char *name, const snd_view_options *options)
{
    const snd_view *view = snd_view_find(name);
    snd_table *table = NULL;

    if (view == NULL) {
        PyErr_Format(PyExc_ValueError, "unknown view '%s'", name);
        return NULL;
    }
    snd_status status = view->make(self->profile, options, &table);
    if (status != SND_OK)
        snd_raise_status(status, NULL);
    return table;
}

static void
raise_unknown_column(const snd_table *table, const char *name)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "unknown column '%s'; choose from ", name);
    for (uint32_t i = 0; i < table->column_count; i++)
        snd_buffer_printf(&text, "%s%s", i == 0 ? "" : ", ", table->columns[i].name);
    PyErr_SetString(PyExc_ValueError, snd_buffer_str(&text));
    snd_buffer_free(&text);
}

/* The table with the columns of a sequence of strings; uses `table` up. */
static snd_table *
select_columns(snd_table *table, PyObject *columns)
{
    PyObject *list = PySequence_Fast(columns, "columns must be a sequence of names");
    Py_ssize_t count = list == NULL ? 0 : PySequence_Fast_GET_SIZE(list);
    const char **names = snd_calloc((size_t)count + 1, sizeof *names);
    snd_table *chosen = NULL;
    uint32_t unknown = 0;
    int failed = list == NULL || names == NULL;

    for (Py_ssize_t i = 0; i < count && !failed; i++) {
        names[i] = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(list, i));
        failed = names[i] == NULL;
    }
    if (!failed) {
        snd_status status = snd_table_select(table, names, (uint32_t)count, &unknown, &chosen);
        if (status == SND_BAD_ARGUMENT)
            raise_unknown_column(table, names[unknown]);
        else if (status != SND_OK)
            snd_raise_status(status, NULL);
    }
    snd_free(names);
    Py_XDECREF(list);
    snd_table_free(table);
    return chosen;
}

static snd_table *
select_shown(snd_table *table)
{
    snd_table *chosen = NULL;
    snd_status status = snd_table_select_shown(table, &chosen);
    if (status != SND_OK)
        snd_raise_status(status, NULL);
    snd_table_free(table);
    return chosen;
}

/* Uses `table` up. */
static PyObject *
write_table(snd_table *table, const char *format_name, snd_format_options options)
{
    const snd_format *format = snd_format_find(format_name);
    snd_buffer text = {0};
    PyObject *result = NULL;

    if (format == NULL || format->write_table == NULL)
        PyErr_Format(PyExc_ValueError, "unknown format '%s'; choose from table, csv and json", format_name);
    else {
        format->write_table(table, &options, &text);
        result = snd_text_object(snd_buffer_status(&text), &text);
    }
    snd_table_free(table);
    return result;
}

/* The summary, and what some views are on a terminal, is several tables: for people only. */
static PyObject *
write_report(const snd_profile *about, snd_report *report, const snd_view_options *wanted, snd_format_options options)
{
    snd_buffer text = {0};
    snd_status status = report(about, wanted, &options, &text);

    return snd_text_object(status, &text);
}

static PyObject *
profile_format(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"format", "view",    "columns",      "footer",   "limit",      "width",
                            "colour", "unicode", "by_shape",     "by_line",  "function",   "total",
                            "n_ops",  "n_apply", "with_waiting", "show_all", "min_memory", NULL};
    snd_graph_limits limits = snd_graph_limits_of(((profile *)object)->profile);
    unsigned long long min_memory = limits.memory;
    snd_view_options wanted = {.limits = &limits};
    const char *format = "table", *view = "regions";
    PyObject *columns = Py_None;
    int footer = 1, colour = 0, unicode = 0;
    unsigned int limit = UINT32_MAX, width = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s$sOpIIppppzpIIppK:format", names, &format, &view, &columns,
                                     &footer, &limit, &width, &colour, &unicode, &wanted.by_shape, &wanted.by_line,
                                     &wanted.function, &wanted.total, &limits.ops, &limits.applies,
                                     &wanted.with_waiting, &wanted.show_all, &min_memory))
        return NULL;
    limits.memory = min_memory;
    snd_format_options options = {.no_footer = !footer, .width = width, .colour = colour, .unicode = unicode};
    int is_for_people = strcmp(format, "table") == 0 && columns == Py_None && limit == UINT32_MAX;
    snd_report *report = strcmp(view, "summary") == 0 ? snd_summary_write
                         : is_for_people              ? snd_report_find(view)
                                                      : NULL;
    if (report != NULL)
        return write_report(((profile *)object)->profile, report, &wanted, options);
    snd_table *table = make_view((profile *)object, view, &wanted);
    if (table != NULL)
        snd_table_limit(table, limit);
    if (table != NULL && columns != Py_None)
        table = select_columns(table, columns);
    else if (table != NULL && (strcmp(format, "table") == 0 || strcmp(format, "html") == 0))
        table = select_shown(table);
    return table == NULL ? NULL : write_table(table, format, options);
}

static PyObject *
profile_json_summary(PyObject *object, PyObject *args)
{
    const char *recording = NULL;
    snd_buffer text = {0};

    if (!PyArg_ParseTuple(args, "z:json_summary", &recording))
        return NULL;
    snd_status status = snd_summary_json(((profile *)object)->profile, &(snd_view_options){0}, recording, &text);
    return snd_text_object(status, &text);
}

static PyObject *
cell_object(snd_unit unit, const snd_cell *cell)
{
    if (!cell->is_there)
        return Py_NewRef(Py_None);
    if (snd_unit_is_text(unit))
        return PyUnicode_DecodeUTF8(cell->text, (Py_ssize_t)strlen(cell->text), "replace");
    if (snd_unit_is_real(unit))
        return PyFloat_FromDouble(cell->real);
    return PyLong_FromLongLong(cell->whole);
}

static PyObject *
row_object(const snd_table *table, uint32_t row)
{
    PyObject *result = Py_BuildValue("{s:I}", "depth", table->rows[row].depth);

    for (uint32_t c = 0; c < table->column_count && result != NULL; c++) {
        PyObject *value = cell_object(table->columns[c].unit, &table->rows[row].cells[c]);
        if (value == NULL || PyDict_SetItemString(result, table->columns[c].name, value) != 0)
            Py_CLEAR(result);
        Py_XDECREF(value);
    }
    return result;
}

static PyObject *
profile_rows(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "by_shape", "by_line", "function", "total", "with_waiting", "show_all", NULL};
    snd_view_options wanted = {0};
    const char *view = "regions";

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|s$ppzppp:rows", names, &view, &wanted.by_shape, &wanted.by_line,
                                     &wanted.function, &wanted.total, &wanted.with_waiting, &wanted.show_all))
        return NULL;
    snd_table *table = make_view((profile *)object, view, &wanted);
    PyObject *rows = table == NULL ? NULL : PyList_New(0);
    for (uint32_t r = 0; rows != NULL && r < table->row_count; r++) {
        if (table->rows[r].is_extra)
            continue;
        PyObject *row = row_object(table, r);
        if (row == NULL || PyList_Append(rows, row) != 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    snd_table_free(table);
    return rows;
}

static PyObject *
cell_text(snd_unit unit, const snd_cell *cell, int unicode)
{
    snd_buffer text = {0};
    snd_format_cell(unit, cell, &text);
    if (!unicode)
        snd_text_plain(&text, 0);
    PyObject *result = PyUnicode_DecodeUTF8(snd_buffer_str(&text), (Py_ssize_t)text.size, "replace");
    snd_buffer_free(&text);
    return result;
}

/* Row 0 holds the names of the columns. */
static PyObject *
text_row(const snd_table *table, uint32_t row, int unicode)
{
    PyObject *result = PyList_New(table->column_count);

    for (uint32_t c = 0; c < table->column_count && result != NULL; c++) {
        const snd_column *column = &table->columns[c];
        PyObject *text = row == 0 ? PyUnicode_FromString(column->name)
                                  : cell_text(column->unit, &table->rows[row - 1].cells[c], unicode);
        if (text == NULL)
            Py_CLEAR(result);
        else
            PyList_SET_ITEM(result, c, text);
    }
    return result;
}

static PyObject *
profile_texts(PyObject *object, PyObject *args)
{
    PyObject *columns;
    int unicode = 0;

    if (!PyArg_ParseTuple(args, "O|p:texts", &columns, &unicode))
        return NULL;
    snd_table *table = make_view((profile *)object, "regions", &(snd_view_options){0});
    if (table != NULL)
        table = select_columns(table, columns);
    PyObject *rows = table == NULL ? NULL : PyList_New(0);
    for (uint32_t r = 0; rows != NULL && r <= table->row_count; r++) {
        PyObject *row = text_row(table, r, unicode);
        if (row == NULL || PyList_Append(rows, row) != 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    snd_table_free(table);
    return rows;
}

/* _core.check_columns(columns): ValueError for a name that the view of regions does not have. */
PyObject *
snd_py_check_columns(PyObject *module, PyObject *columns)
{
    snd_table *table = snd_view_regions_empty();

    (void)module;
    if (table == NULL)
        return PyErr_NoMemory();
    table = select_columns(table, columns);
    if (table == NULL)
        return NULL;
    snd_table_free(table);
    Py_RETURN_NONE;
}

static int
fill_row(snd_table *table, PyObject *row)
{
    snd_cell *cells;

    if (!PyList_Check(row) || PyList_GET_SIZE(row) != (Py_ssize_t)table->column_count) {
        PyErr_SetString(PyExc_ValueError, "every row must be a list with a text for every title");
        return 0;
    }
    if (snd_table_add_row(table, 0, &cells) != SND_OK)
        return PyErr_NoMemory() != NULL;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(row, c));
        if (text == NULL)
            return 0;
        cells[c] = (snd_cell){.is_there = 1, .text = snd_table_text(table, text)};
        if (cells[c].text == NULL)
            return PyErr_NoMemory() != NULL;
    }
    return 1;
}

/* _core.format_cells(titles, rows, format, unicode): a table of texts, for columns that only Python knows. */
PyObject *
snd_py_format_cells(PyObject *module, PyObject *args)
{
    enum { LIMIT = 64 };
    PyObject *titles, *rows;
    const char *format;
    int unicode;
    snd_column columns[LIMIT];

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!sp:format_cells", &PyList_Type, &titles, &PyList_Type, &rows, &format, &unicode))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(titles);
    if (count > LIMIT)
        return snd_raise_status(SND_BAD_ARGUMENT, "a table may have at most 64 columns");
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *title = PyUnicode_AsUTF8(PyList_GET_ITEM(titles, i));
        if (title == NULL)
            return NULL;
        columns[i] = (snd_column){title, title, i == 0 ? SND_UNIT_TEXT : SND_UNIT_LABEL, 1};
    }
    snd_table *table = snd_table_new("cells", columns, (uint32_t)count);
    if (table == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t r = 0; r < PyList_GET_SIZE(rows); r++)
        if (!fill_row(table, PyList_GET_ITEM(rows, r))) {
            snd_table_free(table);
            return NULL;
        }
    return write_table(table, format, (snd_format_options){.unicode = unicode});
}

typedef struct saving {
    snd_profile *profile;
    const char *path;
    snd_status status;
    int number; /* errno */
} saving;

static void
save(void *context)
{
    saving *self = context;
    snd_writer *writer = NULL;

    if (snd_profile_info(self->profile, "complete") == NULL) /* it was counted by hand: nothing of it is missing */
        self->status = snd_profile_set_info(self->profile, "complete", "1");
    if (self->status == SND_OK)
        self->status = snd_writer_open(self->path, &writer);
    if (self->status == SND_OK)
        self->status = snd_writer_checkpoint(writer, self->profile, NULL);
    self->number = errno;
    snd_writer_free(writer);
}

static PyObject *
profile_save(PyObject *object, PyObject *path)
{
    PyObject *bytes = NULL;

    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    saving self = {.profile = ((profile *)object)->profile, .path = PyBytes_AS_STRING(bytes)};
    snd_worker_call(save, &self);
    Py_DECREF(bytes);
    if (self.status == SND_OK)
        Py_RETURN_NONE;
    errno = self.number;
    return self.status == SND_SYSTEM ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path)
                                     : snd_raise_status(self.status, NULL);
}

static PyObject *
profile_info(PyObject *object, PyObject *args)
{
    const char *key;

    if (!PyArg_ParseTuple(args, "s:info", &key))
        return NULL;
    const char *value = snd_profile_info(((profile *)object)->profile, key);
    return value == NULL ? Py_NewRef(Py_None) : PyUnicode_DecodeUTF8(value, (Py_ssize_t)strlen(value), "replace");
}

static PyObject *
profile_set_info(PyObject *object, PyObject *args)
{
    const char *key, *value;

    if (!PyArg_ParseTuple(args, "ss:set_info", &key, &value))
        return NULL;
    snd_status status = snd_profile_set_info(((profile *)object)->profile, key, value);
    if (status != SND_OK)
        return snd_raise_status(status, NULL);
    Py_RETURN_NONE;
}

static PyObject *
profile_own_ns(PyObject *object, PyObject *nothing)
{
    uint64_t ns;
    snd_status status = snd_own_time(((profile *)object)->profile, &ns);

    (void)nothing;
    return status == SND_OK ? PyLong_FromUnsignedLongLong(ns) : snd_raise_status(status, NULL);
}

static PyObject *
profile_live(PyObject *object, PyObject *by)
{
    return snd_profile_live(((profile *)object)->profile, by);
}

/* None is no profile. 0 with an exception. */
static int
read_profile(PyObject *self, PyObject *object, const snd_profile **out)
{
    if (object != Py_None && !Py_IS_TYPE(object, Py_TYPE(self))) {
        PyErr_Format(PyExc_TypeError, "a Profile or None is needed, not %s", Py_TYPE(object)->tp_name);
        return 0;
    }
    *out = object == Py_None ? NULL : snd_profile_of(object);
    return 1;
}

static PyObject *
profile_op_averages(PyObject *object, PyObject *args)
{
    snd_ops_question asked = {.profile = snd_profile_of(object)};
    PyObject *before, *more;

    if (!PyArg_ParseTuple(args, "OOpIp:op_averages", &before, &more, &asked.by_shape, &asked.lines,
                          &asked.by_overload) ||
        !read_profile(object, before, &asked.before) || !read_profile(object, more, &asked.more))
        return NULL;
    return snd_op_averages_make(snd_state_of(object), &asked);
}

static PyObject *
profile_transfers(PyObject *object, PyObject *format)
{
    const char *name = PyUnicode_AsUTF8(format);
    snd_table *table;

    if (name == NULL)
        return NULL;
    snd_status status = snd_transfers_make(snd_profile_of(object), &table);
    return status == SND_OK ? write_table(table, name, (snd_format_options){0}) : snd_raise_status(status, NULL);
}

static PyObject *
profile_inside(PyObject *object, PyObject *args)
{
    snd_profile *part = NULL;
    const char *region;

    if (!PyArg_ParseTuple(args, "s:inside", &region))
        return NULL;
    snd_status status = snd_profile_inside(((profile *)object)->profile, region, &part);
    if (status != SND_OK)
        return snd_raise_status(status, NULL);
    return snd_profile_wrap(snd_state_of(object), part);
}

static PyObject *
profile_page(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", NULL};
    const snd_profile *taken = ((profile *)object)->profile;
    int source = 1;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$p:page", names, &source))
        return NULL;
    return snd_page_object(&taken, 1, source);
}

static PyMethodDef profile_methods[] = {
    {"info", profile_info, METH_VARARGS,
     PyDoc_STR("info(key, /)\n--\n\nA fact about the run, as in the recording; None if it has no such fact.")},
    {"set_info", profile_set_info, METH_VARARGS,
     PyDoc_STR("set_info(key, value, /)\n--\n\nAdd or replace a fact about the run.")},
    {"format", (PyCFunction)(void (*)(void))profile_format, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "format(format='table', *, view='regions', columns=None, footer=True, limit=2**32-1, width=0, by_shape=False, "
         "by_line=False, function=None, total=False, n_ops=20, n_apply=20, min_memory=1024)\n--\n\nA "
         "view as text.")},
    {"json_summary", profile_json_summary, METH_VARARGS,
     PyDoc_STR("json_summary(recording, /)\n--\n\nThe summary as one line of JSON.")},
    {"texts", profile_texts, METH_VARARGS,
     PyDoc_STR(
         "texts(columns, unicode=False, /)\n--\n\nThe regions as lists of strings, after a list of the column names.")},
    {"rows", (PyCFunction)(void (*)(void))profile_rows, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("rows(view='regions', /, *, by_shape=False, by_line=False, function=None, total=False)\n--\n\n"
               "A view as a list of dictionaries.")},
    {"own_ns", profile_own_ns, METH_NOARGS,
     PyDoc_STR("own_ns()\n--\n\nSampled time of your own code, running or waiting.")},
    {"live", profile_live, METH_O,
     PyDoc_STR("live(by, /)\n--\n\nLive memory as (bytes, blocks, frames), by 'lineno', 'filename' or "
               "'traceback'.")},
    {"inside", profile_inside, METH_VARARGS,
     PyDoc_STR("inside(region, /)\n--\n\nThe part that happened inside regions of this name.")},
    {"op_averages", profile_op_averages, METH_VARARGS,
     PyDoc_STR(
         "op_averages(before, more, by_shape, lines, by_overload, /)\n--\n\nOperators and regions, summed up, less "
         "those of a profile before, and those of one more.")},
    {"transfers", profile_transfers, METH_O,
     PyDoc_STR("transfers(format, /)\n--\n\nWhat PyTorch timed that moves data, as text.")},
    {"page", (PyCFunction)(void (*)(void))profile_page, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("page(*, source=True)\n--\n\nThe report page without a timeline, as HTML text.")},
    {"save", profile_save, METH_O, PyDoc_STR("save(path, /)\n--\n\nWrite it as a recording.")},
    {0},
};

static PyType_Slot profile_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("The results up to one moment.")},
    {Py_tp_dealloc, profile_dealloc},
    {Py_tp_methods, profile_methods},
    {0},
};

PyType_Spec snd_profile_spec = {
    .name = "sonde._core.Profile",
    .basicsize = sizeof(profile),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = profile_slots,
};
