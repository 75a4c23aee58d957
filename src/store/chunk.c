/* Timeline events as bytes. */
#include "store/chunk.h"

#include "base/alloc.h"
#include "base/varint.h"
#include <zlib.h>

void
snd_chunk_free(snd_chunk *self)
{
    snd_buffer_free(&self->bytes);
    *self = (snd_chunk){0};
}

void
snd_chunk_clear(snd_chunk *self)
{
    snd_buffer bytes = self->bytes;
    snd_buffer_clear(&bytes);
    *self = (snd_chunk){.bytes = bytes};
}

void
snd_chunk_add(snd_chunk *self, const snd_profile_event *event)
{
    /* a state stands where a task does, and a counter's value, by its bits, where a duration does */
    snd_varint_put(&self->bytes, event->node);
    snd_varint_put(&self->bytes, event->task);
    snd_varint_put(&self->bytes, snd_zigzag((int64_t)(event->start_ns - self->previous_ns)));
    snd_varint_put(&self->bytes, event->duration_ns);
    if (self->events == 0 || event->start_ns < self->first_ns)
        self->first_ns = event->start_ns;
    if (event->start_ns > self->last_ns)
        self->last_ns = event->start_ns;
    self->previous_ns = event->start_ns;
    self->events++;
}

snd_status
snd_chunk_pack(const snd_chunk *self, snd_buffer *out)
{
    return self->bytes.failed ? SND_NO_MEMORY : snd_pack(self->bytes.data, self->bytes.size, 1, out);
}

static int
read_event(const unsigned char **at, const unsigned char *end, uint64_t *previous, snd_profile_event *event)
{
    uint64_t node, task, delta;

    if (!snd_varint_get(at, end, &node) || !snd_varint_get(at, end, &task) || !snd_varint_get(at, end, &delta) ||
        !snd_varint_get(at, end, &event->duration_ns))
        return 0;
    if (node > UINT32_MAX || task > UINT32_MAX)
        return 0;
    *previous += (uint64_t)snd_unzigzag(delta);
    event->start_ns = *previous;
    event->node = (uint32_t)node;
    event->task = (uint32_t)task;
    return 1;
}

snd_status
snd_chunk_unpack(const void *data, size_t data_size, uint64_t size, snd_chunk_take *take, void *context)
{
    uint64_t previous = 0;
    char *bytes = NULL;

    if (size > SND_CHUNK_LIMIT || data_size > UINT32_MAX)
        return SND_DAMAGED;
    snd_status status = snd_unpack(data, data_size, size, &bytes);
    if (status != SND_OK)
        return status;
    const unsigned char *at = (const unsigned char *)bytes, *end = at + size;
    while (status == SND_OK && at != end) {
        snd_profile_event event;
        status = read_event(&at, end, &previous, &event) ? take(context, &event) : SND_DAMAGED;
    }
    snd_free(bytes);
    return status;
}

snd_status
snd_pack(const void *data, size_t size, int level, snd_buffer *out)
{
    uLongf packed_size = compressBound((uLong)size);
    Bytef *packed = snd_malloc(packed_size);
    if (packed == NULL)
        return SND_NO_MEMORY;
    int result = compress2(packed, &packed_size, data, (uLong)size, level);
    if (result == Z_OK)
        snd_buffer_put(out, packed, packed_size);
    snd_free(packed);
    return result == Z_OK ? snd_buffer_status(out) : SND_NO_MEMORY;
}

snd_status
snd_unpack(const void *data, size_t data_size, size_t size, char **out)
{
    uLongf got = (uLongf)size;
    char *bytes = snd_malloc(size + 1);
    if (bytes == NULL)
        return SND_NO_MEMORY;
    int result = uncompress((Bytef *)bytes, &got, data, (uLong)data_size);
    if (result != Z_OK || got != size) {
        snd_free(bytes);
        return result == Z_MEM_ERROR ? SND_NO_MEMORY : SND_DAMAGED;
    }
    bytes[size] = '\0';
    *out = bytes;
    return SND_OK;
}
