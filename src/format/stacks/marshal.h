/* What Python's module marshal wrote, as far as pstats needs it: numbers, texts, tuples and dictionaries. */
#ifndef SND_FORMAT_MARSHAL_H
#define SND_FORMAT_MARSHAL_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum snd_marshal_type {
    SND_MARSHAL_WHOLE,
    SND_MARSHAL_REAL,
    SND_MARSHAL_TEXT,
    SND_MARSHAL_TUPLE,
    SND_MARSHAL_DICT,
} snd_marshal_type;

typedef struct snd_marshal_value {
    snd_marshal_type type;
    int is_open;    /* a container that is not read to its end */
    uint32_t first; /* of a container: its first element; of a dictionary keys and values in turn; UINT32_MAX: none */
    uint32_t next;  /* the next element of the container this one is in; UINT32_MAX: none */
    uint32_t count; /* elements */
    union {
        int64_t whole;
        double real;
        struct {
            const char *start; /* in the bytes that were read; not ended by NUL */
            size_t size;
        } text;
    } as;
} snd_marshal_value;

/* Read freely. All zero is empty. */
typedef struct snd_marshal {
    snd_marshal_value *values; /* the whole is the first */
    uint32_t count, capacity;
    uint32_t *references; /* values that may be referred to, in their order */
    uint32_t reference_count, reference_capacity;
} snd_marshal;

/* `data` must outlive the values. SND_BAD_ARGUMENT: `*problem` says why these bytes are not what we read. Free in any
 * case. */
SND_MUST_USE snd_status snd_marshal_read(snd_marshal *self, const void *data, size_t size, const char **problem);
void snd_marshal_free(snd_marshal *self);

#endif
