/* The processes that this one starts: whether they are measured, until when, and where they write. A forked child
 * inherits it all. */
#ifndef SND_COLLECT_CHILDREN_H
#define SND_COLLECT_CHILDREN_H

#include "collect/settings.h"

/* ---- their recordings: a folder beside this process's own, NAME.sonde.parts, out of which they come into that when it
 * ends ---- */

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

/* ---- this process and its children ---- */

/* What the settings say, for a measurement that writes to `recording` (absolute; NULL: nowhere). */
SND_MUST_USE snd_status snd_children_take(const snd_settings *set, const char *recording);

/* When the measurement ends, monotonic; 0: with the program. */
void snd_children_end_at(uint64_t end_ns);
uint64_t snd_children_end(void);

/* Whether a child that is forked now is to be measured. */
int snd_children_are_followed(void);

/* The folder of parts; NULL: each writes beside its parent. */
const char *snd_children_parts(void);

/* Takes the notes about processes that could not be followed into the recording, before the session's end. */
void snd_children_take_notes(void);

/* Counts what gathering would put together now. SND_OK where there are none. */
SND_MUST_USE snd_status snd_children_look(snd_parts_gathered *out);

/* Puts the parts into the recording that they belong to, after the session's end. SND_OK where that is not this
 * process's task, or done. */
snd_status snd_children_gather(snd_parts_gathered *out, snd_buffer *message);

/* Why a child has no recording of its own. A thread of ours may be the one that finds out, and only the program's have
 * its standard error: the text is copied, and one of those says it. */
void snd_children_keep_failure(const char *text);
void snd_children_say_failure(void);

#endif
