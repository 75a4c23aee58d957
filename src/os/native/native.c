/* Native frames. */
#include "os/native/native.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "os/clock.h"
#include "os/native/cython.h"
#include "os/native/native_libdw.h"
#include "os/native/object.h"
#include "os/native/symbols.h"
#include "os/worker.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#define OLD_NS UINT64_C(1000000000)
#define WAIT_NS UINT64_C(20000000)

static const char library_name[] = "libsonde-native.so";

enum {
    ADDRESS_LIMIT = 1 << 17, /* addresses whose rules are kept; then it starts anew */
    GUESS = 0,               /* index of the rule for code that does not say */
};

/* The places of one address. */
typedef struct description {
    uint32_t count;
    snd_native_place places[];
} description;

struct snd_native {
    void *library;
    const snd_libdw_functions *functions;
    int has_callers;
    snd_libdw *libdw; /* NULL: not open */
    uint32_t table;   /* of the files that it has open (os/worker.h) */
    char why_not[256];

    snd_maps maps;
    uint64_t read_ns;

    snd_map by_address; /* → index of the rule */
    snd_map by_hash;    /* of a rule → its index */
    snd_unwind_rule *rules;
    uint32_t rule_count, rule_capacity;

    snd_symbols *symbols;
    snd_cython cython;
    snd_intern *texts;
    snd_map described; /* address → index of the description */
    description **descriptions;
    uint32_t description_count, description_capacity;
};

/* ---- libsonde-native.so ---- */

/* The library beside the one, or the program, that this code is in. */
static int
find_library(char path[PATH_MAX])
{
    Dl_info about;

    if (dladdr((void *)snd_native_new, &about) == 0 || about.dli_fname == NULL)
        return 0;
    const char *slash = strrchr(about.dli_fname, '/');
    int folder = slash == NULL ? 0 : (int)(slash - about.dli_fname) + 1;
    int len = snprintf(path, PATH_MAX, "%.*s%s", folder, about.dli_fname, library_name);
    return len > 0 && len < PATH_MAX;
}

static int
open_object_file(void *context, const char *path, uint64_t start)
{
    const snd_native *self = context;
    const snd_mapping *mapping = snd_maps_find(&self->maps, start);

    return mapping == NULL || strcmp(mapping->path, path) != 0 ? -1 : snd_object_file(&self->maps, mapping);
}

/* Says why when it does not work: sonde was built without libdw, or libdw is not installed. */
static void
open_library(snd_native *self, const char *given)
{
    char path[PATH_MAX];
    const char *name = given;

    if (name == NULL)
        name = find_library(path) ? path : library_name;
    if (access(name, R_OK) != 0) {
        snprintf(self->why_not, sizeof self->why_not, "sonde was built without libdw (%s is missing)", library_name);
        return;
    }
    self->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (self->library == NULL) {
        snprintf(self->why_not, sizeof self->why_not, "libdw cannot be loaded: %s", dlerror());
        return;
    }
    self->functions = dlsym(self->library, "snd_libdw_entry");
    if (self->functions == NULL || strcmp(self->functions->version, SND_VERSION) != 0) {
        snprintf(self->why_not, sizeof self->why_not, "%s belongs to another version of sonde", library_name);
        return;
    }
    self->has_callers = 1;
}

/* libdw keeps files open, whose numbers mean nothing in another table than that which it was opened in. */
static snd_libdw *
libdw_here(snd_native *self)
{
    if (!self->has_callers || (self->libdw != NULL && self->table == snd_worker_table()))
        return self->libdw;
    self->libdw = self->functions->open(open_object_file, self); /* closing the old one would close files of others */
    self->table = snd_worker_table();
    if (self->libdw != NULL)
        self->functions->take_maps(self->libdw, &self->maps);
    return self->libdw;
}

void
snd_native_rest(snd_native *self)
{
    if (self->libdw != NULL && self->table == snd_worker_table())
        self->functions->close(self->libdw);
    self->libdw = NULL;
}

const char *
snd_native_why_not(const snd_native *self)
{
    return self->has_callers ? NULL : self->why_not;
}

/* ---- what is loaded ---- */

/* What is known of addresses. */
static void
forget(snd_native *self)
{
    snd_map_free(&self->by_address);
    snd_map_free(&self->described);
    for (uint32_t i = 0; i < self->description_count; i++)
        snd_free(self->descriptions[i]);
    self->description_count = 0;
}

snd_status
snd_native_refresh(snd_native *self)
{
    snd_maps fresh = {0};
    snd_status status = snd_maps_read(&fresh);

    self->read_ns = snd_clock_monotonic_ns();
    if (status != SND_OK)
        return status == SND_NO_MEMORY ? status : SND_OK; /* without /proc what is known stays */
    int has_lost = !snd_maps_keep_code(&fresh, &self->maps);
    int has_more = !snd_maps_keep_code(&self->maps, &fresh);
    if (has_lost)
        forget(self);
    snd_maps_free(&self->maps);
    self->maps = fresh;
    if (!has_lost && !has_more)
        return SND_OK;
    if (self->libdw != NULL && self->table == snd_worker_table())
        self->functions->take_maps(self->libdw, &self->maps);
    return snd_symbols_refresh(self->symbols);
}

int
snd_native_is_code(snd_native *self, uint64_t address)
{
    const snd_mapping *found = snd_maps_find(&self->maps, address);

    if ((found == NULL || !found->is_code) && snd_clock_monotonic_ns() - self->read_ns > WAIT_NS) {
        if (snd_native_refresh(self) != SND_OK)
            return 0;
        found = snd_maps_find(&self->maps, address);
    }
    return found != NULL && found->is_code;
}

/* ---- rules ---- */

static snd_status
keep_rule(snd_native *self, const snd_unwind_rule *rule, uint32_t *index)
{
    uint64_t hash = snd_hash(rule, sizeof *rule, 0);
    uint32_t cursor = 0;

    while ((*index = snd_map_next(&self->by_hash, hash, &cursor)) != SND_MAP_NONE)
        if (memcmp(&self->rules[*index], rule, sizeof *rule) == 0)
            return SND_OK;
    if (!snd_make_room(&self->rules, self->rule_count + 1, &self->rule_capacity, sizeof *self->rules))
        return SND_NO_MEMORY;
    snd_status status = snd_map_add(&self->by_hash, hash, self->rule_count);
    if (status != SND_OK)
        return status;
    self->rules[self->rule_count] = *rule;
    *index = self->rule_count++;
    return SND_OK;
}

/* NULL: no code is there, or memory ran out. */
static const snd_unwind_rule *
find_rule(snd_native *self, uint64_t address)
{
    snd_unwind_rule rule;
    uint32_t cursor = 0;
    uint32_t index = snd_map_next(&self->by_address, address, &cursor);

    if (SND_LIKELY(index != SND_MAP_NONE))
        return &self->rules[index];
    int is_return = snd_unwind_is_handlers_return(address + 1); /* a caller's address is that before its pc */
    if (!is_return && !snd_native_is_code(self, address))
        return NULL;
    index = GUESS;
    snd_libdw *libdw = libdw_here(self);
    if (is_return)
        rule = snd_unwind_by_signal_frame();
    if ((is_return || (libdw != NULL && self->functions->rule(libdw, address, &rule))) &&
        keep_rule(self, &rule, &index) != SND_OK)
        return NULL;
    if (self->by_address.count >= ADDRESS_LIMIT)
        snd_map_free(&self->by_address);
    return snd_map_add(&self->by_address, address, index) == SND_OK ? &self->rules[index] : NULL;
}

size_t
snd_native_unwind(snd_native *self, const snd_registers *registers, const snd_stack_copy *stack, uint64_t *out,
                  size_t limit, snd_unwind_end *end)
{
    static const snd_unwind_end ends[] = {
        [SND_STEP_DONE] = SND_UNWIND_TRUNCATED,
        [SND_STEP_OUTERMOST] = SND_UNWIND_WHOLE,
        [SND_STEP_TRUNCATED] = SND_UNWIND_TRUNCATED,
        [SND_STEP_BROKEN] = SND_UNWIND_BROKEN,
    };
    snd_registers now = *registers;
    uint64_t address = now.value[SND_REGISTER_PC];
    size_t count = 0;

    out[count++] = address;
    *end = SND_UNWIND_BROKEN;
    if (!self->has_callers || (snd_clock_monotonic_ns() - self->read_ns > OLD_NS && snd_native_refresh(self) != SND_OK))
        return count;
    const snd_unwind_rule *rule = find_rule(self, address);
    while (rule != NULL) {
        snd_step step = snd_unwind_step(rule, stack, &now);
        *end = ends[step];
        if (step != SND_STEP_DONE || count == limit)
            return count;
        address = now.value[SND_REGISTER_PC] - (rule->is_signal ? 0 : 1);
        rule = find_rule(self, address);
        if (rule != NULL)
            out[count++] = address;
    }
    *end = SND_UNWIND_BROKEN;
    return count;
}

/* ---- places ---- */

static snd_status
keep_text(snd_native *self, const char *text, const char **out)
{
    uint32_t id;
    snd_status status = snd_intern_add(self->texts, text, strlen(text), &id);
    if (status == SND_OK)
        *out = snd_intern_text(self->texts, id);
    return status;
}

/* Where a place of the debug information is in a source file; that of Cython's C files is in another one. */
static snd_status
keep_line(snd_native *self, const snd_libdw_place *found, snd_native_place *out)
{
    const char *source = NULL;
    snd_status status = snd_cython_find(&self->cython, found->file, found->line, &source, &out->line);

    if (source == NULL)
        out->line = found->line;
    return status != SND_OK ? status : keep_text(self, source == NULL ? found->file : source, &out->file);
}

static snd_status
keep_function(snd_native *self, const char *name, const char **out)
{
    char readable[SND_LIBDW_TEXT_SIZE];

    return keep_text(self, snd_cython_name(name, readable, sizeof readable) ? readable : name, out);
}

/* Fills the places; the function with code of its own has the name that the symbol table gives it. */
static snd_status
look_up(snd_native *self, uint64_t address, snd_native_place out[SND_NATIVE_PLACES], uint32_t *count)
{
    snd_libdw_place found[SND_NATIVE_PLACES];
    snd_symbol symbol;
    snd_status status = snd_symbols_find(self->symbols, address, &symbol);
    snd_libdw *libdw = libdw_here(self);
    unsigned known = libdw == NULL ? 0 : self->functions->describe(libdw, address, found, SND_NATIVE_PLACES);

    *count = known == 0 ? 1 : known;
    for (unsigned i = 0; i < *count && status == SND_OK; i++) {
        int is_last = i + 1 == *count;
        out[i].function = symbol.name;
        out[i].file = symbol.library;
        out[i].line = 0;
        if (i < known && found[i].line > 0)
            status = keep_line(self, &found[i], &out[i]);
        if (status == SND_OK && i < known && found[i].function[0] != '\0' && !(is_last && symbol.is_named))
            status = keep_function(self, found[i].function, &out[i].function);
    }
    return status;
}

static snd_status
keep_description(snd_native *self, uint64_t address, const snd_native_place *places, uint32_t count)
{
    if (!snd_make_room(&self->descriptions, self->description_count + 1, &self->description_capacity,
                       sizeof *self->descriptions))
        return SND_NO_MEMORY;
    description *made = snd_malloc(sizeof *made + count * sizeof made->places[0]);
    if (made == NULL)
        return SND_NO_MEMORY;
    snd_status status = snd_map_add(&self->described, address, self->description_count);
    if (status != SND_OK) {
        snd_free(made);
        return status;
    }
    made->count = count;
    memcpy(made->places, places, count * sizeof made->places[0]);
    self->descriptions[self->description_count++] = made;
    return SND_OK;
}

snd_status
snd_native_describe(snd_native *self, uint64_t address, snd_native_place out[SND_NATIVE_PLACES], size_t *count)
{
    uint32_t cursor = 0, found = snd_map_next(&self->described, address, &cursor);

    if (found != SND_MAP_NONE) {
        const description *known = self->descriptions[found];
        memcpy(out, known->places, known->count * sizeof out[0]);
        *count = known->count;
        return SND_OK;
    }
    uint32_t places;
    int is_known =
        snd_native_is_code(self, address); /* what was loaded meanwhile is looked for, but not at every address */
    snd_status status = look_up(self, address, out, &places);
    if (status != SND_OK)
        return status;
    *count = places;
    return is_known ? keep_description(self, address, out, places) : SND_OK;
}

/* ---- life ---- */

static snd_status
start(snd_native *self, const char *library)
{
    const snd_unwind_rule guess = snd_unwind_by_frame_pointer();
    uint32_t index;

    self->texts = snd_intern_new();
    if (self->texts == NULL)
        return SND_NO_MEMORY;
    snd_status status = snd_symbols_new(&self->symbols);
    if (status == SND_OK)
        status = keep_rule(self, &guess, &index); /* the first: GUESS */
    if (status != SND_OK)
        return status;
    open_library(self, library);
    return snd_native_refresh(self);
}

snd_status
snd_native_new(const char *library, snd_native **out)
{
    snd_native *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    snd_status status = start(self, library);
    if (status != SND_OK) {
        snd_native_free(self);
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_native_free(snd_native *self)
{
    if (self == NULL)
        return;
    snd_native_rest(self);
    if (self->library != NULL)
        dlclose(self->library);
    forget(self);
    snd_free((void *)self->descriptions);
    snd_free(self->rules);
    snd_map_free(&self->by_hash);
    snd_symbols_free(self->symbols);
    snd_cython_free(&self->cython);
    snd_intern_free(self->texts);
    snd_maps_free(&self->maps);
    snd_free(self);
}
