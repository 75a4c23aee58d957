/* Whole numbers in 7-bit groups, least significant first: small numbers take one byte. */
#ifndef SND_BASE_VARINT_H
#define SND_BASE_VARINT_H

#include "base/buffer.h"

static inline void
snd_varint_put(snd_buffer *buffer, uint64_t value)
{
    unsigned char bytes[10];
    size_t size = 0;

    while (value >= 0x80) {
        bytes[size++] = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (unsigned char)value;
    snd_buffer_put(buffer, bytes, size);
}

/* Reads at *at and moves it on. 0 when the bytes end first or the number does not fit 64 bits. */
static inline int
snd_varint_get(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    uint64_t result = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (*at == end)
            return 0;
        unsigned char byte = *(*at)++;
        if (shift == 63 && byte > 1)
            return 0;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return 1;
        }
    }
    return 0;
}

/* Signed numbers near zero become unsigned numbers near zero. */
static inline uint64_t
snd_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t
snd_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
