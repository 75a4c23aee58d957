/* A piece of work that ends as a whole: what it allocates belongs to it, and where memory runs out it is over.
 *
 * Inside snd_work_run the functions of base/alloc.h never return NULL. When an allocation fails, or snd_work_end is
 * called, the work ends at that point, all that it has is freed, and snd_work_run returns why. So whoever answers a
 * question (a view, a format) neither checks an allocation nor frees one. It must hold nothing else meanwhile: no file,
 * no lock, no handle of a library. What is to outlive a work stands in a pool. */
#ifndef SND_BASE_WORK_H
#define SND_BASE_WORK_H

#include "base/buffer.h"
#include "base/status.h"

/* ---- pools: blocks that are freed together ---- */

typedef struct snd_pool snd_pool;

/* One that is made inside a work ends with it. NULL when memory runs out where no work runs. */
snd_pool *snd_pool_new(void);
void snd_pool_free(snd_pool *self); /* NULL is allowed */

/* From now on what this thread allocates belongs to this pool; NULL: to nobody. Returns what it was before, for the
 * call that ends it. */
snd_pool *snd_pool_use(snd_pool *self);

/* It does not end with the work that runs: it is the outer work's from now on, or its owner's. */
void snd_pool_hand_over(snd_pool *self);

/* ---- works ---- */

/* A work may run inside another one, and ends alone. What it allocated and did not free goes to `*kept`, on SND_OK
 * only, which ends with the outer work, if there is one; `kept` NULL: it is freed. */
SND_MUST_USE snd_status snd_work_run(void (*function)(void *context), void *context, snd_pool **kept);

/* The same for a work that writes: what it wrote to `text`, which is its own, is added to `out`, where it ended well.
 * The caller's buffer may not grow inside a work. */
SND_MUST_USE snd_status snd_work_write(void (*function)(void *context), void *context, const snd_buffer *text,
                                       snd_buffer *out);

/* Ends the work that runs on this thread; `status` is not SND_OK. */
_Noreturn void snd_work_end(snd_status status);

/* Ends it unless it is SND_OK. */
void snd_work_need(snd_status status);

/* Whether there is anything: 0 for SND_NO_DATA. Any other failure ends the work. */
int snd_work_found(snd_status status);

/* Memory of zeros for `count` elements of `size` bytes, of the work that runs. */
SND_MUST_USE void *snd_new(size_t count, size_t size);

/* As snd_make_room, for the work that runs. */
void snd_need_room(void *array, uint32_t count, uint32_t *capacity, size_t size);

/* For base/alloc.c. A new block goes where it belongs, and NULL ends a work. */
void snd_work_take(snd_block *block);

/* Defines a door to `make`, which ends its work where it fails: the same with a status, and what it allocated is kept
 * in the field `pool` of `*out`. One more argument stands before `out`, or two. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types */
#define SND_DOOR_1(name, out_type, make, type_a)                                     \
    typedef struct name##_call {                                                     \
        type_a a;                                                                    \
        out_type *out;                                                               \
    } name##_call;                                                                   \
    static void name##_run(void *context)                                            \
    {                                                                                \
        name##_call *call = context;                                                 \
        make(call->a, call->out);                                                    \
    }                                                                                \
    snd_status name(type_a a, out_type *out)                                         \
    {                                                                                \
        snd_pool *kept = NULL;                                                       \
        snd_status status = snd_work_run(name##_run, &(name##_call){a, out}, &kept); \
        if (status == SND_OK)                                                        \
            out->pool = kept;                                                        \
        return status;                                                               \
    }
#define SND_DOOR_2(name, out_type, make, type_a, type_b)                                \
    typedef struct name##_call {                                                        \
        type_a a;                                                                       \
        type_b b;                                                                       \
        out_type *out;                                                                  \
    } name##_call;                                                                      \
    static void name##_run(void *context)                                               \
    {                                                                                   \
        name##_call *call = context;                                                    \
        make(call->a, call->b, call->out);                                              \
    }                                                                                   \
    snd_status name(type_a a, type_b b, out_type *out)                                  \
    {                                                                                   \
        snd_pool *kept = NULL;                                                          \
        snd_status status = snd_work_run(name##_run, &(name##_call){a, b, out}, &kept); \
        if (status == SND_OK)                                                           \
            out->pool = kept;                                                           \
        return status;                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
