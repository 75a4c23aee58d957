/* Bytes as a zlib stream, and back. */
#ifndef SND_STORE_PACK_H
#define SND_STORE_PACK_H

#include "base/buffer.h"

/* Appends the stream to `out`. Level 1 is fast, 9 is small. */
SND_MUST_USE snd_status snd_pack(const void *data, size_t size, int level, snd_buffer *out);

/* Gives `size` bytes and a NUL behind them; the caller frees them. SND_DAMAGED when the stream is not of that size. The
 * caller knows that `size` is not too much. */
SND_MUST_USE snd_status snd_unpack(const void *data, size_t data_size, size_t size, char **out);

#endif
