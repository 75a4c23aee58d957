/* One loaded object: the program, a library, the vDSO. */
#ifndef SND_OS_OBJECT_H
#define SND_OS_OBJECT_H

#include "os/native/elf.h"
#include "os/native/maps.h"

/* Not thread-safe. */
typedef struct snd_object snd_object;

/* Where a function is. All addresses are the object's own, before it is loaded. */
typedef struct snd_object_function {
    uint64_t start;
    uint64_t size; /* 0: not known */
    uint64_t name_at;
    uint32_t name_room;
    const char **kept; /* a place for the name, NULL at first, that is the caller's. NULL here: the function has no
                        * name, and `start` is where it starts as far as that is known */
} snd_object_function;

/* The object that `mapping`, one of `maps`, belongs to. Its tables are read when they are needed. */
SND_MUST_USE snd_status snd_object_new(const snd_maps *maps, const snd_mapping *mapping, snd_object **out);
void snd_object_free(snd_object *self); /* NULL is allowed */

int snd_object_is_of(const snd_object *self, const snd_mapping *mapping);
const char *snd_object_path(const snd_object *self);

/* Offset in the file → the object's own address; the offset itself when the file does not say. */
uint64_t snd_object_address(const snd_object *self, uint64_t offset);

/* The object's own address → where it is in the process; 0: nowhere in its code. */
uint64_t snd_object_place(const snd_object *self, const snd_maps *maps, uint64_t address);

/* The function at the object's own address. Reads the tables at the first call. */
SND_MUST_USE snd_status snd_object_find(snd_object *self, const snd_maps *maps, uint64_t address,
                                        snd_object_function *out);

/* From where to where the function reaches that the object's own address is in, by the table for exceptions, in which
 * each part of a function that the compiler has split stands by itself. `*end` is 0 for the last one, and both are
 * where there is no such table. */
SND_MUST_USE snd_status snd_object_extent(snd_object *self, const snd_maps *maps, uint64_t address, uint64_t *start,
                                          uint64_t *end);

/* The name of a function with a name. 0: the file is another one by now. */
SND_MUST_USE int snd_object_name(const snd_object *self, const snd_maps *maps, const snd_object_function *function,
                                 char out[SND_ELF_NAME_SIZE]);

/* The file of a mapping, opened for reading, when it still is the one that was loaded; else -1. The caller closes it.
 */
SND_MUST_USE int snd_object_file(const snd_maps *maps, const snd_mapping *mapping);

/* As snd_elf_each. */
SND_MUST_USE snd_status snd_object_each(const snd_object *self, const snd_maps *maps, snd_elf_visit *visit,
                                        void *context);

#endif
