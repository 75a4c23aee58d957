/* The text of the program's own files goes into the recording, as it is when a line of theirs is first seen. */
#ifndef SND_COLLECT_SOURCES_H
#define SND_COLLECT_SOURCES_H

#include "model/profile.h"

/* Adds the files of lines among the sites from `*from` on, which moves to the end. What cannot be read, or is too
 * large, is left out. */
SND_MUST_USE snd_status snd_sources_add(snd_profile *profile, uint32_t *from);

#endif
