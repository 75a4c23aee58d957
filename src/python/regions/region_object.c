/* region(), the context manager, and push() and pop(). */
#include "python/regions/enter.h"
#include "python/regions/owner.h"

typedef struct region {
    PyObject_HEAD PyObject *name; /* NULL: named after the place */
    snd_span *span;               /* NULL: not open, or nothing is measured */
    uint32_t serial;
    uint32_t site; /* SND_NONE: not looked up yet */
    unsigned char is_global;
    unsigned char is_open;
} region;

static uint32_t
site_of(snd_state *state, region *self)
{
    if (self->site == SND_NONE)
        self->site = self->name == NULL ? snd_site_of_place(state) : snd_site_of_name(state, self->name);
    return self->site;
}

/* Closes what it opened, unless that was closed with a region around it. */
static void
close_span(snd_state *state, region *self)
{
    if (self->span != NULL && self->span->serial == self->serial)
        snd_python_leave(state, self->span);
    self->span = NULL;
}

static PyObject *
region_enter(PyObject *object, PyObject *nothing)
{
    region *self = (region *)object;

    (void)nothing;
    if (SND_UNLIKELY(self->is_open)) {
        PyErr_SetString(PyExc_RuntimeError, "this region is already open; make another one with region(...)");
        return NULL;
    }
    if (SND_GET(snd_region_mode)) {
        snd_state *state = snd_state_of(object);
        snd_track *track = snd_track_get();
        uint32_t site = site_of(state, self);
        if (SND_UNLIKELY(site == SND_NONE && PyErr_Occurred()))
            return NULL;
        if (SND_LIKELY(track != NULL && site != SND_NONE))
            self->span = snd_python_enter(state, track, site, self->is_global, 1);
        if (SND_LIKELY(self->span != NULL))
            self->serial = self->span->serial;
    }
    self->is_open = 1;
    return Py_NewRef(object);
}

static PyObject *
region_exit(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    region *self = (region *)object;

    (void)args, (void)count;
    if (SND_UNLIKELY(!self->is_open)) {
        PyErr_SetString(PyExc_RuntimeError, "this region is not open");
        return NULL;
    }
    self->is_open = 0;
    if (self->span != NULL)
        close_span(snd_state_of(object), self);
    Py_RETURN_NONE;
}

/* @region("name") */
static PyObject *
region_call(PyObject *object, PyObject *args, PyObject *keywords)
{
    region *self = (region *)object;
    snd_state *state = snd_state_of(object);
    PyObject *function;

    if ((keywords != NULL && PyDict_GET_SIZE(keywords) != 0) || !PyArg_UnpackTuple(args, "region", 1, 1, &function))
        return NULL;
    uint32_t site = site_of(state, self);
    if (site == SND_NONE)
        return PyErr_Occurred() ? NULL : Py_NewRef(function);
    PyObject *package = PyImport_ImportModule("sonde.regions");
    if (package == NULL)
        return NULL;
    PyObject *result = PyObject_CallMethod(package, "_wrap", "OsO", function, snd_site_get(site).name,
                                           self->is_global ? Py_True : Py_False);
    Py_DECREF(package);
    return result;
}

static void
region_dealloc(PyObject *object)
{
    region *self = (region *)object;
    PyTypeObject *type = Py_TYPE(object);
    snd_state *state = snd_state_of(object);

    state->clock_holds++;
    close_span(state, self);
    state->clock_holds--;
    Py_CLEAR(self->name);
    if (state->region_pool_count < SND_REGION_POOL) {
        state->region_pool[state->region_pool_count++] = object; /* keeps its reference to the type */
        return;
    }
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
new_region(snd_state *state)
{
    if (state->region_pool_count > 0) {
        PyObject *object = state->region_pool[--state->region_pool_count];
        Py_SET_REFCNT(object, 1);
        return object;
    }
    return state->region_type->tp_alloc(state->region_type, 0);
}

PyObject *
snd_py_region(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_state *state = snd_state_of_module(module);
    snd_words words = {0};

    if (SND_LIKELY(count == 1 && names == NULL && PyUnicode_CheckExact(args[0])))
        words.name = args[0];
    else if (!snd_words_read("region", NULL, args, count, names, &words))
        return NULL;
    region *self = (region *)new_region(state);
    if (self == NULL)
        return NULL;
    self->name = Py_XNewRef(words.name);
    self->span = NULL;
    self->site = SND_NONE;
    self->is_global = (unsigned char)words.is_global;
    self->is_open = 0;
    return (PyObject *)self;
}

static PyObject *
region_repr(PyObject *object)
{
    region *self = (region *)object;
    const char *state = self->is_open ? "open" : "closed";
    if (self->name == NULL)
        return PyUnicode_FromFormat("<sonde region, named after its place, %s>", state);
    return PyUnicode_FromFormat("<sonde region %R, %s>", self->name, state);
}

static PyMethodDef region_methods[] = {
    {"__enter__", region_enter, METH_NOARGS, PyDoc_STR("Enter the region.")},
    {"__exit__", (PyCFunction)(void (*)(void))region_exit, METH_FASTCALL, PyDoc_STR("Leave the region.")},
    {0},
};

static PyType_Slot region_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A region of the program; made by region().")},
    {Py_tp_dealloc, region_dealloc},
    {Py_tp_methods, region_methods},
    {Py_tp_call, region_call},
    {Py_tp_repr, region_repr},
    {0},
};

PyType_Spec snd_region_spec = {
    .name = "sonde._core.Region",
    .basicsize = sizeof(region),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = region_slots,
};

PyObject *
snd_py_push(PyObject *module, PyObject *name)
{
    snd_state *state = snd_state_of_module(module);

    if (!SND_GET(snd_region_mode)) {
        if (PyUnicode_Check(name))
            Py_RETURN_NONE;
        (void)snd_site_of_name(state, name); /* raises */
        return NULL;
    }
    snd_track *track = snd_track_get();
    uint32_t site = snd_site_of_name(state, name);
    if (SND_UNLIKELY(site == SND_NONE && PyErr_Occurred()))
        return NULL;
    snd_span *span = track == NULL || site == SND_NONE ? NULL : snd_python_enter(state, track, site, 0, 1);
    if (SND_LIKELY(span != NULL)) {
        span->is_unpaired = 1;
        if (SND_UNLIKELY(span->stack->task != 0))
            snd_owner_guard(state, (snd_owner *)span->stack);
    }
    Py_RETURN_NONE;
}

PyObject *
snd_py_pop(PyObject *module, PyObject *nothing)
{
    snd_state *state = snd_state_of_module(module);
    snd_track *track = snd_track_mine == NULL ? NULL : snd_track_get();
    snd_stack *stack = track == NULL ? NULL : snd_owner_stack(state, track, snd_frame_top());
    snd_span *top = stack == NULL ? NULL : stack->top;

    (void)nothing;
    if (SND_LIKELY(top != NULL && top->is_unpaired)) {
        snd_python_leave(state, top);
        Py_RETURN_NONE;
    }
    if (!SND_GET(snd_region_mode))
        Py_RETURN_NONE;
    if (top == NULL)
        PyErr_SetString(PyExc_RuntimeError, "pop() without push(): no region is open here");
    else
        PyErr_Format(PyExc_RuntimeError,
                     "pop() without push(): the innermost region here is '%s', which its own "
                     "block will leave",
                     snd_site_get(top->node->site).name);
    return NULL;
}
