/* A piece of work that ends as a whole, and pools. */
#include "base/work.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

struct snd_pool {
    snd_block blocks;        /* the two ends of its list */
    snd_pool *next, **place; /* among those that end with a work; NULL: it ends with none */
};

typedef struct snd_work {
    struct snd_work *outer;
    snd_pool *own;    /* what it allocates when no other pool is used */
    snd_pool *before; /* the pool that was used before it */
    snd_pool *pools;  /* that end with it, the last one first */
    jmp_buf way_out;
    snd_status status;
} snd_work;

#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

static OF_THREAD snd_work *running;
static OF_THREAD snd_pool *used;

/* ---- pools ---- */

static void
unlink_pool(snd_pool *self)
{
    if (self->place == NULL)
        return;
    *self->place = self->next;
    if (self->next != NULL)
        self->next->place = self->place;
    self->place = NULL;
}

static void
link_pool(snd_pool *self, snd_work *work)
{
    if (work == NULL)
        return;
    self->next = work->pools;
    self->place = &work->pools;
    if (self->next != NULL)
        self->next->place = &self->next;
    work->pools = self;
}

snd_pool *
snd_pool_new(void)
{
    snd_pool *before = snd_pool_use(NULL); /* it is no block of another pool */
    snd_pool *self = snd_malloc(sizeof *self);

    snd_pool_use(before);
    if (self == NULL)
        return NULL;
    *self = (snd_pool){.blocks = {&self->blocks, &self->blocks}};
    link_pool(self, running);
    return self;
}

void
snd_pool_free(snd_pool *self)
{
    if (self == NULL)
        return;
    unlink_pool(self);
    while (self->blocks.next != &self->blocks)
        snd_free(self->blocks.next + 1);
    snd_free(self);
}

snd_pool *
snd_pool_use(snd_pool *self)
{
    snd_pool *before = used;

    used = self;
    return before;
}

void
snd_pool_hand_over(snd_pool *self)
{
    unlink_pool(self);
    link_pool(self, running->outer);
}

void
snd_work_take(snd_block *block)
{
    if (block == NULL && running != NULL)
        snd_work_end(SND_NO_MEMORY);
    if (block == NULL || used == NULL)
        return;
    block->next = &used->blocks;
    block->previous = used->blocks.previous;
    block->previous->next = block->next->previous = block;
}

/* ---- works ---- */

static snd_work *
start_work(void)
{
    snd_work *outer = running;
    snd_pool *before = snd_pool_use(NULL);

    running = NULL; /* it is no block of the outer one, which may go on when memory runs out here */
    snd_work *self = snd_calloc(1, sizeof *self);
    snd_pool *own = self == NULL ? NULL : snd_pool_new();
    if (own == NULL) {
        snd_free(self);
        running = outer;
        used = before;
        return NULL;
    }
    *self = (snd_work){.outer = outer, .own = own, .before = before};
    link_pool(own, self);
    running = self;
    used = own;
    return self;
}

static snd_status
end_work(snd_work *self)
{
    snd_status status = self->status;
    int saved = errno; /* for SND_SYSTEM */

    running = self->outer;
    used = self->before;
    while (self->pools != NULL)
        snd_pool_free(self->pools);
    snd_free(self);
    errno = saved;
    return status;
}

snd_status
snd_work_run(void (*function)(void *context), void *context, snd_pool **kept)
{
    snd_work *self = start_work();

    if (self == NULL)
        return SND_NO_MEMORY;
    if (setjmp(self->way_out) == 0)
        function(context);
    if (self->status == SND_OK && kept != NULL) {
        snd_pool_hand_over(self->own);
        *kept = self->own;
    }
    return end_work(self);
}

snd_status
snd_work_write(void (*function)(void *context), void *context, const snd_buffer *text, snd_buffer *out)
{
    snd_pool *kept = NULL;
    snd_status status = snd_work_run(function, context, &kept);

    if (status == SND_OK)
        snd_buffer_put(out, text->data, text->size);
    snd_pool_free(kept);
    return status == SND_OK ? snd_buffer_status(out) : status;
}

void
snd_work_end(snd_status status)
{
    running->status = status;
    longjmp(running->way_out, 1);
}

void
snd_work_need(snd_status status)
{
    if (status != SND_OK)
        snd_work_end(status);
}

int
snd_work_found(snd_status status)
{
    if (status != SND_NO_DATA)
        snd_work_need(status);
    return status == SND_OK;
}

void *
snd_new(size_t count, size_t size)
{
    return snd_calloc(count == 0 ? 1 : count, size);
}

void
snd_need_room(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (!snd_make_room(array, count, capacity, size))
        snd_work_end(SND_NO_MEMORY);
}
