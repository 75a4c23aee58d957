/* Timeline events as bytes. */
#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "store/chunk.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 1000u

static snd_profile_event
event_of(uint32_t i)
{
    return (snd_profile_event){
        .start_ns = UINT64_C(1000000) * i - (i % 3 == 0 ? UINT64_C(2500000) * (i != 0) : 0),
        .duration_ns = i % 7 == 0 ? UINT64_MAX - i : i,
        .node = i % 5 == 0 ? UINT32_MAX : i,
        .task = i % 11 == 0 ? UINT32_MAX : 0,
    };
}

static void
fill(snd_chunk *chunk)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        snd_profile_event event = event_of(i);
        snd_chunk_add(chunk, &event);
    }
}

typedef struct taken {
    uint32_t count;
    uint32_t wrong;
    uint32_t stop_at;
} taken;

static snd_status
take(void *context, const snd_profile_event *event)
{
    taken *self = context;
    snd_profile_event wanted = event_of(self->count);

    self->wrong += event->start_ns != wanted.start_ns || event->duration_ns != wanted.duration_ns ||
                   event->node != wanted.node || event->task != wanted.task;
    self->count++;
    return self->stop_at != 0 && self->count == self->stop_at ? SND_BUSY : SND_OK;
}

static void
pack(snd_chunk *chunk, snd_buffer *packed)
{
    fill(chunk);
    REQUIRE(snd_chunk_pack(chunk, packed) == SND_OK);
}

static void
events_come_back_in_order(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    taken got = {0};

    pack(&chunk, &packed);
    CHECK_NUMBER(chunk.events, EVENTS);
    CHECK(packed.size < chunk.bytes.size);
    CHECK(snd_chunk_unpack(packed.data, packed.size, chunk.bytes.size, take, &got) == SND_OK);
    CHECK_NUMBER(got.count, EVENTS);
    CHECK_NUMBER(got.wrong, 0);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

static void
a_chunk_knows_its_first_and_last_moment(void)
{
    snd_chunk chunk = {0};
    static const uint64_t starts[] = {500, 300, 900, 400};

    for (size_t i = 0; i < 4; i++)
        snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = starts[i]});
    CHECK_NUMBER(chunk.first_ns, 300);
    CHECK_NUMBER(chunk.last_ns, 900);
    snd_chunk_clear(&chunk);
    CHECK_NUMBER(chunk.events, 0);
    CHECK_NUMBER(chunk.bytes.size, 0);
    snd_chunk_add(&chunk, &(snd_profile_event){.start_ns = 70});
    CHECK_NUMBER(chunk.first_ns, 70);
    CHECK_NUMBER(chunk.last_ns, 70);
    snd_chunk_free(&chunk);
}

static void
an_empty_chunk_has_no_events(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    taken got = {0};

    CHECK(snd_chunk_pack(&chunk, &packed) == SND_OK);
    CHECK(snd_chunk_unpack(packed.data, packed.size, 0, take, &got) == SND_OK);
    CHECK_NUMBER(got.count, 0);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

static void
the_taker_can_end_it(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    taken got = {.stop_at = 10};

    pack(&chunk, &packed);
    CHECK(snd_chunk_unpack(packed.data, packed.size, chunk.bytes.size, take, &got) == SND_BUSY);
    CHECK_NUMBER(got.count, 10);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

static void
a_wrong_size_is_damage(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    taken got = {0};

    pack(&chunk, &packed);
    size_t size = chunk.bytes.size;
    CHECK(snd_chunk_unpack(packed.data, packed.size, size - 1, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack(packed.data, packed.size, size + 1, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack(packed.data, packed.size, 0, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack(packed.data, packed.size, SND_CHUNK_LIMIT + 1, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack(packed.data, packed.size, UINT64_MAX, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack(NULL, 0, size, take, &got) == SND_DAMAGED);
    CHECK(snd_chunk_unpack("text", 4, size, take, &got) == SND_DAMAGED);
    CHECK_NUMBER(got.count, 0);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

static snd_status
count_only(void *context, const snd_profile_event *event)
{
    (void)event;
    ++*(uint32_t *)context;
    return SND_OK;
}

static void
every_flipped_bit_and_every_cut_is_handled(void)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    uint32_t count = 0, damaged = 0;

    pack(&chunk, &packed);
    for (size_t i = 0; i < packed.size; i++) {
        packed.data[i] ^= (char)(1 << i % 8);
        damaged += snd_chunk_unpack(packed.data, packed.size, chunk.bytes.size, count_only, &count) == SND_DAMAGED;
        packed.data[i] ^= (char)(1 << i % 8);
        damaged += snd_chunk_unpack(packed.data, i, chunk.bytes.size, count_only, &count) == SND_DAMAGED;
    }
    CHECK(damaged >= 2 * packed.size - 8); /* a flip in the head of the stream may not matter */
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

/* Bytes that unpack well but are no events. */
static void
check_contents(const char *bytes, size_t size, snd_status wanted, uint32_t wanted_events)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    uint32_t count = 0;

    snd_buffer_put(&chunk.bytes, bytes, size);
    REQUIRE(snd_chunk_pack(&chunk, &packed) == SND_OK);
    CHECK_NUMBER(snd_chunk_unpack(packed.data, packed.size, size, count_only, &count), wanted);
    CHECK_NUMBER(count, wanted_events);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
}

static void
contents_that_are_no_events_are_damage(void)
{
    check_contents("\x01\x00\x02\x03", 4, SND_OK, 1);
    check_contents("\x01\x00\x02", 3, SND_DAMAGED, 0);
    check_contents("\x01\x00\x02\x03\x01", 5, SND_DAMAGED, 1);
    check_contents("\x80\x80\x80\x80\x10\x00\x00\x00", 8, SND_DAMAGED, 0); /* a node of 2^32 */
    check_contents("\x00\x80\x80\x80\x80\x10\x00\x00", 8, SND_DAMAGED, 0); /* a task of 2^32 */
    check_contents("\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 13, SND_DAMAGED, 0);
}

static snd_status
pack_and_unpack(void *context)
{
    snd_chunk chunk = {0};
    snd_buffer packed = {0};
    taken got = {0};

    (void)context;
    fill(&chunk);
    snd_status status = snd_chunk_pack(&chunk, &packed);
    if (status == SND_OK)
        status = snd_chunk_unpack(packed.data, packed.size, chunk.bytes.size, take, &got);
    snd_chunk_free(&chunk);
    snd_buffer_free(&packed);
    return status;
}

static void
every_failing_allocation_is_reported(void)
{
    CHECK(fail_each_allocation(pack_and_unpack, NULL) > 5);
}

int
main(void)
{
    RUN(events_come_back_in_order);
    RUN(a_chunk_knows_its_first_and_last_moment);
    RUN(an_empty_chunk_has_no_events);
    RUN(the_taker_can_end_it);
    RUN(a_wrong_size_is_damage);
    RUN(every_flipped_bit_and_every_cut_is_handled);
    RUN(contents_that_are_no_events_are_damage);
    RUN(every_failing_allocation_is_reported);
    return check_report();
}
