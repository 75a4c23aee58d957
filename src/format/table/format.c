/* The list of formats, and what several of them need. */
#include "format/table/format.h"

#include "base/utf8.h"
#include "format/stacks/stacks.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_SIZE 65536u

const snd_format snd_formats[] = {
#define SND_FORMAT_ENTRY(name, about) {#name, about, snd_format_##name, NULL},
    SND_FORMAT_TABLE_MAP(SND_FORMAT_ENTRY)
#undef SND_FORMAT_ENTRY
#define SND_FORMAT_ENTRY(name, about) {#name, about, NULL, snd_format_##name},
        SND_FORMAT_RECORDING_MAP(SND_FORMAT_ENTRY)
#undef SND_FORMAT_ENTRY
};
const unsigned snd_format_count = sizeof snd_formats / sizeof snd_formats[0];

const snd_format *
snd_format_find(const char *name)
{
    for (unsigned i = 0; i < snd_format_count; i++)
        if (strcmp(snd_formats[i].name, name) == 0)
            return &snd_formats[i];
    return NULL;
}

snd_cost
snd_export_cost(const snd_profile *profile, const snd_export_options *options)
{
    return options->has_cost ? options->cost : snd_stacks_main_cost(profile, options->cpu_only);
}

snd_status
snd_write_all(int file, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return SND_SYSTEM;
        at += written;
        size -= (size_t)written;
    }
    return SND_OK;
}

snd_status
snd_output_flush(snd_output *self)
{
    snd_status status = snd_buffer_status(&self->text);
    if (status == SND_OK)
        status = snd_write_all(self->file, self->text.data, self->text.size);
    snd_buffer_clear(&self->text);
    return status;
}

snd_status
snd_output_flush_full(snd_output *self)
{
    return self->text.size >= FLUSH_SIZE || self->text.failed ? snd_output_flush(self) : SND_OK;
}
