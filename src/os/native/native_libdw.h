/* The door to libdw: a library of its own, libsonde-native.so, so that only who asks for native frames loads libdw. */
#ifndef SND_OS_NATIVE_LIBDW_H
#define SND_OS_NATIVE_LIBDW_H

#include "os/native/maps.h"
#include "os/native/unwind.h"

/* Not thread-safe. */
typedef struct snd_libdw snd_libdw;

enum { SND_LIBDW_TEXT_SIZE = 512 };

/* A place in source code. Texts are cut to fit; "" where the debug information does not say. */
typedef struct snd_libdw_place {
    char function[SND_LIBDW_TEXT_SIZE];
    char file[SND_LIBDW_TEXT_SIZE];
    uint32_t line; /* 0: not known */
} snd_libdw_place;

typedef struct snd_libdw_functions {
    const char *version; /* of sonde; another one is not used */

    /* `open_file(mapping)` opens the file of a mapping, if it still is the one that was loaded; else -1. NULL when
     * memory runs out. */
    snd_libdw *(*open)(int (*open_file)(void *context, const char *path, uint64_t start), void *context);
    void (*close)(snd_libdw *self);

    /* Takes over what is mapped now. 0 on failure. */
    int (*take_maps)(snd_libdw *self, const snd_maps *maps);

    /* The rule at an address; 0 when the code does not say, or says it in a way that we do not know. */
    int (*rule)(snd_libdw *self, uint64_t address, snd_unwind_rule *out);

    /* The functions at an address: the innermost inlined one first, the one that has code of its own last. Number of
     * places, at most `limit`; 0 without debug information. */
    unsigned (*describe)(snd_libdw *self, uint64_t address, snd_libdw_place *out, unsigned limit);
} snd_libdw_functions;

/* The one name that libsonde-native.so exports. */
extern const snd_libdw_functions snd_libdw_entry;

#endif
