/* What threads waited for. One rule for all that shows it:
 *
 * - A thread that waited for more than 95% of the time in which it was seen is idle, except a process's main thread.
 *   Idle threads are one row, since a thread that is kept for later says nothing about what is slow.
 * - Waiting of others has a row for each line and reason, the line being the one that its time is charged to.
 * - Waiting for a processor is the machine's, not the program's: a sentence says how much that was, if it was much. */
#ifndef SND_VIEW_WAITING_H
#define SND_VIEW_WAITING_H

#include "base/buffer.h"
#include "view/sampled/samples.h"

/* Waiting at a line for one reason. */
typedef struct snd_waiting_row {
    const char *file; /* or what stands for code without a line, such as "[not seen]": then the line is 0 */
    uint32_t line;
    uint32_t function; /* of the samples; SND_NONE without a line */
    unsigned state;
    int is_idle; /* of idle threads */
    uint32_t threads;
    uint64_t ns;
} snd_waiting_row;

/* Read freely. */
typedef struct snd_waiting {
    snd_waiting_row *rows; /* those of idle threads last; the longest first */
    uint32_t count;
    unsigned char *is_idle; /* per track */
    uint32_t idle_count;    /* threads */
    uint64_t idle_ns;
    uint64_t others_ns;    /* waiting of threads that are not idle, but for a processor */
    uint64_t processor_ns; /* waiting for a processor, of all */
} snd_waiting;

/* Of a chosen thread or region, nothing is idle: it is what somebody wants to see. The caller owns what `*out` points
 * to, on SND_OK only. */
void snd_waiting_make(const snd_samples *samples, snd_waiting *out);

/* How many threads a track stands for. */
uint32_t snd_waiting_threads(const snd_profile_track *track);

/* "lock", "GIL", "I/O", "sleep", "other", "processor". */
const char *snd_waiting_reason(unsigned state);

/* Whether there is enough waiting in all samples for a summary to have a list of it. */
int snd_waiting_is_much(const snd_samples_numbers *all);

/* "the machine was busy: 41% of the time a runnable thread had no processor"; nothing where that was little, or few
 * samples were taken. */
void snd_waiting_put_busy(const snd_samples_numbers *all, snd_buffer *out);

#endif
