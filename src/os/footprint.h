/* How much memory this process has. */
#ifndef SND_OS_FOOTPRINT_H
#define SND_OS_FOOTPRINT_H

#include "base/attr.h"

/* Bytes in main memory; 0 where the system does not say. Opens a file and closes it. */
uint64_t snd_footprint_rss(void);

#endif
