/* Room: timelines for trace viewers. */
/* Chrome trace events, one by one, for whoever streams them. */
#ifndef SND_FORMAT_CHROME_H
#define SND_FORMAT_CHROME_H

#include "base/buffer.h"
#include "format/stacks/stacks.h"

/* ---- samples in a Chrome trace ---- */

typedef struct snd_chrome_line snd_chrome_line;

/* All zero is ready for the first sample. Not thread-safe. */
typedef struct snd_chrome_samples {
    snd_stacks stacks;
    snd_chrome_line *lines; /* per track */
    uint32_t line_count;
    uint64_t gap_ns; /* a slice does not reach over a longer time without a sample */
} snd_chrome_samples;

void snd_chrome_samples_free(snd_chrome_samples *self);

/* Takes the next sample of its thread and appends the slices that end with it, each behind SND_CHROME_COMMA. The
 * profile may have grown since the last call. */
SND_MUST_USE snd_status snd_chrome_samples_add(snd_chrome_samples *self, const snd_profile *profile,
                                               const snd_profile_event *event, snd_buffer *out);

/* Appends the slices that are still open, up to the last sample of their thread. */
void snd_chrome_samples_close(snd_chrome_samples *self, const snd_profile *profile, snd_buffer *out);

/* What every trace starts and ends with; between them events, all but the first preceded by SND_CHROME_COMMA. */
#define SND_CHROME_HEAD "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
#define SND_CHROME_COMMA ",\n"
#define SND_CHROME_TAIL "\n]}\n"

/* The name of the process; of a thread. */
void snd_chrome_process(const snd_profile *profile, snd_buffer *out);
void snd_chrome_thread(const snd_profile *profile, uint32_t track, snd_buffer *out);

/* A region, a mark or a counter's value. A region of a coroutine or generator is an asynchronous event: those of one
 * thread overlap. */
void snd_chrome_event(const snd_profile *profile, const snd_profile_event *event, snd_buffer *out);

/* What all entries of one region on one thread begin with, and the rest of such an entry: for millions of them. */
void snd_chrome_prefix(const snd_profile *profile, uint32_t node, snd_buffer *out);
void snd_chrome_rest(const snd_profile_event *event, snd_buffer *out);

#endif
