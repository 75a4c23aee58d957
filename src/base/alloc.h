/* The one door to the heap, so that tests can make any allocation fail. */
#ifndef SND_BASE_ALLOC_H
#define SND_BASE_ALLOC_H

#include "base/attr.h"

/* As their libc namesakes; NULL when memory runs out, but where a work runs (base/work.h), which ends then. Free with
 * snd_free. Thread-safe. */
SND_MUST_USE void *snd_malloc(size_t size);
SND_MUST_USE void *snd_calloc(size_t count, size_t size);
SND_MUST_USE void *snd_realloc(void *block, size_t size);
SND_MUST_USE char *snd_strdup(const char *text);
void snd_free(void *block); /* NULL is allowed */

/* What stands before every block: its neighbours among the blocks of a work; NULL: it is of none. */
typedef struct snd_block {
    _Alignas(16) struct snd_block *next;
    struct snd_block *previous;
} snd_block;

/* Room for `count` elements of `size` bytes in an array that grows: `array` is the address of the pointer to it. 0 when
 * memory runs out; then the array is as it was. */
SND_MUST_USE int snd_make_room(void *array, uint32_t count, uint32_t *capacity, size_t size);

/* An array of `*length` elements becomes `count` long, if it is shorter; each byte of the new ones is `fill`. 0 as
 * above. */
SND_MUST_USE int snd_make_longer(void *array, uint32_t count, uint32_t *length, size_t size, int fill);

/* For a process that reads files of strangers: from now on blocks of `size` bytes in all may be had; 0: as many as
 * there are. */
void snd_alloc_limit(uint64_t size);

/* Why allocations fail from now on, although there may be memory. */
typedef enum snd_alloc_stop { SND_ALLOC_GOES_ON, SND_ALLOC_TOO_LARGE, SND_ALLOC_TOO_SLOW } snd_alloc_stop;

/* Lets every allocation fail, so that what runs comes to an end. A signal handler may call it. */
void snd_alloc_stop_all(void);

/* SND_ALLOC_TOO_LARGE once the limit was met. */
snd_alloc_stop snd_alloc_is_stopped(void);

/* Tests: let `count` more allocations succeed, then fail all until called with -1. */
void snd_alloc_fail_after(long count);

#endif
