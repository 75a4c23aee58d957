/* Reading single processes of a merged recording. */
#include "base/alloc.h"
#include "base/map.h"
#include "store/chunk.h"
#include "store/merge/parts.h"
#include "store/reader_private.h"

#include <stdio.h>
#include <string.h>

/* ---- the bytes of a part ---- */

static snd_status
take_metric(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    snd_metric *metrics = context;
    uint32_t id;

    (void)profile;
    if (!snd_reader_id_at(row, 0, SND_READER_METRICS, &id))
        return SND_DAMAGED;
    metrics[id] = snd_metric_find(snd_reader_text_at(row, 1)); /* one that we do not know is passed over */
    return SND_OK;
}

snd_status
snd_reader_metrics(sqlite3 *db, snd_metric *metrics)
{
    for (size_t i = 0; i < SND_READER_METRICS; i++)
        metrics[i] = SND_METRIC_COUNT_OF;
    return snd_reader_each_row(db, "SELECT id, name FROM metric", take_metric, NULL, metrics);
}

static snd_status
take_piece(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    snd_buffer *bytes = context;
    char *piece = NULL;
    uint32_t size;

    (void)profile;
    if (!snd_reader_id_at(row, 0, SND_PART_PIECE + UINT64_C(1), &size) || bytes->size + size > SND_PART_LIMIT)
        return SND_DAMAGED;
    const void *packed = sqlite3_column_blob(row, 1);
    snd_status status = snd_unpack(packed, (size_t)sqlite3_column_bytes(row, 1), size, &piece);
    if (status == SND_OK)
        snd_buffer_put(bytes, piece, size);
    snd_free(piece);
    return status == SND_OK ? snd_buffer_status(bytes) : status;
}

snd_status
snd_reader_part(snd_reader *self, const snd_profile *all, uint32_t process, snd_profile **out, uint32_t **nodes)
{
    snd_metric metrics[SND_READER_METRICS];
    char sql[96];
    snd_buffer bytes = {0};
    snd_part_reading with = {all, process, metrics, SND_READER_METRICS};
    snd_status status = snd_reader_metrics(self->db, metrics);

    snprintf(sql, sizeof sql, "SELECT size, data FROM part WHERE process = %u ORDER BY number", process);
    if (status == SND_OK)
        status = snd_reader_each_row(self->db, sql, take_piece, NULL, &bytes);
    if (status == SND_OK)
        status = snd_part_decode(&with, bytes.data, bytes.size, out, nodes);
    snd_buffer_free(&bytes);
    return status;
}

snd_status
snd_reader_is_merged(snd_reader *self, int *is_merged)
{
    int64_t version = 0, found = 0;
    int result = snd_reader_number(self->db, "PRAGMA user_version", &version);

    if (result == SQLITE_OK && version >= 7)
        result = snd_reader_number(self->db, "SELECT EXISTS (SELECT 1 FROM part)", &found);
    *is_merged = found != 0;
    return snd_sqlite_status(self->db, result);
}

/* ---- one process alone ---- */

struct snd_reader_only {
    uint32_t process;
    int is_part;         /* the recording has others */
    uint64_t offset_ns;  /* of the process */
    uint32_t first_line; /* the first of its tracks in the recording */
    uint32_t line_count;
    snd_map own; /* by own track and the recording's node: its node */
};

void
snd_reader_free_only(snd_reader *self)
{
    if (self->only != NULL)
        snd_map_free(&self->only->own);
    snd_free(self->only);
    self->only = NULL;
}

snd_status
snd_reader_only(snd_reader *self, uint32_t process)
{
    struct snd_reader_only *only = snd_calloc(1, sizeof *only);
    if (only == NULL)
        return SND_NO_MEMORY;
    only->process = process;
    snd_status status = snd_reader_is_merged(self, &only->is_part);
    if (status != SND_OK || !only->is_part) { /* it is all there is */
        snd_free(only);
        return status;
    }
    snd_reader_free_only(self);
    self->only = only;
    return SND_OK;
}

static uint64_t
key_of(uint32_t track, uint32_t node)
{
    return (uint64_t)track << 32 | node;
}

/* Its tracks stand together. */
static void
find_lines(struct snd_reader_only *self, const snd_profile *all)
{
    self->line_count = 0;
    for (uint32_t i = 0; i < all->track_count; i++)
        if (all->tracks[i].summed_on != 0 && all->tracks[i].process == self->process) {
            if (self->line_count == 0)
                self->first_line = i;
            self->line_count = i - self->first_line + 1;
        }
}

snd_status
snd_reader_take_only(snd_reader *self, const snd_profile *all, snd_profile **out)
{
    struct snd_reader_only *only = self->only;
    uint32_t *nodes = NULL;
    snd_profile *own = NULL;

    if (only->process >= all->process_count)
        return SND_BAD_ARGUMENT;
    only->offset_ns = all->processes[only->process].offset_ns;
    find_lines(only, all);
    snd_map_free(&only->own);
    snd_status status = snd_reader_part(self, all, only->process, &own, &nodes);
    for (uint32_t i = 0; status == SND_OK && i < own->node_count; i++)
        status = snd_map_add(&only->own, key_of(own->nodes[i].track, nodes[i]), i);
    snd_free(nodes);
    if (status == SND_OK)
        *out = own;
    else
        snd_profile_free(own);
    return status;
}

int
snd_reader_is_of_only(const snd_reader *self, uint32_t track)
{
    return track - self->only->first_line < self->only->line_count;
}

int
snd_reader_place_only(const snd_reader *self, snd_profile_event *event)
{
    uint32_t cursor = 0, own = event->track - self->only->first_line;
    uint32_t node = snd_map_next(&self->only->own, key_of(own, event->node), &cursor);

    if (node == SND_MAP_NONE)
        return 0;
    event->track = own;
    event->node = node;
    event->start_ns -= self->only->offset_ns;
    return 1;
}

/* ---- what each process had ---- */

/* Of a sampled frame what it has itself. */
static snd_part_entry
entry_of(const snd_profile *own, uint32_t node)
{
    snd_part_entry entry = {0};

    if (snd_site_is_sampled(own->sites[own->nodes[node].site].kind)) {
        for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
            uint64_t ns = snd_profile_whole(own, node, SND_SAMPLE_METRIC(state));
            entry.total_ns += ns;
            entry.self_ns += SND_SAMPLE_IS_CPU(state) ? ns : 0;
        }
        return entry;
    }
    entry.total_ns = snd_profile_whole(own, node, SND_METRIC_TOTAL);
    entry.self_ns = snd_profile_whole(own, node, SND_METRIC_SELF);
    return entry;
}

static snd_status
gather_part(const snd_profile *own, const uint32_t *nodes, snd_part *part)
{
    for (uint32_t i = 0; i < own->node_count; i++) {
        snd_part_entry entry = entry_of(own, i);
        if (entry.total_ns == 0 && entry.self_ns == 0)
            continue;
        entry.node = nodes == NULL ? i : nodes[i];
        if (!snd_make_room(&part->entries, part->count + 1, &part->capacity, sizeof entry))
            return SND_NO_MEMORY;
        part->entries[part->count++] = entry;
    }
    return SND_OK;
}

static snd_status
load_part(snd_reader *self, const snd_profile *all, uint32_t process, snd_part *part)
{
    snd_profile *own = NULL;
    uint32_t *nodes = NULL;
    snd_status status = snd_reader_part(self, all, process, &own, &nodes);

    if (status == SND_OK)
        status = gather_part(own, nodes, part);
    snd_profile_free(own);
    snd_free(nodes);
    return status;
}

snd_status
snd_reader_parts(snd_reader *self, snd_profile *all)
{
    snd_part *parts = snd_calloc(all->process_count + 1u, sizeof *parts);
    int is_merged = 0;
    snd_status status = parts == NULL ? SND_NO_MEMORY : snd_reader_is_merged(self, &is_merged);

    if (status == SND_OK && (!is_merged || self->only != NULL))
        status = gather_part(all, NULL, &parts[0]);
    for (uint32_t i = 0; is_merged && self->only == NULL && i < all->process_count && status == SND_OK; i++)
        status = load_part(self, all, i, &parts[i]);
    if (status == SND_OK) {
        all->parts = parts;
        return SND_OK;
    }
    for (uint32_t i = 0; parts != NULL && i < all->process_count; i++)
        snd_free(parts[i].entries);
    snd_free(parts);
    return status;
}
