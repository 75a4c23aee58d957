/* Enter and leave for Python callers. */
#include "python/regions/enter.h"
#include "python/regions/owner.h"

/* The stack for a region that may stay open while its generator is suspended. NULL when memory runs out. */
static snd_stack *
staying_stack(snd_state *state, snd_track *track, snd_node **parent)
{
    snd_frame *frame = snd_frame_top();
    PyObject *generator = frame == NULL ? NULL : snd_frame_generator(frame);
    snd_stack *stack = snd_owner_stack(state, track, frame);

    *parent = snd_region_parent(track, stack);
    if (generator == NULL || (stack->task != 0 && ((snd_owner *)stack)->generator == generator))
        return stack;
    snd_owner *owner = snd_owner_new(state, generator);
    if (owner == NULL) {
        SND_ADD(track->dropped, 1);
        return NULL;
    }
    owner->stack.resumer = snd_node_here(track, *parent);
    return &owner->stack;
}

static int
is_plain_caller(const snd_state *state)
{
    snd_frame *frame = snd_frame_top();
    return state->owner_count == 0 && (frame == NULL || snd_frame_generator(frame) == NULL);
}

static void
drop_if_empty(snd_state *state, snd_stack *stack)
{
    if (stack->task != 0 && stack->top == NULL)
        snd_owner_free(state, (snd_owner *)stack);
}

snd_span *
snd_python_enter(snd_state *state, snd_track *track, uint32_t site, int is_global, int stays)
{
    snd_stack *stack = &track->stack;
    snd_node *parent;
    int nested = 0;

    if (SND_LIKELY(is_plain_caller(state) || (!stays && state->owner_count == 0)))
        parent = snd_region_parent(track, stack);
    else if (stays)
        stack = staying_stack(state, track, &parent);
    else {
        stack = snd_owner_stack(state, track, snd_frame_top());
        parent = snd_region_parent(track, stack);
    }
    if (stack == NULL)
        return NULL;
    if (SND_UNLIKELY(is_global)) {
        parent = track->root;
        snd_node *node = snd_node_child(track, parent, site);
        nested = node != NULL && SND_GET(node->open) != 0 && snd_owner_is_open(state, track, node);
    }
    else if (SND_UNLIKELY(stack->task != 0)) /* a generator may have been resumed on another thread */
        parent = snd_node_here(track, parent);
    snd_span *span = parent == NULL ? NULL : snd_region_enter_under(track, stack, parent, site, nested);
    if (SND_UNLIKELY(span == NULL))
        drop_if_empty(state, stack);
    return span;
}

void
snd_python_leave(snd_state *state, snd_span *span)
{
    snd_track *track = snd_track_get();
    snd_stack *stack = span->stack;
    if (SND_UNLIKELY(track == NULL))
        return;
    if (SND_UNLIKELY(stack->task != 0))
        snd_region_resume(track, stack); /* closed by throw() or close(): it runs again, unseen */
    snd_region_leave(track, span);
    drop_if_empty(state, stack);
}

void
snd_python_cancel(snd_state *state, snd_span *span)
{
    snd_track *track = snd_track_get();
    snd_stack *stack = span->stack;
    if (SND_UNLIKELY(track == NULL))
        return;
    snd_region_cancel(track, span);
    drop_if_empty(state, stack);
}

static int
take(const char *function, const char *first, const char *key, PyObject *value, snd_words *out)
{
    if (first != NULL && strcmp(key, first) == 0)
        out->first = value;
    else if (strcmp(key, "name") == 0)
        out->name = value == Py_None ? NULL : value;
    else if (strcmp(key, "asglobal") == 0 || strcmp(key, "as_global") == 0) {
        out->is_global = PyObject_IsTrue(value);
        return out->is_global >= 0;
    }
    else {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%s'", function, key);
        return 0;
    }
    return 1;
}

int
snd_words_read(const char *function, const char *first, PyObject *const *args, Py_ssize_t count, PyObject *names,
               snd_words *out)
{
    const char *const keys[] = {first, "name", "asglobal"};
    Py_ssize_t skipped = first == NULL;

    *out = (snd_words){0};
    if (count > 3 - skipped) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments (%zd given)", function, 3 - skipped, count);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!take(function, first, keys[i + skipped], args[i], out))
            return 0;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        const char *key = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (key == NULL || !take(function, first, key, args[count + i], out))
            return 0;
    }
    if (first != NULL && out->first == NULL) {
        PyErr_Format(PyExc_TypeError, "%s() missing 1 required positional argument: '%s'", function, first);
        return 0;
    }
    if (out->name != NULL && !PyUnicode_Check(out->name)) {
        PyErr_Format(PyExc_TypeError, "a region's name must be a string, not %.100s", Py_TYPE(out->name)->tp_name);
        return 0;
    }
    return 1;
}
