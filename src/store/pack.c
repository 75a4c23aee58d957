/* Bytes as a zlib stream, and back. */
#include "store/pack.h"

#include "base/alloc.h"

#include <zlib.h>

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
