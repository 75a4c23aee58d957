/* Room: the call probe in the interpreter. */
/* The call probe inside the interpreter, shared by its files: what is measured, and what happens at each event. */
#ifndef SND_PYTHON_CALL_H
#define SND_PYTHON_CALL_H

#include "python/module/state.h"

#include "probe/call/call.h"
#include "probe/core/snapshot.h"

/* What is known of a code object. Lives as long as the code does. */
typedef struct snd_code {
    uint64_t wanted;                   /* the serial of the book whose filter lets it through */
    uint64_t refused;                  /* the serial of the book whose filter does not */
    uint32_t site;                     /* of the function, whatever its arguments; SND_NONE: no room, never wanted */
    unsigned char is_ours;             /* of this package: never shown */
    unsigned char is_runner;           /* and what it calls in C is the program's: runcall, runctx */
    unsigned char is_async;            /* a coroutine or asynchronous generator: its pauses are timed */
    unsigned char is_method;           /* its first argument is the object or class it belongs to */
    struct snd_signatures *signatures; /* NULL: none met yet */
} snd_code;

/* What one profile of calls asks for. */
typedef struct snd_call_wish {
    int builtins;      /* calls of C functions too */
    int callables;     /* and of types, partials, ufuncs, where the interpreter says so */
    int signatures;    /* apart by the types of the arguments */
    int returns;       /* with the types that came back */
    int resumes;       /* a generator that goes on counts as a call */
    uint32_t limit;    /* signatures a function */
    PyObject *include; /* tuples of patterns, as bytes; an empty one includes everything */
    PyObject *exclude;
} snd_call_wish;

/* The profile that is being taken. One at a time. */
typedef struct snd_call_probe {
    snd_call_book *book;
    snd_call_wish wish;
    PyObject *owner;             /* who asked for it; borrowed */
    int is_lost;                 /* somebody took the hook away: what came after is missing */
    struct snd_returns *returns; /* NULL: none seen yet */
    PyObject *codes;             /* dict of site to code, one of those that share its texts; NULL: nobody wants them */
} snd_call_probe;

extern snd_call_probe *snd_call_active; /* NULL: none */
extern uint64_t snd_call_serial;        /* of its book; SND_NO_SERIAL: none */
#define SND_NO_SERIAL UINT64_MAX

/* Where it is found. Not on the code object (co_extra): the interpreter would then call what others have registered
 * for theirs, too, when the code dies. Not base/map: every call looks here. Open addressing, never more than half full.
 * Guarded by the GIL. */
typedef struct snd_code_place {
    const PyCodeObject *code; /* NULL: free */
    snd_code *known;
} snd_code_place;
extern snd_code_place *snd_code_places;
extern unsigned snd_code_shift;

SND_HOT uint32_t
snd_code_home(const PyCodeObject *code)
{
    return (uint32_t)((uint64_t)(uintptr_t)code * 0x9E3779B97F4A7C15u >> snd_code_shift);
}

/* Behind its first place. NULL: it is not known. */
SND_COLD snd_code *snd_code_find_slow(const PyCodeObject *code);

SND_HOT snd_code *
snd_code_find(const PyCodeObject *code)
{
    const snd_code_place *place = &snd_code_places[snd_code_home(code)];
    return SND_LIKELY(place->code == code) ? place->known : snd_code_find_slow(code);
}

/* What is known of a code object whose calls are counted; NULL: they are not. */
SND_COLD snd_code *snd_code_wanted_slow(PyCodeObject *code);

SND_HOT snd_code *
snd_code_wanted(PyCodeObject *code)
{
    snd_code *known = snd_code_find(code);
    if (SND_LIKELY(known != NULL && known->wanted == snd_call_serial))
        return known;
    return known != NULL && known->refused == snd_call_serial ? NULL : snd_code_wanted_slow(code);
}

/* Whether C functions that this code calls are counted. */
SND_HOT int
snd_code_may_call(PyCodeObject *code)
{
    const snd_code *known = snd_code_wanted(code);
    if (SND_LIKELY(known != NULL))
        return 1;
    known = snd_code_find(code);
    return known != NULL && known->is_runner && snd_call_active != NULL;
}

/* call_builtin.c: something that C code does when it is called. */

/* What stands for the callable; NULL: it is not counted. `first` is its first argument, NULL: none. */
SND_COLD const void *snd_builtin_key_slow(const snd_call_probe *probe, PyObject *callable, PyObject *first);

SND_HOT const void *
snd_builtin_key(const snd_call_probe *probe, PyObject *callable, PyObject *first)
{
    if (SND_LIKELY(PyCFunction_CheckExact(callable)))
        return ((PyCFunctionObject *)callable)->m_ml;
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type) && first != NULL)
        return ((PyMethodDescrObject *)callable)->d_method;
    return snd_builtin_key_slow(probe, callable, first);
}

/* What has been called, by key. The name tells an address that was freed and taken again. Guarded by the GIL. */
typedef struct snd_builtin {
    const void *key;
    const char *name;
    uint32_t site; /* SND_NONE: not counted */
} snd_builtin;
extern snd_builtin *snd_builtins;
extern uint32_t snd_builtin_mask;

SND_COLD uint32_t snd_builtin_site_slow(PyObject *callable, const void *key);

/* Not base/map: every call of a builtin looks here. */
SND_HOT uint32_t
snd_builtin_home(const void *key, uint32_t mask)
{
    return (uint32_t)((uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u >> 32) & mask;
}

SND_HOT uint32_t
snd_builtin_site(PyObject *callable, const void *key)
{
    const snd_builtin *found = snd_builtins == NULL ? NULL : &snd_builtins[snd_builtin_home(key, snd_builtin_mask)];
    if (SND_LIKELY(found != NULL && found->key == key && PyCFunction_CheckExact(callable) &&
                   found->name == ((const PyMethodDef *)key)->ml_name))
        return found->site;
    return snd_builtin_site_slow(callable, key);
}

/* call_signature.c: the site of a call with these arguments; the function's own when there is no telling. */
uint32_t snd_signature_site(const snd_call_probe *probe, PyCodeObject *code, snd_code *known, const snd_frame *frame);
void snd_signatures_free(struct snd_signatures *self); /* NULL is allowed */

/* call_return.c: what came back, by site. It belongs to one profile. */
void snd_returns_add(snd_call_probe *probe, uint32_t site, PyObject *value);
SND_MUST_USE snd_status snd_returns_show(const snd_call_probe *probe, const snd_snapshot *snapshot,
                                         snd_profile *profile);
void snd_returns_free(snd_call_probe *probe);

/* call_pause.c: generators that wait. Known by address only; one that dies while it waits leaves an entry that the next
 * at its address replaces. */
typedef struct snd_pause {
    uint64_t since;
    uint32_t site; /* with the signature under which it started; SND_NONE: not known to wait */
} snd_pause;
void snd_pause_begin(const void *generator, uint64_t now, uint32_t site);
snd_pause snd_pause_end(const void *generator);

/* call_hooks_*.c: how the interpreter tells. 0 with an exception set when it cannot. */
int snd_call_hooks_start(snd_call_probe *probe);

/* `silently`: no Python code runs. */
void snd_call_hooks_stop(snd_call_probe *probe, int silently);

/* Which of them is used, with C functions or without: "sys.monitoring", "the evaluation hook" or "the profile hook". */
const char *snd_call_hooks_name(int with_builtins);

/* Where an event may run Python code (a timer, a library's properties), who asked for the profile is kept until its
 * end: that code, or another thread meanwhile, may drop it. */
SND_HOT PyObject *
snd_event_hold(const snd_call_probe *probe)
{
    if (SND_LIKELY(!probe->wish.signatures && probe->book->clock == NULL))
        return NULL;
    return Py_NewRef(probe->owner);
}

#define SND_HOLDING(probe, event)                     \
    do {                                              \
        PyObject *held_owner = snd_event_hold(probe); \
        event;                                        \
        Py_XDECREF(held_owner);                       \
    } while (0)

/* What happens at each event; `code` is what runs, `frame` its frame. None of these fails or runs code of the program.
 */

SND_HOT void
snd_event_start(snd_call_probe *probe, PyCodeObject *code, snd_code *known, const snd_frame *frame)
{
    snd_call_thread *thread = snd_call_thread_get(probe->book);
    if (SND_UNLIKELY(thread == NULL))
        return;
    uint32_t site = known->site;
    if (probe->wish.signatures) {
        site = snd_signature_site(probe, code, known, frame);
        if (SND_UNLIKELY(snd_call_active != probe))
            return; /* stopped meanwhile */
    }
    snd_call_enter(probe->book, thread, site, known->site, code, 1);
}

/* Whether the pauses of its generators are remembered. */
static inline int
snd_event_has_pauses(const snd_call_probe *probe, const snd_code *known)
{
    return known->is_async || probe->wish.signatures;
}

static inline void
snd_event_resume(snd_call_probe *probe, PyCodeObject *code, snd_code *known, const void *generator)
{
    snd_call_thread *thread = snd_call_thread_get(probe->book);
    snd_pause pause = {.site = SND_NONE};
    if (SND_UNLIKELY(thread == NULL))
        return;
    if (snd_event_has_pauses(probe, known) && generator != NULL)
        pause = snd_pause_end(generator);
    uint32_t site = pause.site == SND_NONE ? known->site : pause.site;
    uint32_t depth = thread->depth;
    snd_call_enter(probe->book, thread, site, known->site, code, (uint64_t)probe->wish.resumes);
    if (SND_LIKELY(thread->depth > depth)) {
        uint64_t now = thread->frames[depth].start;
        snd_call_resumed(thread,
                         known->is_async && pause.site != SND_NONE && now > pause.since ? now - pause.since : 0);
    }
}

static inline void
snd_event_yield(snd_call_probe *probe, PyCodeObject *code, const snd_code *known, const void *generator)
{
    snd_call_thread *thread = snd_call_thread_get(probe->book);
    if (SND_UNLIKELY(thread == NULL))
        return;
    uint32_t depth = thread->depth;
    uint32_t site = depth == 0 ? SND_NONE : thread->frames[depth - 1].cell->site;
    int is_ours = depth > 0 && thread->frames[depth - 1].key == code;
    snd_call_leave(probe->book, thread, code);
    if (is_ours && generator != NULL && snd_event_has_pauses(probe, known))
        snd_pause_begin(generator, SND_GET(thread->track->call_last), site);
}

SND_HOT void
snd_event_return(snd_call_probe *probe, PyCodeObject *code, PyObject *value)
{
    snd_call_thread *thread = snd_call_thread_get(probe->book);
    if (SND_UNLIKELY(thread == NULL))
        return;
    if (SND_UNLIKELY(probe->wish.returns) && value != NULL && thread->depth > 0 &&
        thread->frames[thread->depth - 1].key == code)
        snd_returns_add(probe, thread->frames[thread->depth - 1].cell->site, value);
    if (SND_UNLIKELY(snd_call_active != probe))
        return; /* stopped meanwhile */
    snd_call_leave(probe->book, thread, code);
}

SND_HOT void
snd_event_builtin(snd_call_probe *probe, PyObject *callable, PyObject *first)
{
    const void *key = snd_builtin_key(probe, callable, first);
    uint32_t site = key == NULL ? SND_NONE : snd_builtin_site(callable, key);
    snd_call_thread *thread = site == SND_NONE ? NULL : snd_call_thread_get(probe->book);
    if (SND_LIKELY(thread != NULL))
        snd_call_enter(probe->book, thread, site, site, key, 1);
}

SND_HOT void
snd_event_builtin_end(snd_call_probe *probe, PyObject *callable, PyObject *first)
{
    const void *key = snd_builtin_key(probe, callable, first);
    snd_call_thread *thread = key == NULL ? NULL : snd_call_thread_get(probe->book);
    if (SND_LIKELY(thread != NULL))
        snd_call_leave(probe->book, thread, key);
}

#endif
