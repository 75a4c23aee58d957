/* A CPython extension module whose regions land below the Python region that calls it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sonde.h>

static void
pass(double *values, Py_ssize_t count)
{
    SONDE_REGION("pass");
    double before = values[0];
    for (Py_ssize_t i = 1; i + 1 < count; i++) {
        double here = values[i];
        values[i] = (before + here + values[i + 1]) / 3;
        before = here;
    }
}

/* smooth(values, passes): each double of a buffer becomes the mean of itself and its neighbors. */
static PyObject *
smooth(PyObject *module, PyObject *args)
{
    SONDE_REGION("smooth (C)");
    Py_buffer values;
    int passes;

    (void)module;
    if (!PyArg_ParseTuple(args, "w*i:smooth", &values, &passes))
        return NULL;
    if (values.len % (Py_ssize_t)sizeof(double) != 0 || values.len == 0) {
        PyBuffer_Release(&values);
        PyErr_SetString(PyExc_ValueError, "smooth() needs a buffer of doubles");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS; /* regions in C need no GIL */
    for (int i = 0; i < passes; i++)
        pass(values.buf, values.len / (Py_ssize_t)sizeof(double));
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&values);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"smooth", smooth, METH_VARARGS, NULL}, {0}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "smooth", .m_methods = methods};

PyMODINIT_FUNC
PyInit_smooth(void)
{
    return PyModuleDef_Init(&definition);
}
