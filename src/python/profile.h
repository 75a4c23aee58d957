/* The Python object around a profile. */
#ifndef SND_PYTHON_PROFILE_H
#define SND_PYTHON_PROFILE_H

#include "model/profile.h"
#include "python/state.h"

/* Takes the profile over, also when it fails. NULL with an exception set. */
PyObject *snd_profile_wrap(snd_state *state, snd_profile *profile);

#endif
