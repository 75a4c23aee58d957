/* A profile without its operators: for views of regions, where an operator's time is its region's own. */
#ifndef SND_VIEW_FOLD_H
#define SND_VIEW_FOLD_H

#include "model/profile.h"

/* A profile with the same sites and tracks, its roots, regions and counters, in which a region inside an operator
 * stands below the region around that. The caller owns it. `*out` is NULL where there are no operators: the profile
 * itself will do. Facts, events and samples are not part of it. */
SND_MUST_USE snd_status snd_fold_ops(const snd_profile *profile, snd_profile **out);

#endif
