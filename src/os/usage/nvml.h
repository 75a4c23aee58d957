/* NVIDIA's management library: what its GPUs do for this process. It is loaded when it is there, and never needed. */
#ifndef SND_OS_USAGE_NVML_H
#define SND_OS_USAGE_NVML_H

#include "base/status.h"

/* Not thread-safe. */
typedef struct snd_nvml snd_nvml;

/* NULL: there is no such library, no GPU, or no memory; nothing is printed. The environment's SONDE_NVML may name
 * another library that has the same functions. */
SND_MUST_USE snd_nvml *snd_nvml_open(void);
void snd_nvml_close(snd_nvml *self); /* NULL is allowed */

/* For the child of a fork: the library's state belongs to the parent. */
void snd_nvml_forget(snd_nvml *self); /* NULL is allowed */

unsigned snd_nvml_count(const snd_nvml *self); /* GPUs */

typedef enum snd_nvml_answer {
    SND_NVML_NONE,    /* it does not say */
    SND_NVML_NOTHING, /* nothing new since the last question */
    SND_NVML_PROCESS, /* of this process */
    SND_NVML_DEVICE,  /* of all processes: the GPU does not tell them apart */
} snd_nvml_answer;

/* How much of the time since the last question the GPU worked, from 0 to 1. */
snd_nvml_answer snd_nvml_busy(snd_nvml *self, unsigned gpu, double *share);

/* Bytes that this process has there; 0 where it is not told. */
uint64_t snd_nvml_memory(snd_nvml *self, unsigned gpu);

#endif
