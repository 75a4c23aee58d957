/* Names of code that the program generates at run time. */
#include "os/native/perf_map.h"

#include "base/alloc.h"
#include "os/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT (UINT64_C(32) << 20)
#define NAME_LIMIT 400u /* of a name, in bytes */
#define BACK_LIMIT 64u  /* entries before an address that may still reach over it */
#define CHUNK 65536u

typedef struct snd_perf_entry {
    uint64_t start, size;
    uint32_t name;  /* where it is in the names */
    uint32_t order; /* in the file: of two at one address the later holds */
} entry;

/* ---- lines ---- */

static const char *
read_hex(const char *at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    unsigned digits = 0;

    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    for (; at < end; at++, digits++) {
        char c = *at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            break;
        value = value << 4 | digit;
    }
    *out = value;
    return digits == 0 || digits > 16 || at == end || *at != ' ' ? NULL : at + 1;
}

static int
keep_name(snd_perf_map *self, const char *at, const char *end, uint32_t *name)
{
    size_t size = (size_t)(end - at) < NAME_LIMIT ? (size_t)(end - at) : NAME_LIMIT;

    *name = (uint32_t)self->names.size;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)at[i];
        snd_buffer_char(&self->names, (char)(c < 0x20 || c == 0x7f ? ' ' : c));
    }
    snd_buffer_char(&self->names, '\0');
    return !self->names.failed;
}

/* 0 when memory runs out. */
static int
take_line(snd_perf_map *self, const char *at, const char *end)
{
    entry made = {.order = self->count};

    if ((at = read_hex(at, end, &made.start)) == NULL || (at = read_hex(at, end, &made.size)) == NULL || at == end ||
        made.size == 0 || made.start + made.size < made.start || (end - at >= 4 && memcmp(at, "py::", 4) == 0))
        return 1;
    if (!snd_make_room(&self->entries, self->count + 1, &self->capacity, sizeof made) ||
        !keep_name(self, at, end, &made.name))
        return 0;
    self->entries[self->count++] = made;
    return 1;
}

static int
compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- the file ---- */

/* -1: there is none that may be trusted. `/tmp` is everybody's: somebody else may have put one there, of any kind. */
static int
open_file(snd_perf_map *self, uint64_t *size)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/tmp/perf-%u.map", snd_process_id());
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (file < 0)
        return -1;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0 || about.st_nlink != 1) {
        close(file);
        return -1;
    }
    uint64_t which = (uint64_t)about.st_ino ^ (uint64_t)about.st_dev << 32;
    if (which != self->file || (uint64_t)about.st_size < self->done) { /* of a process before, or begun anew */
        snd_perf_map_free(self);
        self->file = which;
    }
    *size = (uint64_t)about.st_size;
    return file;
}

/* Whole lines only: the last one may still be written. */
static void
read_lines(snd_perf_map *self, int file, char *chunk)
{
    while (!self->is_broken) {
        ssize_t got = pread(file, chunk, CHUNK, (off_t)self->done);
        const char *at = chunk, *end;
        if (got <= 0)
            return;
        while (!self->is_broken && (end = memchr(at, '\n', (size_t)(chunk + got - at))) != NULL) {
            self->is_broken = !take_line(self, at, end);
            at = end + 1;
        }
        if (at == chunk && (size_t)got == CHUNK)
            at = chunk + got; /* no line is that long */
        if (at == chunk)
            return;
        self->done += (uint64_t)(at - chunk);
        self->is_broken |= self->done >= FILE_LIMIT;
    }
}

static void
refresh(snd_perf_map *self)
{
    uint64_t size;
    int file = open_file(self, &size);

    if (file < 0)
        return;
    if (size > self->done && !self->is_broken) {
        uint32_t before = self->count;
        char *chunk = snd_malloc(CHUNK);
        if (chunk != NULL)
            read_lines(self, file, chunk);
        snd_free(chunk);
        if (self->count != before)
            qsort(self->entries, self->count, sizeof *self->entries, compare);
    }
    close(file);
}

int
snd_perf_map_find(snd_perf_map *self, uint64_t address, snd_perf_function *out)
{
    const entry *best = NULL;
    uint32_t low = 0, high;

    refresh(self);
    high = self->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->entries[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = 0; i < BACK_LIMIT && low-- > 0; i++) {
        const entry *at = &self->entries[low];
        if (address - at->start < at->size && (best == NULL || at->order > best->order))
            best = at;
    }
    if (best == NULL)
        return 0;
    *out = (snd_perf_function){self->names.data + best->name, best->start, best->size};
    return 1;
}

void
snd_perf_map_free(snd_perf_map *self)
{
    snd_free(self->entries);
    snd_buffer_free(&self->names);
    *self = (snd_perf_map){0};
}
