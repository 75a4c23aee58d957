/* The collector thread. */
#include "collect/collector.h"

#include "base/alloc.h"
#include "collect/about.h"
#include "collect/children.h"
#include "collect/probes.h"
#include "collect/signals.h"
#include "os/worker.h"
#include "probe/counter/counter.h"
#include "probe/counter/gc.h"
#include "probe/sample/sample.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#define CHECKPOINT_NS 1000000000u
#define DRAIN_NS 5000000u              /* with a timeline: the rings hold 13 ms at full speed */
#define BUSY_RING (SND_RING_SLOTS / 8) /* a ring that fills so fast is drained again at once */
#define EARLY_SIZE (4u << 20)          /* a checkpoint comes early when so much waits for it */
#define PENDING_LIMIT (32u << 20)      /* a disk that takes no more costs events, not memory */
#define MARK_LIMIT 100000u             /* marks in a recording without a timeline */

struct snd_collector {
    snd_outputs outputs;
    int with_timeline;
    uint64_t origin;
    snd_collector_describe *describe;

    snd_profile *profile;
    snd_snapshot snapshot;
    snd_chunk *chunks; /* per track of the profile */
    uint32_t chunk_count;
    uint32_t sourced_sites; /* sites whose source was looked for */
    uint64_t dropped;       /* events that found no room here */
    uint32_t marks;         /* without a timeline: how many were kept */
    uint64_t *curve_ends;   /* per node of the profile: ticks of the last update of a counter that waited */
    uint32_t curve_count;
    uint64_t last_checkpoint_ns;
    snd_status status; /* of the last checkpoint */
    int status_errno;
    const char *status_path;

    pthread_t thread;
    int is_running;
    sem_t wake;
    _Atomic int stop;
    _Atomic int raise;
    _Atomic uint64_t end_at_ns; /* 0: not before it is told to */
    uint64_t (*end)(void);
    _Atomic uint64_t ended; /* ticks; 0: it goes on */
    int has_ended;
};

static snd_status
update(snd_collector *self, uint64_t now)
{
    return snd_probes_snapshot(&self->snapshot, self->profile, self->origin, now);
}

static snd_status
make_chunk_room(snd_collector *self)
{
    int is_there =
        snd_make_longer(&self->chunks, self->profile->track_count, &self->chunk_count, sizeof *self->chunks, 0);
    return is_there ? SND_OK : SND_NO_MEMORY;
}

static void
close_chunk(snd_collector *self, uint32_t track)
{
    snd_chunk *chunk = &self->chunks[track];

    if (chunk->events == 0)
        return;
    if (snd_writer_pending(self->outputs.recording) > PENDING_LIMIT ||
        snd_writer_add_chunk(self->outputs.recording, track, chunk) != SND_OK)
        self->dropped += chunk->events;
    snd_chunk_clear(chunk);
}

static void
add_to_chunk(snd_collector *self, const snd_profile_event *event)
{
    snd_chunk_add(&self->chunks[event->track], event);
    if (self->chunks[event->track].bytes.size >= SND_CHUNK_FULL)
        close_chunk(self, event->track);
}

static void
keep_event(snd_collector *self, const snd_profile_event *event)
{
    if (self->outputs.recording != NULL)
        add_to_chunk(self, event);
    if (self->outputs.trace != NULL && (snd_trace_file_pending(self->outputs.trace) >= PENDING_LIMIT ||
                                        !snd_trace_file_add(self->outputs.trace, self->profile, event)))
        self->dropped++;
}

static void
take_sample(void *context, const snd_profile_event *event)
{
    snd_collector *self = context;

    if (self->outputs.recording == NULL || make_chunk_room(self) != SND_OK)
        self->dropped++;
    else
        add_to_chunk(self, event);
}

static void
take_event(snd_collector *self, const snd_track *track, const snd_event *event)
{
    uint32_t node = snd_snapshot_node(&self->snapshot, track, event->node);
    if (node == SND_NONE && update(self, snd_clock_ticks()) == SND_OK)
        node = snd_snapshot_node(&self->snapshot, track, event->node);
    if (node == SND_NONE || make_chunk_room(self) != SND_OK) {
        self->dropped++;
        return;
    }
    snd_site_kind kind = snd_profile_kind(self->profile, node);
    snd_profile_event kept = {
        .start_ns = event->start > self->origin ? snd_clock_ns(event->start - self->origin) : 0,
        .duration_ns = kind == SND_SITE_COUNTER ? event->value : snd_clock_ns(event->value),
        .node = node,
        .task = event->task,
        .track = self->profile->nodes[node].track,
    };
    if (kind == SND_SITE_MARK && !self->with_timeline && self->marks++ >= MARK_LIMIT)
        self->dropped++;
    else
        keep_event(self, &kept);
}

/* Collections are in the timeline of regions, and in that of samples. */
static void
drain_collections(snd_collector *self)
{
    snd_gc_event event;

    for (uint32_t i = 0; i < SND_GC_SLOTS && snd_gc_take_event(&event); i++)
        if (self->with_timeline || snd_sample_keeps_timeline())
            take_event(self, event.track, &(snd_event){event.start, event.ticks, event.node, 0});
    self->dropped += snd_gc_take_dropped();
}

/* Empties all rings once. Returns what the fullest one held. Without a timeline only threads that count or mark have
 * one. */
static uint32_t
drain(snd_collector *self)
{
    uint32_t most = 0;

    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next) {
        snd_ring *ring = snd_track_ring(track);
        snd_event event;
        uint32_t count = 0;
        while (ring != NULL && count < SND_RING_SLOTS && snd_ring_pop(ring, &event)) {
            take_event(self, track, &event);
            count++;
        }
        most = count > most ? count : most;
    }
    return most;
}

/* A counter's curve goes on with its last value: an update that waits is taken once. */
static void
take_waiting(snd_collector *self, const snd_track *track, const snd_node *node)
{
    uint32_t id = snd_snapshot_node(&self->snapshot, track, node->id);
    snd_event event;

    if (id == SND_NONE || snd_profile_kind(self->profile, id) != SND_SITE_COUNTER ||
        !snd_make_longer(&self->curve_ends, self->profile->node_count, &self->curve_count, sizeof *self->curve_ends,
                         0) ||
        !snd_counter_waiting(track, node, &event) || event.start == self->curve_ends[id])
        return;
    self->curve_ends[id] = event.start;
    take_event(self, track, &event);
}

static void
drain_waiting(snd_collector *self)
{
    if (self->with_timeline)
        return;
    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next)
        for (uint32_t i = 0; snd_track_ring(track) != NULL && i < SND_GET(track->node_count); i++)
            take_waiting(self, track, snd_node_get(track, i));
}

static void
note(snd_collector *self, snd_status status, const char *path)
{
    if (status == SND_OK || self->status != SND_OK)
        return;
    self->status = status;
    self->status_errno = errno;
    self->status_path = path;
}

static uint64_t
now_of(const snd_collector *self)
{
    uint64_t ended = SND_GET(self->ended);

    return ended == 0 ? snd_clock_ticks() : ended;
}

static void
checkpoint(snd_collector *self, int is_last)
{
    uint64_t now = now_of(self);

    self->last_checkpoint_ns = snd_clock_monotonic_ns();
    if (self->has_ended)
        return;
    self->status = SND_OK;
    note(self, update(self, now), "memory");
    drain_collections(self);
    drain_waiting(self);
    snd_sample_drain(&self->snapshot, self->profile, take_sample, self);
    note(self, self->describe(self->profile, now, is_last), "memory");
    note(self, snd_sources_add(self->profile, &self->sourced_sites), "memory");
    note(self, snd_profile_set_info_number(self->profile, "lost_events", self->dropped), "memory");
    if (self->outputs.recording != NULL) {
        for (uint32_t i = 0; i < self->chunk_count; i++)
            close_chunk(self, i);
        /* an update that failed has not said of all nodes whether they changed */
        const unsigned char *changed =
            self->snapshot.changed_count < self->profile->node_count ? NULL : self->snapshot.changed;
        snd_status written = snd_writer_checkpoint(self->outputs.recording, self->profile, changed);
        note(self, written, snd_writer_path(self->outputs.recording));
        if (written != SND_NO_MEMORY) /* what failed otherwise is owed by the writer now */
            snd_snapshot_written(&self->snapshot);
    }
    if (self->outputs.trace != NULL)
        note(self, snd_trace_file_write(self->outputs.trace, self->profile), snd_trace_file_path(self->outputs.trace));
}

static size_t
pending_size(const snd_collector *self)
{
    size_t recording = self->outputs.recording == NULL ? 0 : snd_writer_pending(self->outputs.recording);
    size_t trace = self->outputs.trace == NULL ? 0 : snd_trace_file_pending(self->outputs.trace);
    return recording > trace ? recording : trace;
}

static void
wait_for_work(snd_collector *self)
{
    uint64_t step = self->with_timeline ? DRAIN_NS : CHECKPOINT_NS;
    uint64_t at = snd_clock_monotonic_ns() + step;
    uint64_t end_at = SND_GET(self->end_at_ns);

    if (end_at != 0 && end_at < at)
        at = end_at;
    snd_worker_wait(&self->wake, at);
}

static void
end_in_time(snd_collector *self)
{
    uint64_t at = SND_GET(self->end_at_ns);

    if (at == 0 || snd_clock_monotonic_ns() < at)
        return;
    SND_SET(self->end_at_ns, 0);
    SND_SET(self->ended, self->end());
    checkpoint(self, 1);
    self->has_ended = 1;
}

/* The line for people about a checkpoint that failed; nothing about one that did not. */
static void
write_failure(const snd_collector *self, snd_buffer *message)
{
    if (self->status != SND_OK)
        snd_buffer_printf(message, "%s: could not save everything: %s", self->status_path,
                          snd_status_detail(self->status, self->status_errno));
}

static void
raise_again(const snd_collector *self, int number)
{
    const char *recording = self->outputs.recording == NULL ? NULL : snd_writer_path(self->outputs.recording);
    const char *parts = snd_children_parts();
    snd_buffer failure = {0};

    write_failure(self, &failure);
    snd_signals_end(number, recording, snd_buffer_str(&failure),
                    parts != NULL && access(parts, F_OK) == 0 ? parts : NULL);
    snd_buffer_free(&failure);
}

static void *
run(void *context)
{
    snd_collector *self = context;

    for (uint32_t most = 0; !SND_GET(self->stop);) {
        if (most < BUSY_RING)
            wait_for_work(self);
        int number = SND_GET(self->raise);
        most = drain(self);
        end_in_time(self);
        if (number != 0 || pending_size(self) > EARLY_SIZE ||
            snd_clock_monotonic_ns() - self->last_checkpoint_ns >= CHECKPOINT_NS)
            checkpoint(self, number != 0);
        if (number != 0) {
            SND_SET(self->raise, 0);
            raise_again(self, number);
        }
    }
    return NULL;
}

void
snd_collector_end_at(snd_collector *self, uint64_t at_ns, uint64_t (*end)(void))
{
    self->end = end;
    SND_SET(self->end_at_ns, at_ns);
    sem_post(&self->wake);
}

void
snd_collector_ended(snd_collector *self, uint64_t ticks)
{
    SND_SET(self->ended, ticks);
}

snd_profile *
snd_collector_take_profile(snd_collector *self)
{
    snd_profile *profile = self->profile;

    self->profile = NULL;
    return profile;
}

void
snd_collector_resume(snd_collector *self)
{
    if (self->is_running)
        return;
    SND_SET(self->stop, 0);
    self->is_running = snd_worker_start(&self->thread, run, self);
}

void
snd_collector_pause(snd_collector *self)
{
    if (!self->is_running)
        return;
    SND_SET(self->stop, 1);
    sem_post(&self->wake);
    snd_worker_join(self->thread);
    self->is_running = 0;
}

void
snd_collector_save_and_raise(snd_collector *self, int number)
{
    SND_SET(self->raise, number);
    sem_post(&self->wake);
}

void
snd_collector_free(snd_collector *self)
{
    if (self == NULL)
        return;
    snd_gc_keep_events(0);
    snd_counter_keep_events(0);
    snd_writer_free(self->outputs.recording);
    snd_trace_file_free(self->outputs.trace);
    for (uint32_t i = 0; i < self->chunk_count; i++)
        snd_chunk_free(&self->chunks[i]);
    snd_free(self->chunks);
    snd_free(self->curve_ends);
    snd_snapshot_free(&self->snapshot);
    snd_profile_free(self->profile);
    sem_destroy(&self->wake);
    snd_free(self);
}

/* What was in the rings before this recording began is not part of it. */
static void
empty_rings(void)
{
    for (const snd_track *track = snd_track_first(); track != NULL; track = track->next) {
        snd_ring *ring = snd_track_ring(track);
        snd_event event;
        for (uint32_t i = 0; ring != NULL && i < SND_RING_SLOTS && snd_ring_pop(ring, &event); i++)
            ;
    }
}

snd_status
snd_collector_start(snd_outputs outputs, int with_timeline, uint64_t origin, snd_collector_describe *describe,
                    snd_collector **out)
{
    snd_collector *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    sem_init(&self->wake, 0, 0);
    self->with_timeline = with_timeline;
    self->origin = origin;
    self->describe = describe;
    self->profile = snd_profile_new();
    if (self->profile == NULL) {
        snd_collector_free(self);
        return SND_NO_MEMORY;
    }
    empty_rings();
    snd_gc_keep_events(1);
    snd_counter_keep_events(outputs.recording != NULL || outputs.trace != NULL);
    self->outputs = outputs;
    self->last_checkpoint_ns = snd_clock_monotonic_ns();
    snd_collector_resume(self);
    *out = self;
    return SND_OK;
}

static void
write_last(void *context)
{
    snd_collector *self = context;

    drain(self);
    checkpoint(self, 1);
}

snd_status
snd_collector_finish(snd_collector *self, snd_buffer *message)
{
    if (self == NULL)
        return SND_OK;
    snd_collector_pause(self);
    snd_worker_call(write_last, self);
    write_failure(self, message);
    return self->status;
}
