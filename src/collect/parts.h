/* The recordings of the processes that a measured program started: a folder beside its own, NAME.sonde.parts, out of
 * which they come into the program's recording when it ends. */
#ifndef SND_COLLECT_PARTS_H
#define SND_COLLECT_PARTS_H

#include "base/buffer.h"

#define SND_PARTS_SUFFIX ".parts"

/* A new path in the folder, which is made if it is missing. The caller frees it. NULL when memory runs out. */
char *snd_part_path(const char *folder);

/* What was found in a folder of parts. */
typedef struct snd_parts_gathered {
    uint32_t parts;       /* those in the recording now, its own not counted */
    uint32_t running;     /* left, as their processes have not ended */
    uint32_t lost;        /* removed, as nothing was in them */
    uint64_t measured_ns; /* CPU time that the parts are about */
} snd_parts_gathered;

/* Counts what snd_parts_gather would put together now, and changes nothing. */
SND_MUST_USE snd_status snd_parts_look(const char *folder, snd_parts_gathered *out);

/* Puts the parts of processes that have ended into the recording that the folder is named after, and removes them, and
 * the folder once it is empty. On failure all stay; `message` has a line for people. */
SND_MUST_USE snd_status snd_parts_gather(const char *folder, snd_parts_gathered *out, snd_buffer *message);

#endif
