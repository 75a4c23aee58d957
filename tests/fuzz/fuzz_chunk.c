/* Bytes as a timeline chunk. The first byte chooses: odd, the rest is packed first, so that the events are reached;
 * even, the rest is a size and packed bytes as a file has them. */
#include "base/alloc.h"
#include "fuzz.h"
#include "store/chunk.h"

#include <string.h>

/* Collects the events into another chunk. */
static snd_status
take(void *context, const snd_profile_event *event)
{
    snd_chunk_add(context, event);
    return SND_OK;
}

/* What was understood is packed and understood again, byte for byte. */
static void
check_round_trip(const snd_chunk *chunk)
{
    snd_buffer packed = {0};
    snd_chunk again = {0};

    MUST(snd_chunk_pack(chunk, &packed) == SND_OK);
    MUST(snd_chunk_unpack(packed.data, packed.size, chunk->bytes.size, take, &again) == SND_OK);
    MUST(again.events == chunk->events && again.bytes.size == chunk->bytes.size);
    MUST(chunk->bytes.size == 0 || memcmp(again.bytes.data, chunk->bytes.data, again.bytes.size) == 0);
    MUST(again.first_ns == chunk->first_ns && again.last_ns == chunk->last_ns);
    snd_buffer_free(&packed);
    snd_chunk_free(&again);
}

static void
unpack_contents(const uint8_t *data, size_t size)
{
    snd_chunk contents = {0}, events = {0};
    snd_buffer packed = {0};

    snd_buffer_put(&contents.bytes, data, size);
    MUST(snd_chunk_pack(&contents, &packed) == SND_OK);
    snd_status status = snd_chunk_unpack(packed.data, packed.size, size, take, &events);
    MUST(status == SND_OK || status == SND_DAMAGED);
    check_round_trip(&events);
    snd_buffer_free(&packed);
    snd_chunk_free(&contents);
    snd_chunk_free(&events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t unpacked = 0;
    snd_chunk events = {0};

    if (size < 5)
        return 0;
    if (data[0] % 2 == 1) {
        unpack_contents(data + 1, size - 1);
        return 0;
    }
    memcpy(&unpacked, data + 1, sizeof unpacked);
    snd_status status = snd_chunk_unpack(data + 5, size - 5, unpacked, take, &events);
    MUST(status == SND_OK || status == SND_DAMAGED);
    if (status == SND_OK)
        check_round_trip(&events);
    snd_chunk_free(&events);
    return 0;
}
