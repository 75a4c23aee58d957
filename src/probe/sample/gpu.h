/* What the GPUs do for this process. A thread of the sampler's asks ten times a second, and charges the answer to the
 * place where the main thread is. */
#ifndef SND_PROBE_GPU_H
#define SND_PROBE_GPU_H

#include "model/profile.h"

#define SND_GPU_PERIOD_NS 100000000u /* from one question to the next */

typedef struct snd_gpu_reading {
    uint64_t elapsed_ns; /* since the last answer */
    uint64_t busy_ns;    /* of that, over all GPUs */
    uint64_t memory;     /* bytes, now */
} snd_gpu_reading;

/* 0: there is none that says what it does; then nothing here costs anything. What was seen before stays. Between start
 * and stop it does nothing. Stops only when nobody asks. */
int snd_gpu_start(void);
void snd_gpu_stop(void);

/* What was done until now is not ours to tell. */
void snd_gpu_rebase(uint64_t now_ns);

/* Looks when it is time to. 0: it is not, or there is no GPU. A question to the driver takes up to a millisecond, so
 * the sampler's lock is not held. One thread at a time. */
int snd_gpu_read(uint64_t now_ns, snd_gpu_reading *out);

/* The series "gpu" (per cent of one GPU) and "gpu_memory" (bytes), if there is a GPU. Thread-safe. */
SND_MUST_USE snd_status snd_gpu_describe(snd_profile *profile, uint64_t origin_ns);

/* Forgets what was seen. Thread-safe. */
void snd_gpu_clear(void);

#endif
