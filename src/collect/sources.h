/* The program's source files go into the recording as they are when a line of theirs is first seen: its own with their
 * text, those of libraries with their size and digest, by which a reader knows them again. */
#ifndef SND_COLLECT_SOURCES_H
#define SND_COLLECT_SOURCES_H

#include "model/profile.h"

/* Adds the files of lines among the sites from `*from` on, which moves to the end. What cannot be read, or is too
 * large, is left out. */
SND_MUST_USE snd_status snd_sources_add(snd_profile *profile, uint32_t *from);

#endif
