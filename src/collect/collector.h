/* The collector: the thread that drains the tracks into the profile, and the profile into the files. */
#ifndef SND_COLLECT_COLLECTOR_H
#define SND_COLLECT_COLLECTOR_H

#include "collect/settings.h"
#include "collect/trace_file.h"
#include "store/writer.h"

typedef struct snd_collector snd_collector;

/* What the collector writes; it owns both, either may be NULL. */
typedef struct snd_outputs {
    snd_writer *recording;
    snd_trace_file *trace;
} snd_outputs;

/* Adds what is known of the run at this moment to the profile; called before every checkpoint. */
typedef snd_status snd_collector_describe(snd_profile *profile, uint64_t now, int is_last);

/* Takes the outputs over and starts the thread. `origin` is the start of the recording in ticks. */
SND_MUST_USE snd_status snd_collector_start(snd_outputs outputs, int with_timeline, uint64_t origin,
                                            snd_collector_describe *describe, snd_collector **out);

/* Wakes the thread for a checkpoint, after which it ends the process with `signal`. Safe in a signal handler. */
void snd_collector_save_and_raise(snd_collector *self, int signal);

/* At `at_ns` of the monotonic clock the thread calls `end`, which says when that was, in ticks, and writes the last
 * checkpoint: later ones write nothing. */
void snd_collector_end_at(snd_collector *self, uint64_t at_ns, uint64_t (*end)(void));

/* The measurement ended at this moment, in ticks; what is written later is of that moment. */
void snd_collector_ended(snd_collector *self, uint64_t ticks);

/* Ends the thread and starts it again, around a fork. Nothing is lost between. */
void snd_collector_pause(snd_collector *self);
void snd_collector_resume(snd_collector *self);

/* Ends the thread and writes the last checkpoint; NULL is allowed. The status is that of the checkpoint; `message`
 * gets a line for people when it is not SND_OK. Resume starts it again. */
snd_status snd_collector_finish(snd_collector *self, snd_buffer *message);

/* What the last checkpoint wrote. The caller owns it; the collector can only be freed then. */
snd_profile *snd_collector_take_profile(snd_collector *self);

/* Frees everything and touches no file. Its thread must have ended. NULL is allowed. */
void snd_collector_free(snd_collector *self);

/* ---- opening the files of a session ---- */

/* New files and their absolute paths; what was not asked for is NULL. */
typedef struct snd_opened_files {
    snd_outputs outputs;
    char *recording_path, *trace_path;
} snd_opened_files;

/* What a forked child has to know of its parent's files; all NULL: there is no parent. A child of the same name gets
 * its pid into its own. */
typedef struct snd_parent_files {
    const char *recording, *trace;
    const char *parts; /* the folder for its recording; NULL: where its parent's is */
} snd_parent_files;

/* Opens what the settings name. The caller owns what is opened. On failure nothing stays open and `message` has a line
 * for people. */
SND_MUST_USE snd_status snd_opened_files_open(const snd_settings *set, const snd_parent_files *taken,
                                              snd_opened_files *out, snd_buffer *message);
void snd_opened_files_close(snd_opened_files *self);

#endif
