/* The Python object around a profile. */
#ifndef SND_PYTHON_PROFILE_H
#define SND_PYTHON_PROFILE_H

#include "model/profile.h"
#include "python/module/state.h"

/* Takes the profile over, also when it fails. NULL with an exception set. */
PyObject *snd_profile_wrap(snd_state *state, snd_profile *profile);

/* Of a sonde._core.Profile, whose it stays. */
const snd_profile *snd_profile_of(PyObject *object);

#endif
