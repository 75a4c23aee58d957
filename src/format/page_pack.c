/* Packing a page's data. */
#include "format/page_pack.h"

#include "base/alloc.h"

#include <math.h>

#define FLUSH_SIZE 65536u
#define LEVEL 6               /* 9 takes three times as long for 2% */
#define MEMORY_LEVEL 8        /* with Z_FILTERED 3% smaller than any other for columns of numbers */
#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for gzip's head and foot, which DecompressionStream wants */

static void *
take_memory(void *context, unsigned count, unsigned size)
{
    (void)context;
    return snd_calloc(count, size);
}

static void
give_memory(void *context, void *memory)
{
    (void)context;
    snd_free(memory);
}

snd_status
snd_page_pack_start(snd_page_pack *self, snd_buffer *out)
{
    *self = (snd_page_pack){.out = out, .stream = {.zalloc = take_memory, .zfree = give_memory}};
    self->is_open = deflateInit2(&self->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_FILTERED) == Z_OK;
    return self->is_open ? SND_OK : SND_NO_MEMORY;
}

void
snd_page_pack_free(snd_page_pack *self)
{
    if (self->is_open)
        deflateEnd(&self->stream);
    self->is_open = 0;
    snd_buffer_free(&self->text);
}

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

static void
put_base64(snd_page_pack *self, const unsigned char *data, size_t size)
{
    char group[4];

    for (size_t i = 0; i < size; i++) {
        self->rest[self->rest_count++] = data[i];
        if (self->rest_count == 3) {
            put_group(self->rest, 3, group);
            snd_buffer_put(self->out, group, sizeof group);
            self->rest_count = 0;
        }
    }
}

static snd_status
take_text(snd_page_pack *self, int how)
{
    unsigned char packed[16384];
    int result;

    if (self->text.failed)
        return SND_NO_MEMORY;
    self->text_size += self->text.size;
    self->stream.next_in = (Bytef *)self->text.data;
    self->stream.avail_in = (uInt)self->text.size;
    do {
        self->stream.next_out = packed;
        self->stream.avail_out = sizeof packed;
        result = deflate(&self->stream, how);
        put_base64(self, packed, sizeof packed - self->stream.avail_out);
    } while (self->stream.avail_out == 0 && result != Z_STREAM_END);
    snd_buffer_clear(&self->text);
    return snd_buffer_status(self->out);
}

snd_status
snd_page_pack_flush(snd_page_pack *self)
{
    return self->text.size >= FLUSH_SIZE || self->text.failed ? take_text(self, Z_NO_FLUSH) : SND_OK;
}

snd_status
snd_page_pack_end(snd_page_pack *self)
{
    char group[4];
    snd_status status = take_text(self, Z_FINISH);

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
        snd_buffer_char(&self->text, ',');
    snd_buffer_number(&self->text, value);
}

void
snd_page_put_signed(snd_page_pack *self, int64_t value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->text, ',');
    if (value < 0)
        snd_buffer_char(&self->text, '-');
    snd_buffer_number(&self->text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* JSON has no infinities. */
void
snd_page_put_real(snd_page_pack *self, double value, int is_first)
{
    if (!is_first)
        snd_buffer_char(&self->text, ',');
    if (isfinite(value))
        snd_buffer_printf(&self->text, "%.15g", value);
    else
        snd_buffer_text(&self->text, "null");
}
