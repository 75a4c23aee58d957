/* Which stack of regions a Python caller is on: its thread's, or that of a coroutine or generator. */
#ifndef SND_PYTHON_OWNER_H
#define SND_PYTHON_OWNER_H

#include "python/module/state.h"

/* A generator, coroutine or asynchronous generator with open regions. */
typedef struct snd_owner {
    snd_stack stack;     /* first, so that a stack leads to its owner */
    PyObject *generator; /* borrowed: its frame keeps the region open, or `weak` tells when it is gone */
    PyObject *weak;
    struct snd_owner *next;
} snd_owner;

/* The stack of the innermost running generator that has open regions, else the thread's. The walk starts at `frame`,
 * which may be NULL. */
snd_stack *snd_owner_stack(snd_state *state, snd_track *track, snd_frame *frame);

/* Makes an owner; its suspensions are watched from now on. NULL when memory runs out. */
snd_owner *snd_owner_new(snd_state *state, PyObject *generator);

/* After its last region is closed. */
void snd_owner_free(snd_state *state, snd_owner *owner);

/* Closes the regions when the generator is destroyed: nobody else will, where they were opened by push(). */
void snd_owner_guard(snd_state *state, snd_owner *owner);

/* Whether `node` is open on any stack that the caller stands on. */
int snd_owner_is_open(snd_state *state, snd_track *track, const snd_node *node);

/* The generator was suspended or resumed on this thread. */
void snd_owner_suspended(snd_state *state, PyObject *generator);
void snd_owner_resumed(snd_state *state, PyObject *generator);

/* How suspensions are seen; suspend_monitoring.c or suspend_slots.c. Never raises. Start comes before any region,
 * watch with every new owner, whose body is the caller. */
void snd_suspend_start(snd_state *state);
void snd_suspend_watch(snd_state *state);
void snd_suspend_stop(snd_state *state);

#endif
