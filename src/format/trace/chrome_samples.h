/* Samples in a Chrome trace: what stands in consecutive samples of a thread is one slice, on a line of its own beside
 * the thread's regions. */
#ifndef SND_FORMAT_CHROME_SAMPLES_H
#define SND_FORMAT_CHROME_SAMPLES_H

#include "base/buffer.h"
#include "format/stacks/stacks.h"

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

#endif
