/* The Python object around a profile. */
#ifndef SND_PYTHON_PROFILE_H
#define SND_PYTHON_PROFILE_H

#include "model/profile.h"
#include "python/module/state.h"
#include "view/core/view.h"

/* Takes the profile over, also when it fails. NULL with an exception set. */
PyObject *snd_profile_wrap(snd_state *state, snd_profile *profile);

/* The operators of a profile, less those of another (NULL: none), as sonde._core.OpAverages. NULL with an exception
 * set. */
PyObject *snd_profile_op_averages(snd_state *state, const snd_profile *now, const snd_profile *before,
                                  const snd_view_options *options);

#endif
