/* Native code whose allocations are known: a small extension module for the tests. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Every kept block starts with the address of the one before, so that keeping them allocates nothing. */
typedef struct block {
    struct block *next;
} block;

static block *kept;

/* The worker's own list: it is freed when the worker is joined. */
typedef struct worker {
    pthread_t thread;
    size_t size, count;
    block *kept;
} worker;

static worker one;

static size_t
free_all(block **list)
{
    size_t count = 0;

    while (*list != NULL) {
        block *next = (*list)->next;
        free(*list);
        *list = next;
        count++;
    }
    return count;
}

static PyObject *
keep(block *made)
{
    if (made == NULL)
        return PyErr_NoMemory();
    made->next = kept;
    kept = made;
    Py_RETURN_NONE;
}

static int
read_size(PyObject *arg, size_t *size)
{
    *size = PyLong_AsSize_t(arg);
    if (PyErr_Occurred())
        return 0;
    if (*size < sizeof(block)) {
        PyErr_SetString(PyExc_ValueError, "a block has room for an address");
        return 0;
    }
    return 1;
}

static PyObject *
take(PyObject *module, PyObject *arg)
{
    size_t size;

    (void)module;
    return read_size(arg, &size) ? keep(malloc(size)) : NULL;
}

static PyObject *
aligned(PyObject *module, PyObject *arg)
{
    size_t size;

    (void)module;
    return read_size(arg, &size) ? keep(aligned_alloc(64, (size + 63) / 64 * 64)) : NULL;
}

static PyObject *
give(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(free_all(&kept));
}

/* From n bytes to steps times n, by n. */
static PyObject *
grow(PyObject *module, PyObject *args)
{
    Py_ssize_t size, steps;
    char *data = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "nn", &size, &steps))
        return NULL;
    for (Py_ssize_t i = 1; i <= steps; i++) {
        char *grown = realloc(data, (size_t)(size * i));
        if (grown == NULL) {
            free(data);
            return PyErr_NoMemory();
        }
        data = grown;
        data[size * i - 1] = 1;
    }
    free(data);
    Py_RETURN_NONE;
}

static PyObject *
leak(PyObject *module, PyObject *arg)
{
    size_t size;

    (void)module;
    if (!read_size(arg, &size))
        return NULL;
    void *volatile forgotten = malloc(size);
    if (forgotten == NULL)
        return PyErr_NoMemory();
    memset(forgotten, 1, size);
    Py_RETURN_NONE;
}

static void *
work(void *argument)
{
    worker *self = argument;

    for (size_t i = 0; i < self->count; i++) {
        block *made = malloc(self->size);
        if (made == NULL)
            break;
        made->next = self->kept;
        self->kept = made;
    }
    return NULL;
}

/* A thread without Python that allocates n bytes in pieces of 1,000 and keeps them. */
static PyObject *
thread(PyObject *module, PyObject *arg)
{
    size_t size;

    (void)module;
    if (!read_size(arg, &size))
        return NULL;
    if (one.count != 0) {
        PyErr_SetString(PyExc_RuntimeError, "join the other thread first");
        return NULL;
    }
    one = (worker){.size = 1000, .count = size / 1000};
    if (pthread_create(&one.thread, NULL, work, &one) != 0) {
        one.count = 0;
        PyErr_SetString(PyExc_RuntimeError, "no thread could be started");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Waits until the thread is done, then frees what it kept, and says how many blocks those were. */
static PyObject *
join(PyObject *module, PyObject *unused)
{
    size_t count;

    (void)module;
    (void)unused;
    if (one.count == 0)
        return PyLong_FromLong(0);
    Py_BEGIN_ALLOW_THREADS pthread_join(one.thread, NULL);
    Py_END_ALLOW_THREADS count = free_all(&one.kept);
    one.count = 0;
    return PyLong_FromSize_t(count);
}

static PyMethodDef methods[] = {
    {"take", take, METH_O, "take(n): a block of n bytes, kept until give()"},
    {"aligned", aligned, METH_O, "aligned(n): the same with aligned_alloc, to the next multiple of 64"},
    {"give", give, METH_NOARGS, "give() frees all that was kept, and says how many"},
    {"grow", grow, METH_VARARGS, "grow(n, steps): realloc to n, 2 n, ... steps n, and free"},
    {"leak", leak, METH_O, "leak(n): a block that nobody frees"},
    {"thread", thread, METH_O, "thread(n): a C thread that allocates n bytes in pieces of 1,000"},
    {"join", join, METH_NOARGS, "join() waits for it and frees what it has"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "truth_native",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC
PyInit_truth_native(void)
{
    return PyModule_Create(&definition);
}
