/* Chrome trace events, one by one, for whoever streams them. */
#ifndef SND_FORMAT_CHROME_H
#define SND_FORMAT_CHROME_H

#include "model/profile.h"
#include "store/chunk.h"

/* What every trace starts and ends with; between them events, all but the first preceded by SND_CHROME_COMMA. */
#define SND_CHROME_HEAD "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
#define SND_CHROME_COMMA ",\n"
#define SND_CHROME_TAIL "\n]}\n"

/* The name of the process; of a thread. */
void snd_chrome_process(const snd_profile *profile, snd_buffer *out);
void snd_chrome_thread(const snd_profile *profile, uint32_t track, snd_buffer *out);

/* A region or a counter's value. A region of a coroutine or generator is an asynchronous event: those of one thread
 * overlap. */
void snd_chrome_event(const snd_profile *profile, uint32_t track, const snd_chunk_event *event, snd_buffer *out);

/* What all entries of one region on one thread begin with, and the rest of such an entry: for millions of them. */
void snd_chrome_prefix(const snd_profile *profile, uint32_t node, snd_buffer *out);
void snd_chrome_rest(const snd_chunk_event *event, snd_buffer *out);

#endif
