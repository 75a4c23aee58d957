/* What an ELF object says of its code. Its bytes are never trusted: what makes no sense is as if it were not there. */
#ifndef SND_OS_ELF_H
#define SND_OS_ELF_H

#include "base/status.h"

/* A part of an object as it lies in this process. */
typedef struct snd_elf_piece {
    uint64_t offset; /* in the file */
    uint64_t size;
    uint64_t address;
} snd_elf_piece;

/* Where an object's bytes come from: its file, or what is loaded of it when the file is no more. */
typedef struct snd_elf_source {
    int file;                    /* an open file; -1: the pieces */
    const snd_elf_piece *pieces; /* by offset */
    size_t piece_count;
    uint64_t size; /* of the file; offsets of all pieces are below it */
} snd_elf_source;

/* One loadable part. */
typedef struct snd_elf_segment {
    uint64_t offset;
    uint64_t size; /* in the file */
    uint64_t address;
} snd_elf_segment;

enum { SND_ELF_SEGMENTS = 16, SND_ELF_NAME_SIZE = 1024 };

/* The heads of an object: what is needed to read the rest. All addresses are the object's own, before it is loaded. */
typedef struct snd_elf {
    snd_elf_segment segments[SND_ELF_SEGMENTS];
    unsigned segment_count;
    uint64_t dynamic, dynamic_size; /* offset and size of the dynamic table; size 0: none */
    uint64_t starts, starts_size;   /* offset and size of .eh_frame_hdr; size 0: none */
    uint64_t sections;              /* offset of the section heads */
    uint32_t section_count;
} snd_elf;

/* A function with its name. */
typedef struct snd_elf_function {
    uint64_t address;
    uint64_t size;      /* 0: not said */
    uint64_t name_at;   /* offset in the source */
    uint32_t name_room; /* bytes from there to the end of the names */
    uint8_t binding;    /* as in elf.h: STB_LOCAL, STB_GLOBAL, STB_WEAK */
    const char *name;   /* valid while the visitor runs; may be longer than SND_ELF_NAME_SIZE */
} snd_elf_function;

/* Reads the heads. 0 when this is no object of this kind of process. */
SND_MUST_USE int snd_elf_open(const snd_elf_source *source, snd_elf *out);

/* Offset in the file → address in the object, and back. UINT64_MAX where nothing is loaded. */
uint64_t snd_elf_address(const snd_elf *self, uint64_t offset);
uint64_t snd_elf_offset(const snd_elf *self, uint64_t address);

/* Calls `visit` for every function of .symtab and .dynsym (many stand in both), in no order, until it says something
 * else than SND_OK, and says that. SND_NO_MEMORY when memory runs out. */
typedef snd_status snd_elf_visit(void *context, const snd_elf_function *function);
SND_MUST_USE snd_status snd_elf_each(const snd_elf *self, const snd_elf_source *source, snd_elf_visit *visit,
                                     void *context);

/* Where functions start by the table for exceptions, which stripping leaves in place: `*out` are addresses in
 * ascending order, freed by the caller; `*count` is 0 and `*out` NULL when there is no such table. */
SND_MUST_USE snd_status snd_elf_starts(const snd_elf *self, const snd_elf_source *source, uint64_t **out,
                                       size_t *count);

/* A name again, cut to fit. 0 when it cannot be read. */
SND_MUST_USE int snd_elf_name(const snd_elf_source *source, uint64_t name_at, uint32_t name_room,
                              char out[SND_ELF_NAME_SIZE]);

/* Bytes of the object. 0 when not all of them are there. */
SND_MUST_USE int snd_elf_read(const snd_elf_source *source, uint64_t offset, void *out, size_t size);

#endif
