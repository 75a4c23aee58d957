/* The door to libdw. Its own allocations are libdw's; there are hardly any of ours. */
#include "os/native/native_libdw.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 64 }; /* of blocks and inlined functions in each other */

struct snd_libdw {
    Dwfl *dwfl;
    int (*open_file)(void *context, const char *path, uint64_t start);
    void *context;
};

/* ---- modules ---- */

/* libdw asks for the file of a module when it first needs it. */
static int
find_file(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr start, char **path, Elf **elf)
{
    snd_libdw *self = *userdata;
    Dwarf_Addr end;

    if (name[0] != '/') { /* the vDSO, which is whole in memory */
        dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
        *elf = elf_memory((char *)(uintptr_t)start, (size_t)(end - start));
        return -1;
    }
    int file = self->open_file(self->context, name, start);
    if (file >= 0)
        *path = strdup(name);
    return file;
}

/* Debug information in a file of its own, as distributions install it. libdw's own search may ask servers. */
static int
find_debug_file(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
                const char *link, GElf_Word checksum, char **path)
{
    static const char folder[] = "/usr/lib/debug/.build-id/";
    const unsigned char *id;
    GElf_Addr where;
    char text[160];

    (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)checksum;
    int size = dwfl_module_build_id(module, &id, &where);
    if (size < 2 || size > 40)
        return -1;
    int len = snprintf(text, sizeof text, "%s%02x/", folder, id[0]);
    for (int i = 1; i < size; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%02x", id[i]);
    snprintf(text + len, sizeof text - (size_t)len, ".debug");
    int found = open(text, O_RDONLY | O_CLOEXEC);
    if (found >= 0)
        *path = strdup(text);
    return found;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_file, .find_debuginfo = find_debug_file};

static snd_libdw *
open_libdw(int (*open_file)(void *context, const char *path, uint64_t start), void *context)
{
    snd_libdw *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->open_file = open_file;
    self->context = context;
    self->dwfl = dwfl_begin(&callbacks);
    if (self->dwfl == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

static void
close_libdw(snd_libdw *self)
{
    if (self == NULL)
        return;
    dwfl_end(self->dwfl);
    free(self);
}

static int
report(snd_libdw *self, const char *path, uint64_t start, uint64_t end)
{
    void **userdata;
    Dwfl_Module *module = dwfl_report_module(self->dwfl, path, start, end);
    if (module == NULL)
        return 0;
    dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
    *userdata = self;
    return 1;
}

/* A module reaches from the mapping of the start of a file to the last of it that has code or data. Modules that were
 * there before stay as they are, with all that libdw knows of them. */
static int
take_maps(snd_libdw *self, const snd_maps *maps)
{
    int is_whole = 1;

    dwfl_report_begin(self->dwfl);
    for (size_t i = 0; i < maps->count;) {
        const snd_mapping *first = &maps->items[i];
        uint64_t end = first->end;
        int has_code = first->is_code;
        for (i++; i < maps->count && maps->items[i].file == first->file && maps->items[i].offset > first->offset &&
                  strcmp(maps->items[i].path, first->path) == 0;
             i++) {
            end = maps->items[i].end;
            has_code |= maps->items[i].is_code;
        }
        if (has_code && first->offset == 0 && (first->path[0] == '/' || strcmp(first->path, "[vdso]") == 0))
            is_whole &= report(self, first->path, first->start, end);
    }
    return dwfl_report_end(self->dwfl, NULL, NULL) == 0 && is_whole;
}

/* ---- rules ---- */

/* A register plus a number. */
static int
is_based(const Dwarf_Op *op, unsigned *base, int64_t *offset)
{
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *base = op->atom - DW_OP_breg0;
        *offset = (int64_t)op->number;
    }
    else if (op->atom == DW_OP_bregx) {
        *base = (unsigned)op->number;
        *offset = (int64_t)op->number2;
    }
    else
        return 0;
    return *base < SND_REGISTER_COUNT && *offset >= INT32_MIN && *offset <= INT32_MAX;
}

/* What linkers write for a linkage table: sp + 8 + (((pc & 15) >= threshold) << 3). */
static int
is_linkage_table(const Dwarf_Op *ops, size_t count)
{
    static const uint8_t shape[] = {DW_OP_and, 0, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
    unsigned base;
    int64_t offset;

    if (count != 9 || !is_based(&ops[1], &base, &offset) || base != SND_REGISTER_PC || offset != 0 ||
        ops[2].atom != DW_OP_lit15 || ops[4].atom < DW_OP_lit0 || ops[4].atom > DW_OP_lit15)
        return 0;
    for (size_t i = 0; i < sizeof shape; i++)
        if (shape[i] != 0 && ops[3 + i].atom != shape[i])
            return 0;
    return 1;
}

static int
read_base(Dwarf_Frame *frame, snd_unwind_rule *out)
{
    Dwarf_Op *ops;
    size_t count;
    unsigned base;
    int64_t offset;

    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0 || !is_based(&ops[0], &base, &offset))
        return 0;
    out->base = (uint8_t)base;
    out->base_offset = (int32_t)offset;
    if (count == 1) {
        out->base_kind = SND_BASE_REGISTER;
    }
    else if (count == 2 && ops[1].atom == DW_OP_deref) {
        out->base_kind = SND_BASE_MEMORY;
    }
    else if (is_linkage_table(ops, count)) {
        out->base_kind = SND_BASE_PLT;
        out->threshold = (uint8_t)(ops[4].atom - DW_OP_lit0);
    }
    else
        return 0;
    return 1;
}

/* The forms in which libdw gives a register: base, base + number, either as a value, a register + number. */
static int
read_move(const Dwarf_Op *ops, size_t count, snd_move *out)
{
    unsigned base;
    int64_t offset = 0;

    if (ops[0].atom != DW_OP_call_frame_cfa)
        return 0;
    out->kind = SND_MOVE_SAVED;
    if (count > 1 && ops[count - 1].atom == DW_OP_stack_value) {
        out->kind = SND_MOVE_BASE;
        count--;
    }
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
        offset = (int64_t)ops[1].number;
    }
    else if (count == 2 && out->kind == SND_MOVE_SAVED && is_based(&ops[1], &base, &offset)) {
        out->kind = SND_MOVE_BASED;
        out->from = (uint8_t)base;
    }
    else if (count != 1)
        return 0;
    out->offset = (int32_t)offset;
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* 0 when a register that matters is where we cannot follow it. */
static int
read_moves(Dwarf_Frame *frame, snd_unwind_rule *out)
{
    for (unsigned i = 0; i < SND_REGISTER_COUNT; i++) {
        Dwarf_Op memory[3], *ops;
        size_t count;
        if (dwarf_frame_register(frame, (int)i, memory, &ops, &count) != 0)
            continue;
        if (count == 0) { /* lost, or as it was: to be lost matters for the way back only */
            out->is_outermost |= ops == memory && i == out->return_register;
            continue;
        }
        snd_move *move = &out->moves[out->move_count];
        if (!read_move(ops, count, move)) {
            if (i == out->return_register || i == SND_REGISTER_SP)
                return 0;
            memset(move, 0, sizeof *move);
            continue;
        }
        move->target = (uint8_t)i;
        out->move_count++;
    }
    return 1;
}

static int
read_rule(snd_libdw *self, uint64_t address, snd_unwind_rule *out)
{
    Dwarf_Addr bias;
    Dwarf_Frame *frame;
    bool is_signal = false;

    memset(out, 0, sizeof *out);
    Dwfl_Module *module = dwfl_addrmodule(self->dwfl, address);
    Dwarf_CFI *information = module == NULL ? NULL : dwfl_module_eh_cfi(module, &bias);
    if (information == NULL || dwarf_cfi_addrframe(information, address - bias, &frame) != 0)
        return 0;
    int back = dwarf_frame_info(frame, NULL, NULL, &is_signal);
    out->is_signal = is_signal;
    out->return_register = (uint8_t)back;
    int is_known = back >= 0 && back < SND_REGISTER_COUNT && read_base(frame, out) && read_moves(frame, out);
    free(frame);
    return is_known;
}

/* ---- places ---- */

static void
copy_text(char out[SND_LIBDW_TEXT_SIZE], const char *text)
{
    snprintf(out, SND_LIBDW_TEXT_SIZE, "%s", text == NULL ? "" : text);
}

/* The full path of a file of a unit. */
static void
copy_path(char out[SND_LIBDW_TEXT_SIZE], Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;

    if (file == NULL || file[0] == '/') {
        copy_text(out, file);
        return;
    }
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (folder == NULL)
        copy_text(out, file);
    else
        snprintf(out, SND_LIBDW_TEXT_SIZE, "%s/%s", folder, file);
}

/* clang writes no table of the addresses of units: then they are gone through. */
static Dwarf_Die *
find_unit(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) == 1)
            return unit;
    return NULL;
}

/* The line that `die`, an inlined function, was called from. */
static void
copy_call(snd_libdw_place *out, Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) == 0)
        out->line = (uint32_t)line;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0)
        copy_path(out->file, unit, dwarf_filesrc(files, file, NULL, NULL));
}

/* The child of `parent` that holds the address; 0: none does. libdw has functions for this, but they look into every
 * child: five times the time in a large function. */
static int
find_child(Dwarf_Die *parent, uint64_t address, Dwarf_Die *out)
{
    for (int end = dwarf_child(parent, out); end == 0; end = dwarf_siblingof(out, out)) {
        Dwarf_Die space = *out;
        int tag = dwarf_tag(out);
        if (tag == DW_TAG_namespace && find_child(&space, address, out))
            return 1;
        if (tag == DW_TAG_namespace)
            *out = space;
        else if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                 dwarf_haspc(out, address) == 1)
            return 1;
    }
    return 0;
}

/* The functions around an address, the outermost first. */
static unsigned
find_functions(Dwarf_Die *unit, uint64_t address, Dwarf_Die out[DEPTH])
{
    Dwarf_Die parent = *unit, child;
    unsigned count = 0;

    for (unsigned depth = 0; depth < DEPTH && count < DEPTH && find_child(&parent, address, &child); depth++) {
        if (dwarf_tag(&child) != DW_TAG_lexical_block)
            out[count++] = child;
        parent = child;
    }
    return count;
}

/* Places from the innermost outwards. out[0] has the line of the address; a function that others were inlined into is
 * where that happened. */
static unsigned
copy_functions(Dwarf_Die *unit, uint64_t address, snd_libdw_place *out, unsigned limit)
{
    Dwarf_Die functions[DEPTH];
    unsigned found = find_functions(unit, address, functions);
    unsigned count = found < limit ? found : limit;

    for (unsigned i = 0; i < count; i++) {
        unsigned place = count - 1 - i;
        if (i + 1 < found) {
            memset(&out[place], 0, sizeof out[place]);
            copy_call(&out[place], unit, &functions[i + 1]);
        }
        copy_text(out[place].function, dwarf_diename(&functions[i]));
    }
    return count == 0 ? 1 : count;
}

static unsigned
describe(snd_libdw *self, uint64_t address, snd_libdw_place *out, unsigned limit)
{
    Dwarf_Addr bias = 0;
    Dwfl_Module *module = dwfl_addrmodule(self->dwfl, address);
    Dwarf_Die *unit = module == NULL || limit == 0 ? NULL : find_unit(module, address, &bias);
    int line = 0;

    if (unit == NULL)
        return 0;
    memset(&out[0], 0, sizeof out[0]);
    Dwarf_Line *at = dwarf_getsrc_die(unit, address - bias);
    if (at != NULL && dwarf_lineno(at, &line) == 0) {
        out[0].line = line > 0 ? (uint32_t)line : 0;
        copy_path(out[0].file, unit, dwarf_linesrc(at, NULL, NULL));
    }
    return copy_functions(unit, address - bias, out, limit);
}

__attribute__((visibility("default"))) const snd_libdw_functions snd_libdw_entry = {
    .version = SND_VERSION,
    .open = open_libdw,
    .close = close_libdw,
    .take_maps = take_maps,
    .rule = read_rule,
    .describe = describe,
};
