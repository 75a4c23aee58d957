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

/* Opens what the settings name. The `taken` paths (NULL: none) are a parent's: a child of the same name gets its pid
 * into its own. The caller owns what is opened. On failure nothing stays open and `message` has a line for people. */
SND_MUST_USE snd_status snd_opened_files_open(const snd_settings *set, const char *taken_recording,
                                              const char *taken_trace, snd_opened_files *out, snd_buffer *message);
void snd_opened_files_close(snd_opened_files *self);

#endif
