/* Files of other profilers as a profile. Nothing in them is trusted. */
#ifndef SND_FORMAT_IMPORT_H
#define SND_FORMAT_IMPORT_H

#include "base/buffer.h"
#include "model/profile.h"

/* The fact that threads of folded stacks are named after the first frames, which are kept as frames, too. */
#define SND_IMPORT_ROOTS "imported_roots"

/* Files that are larger are not read. */
#define SND_IMPORT_LIMIT ((size_t)256 << 20)

/* X(name, nanoseconds that one of it stands for; 0: it is no time). What the numbers of folded stacks may be. */
#define SND_IMPORT_UNIT_MAP(X) \
    X(us, 1000)                \
    X(ns, 1)                   \
    X(ms, 1000000)             \
    X(s, 1000000000)           \
    X(samples, 0)              \
    X(bytes, 0)

typedef enum snd_import_unit {
#define SND_IMPORT_UNIT_ENUM(name, ns) SND_IMPORT_##name,
    SND_IMPORT_UNIT_MAP(SND_IMPORT_UNIT_ENUM)
#undef SND_IMPORT_UNIT_ENUM
        SND_IMPORT_UNIT_COUNT
} snd_import_unit;

typedef struct snd_import_options {
    snd_import_unit unit; /* collapsed */
    uint64_t rate_hz;     /* collapsed, with --unit samples: samples per second */
    uint32_t node_limit;  /* collapsed: how many different stacks there may be; 0: 2^24 */
} snd_import_options;

/* X(name, what it is). A format is one file with snd_import_NAME in it, and a line here. */
#define SND_IMPORT_MAP(X)                                     \
    X(pstats, "functions and callers from Python's cProfile") \
    X(collapsed, "folded stacks, one per line")

/* Adds to an empty profile what the bytes say. SND_BAD_ARGUMENT: `problem` says why they do not. */
#define SND_IMPORT_DECLARE(name, about)                                                                         \
    SND_MUST_USE snd_status snd_import_##name(const char *data, size_t size, const snd_import_options *options, \
                                              snd_profile *profile, snd_buffer *problem);
SND_IMPORT_MAP(SND_IMPORT_DECLARE)
#undef SND_IMPORT_DECLARE

typedef struct snd_import {
    const char *name, *about;
    snd_status (*read)(const char *data, size_t size, const snd_import_options *options, snd_profile *profile,
                       snd_buffer *problem);
} snd_import;

extern const snd_import snd_imports[];
extern const unsigned snd_import_count;

/* NULL for an unknown name; for bytes that are neither. */
const snd_import *snd_import_find(const char *name);
const snd_import *snd_import_guess(const char *data, size_t size);

/* The facts about a recording that was made from another file. */
SND_MUST_USE snd_status snd_import_set_facts(snd_profile *profile, const char *file, const snd_import *how);

/* A thread of the profile and its root, which lasts `ns`. */
SND_MUST_USE snd_status snd_import_add_track(snd_profile *profile, const char *name, uint32_t *root);
SND_MUST_USE snd_status snd_import_end_track(snd_profile *profile, uint32_t root, uint64_t ns);

#endif
