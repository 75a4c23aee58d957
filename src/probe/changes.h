/* Which node ran on each thread, and from when on: kept only while somebody is going to join it with calls that a
 * library times by itself. */
#ifndef SND_PROBE_CHANGES_H
#define SND_PROBE_CHANGES_H

#include "probe/track.h"

/* Whether changes are kept from now on, on all threads. Those kept so far stay until they are taken. */
void snd_changes_keep(int on);
int snd_changes_are_kept(void);

/* The thread has just changed what it runs; slow path of the region probe. Owner thread only. */
SND_COLD void snd_changes_note(snd_track *track, uint64_t now);

/* Takes a track's changes out; the caller frees them with snd_free. NULL: there are none. */
snd_change *snd_changes_take(snd_track *track, uint32_t *count);

#endif
