/* Bytes on their way to an open file, packed as gzip does. */
#ifndef SND_FORMAT_GZIP_H
#define SND_FORMAT_GZIP_H

#include "base/buffer.h"

#include <zlib.h>

/* Append to `bytes`, flush now and then. */
typedef struct snd_gzip {
    snd_buffer bytes; /* not packed yet */
    z_stream stream;
    int is_open;
    int file;
} snd_gzip;

/* Free it in any case. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_gzip_start(snd_gzip *self, int file);
void snd_gzip_free(snd_gzip *self);

/* Packs and writes what there is, when it is enough; all of it and the end. */
SND_MUST_USE snd_status snd_gzip_flush(snd_gzip *self);
SND_MUST_USE snd_status snd_gzip_end(snd_gzip *self);

#endif
