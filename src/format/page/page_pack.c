/* Packing a page's data. */
#include "format/page/page_pack.h"

#include <math.h>

/* Three bytes, of which `count` are there. */
static void
put_group(const unsigned char *bytes, unsigned count, char *group)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0) | (count > 2 ? bytes[2] : 0);

    group[0] = digits[bits >> 18];
    group[1] = digits[bits >> 12 & 63];
    group[2] = '=';
    group[3] = '=';
    if (count > 1)
        group[2] = digits[bits >> 6 & 63];
    if (count > 2)
        group[3] = digits[bits & 63];
}

static snd_status
put_base64(void *context, const unsigned char *data, size_t size)
{
    snd_page_pack *self = context;
    char group[4];

    for (size_t i = 0; i < size; i++) {
        self->rest[self->rest_count++] = data[i];
        if (self->rest_count == 3) {
            put_group(self->rest, 3, group);
            snd_buffer_put(self->out, group, sizeof group);
            self->rest_count = 0;
        }
    }
    return snd_buffer_status(self->out);
}

snd_status
snd_page_pack_start(snd_page_pack *self, snd_buffer *out)
{
    *self = (snd_page_pack){.out = out};
    return snd_gzip_start(&self->gzip, Z_FILTERED, put_base64, self);
}

void
snd_page_pack_free(snd_page_pack *self)
{
    snd_gzip_free(&self->gzip);
}

snd_status
snd_page_pack_flush(snd_page_pack *self)
{
    return snd_gzip_flush(&self->gzip);
}

snd_status
snd_page_pack_end(snd_page_pack *self)
{
    char group[4];
    snd_status status = snd_gzip_end(&self->gzip);

    if (status == SND_OK && self->rest_count != 0) {
        put_group(self->rest, self->rest_count, group);
        snd_buffer_put(self->out, group, sizeof group);
    }
    return status == SND_OK ? snd_buffer_status(self->out) : status;
}

void
snd_page_put_whole(snd_page_pack *self, uint64_t value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    snd_buffer_number(&self->gzip.bytes, value);
}

void
snd_page_put_signed(snd_page_pack *self, int64_t value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    if (value < 0)
        snd_buffer_char(&self->gzip.bytes, '-');
    snd_buffer_number(&self->gzip.bytes, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* JSON has no infinities. */
void
snd_page_put_real(snd_page_pack *self, double value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->gzip.bytes, ',');
    if (isfinite(value))
        snd_buffer_printf(&self->gzip.bytes, "%.15g", value);
    else
        snd_buffer_text(&self->gzip.bytes, "null");
}
