/* The memory that is live in a profile, for snapshots. */
#ifndef SND_PYTHON_LIVE_H
#define SND_PYTHON_LIVE_H

#include "model/profile.h"
#include "python/module/state.h"

/* A list of (bytes, blocks, ((file, line), …)), innermost frame first and the largest row first, by "lineno",
 * "filename" or "traceback". NULL with an exception set. */
PyObject *snd_profile_live(const snd_profile *profile, PyObject *name);

#endif
