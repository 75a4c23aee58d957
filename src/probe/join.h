/* Calls that a library timed by itself, joined with what sonde saw on the same thread: each call is attached below the
 * region that ran when it began, and its own time is taken from that region. */
#ifndef SND_PROBE_JOIN_H
#define SND_PROBE_JOIN_H

#include "probe/attach.h"

typedef struct snd_joined_call {
    uint64_t start, end; /* ticks */
    uint32_t above;      /* an earlier call of the list, which made this one; SND_NONE: none did */
    uint32_t site;
    double flops;           /* 0: not known */
    unsigned char is_async; /* it did not keep the thread busy: its time is nobody's own */

    /* filled in */
    uint32_t node;     /* of the track: what ran when it began */
    uint32_t attached; /* SND_NONE: there was no room */
    uint64_t self;     /* ticks */
} snd_joined_call;

/* `calls` come in the order of their start, who calls before whom it calls. The clocks may be `slack` ticks apart: so
 * much after its start it is looked up what ran. Takes the lock of what is attached. */
void snd_join(const snd_track *track, const snd_change *changes, uint32_t change_count, snd_joined_call *calls,
              uint32_t call_count, uint64_t slack);

#endif
