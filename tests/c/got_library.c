/* A library whose calls are led elsewhere by the tests of os/got. It is built without builtins, so that each call is
 * one. */
#include <stdlib.h>
#include <string.h>

void *got_take(size_t size);
void got_give(void *block);
void got_copy(void *to, const void *from, size_t size);

/* What the library holds for malloc: in a slot of its own, in a constant and in a variable. */
void *got_slot(void);
void *got_constant(void);
extern void *(*got_variable)(size_t);

void *(*got_variable)(size_t) = malloc;
static void *(*const constant)(size_t) = malloc;

void *
got_take(size_t size)
{
    return malloc(size);
}

void
got_give(void *block)
{
    free(block);
}

void
got_copy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

void *
got_slot(void)
{
    return (void *)malloc;
}

void *
got_constant(void)
{
    void *(*const volatile *at)(size_t) = (void *(*const volatile *)(size_t)) & constant;

    return (void *)*at;
}
