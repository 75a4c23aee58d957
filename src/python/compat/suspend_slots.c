/* Seeing generators suspend and resume before sys.monitoring existed: through the slots and methods by which the
 * interpreter resumes them. Patched while regions are installed (a generator that is running when its slot is patched
 * would be missed), and given back if they are still ours. */
#include "python/regions/owner.h"

#if !SND_HAS_MONITORING

static snd_state *watcher; /* the slots get no argument of ours, hence this one pointer */

/* What stood there before. */
static iternextfunc gen_next;
static sendfunc gen_send, coro_send, asend_send;
static iternextfunc asend_next;

static PyObject *
watched_next(PyObject *generator, iternextfunc next)
{
    snd_owner_resumed(watcher, generator);
    PyObject *result = next(generator);
    snd_owner_suspended(watcher, generator);
    return result;
}

static PySendResult
watched_send(PyObject *generator, PyObject *sender, PyObject *value, PyObject **result, sendfunc send)
{
    snd_owner_resumed(watcher, generator);
    PySendResult outcome = send(sender, value, result);
    snd_owner_suspended(watcher, generator);
    return outcome;
}

static PyObject *
our_gen_next(PyObject *generator)
{
    return watched_next(generator, gen_next);
}

static PySendResult
our_gen_send(PyObject *generator, PyObject *value, PyObject **result)
{
    return watched_send(generator, generator, value, result, gen_send);
}

static PySendResult
our_coro_send(PyObject *coroutine, PyObject *value, PyObject **result)
{
    return watched_send(coroutine, coroutine, value, result, coro_send);
}

/* The awaitable of asynchronous generators begins with its generator. */
typedef struct asend {
    PyObject_HEAD PyObject *generator;
} asend;

static PyObject *
generator_of(PyObject *awaitable)
{
    return ((asend *)awaitable)->generator;
}

static PySendResult
our_asend_send(PyObject *awaitable, PyObject *value, PyObject **result)
{
    PyObject *generator = Py_NewRef(generator_of(awaitable));
    PySendResult outcome = watched_send(generator, awaitable, value, result, asend_send);
    Py_DECREF(generator);
    return outcome;
}

static PyObject *
our_asend_next(PyObject *awaitable)
{
    PyObject *generator = Py_NewRef(generator_of(awaitable));
    snd_owner_resumed(watcher, generator);
    PyObject *result = asend_next(awaitable);
    snd_owner_suspended(watcher, generator);
    Py_DECREF(generator);
    return result;
}

/* The methods send and throw of generators and coroutines, which go past the slots. */
typedef PyObject *fast_call(PyObject *, PyObject *const *, Py_ssize_t);

typedef struct method {
    PyTypeObject *type;
    const char *name;
    int flags;
    PyCFunction ours;
    PyMethodDef *definition;
    PyCFunction original;
} method;

static method methods[4];

static PyObject *
call_one(const method *self, PyObject *generator, PyObject *value)
{
    snd_owner_resumed(watcher, generator);
    PyObject *result = self->original(generator, value);
    snd_owner_suspended(watcher, generator);
    return result;
}

static PyObject *
call_many(const method *self, PyObject *generator, PyObject *const *args, Py_ssize_t count)
{
    snd_owner_resumed(watcher, generator);
    PyObject *result = ((fast_call *)(void (*)(void))self->original)(generator, args, count);
    snd_owner_suspended(watcher, generator);
    return result;
}

static PyObject *
our_gen_send_method(PyObject *generator, PyObject *value)
{
    return call_one(&methods[0], generator, value);
}

static PyObject *
our_coro_send_method(PyObject *generator, PyObject *value)
{
    return call_one(&methods[1], generator, value);
}

static PyObject *
our_gen_throw_method(PyObject *generator, PyObject *const *args, Py_ssize_t count)
{
    return call_many(&methods[2], generator, args, count);
}

static PyObject *
our_coro_throw_method(PyObject *generator, PyObject *const *args, Py_ssize_t count)
{
    return call_many(&methods[3], generator, args, count);
}

static method methods[4] = {
    {&PyGen_Type, "send", METH_O, our_gen_send_method, NULL, NULL},
    {&PyCoro_Type, "send", METH_O, our_coro_send_method, NULL, NULL},
    {&PyGen_Type, "throw", METH_FASTCALL, (PyCFunction)(void (*)(void))our_gen_throw_method, NULL, NULL},
    {&PyCoro_Type, "throw", METH_FASTCALL, (PyCFunction)(void (*)(void))our_coro_throw_method, NULL, NULL},
};

static void
patch_method(method *self)
{
    PyObject *descriptor = PyDict_GetItemString(self->type->tp_dict, self->name);
    if (descriptor == NULL || !Py_IS_TYPE(descriptor, &PyMethodDescr_Type))
        return;
    PyMethodDef *definition = ((PyMethodDescrObject *)descriptor)->d_method;
    if (definition->ml_flags != self->flags)
        return; /* not the function that we know: it stays unseen */
    self->definition = definition;
    self->original = definition->ml_meth;
    definition->ml_meth = self->ours;
}

static PyTypeObject *
asend_type(void)
{
    extern PyTypeObject _PyAsyncGenASend_Type;
    return &_PyAsyncGenASend_Type;
}

void
snd_suspend_watch(snd_state *state)
{
    (void)state; /* all generators are seen */
}

void
snd_suspend_start(snd_state *state)
{
    if (state->is_watching)
        return;
    state->is_watching = 1;
    watcher = state;
    gen_next = PyGen_Type.tp_iternext;
    gen_send = PyGen_Type.tp_as_async->am_send;
    coro_send = PyCoro_Type.tp_as_async->am_send;
    asend_send = asend_type()->tp_as_async->am_send;
    asend_next = asend_type()->tp_iternext;
    PyGen_Type.tp_iternext = our_gen_next;
    PyGen_Type.tp_as_async->am_send = our_gen_send;
    PyCoro_Type.tp_as_async->am_send = our_coro_send;
    if (asend_send != NULL)
        asend_type()->tp_as_async->am_send = our_asend_send;
    asend_type()->tp_iternext = our_asend_next;
    for (size_t i = 0; i < 4; i++)
        patch_method(&methods[i]);
}

void
snd_suspend_stop(snd_state *state)
{
    if (!state->is_watching)
        return;
    state->is_watching = 0;
    if (PyGen_Type.tp_iternext == our_gen_next)
        PyGen_Type.tp_iternext = gen_next;
    if (PyGen_Type.tp_as_async->am_send == our_gen_send)
        PyGen_Type.tp_as_async->am_send = gen_send;
    if (PyCoro_Type.tp_as_async->am_send == our_coro_send)
        PyCoro_Type.tp_as_async->am_send = coro_send;
    if (asend_type()->tp_as_async->am_send == our_asend_send)
        asend_type()->tp_as_async->am_send = asend_send;
    if (asend_type()->tp_iternext == our_asend_next)
        asend_type()->tp_iternext = asend_next;
    for (size_t i = 0; i < 4; i++)
        if (methods[i].definition != NULL && methods[i].definition->ml_meth == methods[i].ours)
            methods[i].definition->ml_meth = methods[i].original;
}

#else
typedef int snd_suspend_slots_is_empty;
#endif
