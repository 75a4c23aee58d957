#ifndef SND_PROBE_MEMORY_OPTIONS_H
#define SND_PROBE_MEMORY_OPTIONS_H

#include "base/attr.h"

#define SND_MEMORY_INTERVAL (128u << 10) /* bytes allocated from one look to the next, on average */

/* All zero: memory is not measured. */
typedef struct snd_memory_options {
    int on;
    int exact;         /* every block; copies are looked at as ever */
    uint64_t interval; /* bytes; 0: the usual */
} snd_memory_options;

#endif
