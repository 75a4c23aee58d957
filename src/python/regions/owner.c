/* Which stack of regions a Python caller is on. */
#include "python/regions/owner.h"

#include "base/alloc.h"

static uint32_t
bucket_of(const snd_state *state, const PyObject *generator)
{
    return (uint32_t)(((uint64_t)(uintptr_t)generator >> 4) * 0x9E3779B97F4A7C15u >> 32) & state->owner_mask;
}

/* NULL: the generator has no open region. */
static snd_owner *
find_owner(snd_state *state, PyObject *generator)
{
    if (state->owner_count == 0)
        return NULL;
    snd_owner *owner = state->owners[bucket_of(state, generator)];
    while (owner != NULL && owner->generator != generator)
        owner = owner->next;
    return owner;
}

static int
grow(snd_state *state)
{
    uint32_t count = state->owners == NULL ? 64 : (state->owner_mask + 1) * 2;
    if (state->owners != NULL && state->owner_count <= state->owner_mask)
        return 1;
    snd_owner **old = state->owners;
    uint32_t old_count = old == NULL ? 0 : state->owner_mask + 1;
    snd_owner **owners = snd_calloc(count, sizeof(snd_owner *));
    if (owners == NULL)
        return 0;
    state->owners = owners;
    state->owner_mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++)
        while (old[i] != NULL) {
            snd_owner *moved = old[i];
            uint32_t bucket = bucket_of(state, moved->generator);
            old[i] = moved->next;
            moved->next = owners[bucket];
            owners[bucket] = moved;
        }
    snd_free(old);
    return 1;
}

snd_owner *
snd_owner_new(snd_state *state, PyObject *generator)
{
    snd_owner *owner = state->owner_pool;
    if (!grow(state))
        return NULL;
    if (owner != NULL)
        state->owner_pool = owner->next;
    else
        owner = snd_malloc(sizeof *owner);
    if (owner == NULL)
        return NULL;
    uint32_t bucket = bucket_of(state, generator);
    *owner = (snd_owner){.generator = generator, .next = state->owners[bucket]};
    if (++state->task_count == 0)
        state->task_count = 1; /* 0 stands for the thread itself */
    owner->stack.task = state->task_count;
    state->owners[bucket] = owner;
    state->owner_count++;
    snd_suspend_watch(state);
    return owner;
}

/* Owners are pooled, never freed: a track may still hold a pointer to the empty stack. */
void
snd_owner_free(snd_state *state, snd_owner *owner)
{
    snd_owner **link = &state->owners[bucket_of(state, owner->generator)];
    while (*link != owner)
        link = &(*link)->next;
    *link = owner->next;
    state->owner_count--;
    Py_CLEAR(owner->weak);
    owner->stack = (snd_stack){0};
    owner->generator = NULL;
    owner->next = state->owner_pool;
    state->owner_pool = owner;
}

snd_stack *
snd_owner_stack(snd_state *state, snd_track *track, snd_frame *frame)
{
    if (state->owner_count == 0)
        return &track->stack;
    for (; frame != NULL; frame = snd_frame_back(frame)) {
        PyObject *generator = snd_frame_generator(frame);
        snd_owner *owner = generator == NULL ? NULL : find_owner(state, generator);
        if (owner != NULL)
            return &owner->stack;
    }
    return &track->stack;
}

int
snd_owner_is_open(snd_state *state, snd_track *track, const snd_node *node)
{
    snd_frame *frame = state->owner_count == 0 ? NULL : snd_frame_top();

    for (; frame != NULL; frame = snd_frame_back(frame)) {
        PyObject *generator = snd_frame_generator(frame);
        snd_owner *owner = generator == NULL ? NULL : find_owner(state, generator);
        if (owner != NULL && snd_region_is_open(&owner->stack, node))
            return 1;
    }
    return snd_region_is_open(&track->stack, node);
}

void
snd_owner_suspended(snd_state *state, PyObject *generator)
{
    if (SND_LIKELY(state->owner_count == 0))
        return;
    snd_owner *owner = find_owner(state, generator);
    snd_track *track = owner == NULL ? NULL : snd_track_get();
    if (track != NULL)
        snd_region_suspend(track, &owner->stack);
}

void
snd_owner_resumed(snd_state *state, PyObject *generator)
{
    if (SND_LIKELY(state->owner_count == 0))
        return;
    snd_owner *owner = find_owner(state, generator);
    snd_track *track = owner == NULL ? NULL : snd_track_get();
    if (track != NULL)
        snd_region_resume(track, &owner->stack);
}

static PyObject *
on_generator_gone(PyObject *module, PyObject *weak)
{
    snd_state *state = snd_state_of_module(module);

    for (uint32_t i = 0; state->owners != NULL && i <= state->owner_mask; i++)
        for (snd_owner *owner = state->owners[i]; owner != NULL; owner = owner->next) {
            if (owner->weak != weak)
                continue;
            snd_span *bottom = owner->stack.top;
            while (bottom->below != NULL)
                bottom = bottom->below;
            state->clock_holds++;
            snd_python_leave(state, bottom);
            state->clock_holds--;
            Py_RETURN_NONE;
        }
    Py_RETURN_NONE;
}

void
snd_owner_guard(snd_state *state, snd_owner *owner)
{
    static PyMethodDef method = {"generator_gone", on_generator_gone, METH_O, NULL};
    PyObject *module = PyType_GetModule(state->region_type);
    PyObject *callback = owner->weak != NULL || module == NULL ? NULL : PyCFunction_New(&method, module);

    if (callback != NULL)
        owner->weak = PyWeakref_NewRef(owner->generator, callback);
    Py_XDECREF(callback);
    PyErr_Clear(); /* without memory for it the region stays open; nothing worse */
}
