/* The way through us: what stands in the slots and definitions of NumPy's operations while they are measured. */
#include "python/module/hook.h"
#include "python/numpy/numpy_ops.h"

/* One C function for each definition that is changed: a definition's function is not told which one it is. */
#define EACH_OF_16(X, high) \
    X(high##0)              \
    X(high##1)              \
    X(high##2)              \
    X(high##3)              \
    X(high##4)              \
    X(high##5)              \
    X(high##6) X(high##7) X(high##8) X(high##9) X(high##a) X(high##b) X(high##c) X(high##d) X(high##e) X(high##f)
#define EACH_OF_64(X) EACH_OF_16(X, 0) EACH_OF_16(X, 1) EACH_OF_16(X, 2) EACH_OF_16(X, 3)
#define EACH_OF_256(X) \
    EACH_OF_64(X)      \
    EACH_OF_16(X, 4)   \
    EACH_OF_16(X, 5)   \
    EACH_OF_16(X, 6)   \
    EACH_OF_16(X, 7)   \
    EACH_OF_16(X, 8)   \
    EACH_OF_16(X, 9)   \
    EACH_OF_16(X, a)   \
    EACH_OF_16(X, b) EACH_OF_16(X, c) EACH_OF_16(X, d) EACH_OF_16(X, e) EACH_OF_16(X, f)

typedef void any_function(void);

/* The ways in which C functions are called. */
typedef enum way { NAMED, FAST, DICT, PLAIN, WAYS } way;

enum { OPS_A_WAY = 256 };
static snd_op *assigned[WAYS][OPS_A_WAY];
static int assigned_count[WAYS];

snd_op_wishes snd_op_wanted;
static snd_state *core;

void
snd_op_hooks_use(snd_state *state)
{
    core = state;
}

/* ---- around a call ---- */

typedef struct running {
    snd_op *op;
    snd_op_entry *entry; /* NULL: not measured, or one of the others */
    snd_span *span;      /* NULL: not measured */
    uint32_t serial;
} running;

static void
enter(running *run, snd_track *track, const snd_op_arguments *arguments)
{
    snd_op_key key;

    if (run->op->method >= 0)
        run->op = snd_op_of_method(run->op, arguments->self);
    snd_op_key_make(&key, run->op, arguments, snd_op_wanted);
    run->entry = snd_op_entry_find(run->op, &key, snd_op_wanted);
    uint32_t site = run->entry != NULL ? run->entry->site : snd_op_other_site(run->op);
    if (SND_LIKELY(site != SND_NONE))
        run->span = snd_python_enter(core, track, site, 0, 0);
    if (SND_LIKELY(run->span != NULL))
        run->serial = run->span->serial;
}

SND_HOT running
start(snd_op *op, const snd_op_arguments *arguments)
{
    running run = {op, NULL, NULL, 0};
    snd_track *track = SND_LIKELY(SND_GET(snd_region_mode)) ? snd_track_get() : NULL;

    if (SND_LIKELY(track != NULL))
        enter(&run, track, arguments);
    return run;
}

static SND_COLD void
tell_facts(const running *run, const snd_op_arguments *arguments, PyObject *result)
{
    run->entry->needs_facts = 0;
    snd_op_facts facts = snd_op_facts_make(run->op, arguments, result);
    snd_op_set_facts(run->entry->site, &facts);
}

SND_HOT PyObject *
finish(const running *run, const snd_op_arguments *arguments, PyObject *result)
{
    if (SND_LIKELY(run->span != NULL && run->span->serial == run->serial))
        snd_python_leave(core, run->span);
    if (SND_UNLIKELY(run->entry != NULL && run->entry->needs_facts && result != NULL))
        tell_facts(run, arguments, result);
    return result;
}

/* ---- our own cost ---- */

/* As if `op` were called with these two, on a track that nobody sees. */
static uint64_t
batch_ns(snd_op *op, PyObject *const *args, snd_track *scratch)
{
    enum { CALLS = 250 };
    snd_op_arguments arguments = {NULL, args, 2, NULL, NULL};
    snd_track *mine = snd_track_mine;

    snd_track_mine = scratch;
    uint64_t before = snd_clock_monotonic_ns();
    for (int i = 0; i < CALLS; i++) {
        running run = start(op, &arguments);
        (void)finish(&run, &arguments, NULL);
    }
    uint64_t spent = snd_clock_monotonic_ns() - before;
    snd_track_mine = mine;
    return spent / CALLS;
}

uint64_t
snd_op_own_cost_ns(snd_op *op, PyObject *array)
{
    enum { BATCHES = 8 };
    PyObject *args[] = {array, array};
    snd_track *scratch = SND_GET(snd_region_mode) ? snd_track_scratch() : NULL;
    uint64_t least = UINT64_MAX;

    for (int i = 0; scratch != NULL && i < BATCHES; i++) {
        uint64_t each = batch_ns(op, args, scratch);
        if (each < least)
            least = each;
    }
    return scratch == NULL ? 0 : least;
}

/* ---- the functions ---- */

static PyObject *
call_slot(PyObject *callable, PyObject *const *args, size_t flags, PyObject *names)
{
    snd_op *op = snd_op_find(callable);
    snd_op_arguments arguments = {NULL, args, PyVectorcall_NARGS(flags), names, NULL};
    running run = start(op, &arguments);
    PyObject *result = ((vectorcallfunc)op->original)(callable, args, flags, names);
    return finish(&run, &arguments, result);
}

static PyObject *
call_named(snd_op *op, PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    snd_op_arguments arguments = {self, args, count, names, NULL};
    running run = start(op, &arguments);
    PyObject *result = ((snd_named_call *)op->original)(self, args, count, names);
    return finish(&run, &arguments, result);
}

static PyObject *
call_fast(snd_op *op, PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    snd_op_arguments arguments = {self, args, count, NULL, NULL};
    running run = start(op, &arguments);
    PyObject *result = ((snd_fast_call *)op->original)(self, args, count);
    return finish(&run, &arguments, result);
}

static PyObject *
call_dict(snd_op *op, PyObject *self, PyObject *args, PyObject *keywords)
{
    snd_op_arguments arguments = {self, ((PyTupleObject *)args)->ob_item, PyTuple_GET_SIZE(args), NULL, keywords};
    running run = start(op, &arguments);
    PyObject *result = ((PyCFunctionWithKeywords)op->original)(self, args, keywords);
    return finish(&run, &arguments, result);
}

/* No argument (NULL), one, or a tuple of them. */
static PyObject *
call_plain(snd_op *op, PyObject *self, PyObject *given)
{
    int is_tuple = (op->definition->ml_flags & METH_VARARGS) != 0;
    snd_op_arguments arguments = {self, is_tuple ? ((PyTupleObject *)given)->ob_item : &given,
                                  is_tuple ? PyTuple_GET_SIZE(given) : given != NULL, NULL, NULL};
    running run = start(op, &arguments);
    PyObject *result = ((PyCFunction)op->original)(self, given);
    return finish(&run, &arguments, result);
}

#define NAMED_FUNCTION(n)                                                                                \
    static PyObject *named_##n(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) \
    {                                                                                                    \
        return call_named(assigned[NAMED][0x##n], self, args, count, names);                             \
    }
#define FAST_FUNCTION(n)                                                               \
    static PyObject *fast_##n(PyObject *self, PyObject *const *args, Py_ssize_t count) \
    {                                                                                  \
        return call_fast(assigned[FAST][0x##n], self, args, count);                    \
    }
#define DICT_FUNCTION(n)                                                          \
    static PyObject *dict_##n(PyObject *self, PyObject *args, PyObject *keywords) \
    {                                                                             \
        return call_dict(assigned[DICT][0x##n], self, args, keywords);            \
    }
#define PLAIN_FUNCTION(n)                                       \
    static PyObject *plain_##n(PyObject *self, PyObject *given) \
    {                                                           \
        return call_plain(assigned[PLAIN][0x##n], self, given); \
    }
EACH_OF_256(NAMED_FUNCTION)
EACH_OF_64(FAST_FUNCTION)
EACH_OF_256(DICT_FUNCTION)
EACH_OF_64(PLAIN_FUNCTION)

#define NAMED_ADDRESS(n) (any_function *)named_##n,
#define FAST_ADDRESS(n) (any_function *)fast_##n,
#define DICT_ADDRESS(n) (any_function *)dict_##n,
#define PLAIN_ADDRESS(n) (any_function *)plain_##n,
static any_function *const named_functions[] = {EACH_OF_256(NAMED_ADDRESS)};
static any_function *const fast_functions[] = {EACH_OF_64(FAST_ADDRESS)};
static any_function *const dict_functions[] = {EACH_OF_256(DICT_ADDRESS)};
static any_function *const plain_functions[] = {EACH_OF_64(PLAIN_ADDRESS)};

static const struct {
    any_function *const *functions;
    int count;
} functions_of[WAYS] = {
    [NAMED] = {named_functions, sizeof named_functions / sizeof named_functions[0]},
    [FAST] = {fast_functions, sizeof fast_functions / sizeof fast_functions[0]},
    [DICT] = {dict_functions, sizeof dict_functions / sizeof dict_functions[0]},
    [PLAIN] = {plain_functions, sizeof plain_functions / sizeof plain_functions[0]},
};

/* ---- in and out ---- */

/* WAYS: not one of ours. */
static way
way_of(int flags)
{
    switch (flags & ~(METH_STATIC | METH_COEXIST)) {
    case METH_FASTCALL | METH_KEYWORDS:
        return NAMED;
    case METH_FASTCALL:
        return FAST;
    case METH_VARARGS | METH_KEYWORDS:
        return DICT;
    case METH_VARARGS:
    case METH_NOARGS:
    case METH_O:
        return PLAIN;
    default:
        return WAYS;
    }
}

static vectorcallfunc *
slot_of(PyObject *callable)
{
    return (vectorcallfunc *)(void *)((char *)callable + Py_TYPE(callable)->tp_vectorcall_offset);
}

int
snd_op_assign(snd_op *op)
{
    if (op->callable != NULL) {
        op->ours = (any_function *)call_slot;
        return (Py_TYPE(op->callable)->tp_flags & Py_TPFLAGS_HAVE_VECTORCALL) != 0 && *slot_of(op->callable) != NULL;
    }
    way how = way_of(op->definition->ml_flags);
    if (how == WAYS || assigned_count[how] == functions_of[how].count)
        return 0;
    op->ours = functions_of[how].functions[assigned_count[how]];
    assigned[how][assigned_count[how]++] = op;
    return 1;
}

static any_function *
get(const snd_op *op)
{
    return op->callable != NULL ? (any_function *)*slot_of(op->callable) : (any_function *)op->definition->ml_meth;
}

static void
set(snd_op *op, any_function *function)
{
    if (op->callable != NULL)
        *slot_of(op->callable) = (vectorcallfunc)function;
    else
        op->definition->ml_meth = (PyCFunction)function;
}

void
snd_op_hook(snd_op *op, int on)
{
    any_function *there = get(op);

    if (op->is_hooked == on)
        return;
    if (on && there != op->ours) /* else somebody has put it back: see below */
        op->original = there;
    if (!on && there != op->ours)
        return; /* somebody stands on top of us: we stay, and pass on */
    set(op, on ? op->ours : op->original);
    op->is_hooked = on;
}
