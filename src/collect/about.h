/* What every recording says of the run it is of, and the source files it has. */
#ifndef SND_COLLECT_ABOUT_H
#define SND_COLLECT_ABOUT_H

#include "collect/settings.h"

/* Texts belong to somebody else. */
typedef struct snd_about {
    const snd_settings *set;
    const char *note;              /* NULL: nothing to say */
    const char *working_directory; /* when the measurement began; "": unknown */
    uint64_t start_realtime_ns, start_monotonic_ns;
    uint64_t cpu_before_ns; /* what the process had used when the measurement began */
    uint64_t length_ns;
    int is_complete; /* the measurement is over */
} snd_about;

SND_MUST_USE snd_status snd_about_describe(const snd_about *self, snd_profile *profile);

/* The program's source files go into the recording as they are when a line of theirs is first seen: its own with their
 * text, those of libraries with their size and digest, by which a reader knows them again. Adds the files of lines
 * among the sites from `*from` on, which moves to the end. What cannot be read, or is too large, is left out. */
SND_MUST_USE snd_status snd_sources_add(snd_profile *profile, uint32_t *from);

#endif
