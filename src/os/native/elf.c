/* What an ELF object says of its code. */
#include "os/native/elf.h"

#include "base/alloc.h"
#include "os/peek.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tables beyond this are not believed. */
#define TABLE_LIMIT (UINT64_C(1) << 30)

enum { SYMBOLS_AT_ONCE = 512 };

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

/* A symbol table and its names. */
typedef struct table {
    uint64_t symbols, symbols_size;
    uint64_t names, names_size;
} table;

/* ---- bytes ---- */

static int
is_inside(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

static int
read_from_file(int file, uint64_t offset, unsigned char *out, size_t size)
{
    while (size > 0) {
        ssize_t done = pread(file, out, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return 0;
        out += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return 1;
}

/* Pieces overlap at their ends, where a page holds the end of one segment and the start of the next. */
static int
read_from_pieces(const snd_elf_source *source, uint64_t offset, unsigned char *out, size_t size)
{
    for (size_t i = 0; i < source->piece_count && size > 0; i++) {
        const snd_elf_piece *piece = &source->pieces[i];
        if (offset < piece->offset || offset - piece->offset >= piece->size)
            continue;
        uint64_t inside = offset - piece->offset;
        size_t part = piece->size - inside < size ? (size_t)(piece->size - inside) : size;
        if (!snd_peek(piece->address + inside, out, part))
            return 0;
        out += part;
        offset += part;
        size -= part;
    }
    return size == 0;
}

int
snd_elf_read(const snd_elf_source *source, uint64_t offset, void *out, size_t size)
{
    if (!is_inside(offset, size, source->size))
        return 0;
    return source->file >= 0 ? read_from_file(source->file, offset, out, size)
                             : read_from_pieces(source, offset, out, size);
}

/* A copy with a NUL behind it, freed by the caller. SND_NO_DATA when it cannot be read. */
static snd_status
read_block(const snd_elf_source *source, uint64_t offset, uint64_t size, unsigned char **out)
{
    if (size > TABLE_LIMIT || !is_inside(offset, size, source->size))
        return SND_NO_DATA;
    unsigned char *block = snd_malloc((size_t)size + 1);
    if (block == NULL)
        return SND_NO_MEMORY;
    if (!snd_elf_read(source, offset, block, (size_t)size)) {
        snd_free(block);
        return SND_NO_DATA;
    }
    block[size] = '\0';
    *out = block;
    return SND_OK;
}

/* ---- the heads ---- */

static void
note_segment(snd_elf *self, const Elf64_Phdr *head)
{
    if (head->p_type == PT_LOAD && self->segment_count < SND_ELF_SEGMENTS) {
        self->segments[self->segment_count++] = (snd_elf_segment){head->p_offset, head->p_filesz, head->p_vaddr};
    }
    else if (head->p_type == PT_DYNAMIC) {
        self->dynamic = head->p_offset;
        self->dynamic_size = head->p_filesz;
    }
    else if (head->p_type == PT_GNU_EH_FRAME) {
        self->starts = head->p_offset;
        self->starts_size = head->p_filesz;
    }
}

int
snd_elf_open(const snd_elf_source *source, snd_elf *out)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;

    *out = (snd_elf){0};
    if (!snd_elf_read(source, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != MACHINE ||
        head.e_phentsize != sizeof segment)
        return 0;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        uint64_t offset = head.e_phoff + i * sizeof segment;
        if (offset < head.e_phoff || !snd_elf_read(source, offset, &segment, sizeof segment))
            return 0;
        note_segment(out, &segment);
    }
    if (head.e_shentsize == sizeof(Elf64_Shdr)) {
        out->sections = head.e_shoff;
        out->section_count = head.e_shnum;
    }
    return 1;
}

uint64_t
snd_elf_address(const snd_elf *self, uint64_t offset)
{
    for (unsigned i = 0; i < self->segment_count; i++) {
        const snd_elf_segment *segment = &self->segments[i];
        if (offset >= segment->offset && offset - segment->offset < segment->size)
            return segment->address + (offset - segment->offset);
    }
    return UINT64_MAX;
}

uint64_t
snd_elf_offset(const snd_elf *self, uint64_t address)
{
    for (unsigned i = 0; i < self->segment_count; i++) {
        const snd_elf_segment *segment = &self->segments[i];
        if (address >= segment->address && address - segment->address < segment->size)
            return segment->offset + (address - segment->address);
    }
    return UINT64_MAX;
}

/* ---- functions ---- */

static snd_status
visit_symbol(const table *where, const Elf64_Sym *symbol, const unsigned char *names, snd_elf_visit *visit,
             void *context)
{
    /* The code of an indirect function only chooses: who runs is another. */
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= where->names_size || names[symbol->st_name] == '\0')
        return SND_OK;
    uint64_t room = where->names_size - symbol->st_name;
    snd_elf_function function = {
        .address = symbol->st_value,
        .size = symbol->st_size,
        .name_at = where->names + symbol->st_name,
        .name_room = room > SND_ELF_NAME_SIZE ? SND_ELF_NAME_SIZE : (uint32_t)room,
        .binding = ELF64_ST_BIND(symbol->st_info),
        .name = (const char *)names + symbol->st_name,
    };
    return visit(context, &function);
}

/* A table is read up to where it can be read. */
static snd_status
visit_table(const table *where, const snd_elf_source *source, snd_elf_visit *visit, void *context)
{
    Elf64_Sym symbols[SYMBOLS_AT_ONCE];
    unsigned char *names;
    uint64_t left = where->symbols_size / sizeof symbols[0], at = where->symbols;
    snd_status status = read_block(source, where->names, where->names_size, &names);

    if (status != SND_OK)
        return status == SND_NO_DATA ? SND_OK : status;
    while (left > 0 && status == SND_OK) {
        size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;
        if (!snd_elf_read(source, at, symbols, count * sizeof symbols[0]))
            break;
        for (size_t i = 0; i < count && status == SND_OK; i++)
            status = visit_symbol(where, &symbols[i], names, visit, context);
        at += count * sizeof symbols[0];
        left -= count;
    }
    snd_free(names);
    return status;
}

/* The tables that the section heads name, two at most. */
static unsigned
tables_of_sections(const snd_elf *self, const snd_elf_source *source, table out[2])
{
    unsigned found = 0;

    for (uint32_t i = 0; i < self->section_count && found < 2; i++) {
        Elf64_Shdr head, names;
        uint64_t offset = self->sections + i * sizeof head;
        if (!snd_elf_read(source, offset, &head, sizeof head))
            return found;
        if ((head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) || head.sh_entsize != sizeof(Elf64_Sym) ||
            head.sh_link >= self->section_count ||
            !snd_elf_read(source, self->sections + head.sh_link * sizeof names, &names, sizeof names))
            continue;
        if (names.sh_type == SHT_STRTAB && names.sh_size > 0)
            out[found++] = (table){head.sh_offset, head.sh_size, names.sh_offset, names.sh_size};
    }
    return found;
}

/* ---- the dynamic table: for an object of which only the loaded parts are left ---- */

/* The loader turns some addresses of a loaded dynamic table into those of the process. */
static uint64_t
offset_of_pointer(const snd_elf *self, const snd_elf_source *source, uint64_t pointer)
{
    uint64_t offset = snd_elf_offset(self, pointer);

    for (size_t i = 0; offset == UINT64_MAX && i < source->piece_count; i++) {
        const snd_elf_piece *piece = &source->pieces[i];
        if (pointer >= piece->address && pointer - piece->address < piece->size)
            return piece->offset + (pointer - piece->address);
    }
    return offset;
}

/* The number of symbols is that of the last one in the chains of the hash table. */
static uint64_t
count_by_hash(const snd_elf_source *source, uint64_t hash)
{
    uint32_t head[4], last = 0, link;

    if (!snd_elf_read(source, hash, head, sizeof head) || head[0] > TABLE_LIMIT / 4 || head[2] > TABLE_LIMIT / 8)
        return 0;
    uint64_t buckets = hash + sizeof head + head[2] * UINT64_C(8);
    uint64_t chains = buckets + head[0] * UINT64_C(4);
    for (uint32_t i = 0; i < head[0]; i++) {
        uint32_t first;
        if (!snd_elf_read(source, buckets + i * UINT64_C(4), &first, sizeof first))
            return 0;
        last = first > last ? first : last;
    }
    if (last < head[1])
        return 0;
    do {
        if (!snd_elf_read(source, chains + (last - head[1]) * UINT64_C(4), &link, sizeof link))
            return 0;
        last++;
    } while ((link & 1) == 0);
    return last;
}

static unsigned
table_of_dynamic(const snd_elf *self, const snd_elf_source *source, table *out)
{
    uint64_t symbols = 0, names = 0, names_size = 0, hash = 0;
    Elf64_Dyn entry;

    for (uint64_t at = 0; at + sizeof entry <= self->dynamic_size; at += sizeof entry) {
        if (!snd_elf_read(source, self->dynamic + at, &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        symbols = entry.d_tag == DT_SYMTAB ? entry.d_un.d_ptr : symbols;
        names = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : names;
        names_size = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : names_size;
        hash = entry.d_tag == DT_GNU_HASH ? entry.d_un.d_ptr : hash;
    }
    out->symbols = offset_of_pointer(self, source, symbols);
    out->names = offset_of_pointer(self, source, names);
    out->names_size = names_size;
    hash = offset_of_pointer(self, source, hash);
    if (out->symbols == UINT64_MAX || out->names == UINT64_MAX || hash == UINT64_MAX)
        return 0;
    out->symbols_size = count_by_hash(source, hash) * sizeof(Elf64_Sym);
    return 1;
}

snd_status
snd_elf_each(const snd_elf *self, const snd_elf_source *source, snd_elf_visit *visit, void *context)
{
    table tables[2];
    unsigned count = tables_of_sections(self, source, tables);

    if (count == 0)
        count = table_of_dynamic(self, source, &tables[0]);
    for (unsigned i = 0; i < count; i++) {
        snd_status status = visit_table(&tables[i], source, visit, context);
        if (status != SND_OK)
            return status;
    }
    return SND_OK;
}

int
snd_elf_name(const snd_elf_source *source, uint64_t name_at, uint32_t name_room, char out[SND_ELF_NAME_SIZE])
{
    size_t size = name_room < SND_ELF_NAME_SIZE ? name_room : SND_ELF_NAME_SIZE - 1;

    if (!snd_elf_read(source, name_at, out, size))
        return 0;
    out[size] = '\0';
    return out[0] != '\0';
}

/* ---- starts of functions ---- */

/* .eh_frame_hdr: a version, three encodings, where .eh_frame is, how many entries, then pairs of start and entry. The
 * linkers write all of it as 32-bit offsets, the pairs from the table itself. */
typedef struct starts_head {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    int32_t frame;
    uint32_t count;
} starts_head;

enum { ENCODING_UDATA4 = 0x03, ENCODING_PCREL_SDATA4 = 0x1b, ENCODING_DATAREL_SDATA4 = 0x3b };

snd_status
snd_elf_starts(const snd_elf *self, const snd_elf_source *source, uint64_t **out, size_t *count)
{
    starts_head head;
    unsigned char *pairs;

    *out = NULL;
    *count = 0;
    uint64_t base = snd_elf_address(self, self->starts);
    if (self->starts_size < sizeof head || base == UINT64_MAX ||
        !snd_elf_read(source, self->starts, &head, sizeof head) || head.version != 1 ||
        head.frame_encoding != ENCODING_PCREL_SDATA4 || head.count_encoding != ENCODING_UDATA4 ||
        head.table_encoding != ENCODING_DATAREL_SDATA4 || head.count == 0 ||
        head.count > (self->starts_size - sizeof head) / 8)
        return SND_OK;
    snd_status status = read_block(source, self->starts + sizeof head, head.count * UINT64_C(8), &pairs);
    if (status != SND_OK)
        return status == SND_NO_DATA ? SND_OK : status;
    uint64_t *starts = snd_malloc(head.count * sizeof *starts);
    if (starts == NULL) {
        snd_free(pairs);
        return SND_NO_MEMORY;
    }
    size_t used = 0;
    for (uint32_t i = 0; i < head.count; i++) {
        int32_t distance;
        memcpy(&distance, pairs + i * UINT64_C(8), sizeof distance);
        uint64_t start = base + (uint64_t)(int64_t)distance;
        if (used == 0 || start > starts[used - 1]) /* a table out of order is not searched but up to there */
            starts[used++] = start;
    }
    snd_free(pairs);
    *out = starts;
    *count = used;
    return SND_OK;
}
