/* Amounts of memory as people read them. */
#ifndef SND_BASE_BYTES_H
#define SND_BASE_BYTES_H

#include "base/attr.h"

#define SND_BYTES_SIZE 32u

/* Three digits and a unit, powers of 1024: "12.3 MiB", "419 B". */
void snd_bytes_text(uint64_t bytes, char text[SND_BYTES_SIZE]);

/* A real number of bytes as a whole one: 0 for what is none or negative, at most INT64_MAX. */
uint64_t snd_bytes_of(double bytes);

#endif
