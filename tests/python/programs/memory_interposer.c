/* An allocator that stands before libc's, to be preloaded. Every block has a head that libc knows nothing of, so that a
 * block that is freed elsewhere than it was allocated ends the program. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

#define MARK 0x5EED5EED5EED5EEDu

typedef struct head {
    uint64_t mark;
    size_t size, alignment;
    void *whole;
} head;

static void *
allocate(size_t alignment, size_t size)
{
    size_t room = alignment < sizeof(head) ? sizeof(head) : alignment;

    if (size > SIZE_MAX / 2 - room) {
        errno = ENOMEM;
        return NULL;
    }
    char *whole = alignment <= 16 ? __libc_malloc(size + room) : __libc_memalign(alignment, size + room);
    if (whole == NULL)
        return NULL;
    ((head *)(whole + room))[-1] = (head){MARK, size, alignment, whole};
    return whole + room;
}

static head *
head_of(void *block)
{
    head *found = (head *)block - 1;

    if (found->mark != MARK)
        abort();
    return found;
}

void *
malloc(size_t size)
{
    return allocate(16, size);
}

void
free(void *block)
{
    if (block == NULL)
        return;
    head *found = head_of(block);
    found->mark = 0;
    __libc_free(found->whole);
}

void *
calloc(size_t count, size_t size)
{
    size_t all;

    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = allocate(16, all);
    return block == NULL ? NULL : memset(block, 0, all);
}

void *
realloc(void *block, size_t size)
{
    void *other = allocate(16, size);

    if (block == NULL || other == NULL)
        return other;
    size_t old = head_of(block)->size;
    memcpy(other, block, old < size ? old : size);
    free(block);
    return other;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    return allocate(alignment, size);
}

void *
memalign(size_t alignment, size_t size)
{
    return allocate(alignment, size);
}

int
posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = allocate(alignment, size);

    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

size_t
malloc_usable_size(void *block)
{
    return block == NULL ? 0 : head_of(block)->size;
}
