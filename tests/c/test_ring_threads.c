/* The ring of events between two threads. */
#include "base/ring.h"
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define EVENTS 2000000u

typedef struct stream {
    snd_ring *ring;
    _Atomic int ended;
    unsigned pause_every; /* the writer lets the reader run; 0: never */
} stream;

static void *
write_events(void *context)
{
    stream *self = context;

    for (uint64_t i = 1; i <= EVENTS; i++) {
        snd_ring_push(self->ring, (snd_event){i, ~i, (uint32_t)i, (uint32_t)(i * 7)});
        if (self->pause_every != 0 && i % self->pause_every == 0)
            sched_yield();
    }
    atomic_store(&self->ended, 1);
    return NULL;
}

/* Reads until the writer has ended and the ring is empty. Returns how many arrived. */
static uint64_t
read_events(stream *self)
{
    uint64_t arrived = 0, last = 0, wrong = 0;
    snd_event event;

    for (int is_last = 0;;) {
        if (snd_ring_pop(self->ring, &event)) {
            wrong += event.start <= last || event.value != ~event.start || event.node != (uint32_t)event.start ||
                     event.task != (uint32_t)(event.start * 7);
            last = event.start;
            arrived++;
        }
        else if (is_last)
            break;
        else {
            is_last = atomic_load(&self->ended);
            sched_yield(); /* the writer may want this processor */
        }
    }
    CHECK_NUMBER(wrong, 0);
    return arrived;
}

static void
check_stream(unsigned pause_every)
{
    stream self = {.ring = aligned_alloc(64, sizeof(snd_ring)), .pause_every = pause_every};
    pthread_t writer;

    REQUIRE(self.ring != NULL);
    atomic_init(&self.ring->tail, 0);
    atomic_init(&self.ring->head, 0);
    atomic_init(&self.ring->dropped, 0);
    self.ring->known_head = 0;
    self.ring->known_tail = 0;
    REQUIRE(pthread_create(&writer, NULL, write_events, &self) == 0);
    uint64_t arrived = read_events(&self);
    pthread_join(writer, NULL);
    CHECK_NUMBER(arrived + SND_GET(self.ring->dropped), EVENTS);
    CHECK(arrived >= SND_RING_SLOTS);
    free(self.ring);
}

static void
all_that_was_not_dropped_arrives_in_order(void)
{
    check_stream(0);
}

static void
a_writer_that_pauses_loses_little_and_counts_it(void)
{
    check_stream(1000);
}

int
main(void)
{
    RUN(all_that_was_not_dropped_arrives_in_order);
    RUN(a_writer_that_pauses_loses_little_and_counts_it);
    return check_report();
}
