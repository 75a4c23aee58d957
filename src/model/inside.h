/* A part of a profile: what happened inside regions of one name. */
#ifndef SND_MODEL_INSIDE_H
#define SND_MODEL_INSIDE_H

#include "model/profile.h"

/* Regions called `region` with everything that stands below them: samples, memory, operators, regions. What stands
 * above them has no numbers, but for the root of a track, whose total is that of these regions; so is the length. Facts
 * that are sums of the whole process, its numbers over time, blocks by size and events are not part of it. The caller
 * owns it. SND_NO_DATA when there is no such region. */
SND_MUST_USE snd_status snd_profile_inside(const snd_profile *profile, const char *region, snd_profile **out);

#endif
