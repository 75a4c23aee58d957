/* The probes of a session: the one place that knows all of them. */
#ifndef SND_COLLECT_PROBES_H
#define SND_COLLECT_PROBES_H

#include "base/buffer.h"
#include "probe/core/probe.h"

/* Stops those that are not wanted and starts the others, up to the first that fails. */
SND_MUST_USE snd_status snd_probes_start(const snd_probe_wishes *wishes);
void snd_probes_stop(void);
void snd_probes_release(void);

/* The sampler and what hangs on it; the session goes on. */
void snd_probes_stop_samples(void);

/* As in probe/core/probe.h, for each of them. */
void snd_probes_pause(int paused);
void snd_probes_end(void);
void snd_probes_reset(void);
void snd_probes_clear(void);
void snd_probes_suspend(void);
void snd_probes_resume(void);
void snd_probes_before_fork(void);
void snd_probes_after_fork(int in_child);
SND_MUST_USE snd_status snd_probes_snapshot(snd_snapshot *snapshot, snd_profile *profile, uint64_t origin,
                                            uint64_t now);
SND_MUST_USE snd_status snd_probes_describe(snd_profile *profile);
const char *snd_probes_note(void); /* of the first that has one; NULL: none */

/* Those that need not be there and have measured something: ", sample, memory". */
void snd_probes_list(snd_buffer *out);

#endif
