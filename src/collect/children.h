/* The processes that this one starts: whether they are measured, until when, and where they write. A forked child
 * inherits it all. */
#ifndef SND_COLLECT_CHILDREN_H
#define SND_COLLECT_CHILDREN_H

#include "collect/parts.h"
#include "collect/settings.h"

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
