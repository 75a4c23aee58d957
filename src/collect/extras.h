/* What only the program's side knows of a run: further facts, texts of sources that are no files, names for files. */
#ifndef SND_COLLECT_EXTRAS_H
#define SND_COLLECT_EXTRAS_H

#include "model/profile.h"

/* A further fact for the recording, until the session stops. Both texts are copied. Thread-safe, as the others are. */
SND_MUST_USE snd_status snd_extras_set_info(const char *key, const char *value);

/* The text of a source that is no file: a cell of a notebook, python -c. Copied. */
SND_MUST_USE snd_status snd_extras_add_source(const char *file, const char *text, size_t size);

/* What a file is called in sites from now on, until the session stops: `In[3]` for a cell of a notebook. Copied. */
SND_MUST_USE snd_status snd_extras_name_file(const char *file, const char *name);

/* Gives the files of a profile's sites those names. */
SND_MUST_USE snd_status snd_extras_rename_files(snd_profile *profile);

/* Adds everything to a profile that has not got it. */
SND_MUST_USE snd_status snd_extras_add(snd_profile *profile);

void snd_extras_forget(void);

#endif
