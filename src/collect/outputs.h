/* Opening the files of a session. */
#ifndef SND_COLLECT_OUTPUTS_H
#define SND_COLLECT_OUTPUTS_H

#include "collect/collector.h"
#include "collect/settings.h"

/* New files and their absolute paths; what was not asked for is NULL. */
typedef struct snd_opened_files {
    snd_outputs outputs;
    char *recording_path, *trace_path;
} snd_opened_files;

/* What a forked child has to know of its parent's files; all NULL: there is no parent. A child of the same name gets
 * its pid into its own. */
typedef struct snd_taken {
    const char *recording, *trace;
    const char *parts; /* the folder for its recording; NULL: where its parent's is */
} snd_taken;

/* Opens what the settings name. The caller owns what is opened. On failure nothing stays open and `message` has a line
 * for people. */
SND_MUST_USE snd_status snd_opened_files_open(const snd_settings *set, const snd_taken *taken, snd_opened_files *out,
                                              snd_buffer *message);
void snd_opened_files_close(snd_opened_files *self);

#endif
