/* Durations as people read them. */
#ifndef SND_BASE_DURATION_H
#define SND_BASE_DURATION_H

#include "base/attr.h"

#define SND_DURATION_SIZE 32u

/* Four digits and a unit: "31.18 ms", "419 ns". */
void snd_duration_text(uint64_t ns, char text[SND_DURATION_SIZE]);

#endif
