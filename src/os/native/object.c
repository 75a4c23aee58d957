/* One loaded object. */
#include "os/native/object.h"

#include "base/alloc.h"
#include "os/peek.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECES = 16,      /* of one object; more are not looked at */
    HEAD_SIZE = 4096, /* what is compared of a file and its loaded copy */
    NESTED = 8,       /* functions that may start inside another and end before the address */
    RANK_LOCAL = 200, /* above the number of underscores that a name starts with */
    RANK_WEAK = 1,
};

typedef struct entry {
    uint64_t start;
    uint64_t name_at;
    const char *kept; /* the caller's */
    uint32_t size;    /* saturates */
    uint16_t name_room;
    uint8_t rank; /* of several names the one with the least */
} entry;

struct snd_object {
    char *path;
    uint64_t file;
    snd_elf elf;
    int is_open;    /* `elf` was read */
    int is_indexed; /* the tables below were read */
    entry *functions;
    uint32_t count, capacity;
    uint64_t *starts; /* of all functions, also those without names */
    size_t start_count;
};

/* The source of an object for the time of one question. */
typedef struct opened {
    snd_elf_source source;
    snd_elf_piece pieces[PIECES];
} opened;

/* ---- the bytes ---- */

int
snd_object_is_of(const snd_object *self, const snd_mapping *mapping)
{
    return self->file == mapping->file && strcmp(self->path, mapping->path) == 0;
}

const char *
snd_object_path(const snd_object *self)
{
    return self->path;
}

/* Inode and device may differ from those of the mapping on layered file systems, so the contents tell: the first page
 * has the places of all tables, and mostly the build id. */
static int
is_loaded_file(const snd_elf_piece *first, const snd_elf_source *source)
{
    unsigned char loaded[HEAD_SIZE], on_disk[HEAD_SIZE];
    size_t size = first->size < HEAD_SIZE ? (size_t)first->size : HEAD_SIZE;

    if (first->offset >= source->size)
        return 0;
    if (source->size - first->offset < size)
        size = (size_t)(source->size - first->offset);
    return snd_peek(first->address, loaded, size) && snd_elf_read(source, first->offset, on_disk, size) &&
           memcmp(loaded, on_disk, size) == 0;
}

static void
take_pieces(const snd_object *self, const snd_maps *maps, opened *out)
{
    for (size_t i = 0; i < maps->count && out->source.piece_count < PIECES; i++) {
        const snd_mapping *part = &maps->items[i];
        if (!snd_object_is_of(self, part))
            continue;
        snd_elf_piece piece = {part->offset, part->end - part->start, part->start};
        size_t at = out->source.piece_count++;
        for (; at > 0 && out->pieces[at - 1].offset > piece.offset; at--)
            out->pieces[at] = out->pieces[at - 1];
        out->pieces[at] = piece;
        if (piece.offset + piece.size > out->source.size)
            out->source.size = piece.offset + piece.size;
    }
}

/* The file when it still is the one that was loaded, else what is loaded. */
static void
open_source(const snd_object *self, const snd_maps *maps, opened *out)
{
    struct stat about;

    memset(out, 0, sizeof *out);
    out->source.file = -1;
    out->source.pieces = out->pieces;
    take_pieces(self, maps, out);
    if (self->path[0] != '/' || out->source.piece_count == 0)
        return;
    int file = open(self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return;
    snd_elf_source on_disk = {.file = file};
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        on_disk.size = (uint64_t)about.st_size;
        /* Where memory cannot be looked at, the number of the file must do. */
        if (is_loaded_file(&out->pieces[0], &on_disk) || (about.st_ino == self->file && !snd_peek_works())) {
            out->source = on_disk;
            return;
        }
    }
    close(file);
}

static void
close_source(opened *source)
{
    if (source->source.file >= 0)
        close(source->source.file);
}

int
snd_object_file(const snd_maps *maps, const snd_mapping *mapping)
{
    snd_object named = {.path = (char *)mapping->path, .file = mapping->file};
    opened bytes;

    open_source(&named, maps, &bytes);
    return bytes.source.file;
}

/* ---- the object ---- */

snd_status
snd_object_new(const snd_maps *maps, const snd_mapping *mapping, snd_object **out)
{
    opened bytes;
    snd_object *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    self->file = mapping->file;
    self->path = snd_strdup(mapping->path);
    if (self->path == NULL) {
        snd_object_free(self);
        return SND_NO_MEMORY;
    }
    open_source(self, maps, &bytes);
    self->is_open = snd_elf_open(&bytes.source, &self->elf);
    close_source(&bytes);
    *out = self;
    return SND_OK;
}

void
snd_object_free(snd_object *self)
{
    if (self == NULL)
        return;
    snd_free(self->path);
    snd_free(self->functions);
    snd_free(self->starts);
    snd_free(self);
}

uint64_t
snd_object_address(const snd_object *self, uint64_t offset)
{
    uint64_t address = snd_elf_address(&self->elf, offset);
    return address == UINT64_MAX ? offset : address;
}

uint64_t
snd_object_place(const snd_object *self, const snd_maps *maps, uint64_t address)
{
    uint64_t offset = snd_elf_offset(&self->elf, address);

    for (size_t i = 0; i < maps->count; i++) {
        const snd_mapping *part = &maps->items[i];
        if (part->is_code && offset >= part->offset && offset - part->offset < part->end - part->start &&
            snd_object_is_of(self, part))
            return part->start + (offset - part->offset);
    }
    return 0;
}

/* ---- functions ---- */

/* `read` rather than `__read`, which are one function. */
static uint8_t
rank_of(const snd_elf_function *function)
{
    unsigned rank = function->binding == STB_LOCAL ? RANK_LOCAL : function->binding == STB_WEAK ? RANK_WEAK : 0;

    for (const char *at = function->name; *at == '_' && at < function->name + 8; at++)
        rank += 2;
    return (uint8_t)rank;
}

static snd_status
add_function(void *context, const snd_elf_function *found)
{
    snd_object *self = context;

    if (!snd_make_room(&self->functions, self->count + 1, &self->capacity, sizeof *self->functions))
        return SND_NO_MEMORY;
    self->functions[self->count++] = (entry){
        .start = found->address,
        .name_at = found->name_at,
        .size = found->size > UINT32_MAX ? UINT32_MAX : (uint32_t)found->size,
        .name_room = (uint16_t)found->name_room,
        .rank = rank_of(found),
    };
    return SND_OK;
}

static int
by_start(const void *a, const void *b)
{
    const entry *left = a, *right = b;

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    if ((left->size == 0) != (right->size == 0))
        return left->size == 0 ? 1 : -1;
    return (int)left->rank - (int)right->rank;
}

/* Sorted, and of each start the best name only. */
static void
arrange(snd_object *self)
{
    uint32_t used = 0;

    if (self->count > 0)
        qsort(self->functions, self->count, sizeof *self->functions, by_start);
    for (uint32_t i = 0; i < self->count; i++)
        if (used == 0 || self->functions[i].start != self->functions[used - 1].start)
            self->functions[used++] = self->functions[i];
    self->count = used;
}

static snd_status
read_tables(snd_object *self, const snd_maps *maps)
{
    opened bytes;

    open_source(self, maps, &bytes);
    self->count = 0;
    snd_status status = snd_elf_each(&self->elf, &bytes.source, add_function, self);
    if (status == SND_OK)
        status = snd_elf_starts(&self->elf, &bytes.source, &self->starts, &self->start_count);
    close_source(&bytes);
    if (status == SND_OK) {
        arrange(self);
        self->is_indexed = 1;
    }
    return status;
}

/* The last function that starts at or before the address and reaches it. */
static entry *
find_named(const snd_object *self, uint64_t address)
{
    size_t low = 0, high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low, least = low > NESTED ? low - NESTED : 0; i > least; i--) {
        entry *found = &self->functions[i - 1];
        /* Assembly may not say its size: then it reaches to the next function. */
        if (address - found->start < found->size || (found->size == 0 && i == low))
            return found;
    }
    return NULL;
}

/* Index of the last start at or before the address; SIZE_MAX: none. */
static size_t
find_start(const snd_object *self, uint64_t address)
{
    size_t low = 0, high = self->start_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? SIZE_MAX : low - 1;
}

static snd_status
need_tables(snd_object *self, const snd_maps *maps)
{
    return self->is_open && !self->is_indexed ? read_tables(self, maps) : SND_OK;
}

snd_status
snd_object_extent(snd_object *self, const snd_maps *maps, uint64_t address, uint64_t *start, uint64_t *end)
{
    snd_status status = need_tables(self, maps);
    size_t found = status == SND_OK ? find_start(self, address) : SIZE_MAX;

    *start = *end = 0;
    if (found != SIZE_MAX) {
        *start = self->starts[found];
        *end = found + 1 < self->start_count ? self->starts[found + 1] : 0;
    }
    return status;
}

snd_status
snd_object_find(snd_object *self, const snd_maps *maps, uint64_t address, snd_object_function *out)
{
    snd_status status = need_tables(self, maps);
    if (status != SND_OK)
        return status;
    entry *named = find_named(self, address);
    size_t start = find_start(self, address);
    /* A nameless function between one without a size and the address. */
    if (named != NULL && named->size == 0 && start != SIZE_MAX && self->starts[start] > named->start)
        named = NULL;
    if (named != NULL)
        *out = (snd_object_function){named->start, named->size, named->name_at, named->name_room, &named->kept};
    else
        *out = (snd_object_function){.start = start == SIZE_MAX ? address : self->starts[start]};
    return SND_OK;
}

int
snd_object_name(const snd_object *self, const snd_maps *maps, const snd_object_function *function,
                char out[SND_ELF_NAME_SIZE])
{
    opened bytes;

    open_source(self, maps, &bytes);
    int is_read = snd_elf_name(&bytes.source, function->name_at, function->name_room, out);
    close_source(&bytes);
    return is_read;
}

snd_status
snd_object_each(const snd_object *self, const snd_maps *maps, snd_elf_visit *visit, void *context)
{
    opened bytes;

    if (!self->is_open)
        return SND_OK;
    open_source(self, maps, &bytes);
    snd_status status = snd_elf_each(&self->elf, &bytes.source, visit, context);
    close_source(&bytes);
    return status;
}
