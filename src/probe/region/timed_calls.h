/* Calls that a library timed by itself, put where sonde saw the same thread: each becomes a reported node below the
 * region that ran when it began, and its own time is taken from that region. */
#ifndef SND_PROBE_TIMED_CALLS_H
#define SND_PROBE_TIMED_CALLS_H

#include "probe/core/reported.h"

/* ---- which node ran on each thread, and from when on: kept only for calls that a library times by itself ---- */

/* Whether changes are kept from now on, on all threads. Those kept so far stay until they are taken. */
void snd_changes_keep(int on);
int snd_changes_are_kept(void);

/* The thread has just changed what it runs; slow path of the region probe. Owner thread only. */
SND_COLD void snd_changes_note(snd_track *track, uint64_t now);

/* Takes a track's changes out; the caller frees them with snd_free. NULL: there are none. */
snd_change *snd_changes_take(snd_track *track, uint32_t *count);

/* ---- the calls ---- */

typedef struct snd_timed_call {
    uint64_t start, end; /* ticks */
    uint32_t above;      /* an earlier call of the list, which made this one; SND_NONE: none did */
    uint32_t site;
    double flops;           /* 0: not known */
    unsigned char is_async; /* it did not keep the thread busy: its time is nobody's own */

    /* filled in */
    uint32_t node;     /* of the track: what ran when it began */
    uint32_t reported; /* SND_NONE: there was no room */
    uint64_t self;     /* ticks */
} snd_timed_call;

/* `calls` come in the order of their start, who calls before whom it calls. The clocks may be `slack` ticks apart: so
 * much after its start it is looked up what ran. Takes the lock of what is reported. */
void snd_timed_calls_report(const snd_track *track, const snd_change *changes, uint32_t change_count,
                            snd_timed_call *calls, uint32_t call_count, uint64_t slack);

#endif
