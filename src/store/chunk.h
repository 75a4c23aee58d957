/* Timeline events as bytes: collected, packed, unpacked. docs/recording.md has the layout. */
#ifndef SND_STORE_CHUNK_H
#define SND_STORE_CHUNK_H

#include "base/buffer.h"
#include "model/profile.h"

/* Unpacked size at which a chunk is full, and the most that a reader accepts. */
#define SND_CHUNK_FULL 65536u
#define SND_CHUNK_LIMIT (1u << 20)

/* All zero is an empty chunk. */
typedef struct snd_chunk {
    snd_buffer bytes;
    uint64_t previous_ns;
    uint64_t first_ns, last_ns;
    uint64_t events;
} snd_chunk;

void snd_chunk_free(snd_chunk *self);
void snd_chunk_clear(snd_chunk *self);
void snd_chunk_add(snd_chunk *self, const snd_profile_event *event);

/* Appends the compressed bytes to `out`. */
SND_MUST_USE snd_status snd_chunk_pack(const snd_chunk *self, snd_buffer *out);

/* Gives every event to `take` until it returns other than SND_OK. `size` is the unpacked size. SND_DAMAGED when
 * the bytes are not what pack writes. */
typedef snd_status snd_chunk_take(void *context, const snd_profile_event *event);
SND_MUST_USE snd_status snd_chunk_unpack(const void *data, size_t data_size, uint64_t size, snd_chunk_take *take,
                                         void *context);

/* Appends the stream to `out`. Level 1 is fast, 9 is small. */
SND_MUST_USE snd_status snd_pack(const void *data, size_t size, int level, snd_buffer *out);

/* Gives `size` bytes and a NUL behind them; the caller frees them. SND_DAMAGED when the stream is not of that size. The
 * caller knows that `size` is not too much. */
SND_MUST_USE snd_status snd_unpack(const void *data, size_t data_size, size_t size, char **out);

#endif
