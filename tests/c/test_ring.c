/* The ring of events, on one thread. */
#include "base/ring.h"
#include "check.h"

#include <stdlib.h>

static snd_ring *
new_ring(void)
{
    snd_ring *ring = aligned_alloc(64, sizeof *ring);
    REQUIRE(ring != NULL);
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
    atomic_init(&ring->dropped, 0);
    ring->known_head = 0;
    ring->known_tail = 0;
    return ring;
}

static snd_event
event_of(uint64_t number)
{
    return (snd_event){number, number * 3, (uint32_t)number, (uint32_t)number ^ 1};
}

static int
is_event(const snd_event *event, uint64_t number)
{
    snd_event wanted = event_of(number);
    return event->start == wanted.start && event->value == wanted.value && event->node == wanted.node &&
           event->task == wanted.task;
}

static void
an_empty_ring_gives_nothing(void)
{
    snd_ring *ring = new_ring();
    snd_event event = event_of(5);

    CHECK(!snd_ring_pop(ring, &event));
    CHECK(is_event(&event, 5));
    free(ring);
}

static void
events_come_out_in_the_order_they_went_in(void)
{
    snd_ring *ring = new_ring();
    snd_event event;

    /* three times around the ring, at most three events in it */
    for (uint64_t i = 0; i < 3 * SND_RING_SLOTS; i += 3) {
        for (uint64_t j = 0; j < 3; j++)
            snd_ring_push(ring, event_of(i + j));
        for (uint64_t j = 0; j < 3; j++)
            CHECK(snd_ring_pop(ring, &event) && is_event(&event, i + j));
        CHECK(!snd_ring_pop(ring, &event));
    }
    CHECK_NUMBER(SND_GET(ring->dropped), 0);
    free(ring);
}

static void
a_full_ring_counts_what_it_drops(void)
{
    snd_ring *ring = new_ring();
    snd_event event;

    for (uint64_t i = 0; i < SND_RING_SLOTS + 100; i++)
        snd_ring_push(ring, event_of(i));
    CHECK_NUMBER(SND_GET(ring->dropped), 100);
    for (uint64_t i = 0; i < SND_RING_SLOTS; i++)
        CHECK(snd_ring_pop(ring, &event) && is_event(&event, i));
    CHECK(!snd_ring_pop(ring, &event));
    free(ring);
}

static void
a_ring_that_was_full_takes_events_again(void)
{
    snd_ring *ring = new_ring();
    snd_event event;

    for (uint64_t i = 0; i < SND_RING_SLOTS; i++)
        snd_ring_push(ring, event_of(i));
    CHECK(snd_ring_pop(ring, &event));
    snd_ring_push(ring, event_of(SND_RING_SLOTS));
    CHECK_NUMBER(SND_GET(ring->dropped), 0);
    snd_ring_push(ring, event_of(0));
    CHECK_NUMBER(SND_GET(ring->dropped), 1);
    for (uint64_t i = 1; i <= SND_RING_SLOTS; i++)
        CHECK(snd_ring_pop(ring, &event) && is_event(&event, i));
    free(ring);
}

static void
positions_may_wrap_around(void)
{
    snd_ring *ring = new_ring();
    snd_event event;
    uint32_t start = UINT32_MAX - 10;

    SND_SET(ring->tail, start);
    SND_SET(ring->head, start);
    ring->known_head = start;
    ring->known_tail = start;
    for (uint64_t i = 0; i < SND_RING_SLOTS + 1; i++)
        snd_ring_push(ring, event_of(i));
    CHECK_NUMBER(SND_GET(ring->dropped), 1);
    for (uint64_t i = 0; i < SND_RING_SLOTS; i++)
        CHECK(snd_ring_pop(ring, &event) && is_event(&event, i));
    CHECK(!snd_ring_pop(ring, &event));
    free(ring);
}

int
main(void)
{
    RUN(an_empty_ring_gives_nothing);
    RUN(events_come_out_in_the_order_they_went_in);
    RUN(a_full_ring_counts_what_it_drops);
    RUN(a_ring_that_was_full_takes_events_again);
    RUN(positions_may_wrap_around);
    return check_report();
}
