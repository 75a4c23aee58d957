/* Addresses of this process and the functions they are in. */
#include "os/native/symbols.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/native/cython.h"
#include "os/native/object.h"
#include "os/native/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 512u              /* a name by Cython is cut to this */
#define OLD_NS UINT64_C(1000000000) /* mappings are read again after this */
#define WAIT_NS UINT64_C(20000000)  /* and for an unknown address not sooner than this */

/* What libstdc++ calls __cxa_demangle: a readable form of a name, to be freed. */
typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

struct snd_symbols {
    snd_maps maps;
    uint64_t read_ns; /* when the maps were read */
    snd_object **objects;
    uint32_t count, capacity;
    snd_intern *names;
    snd_perf_map generated;
    demangler *demangle;  /* NULL: not found */
    uint64_t demangle_ns; /* the reading in which it was last looked for */
};

/* ---- what is loaded ---- */

snd_status
snd_symbols_refresh(snd_symbols *self)
{
    snd_status status = snd_maps_read(&self->maps);
    self->read_ns = snd_clock_monotonic_ns();
    return status == SND_NO_MEMORY ? status : SND_OK; /* without /proc what is known stays */
}

/* NULL: no code that we know. */
static snd_status
find_mapping(snd_symbols *self, uint64_t address, const snd_mapping **out)
{
    const snd_mapping *found = snd_maps_find(&self->maps, address);
    uint64_t age = snd_clock_monotonic_ns() - self->read_ns;

    if (age > OLD_NS || (age > WAIT_NS && (found == NULL || !found->is_code))) {
        snd_status status = snd_symbols_refresh(self);
        if (status != SND_OK)
            return status;
        found = snd_maps_find(&self->maps, address);
    }
    *out = found != NULL && found->is_code ? found : NULL;
    return SND_OK;
}

static snd_status
object_of(snd_symbols *self, const snd_mapping *mapping, snd_object **out)
{
    for (size_t i = 0; i < self->count; i++)
        if (snd_object_is_of(self->objects[i], mapping)) {
            *out = self->objects[i];
            return SND_OK;
        }
    if (!snd_make_room(&self->objects, self->count + 1, &self->capacity, sizeof(snd_object *)))
        return SND_NO_MEMORY;
    snd_status status = snd_object_new(&self->maps, mapping, out);
    if (status == SND_OK)
        self->objects[self->count++] = *out;
    return status;
}

snd_status
snd_symbols_new(snd_symbols **out)
{
    snd_symbols *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    self->names = snd_intern_new();
    snd_status status = self->names == NULL ? SND_NO_MEMORY : snd_symbols_refresh(self);
    if (status != SND_OK) {
        snd_symbols_free(self);
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_symbols_free(snd_symbols *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->count; i++)
        snd_object_free(self->objects[i]);
    snd_free((void *)self->objects);
    snd_intern_free(self->names);
    snd_perf_map_free(&self->generated);
    snd_maps_free(&self->maps);
    snd_free(self);
}

/* ---- names ---- */

static snd_status
keep_name(snd_symbols *self, const char *text, const char **out)
{
    uint32_t id;
    snd_status status = snd_intern_add(self->names, text, strlen(text), &id);
    if (status == SND_OK)
        *out = snd_intern_text(self->names, id);
    return status;
}

/* Through the symbol table, since dlsym waits for a thread that loads a library. libstdc++ is never unloaded. */
static snd_status
find_demangler(snd_symbols *self)
{
    snd_range found;
    size_t count = 0;

    if (self->demangle != NULL || self->demangle_ns == self->read_ns)
        return SND_OK;
    self->demangle_ns = self->read_ns;
    for (size_t i = 0; i < self->maps.count && count == 0; i++) {
        const snd_mapping *mapping = &self->maps.items[i];
        if (!mapping->is_code || strncmp(snd_path_base(mapping->path), "libstdc++.so", 12) != 0)
            continue;
        snd_status status = snd_symbols_ranges(self, mapping->start, "__cxa_demangle", &found, 1, &count);
        if (status != SND_OK)
            return status;
    }
    if (count > 0)
        self->demangle = (demangler *)(uintptr_t)found.start;
    return SND_OK;
}

/* A function's name as people write it. */
static snd_status
keep_function(snd_symbols *self, const char *name, const char **out)
{
    int status_of_name = 0;
    snd_status status = strncmp(name, "_Z", 2) == 0 ? find_demangler(self) : SND_OK;

    char cython[NAME_SIZE];

    if (status != SND_OK)
        return status;
    if (snd_cython_name(name, cython, sizeof cython))
        return keep_name(self, cython, out);
    char *readable = NULL;
    if (self->demangle != NULL && strncmp(name, "_Z", 2) == 0)
        readable = self->demangle(name, NULL, NULL, &status_of_name);
    status = keep_name(self, readable != NULL && status_of_name == 0 ? readable : name, out);
    free(readable);
    return status;
}

/* Functions of libc of which several exist, and the loader chose one: those have no names in a stripped libc. */
static const char *
chosen_function(uint64_t start)
{
    static const struct {
        const char *name;
        uintptr_t address;
    } chosen[] = {
#define CHOSEN(name) {#name, (uintptr_t)(name)}
        CHOSEN(memcpy), CHOSEN(memmove), CHOSEN(memset), CHOSEN(memcmp), CHOSEN(memchr),
        CHOSEN(strlen), CHOSEN(strcmp),  CHOSEN(strchr), CHOSEN(strcpy),
#undef CHOSEN
    };

    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++)
        if (chosen[i].address == start)
            return chosen[i].name;
    return NULL;
}

static snd_status
name_plainly(snd_symbols *self, const snd_object *object, uint64_t offset, snd_symbol *out)
{
    char text[320];
    const char *chosen = chosen_function(out->start);

    if (chosen != NULL) {
        out->is_named = 1;
        return keep_name(self, chosen, &out->name);
    }
    snprintf(text, sizeof text, "[%.255s+0x%llx]", snd_path_base(snd_object_path(object)), (unsigned long long)offset);
    return keep_name(self, text, &out->name);
}

/* Code from no file: whoever generated it may have said what it is. */
static snd_status
name_generated(snd_symbols *self, uint64_t address, snd_symbol *out)
{
    snd_perf_function found;

    out->name = "[generated code]";
    out->library = "";
    out->start = address;
    out->offset = 0;
    if (!snd_perf_map_find(&self->generated, address, &found))
        return SND_OK;
    out->start = found.start;
    out->size = found.size;
    out->is_named = 1;
    return keep_name(self, found.name, &out->name);
}

/* Whether a mapping is memory that only looks like a file, in which compilers may put code: MAP_SHARED without a file
 * is of /dev/zero, and memfd_create makes a file without a folder. */
static int
is_memory(const snd_mapping *mapping)
{
    return mapping->is_deleted &&
           (strcmp(mapping->path, "/dev/zero") == 0 || strncmp(mapping->path, "/memfd:", strlen("/memfd:")) == 0);
}

snd_status
snd_symbols_find(snd_symbols *self, uint64_t address, snd_symbol *out)
{
    const snd_mapping *mapping;
    snd_object *object;
    snd_object_function function;
    char name[SND_ELF_NAME_SIZE];

    *out = (snd_symbol){.name = "[unknown]", .library = "", .start = address};
    snd_status status = find_mapping(self, address, &mapping);
    if (status != SND_OK || mapping == NULL)
        return status;
    if (mapping->path[0] == '\0')
        return name_generated(self, address, out);
    status = object_of(self, mapping, &object);
    if (status != SND_OK)
        return status;
    out->library = snd_object_path(object);
    out->offset = snd_object_address(object, address - mapping->start + mapping->offset);
    status = snd_object_find(object, &self->maps, out->offset, &function);
    if (status != SND_OK)
        return status;
    out->start = address - (out->offset - function.start);
    out->size = function.size;
    if (function.kept == NULL && is_memory(mapping))
        return name_generated(self, address, out);
    if (function.kept == NULL)
        return name_plainly(self, object, function.start, out);
    if (*function.kept == NULL) {
        if (!snd_object_name(object, &self->maps, &function, name))
            return name_plainly(self, object, function.start, out);
        status = keep_function(self, name, function.kept);
        if (status != SND_OK)
            return status;
    }
    out->name = *function.kept;
    out->is_named = 1;
    return SND_OK;
}

/* ---- ranges ---- */

typedef struct range_search {
    const snd_symbols *symbols;
    const snd_object *object;
    const char *name;
    size_t name_len;
    int is_prefix; /* of names */
    snd_range *out;
    size_t limit;
    size_t count;
} range_search;

static snd_status
note_range(void *context, const snd_elf_function *function)
{
    range_search *search = context;
    const char *rest = function->name + search->name_len;

    if (strncmp(function->name, search->name, search->name_len) != 0 || function->size == 0 ||
        (*rest != '\0' && *rest != '.' && !search->is_prefix))
        return SND_OK;
    uint64_t start = snd_object_place(search->object, &search->symbols->maps, function->address);
    for (size_t i = 0; i < search->count; i++)
        if (search->out[i].start == start)
            return SND_OK; /* it stands in both tables */
    if (start != 0 && search->count < search->limit)
        search->out[search->count++] = (snd_range){start, start + function->size};
    return SND_OK;
}

snd_status
snd_symbols_ranges(snd_symbols *self, uint64_t inside, const char *name, snd_range *out, size_t limit, size_t *count)
{
    range_search search = {.symbols = self, .name = name, .name_len = strlen(name), .out = out, .limit = limit};
    const snd_mapping *mapping = inside == 0 ? NULL : snd_maps_find(&self->maps, inside);

    if (search.name_len != 0 && name[search.name_len - 1] == '*') {
        search.is_prefix = 1;
        search.name_len--;
    }
    for (size_t i = 0; i < self->maps.count && search.count == 0; i++) {
        const snd_mapping *code = &self->maps.items[i];
        snd_object *object;
        if (!code->is_code || code->path[0] == '\0' || (inside != 0 && code != mapping))
            continue;
        snd_status status = object_of(self, code, &object);
        if (status != SND_OK)
            return status;
        search.object = object;
        status = snd_object_each(object, &self->maps, note_range, &search);
        if (status != SND_OK)
            return status;
    }
    *count = search.count;
    return SND_OK;
}

snd_status
snd_symbols_piece(snd_symbols *self, uint64_t address, snd_range *out)
{
    const snd_mapping *mapping = snd_maps_find(&self->maps, address);
    snd_object *object;
    uint64_t start, end;

    *out = (snd_range){0};
    if (mapping == NULL || !mapping->is_code || mapping->path[0] == '\0')
        return SND_OK;
    snd_status status = object_of(self, mapping, &object);
    if (status != SND_OK)
        return status;
    uint64_t own = snd_object_address(object, address - mapping->start + mapping->offset);
    status = snd_object_extent(object, &self->maps, own, &start, &end);
    if (status == SND_OK && start != 0)
        *out = (snd_range){address - (own - start), end == 0 ? mapping->end : address + (end - own)};
    return status;
}

size_t
snd_symbols_text(const snd_symbols *self, uint64_t inside, snd_range *out, size_t limit)
{
    const snd_mapping *mapping = snd_maps_find(&self->maps, inside);
    size_t count = 0;

    for (size_t i = 0; mapping != NULL && i < self->maps.count && count < limit; i++) {
        const snd_mapping *other = &self->maps.items[i];
        if (other->is_code && other->file == mapping->file && strcmp(other->path, mapping->path) == 0)
            out[count++] = (snd_range){other->start, other->end};
    }
    return count;
}
