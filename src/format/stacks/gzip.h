/* Bytes on their way somewhere, packed as gzip does. */
#ifndef SND_FORMAT_GZIP_H
#define SND_FORMAT_GZIP_H

#include "base/buffer.h"

#include <zlib.h>

/* Gets the packed bytes as they come. On SND_SYSTEM errno says why. */
typedef snd_status snd_gzip_take(void *context, const unsigned char *packed, size_t size);

/* Append to `bytes` freely, flush now and then. Not thread-safe. */
typedef struct snd_gzip {
    snd_buffer bytes; /* not packed yet */
    z_stream stream;
    int is_open;
    snd_gzip_take *take;
    void *context;
} snd_gzip;

/* `strategy` is zlib's. Free it in any case. */
SND_MUST_USE snd_status snd_gzip_start(snd_gzip *self, int strategy, snd_gzip_take *take, void *context);
void snd_gzip_free(snd_gzip *self);

/* Packs what there is, when it is enough; all of it and the end. */
SND_MUST_USE snd_status snd_gzip_flush(snd_gzip *self);
SND_MUST_USE snd_status snd_gzip_end(snd_gzip *self);

#endif
