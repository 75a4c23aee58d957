/* The one door to the heap. */
#include "base/alloc.h"

#include "base/work.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long allowed = -1;
static _Atomic int64_t limit; /* 0: none */
static _Atomic int64_t used;  /* since there is a limit */
static _Atomic snd_alloc_stop stop;

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

/* Whether there is no room for `size` bytes more than there were. */
static int
is_over(size_t size, size_t before)
{
    int64_t most = SND_GET(limit);
    if (SND_LIKELY(most == 0) || size <= before)
        return 0;
    if (SND_GET(stop) == SND_ALLOC_TOO_SLOW)
        return 1;
    if (size <= (uint64_t)most && SND_GET(used) + (int64_t)(size - before) <= most)
        return 0;
    SND_SET(stop, SND_ALLOC_TOO_LARGE);
    return 1;
}

static size_t
size_of(snd_block *block)
{
    return SND_LIKELY(SND_GET(limit) == 0) || block == NULL ? 0 : malloc_usable_size(block);
}

static void
count(snd_block *block, size_t before)
{
    if (SND_UNLIKELY(SND_GET(limit) != 0) && block != NULL)
        atomic_fetch_add_explicit(&used, (int64_t)malloc_usable_size(block) - (int64_t)before, memory_order_relaxed);
}

/* A new block, or NULL, which ends a work. */
static void *
give(snd_block *block)
{
    count(block, 0);
    if (block != NULL)
        *block = (snd_block){NULL, NULL};
    snd_work_take(block);
    return block == NULL ? NULL : block + 1;
}

/* The size of a block for so many bytes; 0: there is to be none. */
static size_t
whole_of(size_t size, size_t before)
{
    size_t whole = size + sizeof(snd_block);
    return whole < size || refused() || is_over(whole, before) ? 0 : whole;
}

void *
snd_malloc(size_t size)
{
    size_t whole = whole_of(size, 0);
    return give(whole == 0 ? NULL : malloc(whole));
}

void *
snd_calloc(size_t number, size_t size)
{
    size_t all;
    size_t whole = __builtin_mul_overflow(number, size, &all) ? 0 : whole_of(all, 0);
    return give(whole == 0 ? NULL : calloc(1, whole));
}

void *
snd_realloc(void *memory, size_t size)
{
    if (memory == NULL)
        return snd_malloc(size);
    snd_block *block = (snd_block *)memory - 1;
    size_t before = size_of(block), whole = whole_of(size, before);
    snd_block *moved = whole == 0 ? NULL : realloc(block, whole);
    if (moved == NULL) {
        snd_work_take(NULL);
        return NULL;
    }
    count(moved, before);
    if (moved->next != NULL)
        moved->next->previous = moved->previous->next = moved;
    return moved + 1;
}

void
snd_alloc_limit(uint64_t size)
{
    SND_SET(used, 0);
    SND_SET(stop, SND_ALLOC_GOES_ON);
    SND_SET(limit, size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

void
snd_alloc_stop_all(void)
{
    SND_SET(stop, SND_ALLOC_TOO_SLOW);
}

snd_alloc_stop
snd_alloc_is_stopped(void)
{
    return SND_GET(stop);
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

int
snd_make_longer(void *array, uint32_t count, uint32_t *length, size_t size, int fill)
{
    void *old;

    if (count <= *length)
        return 1;
    memcpy(&old, array, sizeof old);
    char *grown = snd_realloc(old, count * size);
    if (grown == NULL)
        return 0;
    memset(grown + *length * size, fill, (count - *length) * size);
    memcpy(array, &grown, sizeof grown);
    *length = count;
    return 1;
}

void
snd_free(void *memory)
{
    if (memory == NULL)
        return;
    snd_block *block = (snd_block *)memory - 1;
    size_t size = size_of(block);
    if (SND_UNLIKELY(size != 0))
        atomic_fetch_sub_explicit(&used, (int64_t)size, memory_order_relaxed);
    if (block->next != NULL) {
        block->next->previous = block->previous;
        block->previous->next = block->next;
    }
    free(block);
}

void
snd_alloc_fail_after(long count)
{
    SND_SET(allowed, count);
}
