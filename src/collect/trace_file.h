/* A Chrome trace that grows while the program runs, and is whole JSON after every write. */
#ifndef SND_COLLECT_TRACE_FILE_H
#define SND_COLLECT_TRACE_FILE_H

#include "model/profile.h"

/* One thread at a time. Between calls no file is open. */
typedef struct snd_trace_file snd_trace_file;

/* Creates the file at `path` (absolute). The caller owns it. On SND_SYSTEM errno says why. */
SND_MUST_USE snd_status snd_trace_file_open(const char *path, const snd_profile *profile, snd_trace_file **out);
void snd_trace_file_free(snd_trace_file *self); /* NULL is allowed; writes nothing */
const char *snd_trace_file_path(const snd_trace_file *self);

/* Keeps the event for the next write. 0 when memory runs out. */
int snd_trace_file_add(snd_trace_file *self, const snd_profile *profile, const snd_profile_event *event);
size_t snd_trace_file_pending(const snd_trace_file *self); /* bytes of such events */

/* Writes what is kept; slices of samples end here and begin anew. On failure it stays kept for the next write. */
SND_MUST_USE snd_status snd_trace_file_write(snd_trace_file *self, const snd_profile *profile);

#endif
