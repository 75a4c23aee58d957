/* Which node ran on each thread, and from when on. */
#include "probe/changes.h"

#include "base/alloc.h"
#include "probe/region.h"

#define LIMIT (1u << 22) /* changes of a thread; what comes later counts for the node that ran last */

static _Atomic int is_on;

static void
add(snd_track *track, uint64_t ticks, uint32_t node)
{
    snd_changes *self = &track->changes;

    if (self->count < LIMIT && snd_make_room(&self->list, self->count + 1, &self->capacity, sizeof *self->list))
        self->list[self->count++] = (snd_change){ticks, node};
}

void
snd_changes_note(snd_track *track, uint64_t now)
{
    const snd_node *running = SND_GET(track->running);

    snd_lock_take(&track->changes.lock);
    if (SND_GET(is_on))
        add(track, now, running->id);
    snd_lock_leave(&track->changes.lock);
}

/* What a thread runs when it begins, unless it has changed that already. */
static void
begin(snd_track *track, uint64_t now)
{
    snd_lock_take(&track->changes.lock);
    if (track->changes.count == 0)
        add(track, now, SND_GET(track->running)->id);
    snd_lock_leave(&track->changes.lock);
}

void
snd_changes_keep(int on)
{
    uint64_t now = snd_clock_ticks();

    SND_SET(is_on, on);
    if (!on) {
        atomic_fetch_and(&snd_region_mode, ~SND_REGION_CHANGES);
        return;
    }
    if (SND_GET(snd_region_mode) != 0) /* or they are kept from the session's start on */
        atomic_fetch_or(&snd_region_mode, SND_REGION_CHANGES);
    for (snd_track *track = snd_track_first(); track != NULL; track = track->next)
        begin(track, now);
}

int
snd_changes_are_kept(void)
{
    return SND_GET(is_on);
}

snd_change *
snd_changes_take(snd_track *track, uint32_t *count)
{
    snd_lock_take(&track->changes.lock);
    snd_change *list = track->changes.list;
    *count = track->changes.count;
    track->changes.list = NULL;
    track->changes.count = track->changes.capacity = 0;
    snd_lock_leave(&track->changes.lock);
    return list;
}
