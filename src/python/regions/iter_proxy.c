/* iter_proxy(): the time of every next(). */
#include "python/module/state.h"
#include "python/regions/enter.h"

typedef struct proxy {
    PyObject_HEAD PyObject *iterable;
    PyObject *iterator; /* NULL: iteration has not begun, or is over */
    snd_state *state;
    uint32_t site;
    unsigned char is_global;
    unsigned char is_over;
} proxy;

static int
begin(proxy *self)
{
    if (self->iterator == NULL)
        self->iterator = PyObject_GetIter(self->iterable);
    self->is_over = 0;
    return self->iterator != NULL;
}

/* Unlike a generator it may be walked again, once for each epoch say, where what it wraps may. */
static PyObject *
proxy_iter(PyObject *object)
{
    return begin((proxy *)object) ? Py_NewRef(object) : NULL;
}

static PyObject *
timed_next(proxy *self, PyObject *iterator)
{
    snd_track *track = SND_GET(snd_region_mode) && self->site != SND_NONE ? snd_track_get() : NULL;
    snd_span *span = track == NULL ? NULL : snd_python_enter(self->state, track, self->site, self->is_global, 0);
    uint32_t serial = span == NULL ? 0 : span->serial;
    PyObject *item = Py_TYPE(iterator)->tp_iternext(iterator);

    if (span == NULL || span->serial != serial)
        return item;
    if (item == NULL && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration)))
        snd_python_cancel(self->state, span); /* the end is not an item */
    else
        snd_python_leave(self->state, span);
    return item;
}

static PyObject *
proxy_next(PyObject *object)
{
    proxy *self = (proxy *)object;

    if (self->is_over || (self->iterator == NULL && !begin(self)))
        return NULL;
    PyObject *iterator = Py_NewRef(self->iterator); /* the iteration may end it from inside */
    PyObject *item = timed_next(self, iterator);
    if (item == NULL) {
        Py_CLEAR(self->iterator);
        self->is_over = 1;
    }
    Py_DECREF(iterator);
    return item;
}

static Py_ssize_t
proxy_length(PyObject *object)
{
    return PyObject_Size(((proxy *)object)->iterable);
}

/* Without this an iterable without len() would have no truth value either. */
static int
proxy_bool(PyObject *object)
{
    return PyObject_IsTrue(((proxy *)object)->iterable);
}

static PyObject *
proxy_getattr(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GenericGetAttr(object, name);
    if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(((proxy *)object)->iterable, name);
}

static int
proxy_traverse(PyObject *object, visitproc visit, void *arg)
{
    proxy *self = (proxy *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->iterable);
    Py_VISIT(self->iterator);
    return 0;
}

static int
proxy_clear(PyObject *object)
{
    proxy *self = (proxy *)object;
    Py_CLEAR(self->iterable);
    Py_CLEAR(self->iterator);
    return 0;
}

static void
proxy_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    proxy_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject *
snd_py_iter_proxy(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_state *state = snd_state_of_module(module);
    snd_words words;

    if (!snd_words_read("iter_proxy", "iterable", args, count, names, &words))
        return NULL;
    uint32_t site = words.name == NULL ? snd_site_of_place(state) : snd_site_of_name(state, words.name);
    if (site == SND_NONE && PyErr_Occurred())
        return NULL;
    proxy *self = (proxy *)state->iter_type->tp_alloc(state->iter_type, 0);
    if (self == NULL)
        return NULL;
    self->iterable = Py_NewRef(words.first);
    self->state = state;
    self->site = site;
    self->is_global = (unsigned char)words.is_global;
    return (PyObject *)self;
}

static PyType_Slot proxy_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("An iterable whose every next() is measured as a region; made by iter_proxy().")},
    {Py_tp_iter, proxy_iter},
    {Py_tp_iternext, proxy_next},
    {Py_sq_length, proxy_length},
    {Py_nb_bool, proxy_bool},
    {Py_tp_getattro, proxy_getattr},
    {Py_tp_traverse, proxy_traverse},
    {Py_tp_clear, proxy_clear},
    {Py_tp_dealloc, proxy_dealloc},
    {0},
};

PyType_Spec snd_iter_spec = {
    .name = "sonde._core.IterProxy",
    .basicsize = sizeof(proxy),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = proxy_slots,
};
