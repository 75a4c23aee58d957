/* A library that leads malloc to a function of its own, and calls malloc itself. */
#include "got_hooks.h"

#include "os/native/got.h"

#include <stdlib.h>

static void *(*real_malloc)(size_t);
static unsigned calls;

static void *
our_malloc(size_t size)
{
    calls += size == GOT_SIZE;
    return real_malloc(size);
}

static const snd_got_hook hooks[] = {{"malloc", (void *)our_malloc, (void **)&real_malloc}};

int
got_hooks_start(void)
{
    return snd_got_start(hooks, 1) == SND_OK;
}

void
got_hooks_stop(void)
{
    snd_got_stop();
}

unsigned
got_hooks_calls(void)
{
    return calls;
}

void *
got_hooks_take(void)
{
    return malloc(GOT_SIZE);
}

void *
got_hooks_real(void)
{
    return (void *)real_malloc;
}
