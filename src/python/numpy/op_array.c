/* What an array of the NumPy that is imported looks like in memory. */
#include "python/numpy/op_array.h"

#include "python/module/hook.h"

#include <stdlib.h>

PyTypeObject *snd_array_type, *snd_scalar_type, *snd_dtype_meta;
int snd_dtype_is_wide;
int snd_numpy_version;

enum { ROWS = 3, COLUMNS = 5, SIZE = 37, BYTES_NUMBER = 18 }; /* of the array that is looked at */

/* An array whose every property is known and unusual. NULL with an exception. */
static PyObject *
make_sample(PyObject *array_type)
{
    PyObject *args = Py_BuildValue("((ii)s)", ROWS, COLUMNS, "S37");
    PyObject *keywords = Py_BuildValue("{ss}", "order", "F");
    PyObject *made = args == NULL || keywords == NULL ? NULL : PyObject_Call(array_type, args, keywords);

    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return made;
}

static int
is_array_as_known(const snd_array *array)
{
    return array->data != NULL && array->dimension_count == 2 && array->dimensions[0] == ROWS &&
           array->dimensions[1] == COLUMNS && array->strides[0] == SIZE &&
           array->strides[1] == (Py_ssize_t)SIZE * ROWS && array->base == NULL &&
           (array->flags & (SND_ARRAY_C_ORDER | SND_ARRAY_F_ORDER)) == SND_ARRAY_F_ORDER;
}

static int
is_dtype_as_known(const snd_dtype *dtype)
{
    if (dtype->kind != 'S' || dtype->number != BYTES_NUMBER)
        return 0;
    snd_dtype_is_wide = dtype->size != SIZE;
    return snd_dtype_size(dtype) == SIZE;
}

/* Whether the sample's memory is as we know it; its dtype is compared with the attribute first, which is no guess. */
static int
is_sample_as_known(PyObject *sample)
{
    const snd_array *array = (snd_array *)sample;
    if (Py_TYPE(sample)->tp_basicsize < (Py_ssize_t)sizeof *array || !is_array_as_known(array))
        return 0;
    PyObject *dtype = snd_attribute(sample, "dtype");
    int is_known = dtype == (PyObject *)array->dtype && is_dtype_as_known(array->dtype);
    if (is_known)
        snd_dtype_meta = (PyTypeObject *)Py_NewRef(Py_TYPE(Py_TYPE(dtype)));
    Py_XDECREF(dtype);
    return is_known;
}

static int
ask_version(PyObject *numpy)
{
    PyObject *text = snd_attribute(numpy, "__version__");
    const char *version = text == NULL || !PyUnicode_Check(text) ? NULL : PyUnicode_AsUTF8(text);
    char *end = NULL;
    long major = version == NULL ? 0 : strtol(version, &end, 10);
    long minor = end == NULL || *end != '.' ? 0 : strtol(end + 1, NULL, 10);

    Py_XDECREF(text);
    PyErr_Clear();
    return (int)(major * 100 + minor);
}

const char *
snd_array_learn(PyObject *numpy)
{
    if (snd_array_type != NULL)
        return NULL;
    PyObject *type = snd_attribute(numpy, "ndarray");
    PyObject *scalar = type == NULL ? NULL : snd_attribute(numpy, "generic");
    int are_types = scalar != NULL && PyType_Check(type) && PyType_Check(scalar);
    PyObject *sample = are_types ? make_sample(type) : NULL;
    int is_known = sample != NULL && Py_IS_TYPE(sample, (PyTypeObject *)type) && is_sample_as_known(sample);

    if (is_known) {
        snd_array_type = (PyTypeObject *)Py_NewRef(type);
        snd_scalar_type = (PyTypeObject *)Py_NewRef(scalar);
        snd_numpy_version = ask_version(numpy);
    }
    Py_XDECREF(sample);
    Py_XDECREF(scalar);
    Py_XDECREF(type);
    PyErr_Clear();
    return is_known ? NULL : "this NumPy lays out arrays differently from NumPy 1.26 and 2";
}
