/* A profile with operators, made by hand. */
#ifndef SND_TEST_FIXTURE_OPS_H
#define SND_TEST_FIXTURE_OPS_H

#include "model/profile.h"

/* A program /app/prog.py that ran for 100 ms. On main the region step (2 entries, 70 ms, 10 ms its own) with numpy.dot
 * of two shapes (lines 10 and 11), numpy.apply_along_axis (12 ms, in which the region inner runs for 6 ms, and of those
 * numpy.dot for 2 ms) and the region inner itself; outside of it numpy.add with casts (line 20). On worker numpy.add.
 * All self times, the roots' too, add up to the roots' totals. */
snd_profile *ops_profile(void);

/* An operator at a line of /app/prog.py, whose calls all took `each_ns`. */
uint32_t add_op(snd_profile *profile, uint32_t parent, const char *name, const char *detail, uint32_t line,
                uint64_t count, uint64_t each_ns, uint64_t self_ns);

/* A recording of it at `path`. */
void write_ops(const char *path);

#endif
