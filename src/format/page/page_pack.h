/* Text on its way into a page: packed by gzip and written in base64 as it comes, so that only the result is kept. */
#ifndef SND_FORMAT_PAGE_PACK_H
#define SND_FORMAT_PAGE_PACK_H

#include "format/stacks/gzip.h"

/* Append to `gzip.bytes` freely, and call snd_page_pack_flush now and then. Not thread-safe. */
typedef struct snd_page_pack {
    snd_gzip gzip;
    snd_buffer *out;
    unsigned char rest[3]; /* bytes that do not fill a group of base64 yet */
    unsigned rest_count;
} snd_page_pack;

/* Appends to `out`, which must live longer. Free it in any case. */
SND_MUST_USE snd_status snd_page_pack_start(snd_page_pack *self, snd_buffer *out);
void snd_page_pack_free(snd_page_pack *self);

/* Takes the text in once there is enough of it. */
SND_MUST_USE snd_status snd_page_pack_flush(snd_page_pack *self);

/* Takes the rest in and ends. */
SND_MUST_USE snd_status snd_page_pack_end(snd_page_pack *self);

/* Appends to the text: "a," for every number of a list, without a comma before the first. */
void snd_page_put_whole(snd_page_pack *self, uint64_t value, int is_first);
void snd_page_put_signed(snd_page_pack *self, int64_t value, int is_first);
void snd_page_put_real(snd_page_pack *self, double value, int is_first);

#endif
