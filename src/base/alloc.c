/* The one door to the heap. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static _Atomic long allowed = -1;

static int
refused(void)
{
    long left = SND_GET(allowed);
    if (SND_LIKELY(left < 0))
        return 0;
    if (left == 0)
        return 1;
    SND_SET(allowed, left - 1);
    return 0;
}

void *
snd_malloc(size_t size)
{
    return refused() ? NULL : malloc(size);
}

void *
snd_calloc(size_t count, size_t size)
{
    return refused() ? NULL : calloc(count, size);
}

void *
snd_realloc(void *block, size_t size)
{
    return refused() ? NULL : realloc(block, size);
}

char *
snd_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = snd_malloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

int
snd_make_room(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    void *old;

    if (count <= *capacity)
        return 1;
    uint64_t wanted = *capacity == 0 ? 16 : (uint64_t)*capacity * 2;
    while (wanted < count)
        wanted *= 2;
    if (wanted > UINT32_MAX / 2)
        return 0;
    memcpy(&old, array, sizeof old);
    void *grown = snd_realloc(old, wanted * size);
    if (grown == NULL)
        return 0;
    memcpy(array, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return 1;
}

void
snd_free(void *block)
{
    free(block);
}

void
snd_alloc_fail_after(long count)
{
    SND_SET(allowed, count);
}
