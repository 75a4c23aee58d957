/* Reading a recording's timeline. */
#include "base/alloc.h"
#include "store/reader_private.h"

#include <stdlib.h>

/* An hour of eight busy threads, and 1 GB. */
#define EVENT_LIMIT (1u << 25)

typedef struct timeline {
    const snd_reader *reader;
    snd_reader_take *take;
    void *context;
    const snd_profile *profile;
    uint32_t track;
    uint64_t chunks;
} timeline;

static snd_status
take_event(void *context, const snd_profile_event *event)
{
    timeline *self = context;
    snd_profile_event placed = *event;

    placed.track = self->track;
    if (self->reader->only != NULL && !snd_reader_place_only(self->reader, &placed))
        return SND_DAMAGED;
    if (placed.node >= self->profile->node_count || placed.track >= self->profile->track_count)
        return SND_DAMAGED;
    snd_site_kind kind = self->profile->sites[self->profile->nodes[placed.node].site].kind;
    if (snd_site_is_sampled(kind) && placed.state >= SND_SAMPLE_STATES)
        return SND_DAMAGED;
    if (self->profile->tracks[placed.track].summed_on == 0)
        placed.track = self->profile->nodes[placed.node].track;
    return self->take(self->context, &placed);
}

static snd_status
take_chunk(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    timeline *self = context;
    int64_t size = sqlite3_column_int64(row, 1);

    (void)profile;
    if (!snd_reader_id_at(row, 0, UINT32_MAX, &self->track) || size < 0)
        return SND_DAMAGED;
    if (self->reader->only != NULL && !snd_reader_is_of_only(self->reader, self->track))
        return SND_OK;
    if (self->reader->only == NULL && self->track >= self->profile->track_count)
        return SND_DAMAGED;
    self->chunks++;
    const void *data = sqlite3_column_blob(row, 2);
    return snd_chunk_unpack(data, (size_t)sqlite3_column_bytes(row, 2), (uint64_t)size, take_event, self);
}

snd_status
snd_reader_timeline(snd_reader *self, const snd_profile *profile, snd_reader_take *take, void *context)
{
    timeline state = {self, take, context, profile, 0, 0};
    snd_status status =
        snd_reader_each_row(self->db, "SELECT track, size, data FROM timeline ORDER BY id", take_chunk, NULL, &state);
    return status == SND_OK && state.chunks == 0 ? SND_NO_TIMELINE : status;
}

typedef struct for_counting {
    const snd_reader *reader;
    uint64_t *count;
} for_counting;

static snd_status
count_chunk(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    const for_counting *self = context;
    int64_t events = sqlite3_column_int64(row, 1);

    (void)profile;
    if (self->reader->only == NULL || snd_reader_is_of_only(self->reader, (uint32_t)sqlite3_column_int64(row, 0)))
        *self->count += events < 0 ? 0 : (uint64_t)events;
    return SND_OK;
}

snd_status
snd_reader_event_count(snd_reader *self, uint64_t *count)
{
    *count = 0;
    for_counting state = {self, count};
    return snd_reader_each_row(self->db, "SELECT track, events FROM timeline", count_chunk, NULL, &state);
}

typedef struct gathered {
    snd_profile_event *events;
    uint32_t count, capacity;
    int is_sorted;
} gathered;

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By start; what starts at the same moment in an order that only the events decide, parents first. */
static int
compare_events(const void *left, const void *right)
{
    const snd_profile_event *a = left, *b = right;
    int order = compare_numbers(a->start_ns, b->start_ns);

    if (order == 0)
        order = compare_numbers(a->node, b->node);
    if (order == 0)
        order = compare_numbers(a->task, b->task);
    return order != 0 ? order : compare_numbers(a->duration_ns, b->duration_ns);
}

static snd_status
gather_event(void *context, const snd_profile_event *event)
{
    gathered *self = context;

    if (self->count == EVENT_LIMIT)
        return SND_TOO_LONG;
    if (!snd_make_room(&self->events, self->count + 1, &self->capacity, sizeof *self->events))
        return SND_NO_MEMORY;
    self->is_sorted &= self->count == 0 || compare_events(&self->events[self->count - 1], event) <= 0;
    self->events[self->count++] = *event;
    return SND_OK;
}

snd_status
snd_reader_events(snd_reader *self, snd_profile *profile)
{
    gathered all = {.is_sorted = 1};
    snd_status status = snd_reader_timeline(self, profile, gather_event, &all);
    if (status != SND_OK) {
        snd_free(all.events);
        return status;
    }
    if (!all.is_sorted)
        qsort(all.events, all.count, sizeof *all.events, compare_events);
    snd_free(profile->events);
    profile->events = all.events;
    profile->event_count = all.count;
    return SND_OK;
}
