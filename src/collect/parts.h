/* The recordings of the processes that a measured program started: a folder beside its own, NAME.sonde.parts, out of
 * which they come into the program's recording when it ends. */
#ifndef SND_COLLECT_PARTS_H
#define SND_COLLECT_PARTS_H

#include "base/buffer.h"

#define SND_PARTS_SUFFIX ".parts"

/* Before the recording at `path` is created: takes away what an older one of that name has left in its folder of parts.
 * A line in `message`, and SND_NOT_OURS, when something stands there that this user did not make, or that is still
 * written to. */
SND_MUST_USE snd_status snd_parts_clear(const char *path, snd_buffer *message);

/* Makes the folder for this user alone, or finds the one that a process of this measurement has made. Else a line in
 * `message`. */
SND_MUST_USE snd_status snd_parts_make(const char *folder, snd_buffer *message);

/* A new path in the folder, which is made so. The caller frees it. */
SND_MUST_USE snd_status snd_part_path(const char *folder, char **out, snd_buffer *message);

/* What was found in a folder of parts. */
typedef struct snd_parts_gathered {
    uint32_t parts;       /* those in the recording now, its own not counted */
    uint32_t running;     /* left, as their processes have not ended */
    uint32_t lost;        /* removed: their processes were killed before the first checkpoint */
    uint32_t unread;      /* left, as they cannot be read */
    uint32_t others;      /* files that are no parts; they are left, too */
    uint64_t measured_ns; /* CPU time that the parts are about */
} snd_parts_gathered;

/* Counts what snd_parts_gather would put together now, and changes nothing. */
SND_MUST_USE snd_status snd_parts_look(const char *folder, snd_parts_gathered *out);

/* Puts the parts of processes that have ended into the recording that the folder is named after, and removes them and
 * their journals, and the folder once it is empty. On failure all stay. `message` has a line for people then, and where
 * something is left that cannot be read or is no part. */
SND_MUST_USE snd_status snd_parts_gather(const char *folder, snd_parts_gathered *out, snd_buffer *message);

/* The file in the folder in which processes that could not be followed are named, a line each. */
#define SND_PARTS_NOTES "not-followed"

#endif
