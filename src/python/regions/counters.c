/* sonde.counter and sonde.mark: curves and marks of a Python program. */
#include "python/module/state.h"

#include "base/buffer.h"
#include "probe/counter/counter.h"

#define VALUE_SIZE 200u   /* bytes of one detail */
#define DETAIL_SIZE 1000u /* bytes of all details of a mark */

/* _core.counter(name, value, /). A wrong call is one whether or not somebody records. */
PyObject *
snd_py_counter(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "counter() takes a name and a value (%zd arguments given)", count);
        return NULL;
    }
    int is_plain = PyFloat_CheckExact(args[1]) || PyLong_CheckExact(args[1]);
    if (SND_LIKELY(!SND_GET(snd_region_mode) && is_plain && PyUnicode_CheckExact(args[0])))
        Py_RETURN_NONE;
    double value = PyLong_CheckExact(args[1]) ? PyLong_AsDouble(args[1]) : PyFloat_AsDouble(args[1]);
    if (SND_UNLIKELY(value == -1.0 && PyErr_Occurred())) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "a counter's value must be a number, not %.100s", Py_TYPE(args[1])->tp_name);
        return NULL;
    }
    if (!SND_GET(snd_region_mode) && PyUnicode_Check(args[0]))
        Py_RETURN_NONE;
    uint32_t site = snd_site_of_counter(snd_state_of_module(module), args[0]);
    if (SND_UNLIKELY(site == SND_NONE && PyErr_Occurred()))
        return NULL;
    snd_track *track = SND_GET(snd_region_mode) ? snd_track_get() : NULL;
    if (SND_LIKELY(track != NULL && site != SND_NONE))
        snd_counter_set(track, site, value);
    Py_RETURN_NONE;
}

/* Appends the text, in one line and cut where it is long, never inside a character. */
static void
put_text(snd_buffer *out, PyObject *text, size_t limit)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    size_t size = bytes == NULL ? 0 : (size_t)PyBytes_GET_SIZE(bytes), kept = size < limit ? size : limit;
    const char *data = bytes == NULL ? "" : PyBytes_AS_STRING(bytes);

    while (kept < size && kept > 0 && ((unsigned char)data[kept] & 0xc0) == 0x80)
        kept--;
    for (size_t i = 0; i < kept; i++)
        snd_buffer_char(out, (unsigned char)data[i] < ' ' ? ' ' : data[i]);
    if (kept < size)
        snd_buffer_text(out, "\u2026");
    Py_XDECREF(bytes);
}

/* A string as it is, all else as its repr; an object that has none must not end the program that marks it. */
static void
put_detail(snd_buffer *out, PyObject *name, PyObject *value)
{
    PyObject *text = PyUnicode_Check(value) ? Py_NewRef(value) : PyObject_Repr(value);

    if (text == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        text = PyUnicode_FromFormat("<%s>", Py_TYPE(value)->tp_name);
    }
    if (text == NULL || out->size >= DETAIL_SIZE) {
        Py_XDECREF(text);
        return;
    }
    if (out->size != 0)
        snd_buffer_text(out, ", ");
    put_text(out, name, VALUE_SIZE);
    snd_buffer_char(out, '=');
    put_text(out, text, VALUE_SIZE);
    Py_DECREF(text);
}

static int
check_name(PyObject *const *args, Py_ssize_t count)
{
    if (count != 1)
        PyErr_Format(PyExc_TypeError, "mark() takes a name, and details as keywords (%zd positional arguments given)",
                     count);
    else if (!PyUnicode_Check(args[0]))
        PyErr_Format(PyExc_TypeError, "a mark's name must be a string, not %.100s", Py_TYPE(args[0])->tp_name);
    return !PyErr_Occurred();
}

/* _core.mark(name, /, **details). */
PyObject *
snd_py_mark(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_buffer name = {0}, detail = {0};

    (void)module;
    if (!check_name(args, count))
        return NULL;
    if (!SND_GET(snd_region_mode))
        Py_RETURN_NONE;
    put_text(&name, args[0], DETAIL_SIZE);
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names) && !PyErr_Occurred(); i++)
        put_detail(&detail, PyTuple_GET_ITEM(names, i), args[1 + i]);
    snd_track *track = PyErr_Occurred() || name.failed || detail.failed ? NULL : snd_track_get();
    uint32_t site = track == NULL ? SND_NONE : snd_mark_site(snd_buffer_str(&name), snd_buffer_str(&detail));
    if (site != SND_NONE)
        snd_mark(track, site);
    snd_buffer_free(&name);
    snd_buffer_free(&detail);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
