/* How long code of the program's own was seen. */
#ifndef SND_VIEW_OWN_TIME_H
#define SND_VIEW_OWN_TIME_H

#include "model/profile.h"

/* Samples with a line of the program's own somewhere on their stack, running or waiting; or, without samples, its
 * functions themselves. */
SND_MUST_USE snd_status snd_own_time(const snd_profile *profile, uint64_t *ns);

#endif
