/* Messages of Protocol Buffers, as bytes: a field is its number and type, then its value. */
#ifndef SND_FORMAT_PROTOBUF_H
#define SND_FORMAT_PROTOBUF_H

#include "base/varint.h"

#include <string.h>

enum { SND_PROTOBUF_VARINT = 0, SND_PROTOBUF_DOUBLE = 1, SND_PROTOBUF_BYTES = 2 };

static inline void
snd_protobuf_key(snd_buffer *out, unsigned field, unsigned type)
{
    snd_varint_put(out, field << 3 | type);
}

/* Zero is what a field has that is not there: it is left out. */
static inline void
snd_protobuf_number(snd_buffer *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    snd_protobuf_key(out, field, SND_PROTOBUF_VARINT);
    snd_varint_put(out, value);
}

static inline void
snd_protobuf_double(snd_buffer *out, unsigned field, double value)
{
    unsigned char bytes[8];
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    snd_protobuf_key(out, field, SND_PROTOBUF_DOUBLE);
    snd_buffer_put(out, bytes, sizeof bytes);
}

static inline void
snd_protobuf_bytes(snd_buffer *out, unsigned field, const void *data, size_t size)
{
    snd_protobuf_key(out, field, SND_PROTOBUF_BYTES);
    snd_varint_put(out, size);
    snd_buffer_put(out, data, size);
}

/* A message inside another, or packed numbers, which were put into a buffer of their own; that is empty afterwards. */
static inline void
snd_protobuf_message(snd_buffer *out, unsigned field, snd_buffer *message)
{
    out->failed |= message->failed;
    snd_protobuf_bytes(out, field, message->data, message->size);
    snd_buffer_clear(message);
}

#endif
