/* What is mapped into this process. */
#include "os/native/maps.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char deleted_mark[] = " (deleted)";

void
snd_maps_free(snd_maps *self)
{
    snd_free(self->items);
    snd_buffer_free(&self->text);
    *self = (snd_maps){0};
}

static snd_status
read_text(snd_buffer *out)
{
    char part[4096];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return SND_SYSTEM;
    ssize_t size;
    while ((size = read(file, part, sizeof part)) > 0 || (size < 0 && errno == EINTR))
        if (size > 0)
            snd_buffer_put(out, part, (size_t)size);
    close(file);
    return size < 0 ? SND_SYSTEM : snd_buffer_status(out);
}

static uint64_t
read_number(char **at, unsigned base)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        unsigned digit = **at >= 'a' ? (unsigned)(**at - 'a') + 10 : (unsigned)(**at - '0');
        if (**at < '0' || digit >= base)
            return value;
        value = value * base + digit;
    }
}

static void
skip(char **at, char letter)
{
    while (**at == letter)
        (*at)++;
}

/* One line, `START-END PERMS OFFSET DEVICE INODE   PATH`; its end becomes a NUL. */
static snd_mapping
read_line(char **at)
{
    snd_mapping line = {0};

    line.start = read_number(at, 16);
    skip(at, '-');
    line.end = read_number(at, 16);
    skip(at, ' ');
    for (; **at != ' ' && **at != '\n' && **at != '\0'; (*at)++) {
        line.is_code |= **at == 'x';
        line.is_readable |= **at == 'r';
    }
    skip(at, ' ');
    line.offset = read_number(at, 16);
    skip(at, ' ');
    while (**at != ' ' && **at != '\n' && **at != '\0')
        (*at)++;
    skip(at, ' ');
    line.file = read_number(at, 10);
    skip(at, ' ');
    line.path = *at;
    *at += strcspn(*at, "\n");
    if (**at != '\0')
        *(*at)++ = '\0';
    return line;
}

static void
note_deletion(snd_mapping *line, char *end)
{
    size_t len = strlen(line->path), mark = sizeof deleted_mark - 1;

    if (line->path[0] == '/' && len > mark && strcmp(line->path + len - mark, deleted_mark) == 0) {
        line->is_deleted = 1;
        end[-(ptrdiff_t)mark] = '\0';
    }
}

static snd_status
add(snd_maps *self, const snd_mapping *line)
{
    if (!snd_make_room(&self->items, self->count + 1, &self->capacity, sizeof *self->items))
        return SND_NO_MEMORY;
    self->items[self->count++] = *line;
    return SND_OK;
}

snd_status
snd_maps_read(snd_maps *self)
{
    snd_maps fresh = {0};
    snd_status status = read_text(&fresh.text);

    for (char *at = fresh.text.data; status == SND_OK && at != NULL && *at != '\0';) {
        snd_mapping line = read_line(&at);
        note_deletion(&line, (char *)line.path + strlen(line.path));
        if ((line.is_code || (line.is_readable && line.path[0] == '/')) && line.start < line.end)
            status = add(&fresh, &line);
    }
    if (status != SND_OK) {
        snd_maps_free(&fresh);
        return status;
    }
    snd_maps_free(self);
    *self = fresh;
    return SND_OK;
}

const snd_mapping *
snd_maps_find(const snd_maps *self, uint64_t address)
{
    size_t low = 0, high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->count && self->items[low].start <= address ? &self->items[low] : NULL;
}

int
snd_maps_keep_code(const snd_maps *self, const snd_maps *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const snd_mapping *old = &before->items[i];
        if (!old->is_code)
            continue;
        const snd_mapping *now = snd_maps_find(self, old->start);
        if (now == NULL || !now->is_code || now->end < old->end || now->file != old->file ||
            old->start - now->start + now->offset != old->offset || strcmp(now->path, old->path) != 0)
            return 0;
    }
    return 1;
}
