/* The sites that running probes have met: one list for the process, append-only. */
#ifndef SND_PROBE_SITE_H
#define SND_PROBE_SITE_H

#include "model/profile.h"

#define SND_SITE_LIMIT (1u << 20)

/* Interns (kind, name); the place is where the first one stood. Thread-safe; takes a lock and may allocate, so it
 * is called once a place, not once an entry. SND_NONE when memory or the limit runs out; that is counted. Ids are never
 * reused. */
uint32_t snd_site_add(snd_site_kind kind, const char *name, size_t len, const char *file, uint32_t line);

/* The same for something that is called or sampled, or an operator: its place, its detail and which twin it is are part
 * of it. */
uint32_t snd_site_add_placed(const snd_profile_site *site);

/* The same for one that is known already; SND_NONE for a new one. */
uint32_t snd_site_find(snd_site_kind kind, const char *name, size_t len);

uint32_t snd_site_count(void);

/* `id` must be below snd_site_count(). Texts live as long as the process. Thread-safe. */
snd_profile_site snd_site_get(uint32_t id);

/* Its kind, which never changes: takes no lock, so that it can be asked for in the child of a fork. */
snd_site_kind snd_site_kind_get(uint32_t id);

/* How often a site found no room, since the last reset. */
uint64_t snd_site_lost(void);
void snd_site_reset_lost(void);

/* Around fork, so that no child inherits a lock that nobody will release. */
void snd_site_before_fork(void);
void snd_site_after_fork(void);

#endif
