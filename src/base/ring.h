/* A ring of timeline events from one thread to the collector: one writer, one reader, no lock. */
#ifndef SND_BASE_RING_H
#define SND_BASE_RING_H

#include "base/attr.h"

/* 128 Ki events of 24 bytes are 3 MiB a thread, and 13 ms at 10 million events a second. */
#define SND_RING_SLOTS 131072u

/* A finished region: start and duration in ticks. A counter's update: its time and the bits of a double. */
typedef struct snd_event {
    uint64_t start;
    uint64_t value;
    uint32_t node; /* within the track */
    uint32_t task; /* 0: the thread itself */
} snd_event;

/* The two ends stand on their own cache lines. All zero is an empty ring. */
typedef struct snd_ring {
    _Alignas(64) _Atomic uint32_t tail;
    _Atomic uint64_t dropped;
    uint32_t known_head; /* the writer's last look at head */
    _Alignas(64) _Atomic uint32_t head;
    uint32_t known_tail; /* the reader's last look at tail: it takes the writer's cache line as seldom as it can */
    _Alignas(64) snd_event slots[SND_RING_SLOTS];
} snd_ring;

/* Producer side. A full ring counts the loss: it never allocates, blocks or fails. */
static inline void
snd_ring_push(snd_ring *self, snd_event event)
{
    uint32_t tail = atomic_load_explicit(&self->tail, memory_order_relaxed);
    if (SND_UNLIKELY(tail - self->known_head >= SND_RING_SLOTS))
        self->known_head = atomic_load_explicit(&self->head, memory_order_acquire);
    if (SND_LIKELY(tail - self->known_head < SND_RING_SLOTS)) {
        self->slots[tail % SND_RING_SLOTS] = event;
        atomic_store_explicit(&self->tail, tail + 1, memory_order_release);
    }
    else {
        SND_ADD(self->dropped, 1);
    }
}

/* Consumer side. 0 when the ring is empty. */
static inline int
snd_ring_pop(snd_ring *self, snd_event *event)
{
    uint32_t head = atomic_load_explicit(&self->head, memory_order_relaxed);
    if (SND_UNLIKELY(head == self->known_tail)) {
        self->known_tail = atomic_load_explicit(&self->tail, memory_order_acquire);
        if (head == self->known_tail)
            return 0;
    }
    *event = self->slots[head % SND_RING_SLOTS];
    atomic_store_explicit(&self->head, head + 1, memory_order_release);
    return 1;
}

#endif
