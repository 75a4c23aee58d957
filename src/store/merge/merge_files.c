/* Several recordings as one. */
#include "store/merge/merge_files.h"

#include "base/alloc.h"
#include "base/map.h"
#include "model/merge.h"
#include "model/processes.h"
#include "os/file.h"
#include "os/process.h"
#include "os/unfinished.h"
#include "os/worker.h"
#include "store/chunk.h"
#include "store/merge/parts.h"
#include "store/open/files.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process of one of the recordings. */
typedef struct found_process {
    uint32_t input;
    uint32_t place;                    /* in the recording */
    uint32_t id;                       /* in the merged one; SND_NONE: it stands elsewhere too */
    uint32_t first_track, track_count; /* in `tracks` */
} found_process;

typedef struct merging {
    const char *out;
    const char *const *paths;
    uint32_t count;
    snd_merge_result *result;
    snd_merger *merger;
    snd_profile *known; /* the processes, in the order in which they were found */
    found_process *found;
    uint32_t found_count, found_capacity;
    snd_profile_track *tracks; /* of all that were found, as each process counts time */
    uint32_t track_count, track_capacity;
    char *target; /* what `out` leads to; of malloc */
    char *path;   /* where it is written */
    snd_writer *writer;
    sqlite3 *db;
    sqlite3_stmt *part, *timeline;
} merging;

/* Says which of the recordings a failure is about. Gives the status. */
static snd_status
fail(merging *self, uint32_t input, snd_status status)
{
    if (status != SND_OK)
        self->result->failed = self->paths[input];
    return status;
}

/* ---- which processes there are ---- */

/* Regions, and their CPU time, may stand in every recording: they say nothing of its kind. */
static int
is_always(const char *word, size_t len)
{
    return (len == 6 && memcmp(word, "region", len) == 0) || (len == 3 && memcmp(word, "cpu", len) == 0) || len == 0;
}

static int
has_word(const char *list, const char *word, size_t len)
{
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0'))
            return 1;
    return 0;
}

/* `common`: the probes of all so far; "" before the first that has any. 0: nothing is left. */
static int
keep_common(snd_buffer *common, const char *probes)
{
    snd_buffer both = {0}, own = {0};

    for (const char *at = probes; *at != '\0';) {
        char word[64];
        size_t len = strcspn(at, ","), room = len < sizeof word ? len : sizeof word - 1;
        memcpy(word, at, room);
        word[room] = '\0';
        if (!is_always(word, room)) {
            snd_buffer_printf(&own, "%s%s", own.size == 0 ? "" : ", ", word);
            if (has_word(snd_buffer_str(common), word, room))
                snd_buffer_printf(&both, "%s%s", both.size == 0 ? "" : ", ", word);
        }
        at += len;
        at += strspn(at, ", ");
    }
    int is_kept = own.size == 0 || common->size == 0 || both.size != 0;
    if (own.size != 0) {
        snd_buffer *next = common->size == 0 ? &own : &both;
        snd_buffer old = *common;
        *common = *next;
        *next = old;
    }
    snd_buffer_free(&both);
    snd_buffer_free(&own);
    return is_kept;
}

static snd_status
add_track(merging *self, const snd_profile_track *track, uint64_t offset)
{
    snd_profile_track added = *track;

    if (!snd_make_room(&self->tracks, self->track_count + 1, &self->track_capacity, sizeof added))
        return SND_NO_MEMORY;
    added.start_ns -= offset;
    added.end_ns -= offset;
    added.summed_on = 0;
    snd_status status = snd_profile_keep_text(self->known, track->name, &added.name);
    if (status == SND_OK)
        self->tracks[self->track_count++] = added;
    return status;
}

static snd_status
add_found(merging *self, uint32_t input, const snd_profile *outline, uint32_t place, int is_merged)
{
    const snd_process *process = &outline->processes[place];
    found_process added = {.input = input, .place = place, .id = SND_NONE, .first_track = self->track_count};
    uint32_t id;
    snd_status status = snd_profile_add_process(self->known, process, &id);

    for (uint32_t i = 0; i < outline->track_count && status == SND_OK; i++) {
        const snd_profile_track *track = &outline->tracks[i];
        if (track->process == place && (track->summed_on != 0) == is_merged)
            status = add_track(self, track, process->offset_ns);
    }
    added.track_count = self->track_count - added.first_track;
    if (status != SND_OK ||
        !snd_make_room(&self->found, self->found_count + 1, &self->found_capacity, sizeof *self->found))
        return status == SND_OK ? SND_NO_MEMORY : status;
    self->found[self->found_count++] = added;
    return SND_OK;
}

static snd_status
look_at(merging *self, uint32_t input, snd_buffer *common)
{
    snd_reader *reader = NULL;
    snd_profile *outline = NULL;
    int is_merged = 0;
    snd_status status = snd_reader_open(self->paths[input], &reader);
    if (status == SND_EMPTY) {
        self->result->empty++;
        return SND_OK;
    }
    if (status == SND_OK)
        status = snd_reader_is_merged(reader, &is_merged);
    if (status == SND_OK)
        status = snd_reader_outline(reader, &outline);
    if (status == SND_OK && outline->process_count == 0)
        self->result->empty++; /* it has tables, but never got a checkpoint */
    for (uint32_t i = 0; status == SND_OK && i < outline->process_count; i++)
        status = keep_common(common, outline->processes[i].probes) ? add_found(self, input, outline, i, is_merged)
                                                                   : SND_OTHER_KIND;
    int saved = errno;
    snd_profile_free(outline);
    snd_reader_free(reader);
    errno = saved;
    return fail(self, input, status);
}

/* Of a process that stands in several recordings the longest counts, and of equal ones the first. */
static snd_status
drop_twice(merging *self, unsigned char *is_dropped)
{
    const snd_process *processes = self->known->processes;
    snd_map by_number = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->found_count && status == SND_OK; i++) {
        uint32_t cursor = 0, other;
        while ((other = snd_map_next(&by_number, processes[i].process_id, &cursor)) != SND_MAP_NONE)
            if (!is_dropped[other] && snd_process_is_same(&processes[i], &processes[other]))
                break;
        if (other != SND_MAP_NONE) {
            is_dropped[processes[i].length_ns > processes[other].length_ns ? other : i] = 1;
            if (self->result->twice++ == 0) {
                self->result->twice_path = self->paths[self->found[i].input];
                self->result->twice_id = processes[i].process_id;
            }
        }
        if (!is_dropped[i])
            status = snd_map_add(&by_number, processes[i].process_id, i);
    }
    snd_map_free(&by_number);
    return status;
}

static snd_status
declare(merging *self)
{
    unsigned char *is_dropped = snd_calloc(self->found_count + 1u, 1);
    snd_status status = is_dropped == NULL ? SND_NO_MEMORY : drop_twice(self, is_dropped);

    for (uint32_t i = 0; i < self->found_count && status == SND_OK; i++) {
        found_process *one = &self->found[i];
        if (is_dropped[i])
            continue;
        status = snd_merger_add_process(self->merger, &self->known->processes[i], &one->id);
        for (uint32_t k = 0; k < one->track_count && status == SND_OK; k++)
            status = snd_merger_add_track(self->merger, one->id, &self->tracks[one->first_track + k]);
    }
    snd_free(is_dropped);
    self->result->processes = snd_merger_sum(self->merger)->process_count;
    return status == SND_OK ? snd_merger_start(self->merger) : status;
}

/* Looks at all recordings, finds their processes and tells the merger of them. */
static snd_status
find_processes(merging *self)
{
    snd_buffer common = {0};
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->count && status == SND_OK; i++)
        status = look_at(self, i, &common);
    snd_buffer_free(&common);
    if (status == SND_OK && self->count != 0 && self->result->empty == self->count)
        return fail(self, 0, SND_EMPTY);
    return status == SND_OK ? declare(self) : status;
}

#define PART_LEVEL 1 /* of zlib: there may be thousands */

/* ---- the new file ---- */

/* What stands under another name keeps it. */
static snd_status
name_file(merging *self)
{
    struct stat about;

    if (stat(self->out, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return SND_SYSTEM;
    }
    if (!snd_writer_may_replace(self->out))
        return SND_NOT_A_RECORDING;
    self->target = snd_file_target(self->out);
    if (self->target == NULL)
        return SND_SYSTEM;
    size_t room = strlen(self->target) + 32;
    self->path = snd_malloc(room);
    if (self->path != NULL)
        snprintf(self->path, room, "%s.%u.merging", self->target, snd_process_id());
    return self->path == NULL ? SND_NO_MEMORY : SND_OK;
}

static snd_status
create(merging *self)
{
    snd_status status = name_file(self);
    if (status != SND_OK)
        return status;
    snd_unfinished_begin(self->path);
    status = snd_writer_open(self->path, &self->writer);
    if (status != SND_OK)
        return status;
    int result = snd_files_open_writing(self->path, &self->db);
    if (result == SQLITE_OK) /* a failure removes the file: there is nothing to go back to */
        result = sqlite3_exec(self->db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(self->db, "INSERT INTO part VALUES (?1, ?2, ?3, ?4)", -1, &self->part, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(self->db, "INSERT INTO timeline VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6)", -1,
                                    &self->timeline, NULL);
    return snd_sqlite_status(self->db, result);
}

static snd_status
close_database(merging *self, int is_kept)
{
    int result = SQLITE_OK;

    sqlite3_finalize(self->part);
    sqlite3_finalize(self->timeline);
    self->part = self->timeline = NULL;
    if (is_kept)
        result = sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL);
    snd_status status = snd_sqlite_status(self->db, result);
    int saved = errno;
    sqlite3_close(self->db);
    self->db = NULL;
    errno = saved;
    return status;
}

static snd_status
write_piece(merging *self, const int64_t *values, const char *data, size_t size)
{
    snd_buffer packed = {0};
    snd_status status = snd_pack(data, size, PART_LEVEL, &packed);

    if (status == SND_OK) {
        int result = snd_sqlite_bind(self->part, values, 3);
        if (result == SQLITE_OK)
            result = sqlite3_bind_blob64(self->part, 4, packed.data, packed.size, SQLITE_STATIC);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(self->part);
        status = snd_sqlite_status(self->db, result);
    }
    snd_buffer_free(&packed);
    return status;
}

static snd_status
write_part(merging *self, uint32_t process, const snd_buffer *bytes)
{
    snd_status status = snd_buffer_status(bytes);
    int64_t number = 0;

    for (size_t at = 0; at < bytes->size && status == SND_OK; at += SND_PART_PIECE) {
        size_t size = bytes->size - at < SND_PART_PIECE ? bytes->size - at : SND_PART_PIECE;
        const int64_t values[] = {process, number++, (int64_t)size};
        status = write_piece(self, values, bytes->data + at, size);
    }
    return status;
}

/* ---- one recording ---- */

/* What its nodes and tracks are in the merged one. */
typedef struct input {
    merging *merging;
    uint32_t *nodes;
    uint32_t *tracks;  /* SND_NONE: not counted */
    uint64_t *offsets; /* per track: what is added to its times; may be less than nothing */
    snd_chunk chunk;
    uint32_t track; /* of the chunk */
} input;

static snd_status
flush_chunk(input *self)
{
    snd_buffer packed = {0};
    const snd_chunk *chunk = &self->chunk;
    const int64_t values[] = {self->track, (int64_t)chunk->first_ns, (int64_t)chunk->last_ns, (int64_t)chunk->events,
                              (int64_t)chunk->bytes.size};
    if (chunk->events == 0)
        return SND_OK;
    snd_status status = snd_chunk_pack(chunk, &packed);
    if (status == SND_OK) {
        int result = snd_sqlite_bind(self->merging->timeline, values, 5);
        if (result == SQLITE_OK)
            result = sqlite3_bind_blob64(self->merging->timeline, 6, packed.data, packed.size, SQLITE_STATIC);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(self->merging->timeline);
        status = snd_sqlite_status(self->merging->db, result);
    }
    self->merging->result->events += chunk->events;
    snd_buffer_free(&packed);
    snd_chunk_clear(&self->chunk);
    return status;
}

static snd_status
take_event(void *context, const snd_profile_event *event)
{
    input *self = context;
    snd_profile_event moved = *event;
    snd_status status = SND_OK;

    if (self->tracks[event->track] == SND_NONE || self->nodes[event->node] == SND_NONE)
        return SND_OK;
    if (self->chunk.bytes.size >= SND_CHUNK_FULL || self->track != self->tracks[event->track])
        status = flush_chunk(self);
    self->track = self->tracks[event->track];
    moved.node = self->nodes[event->node];
    moved.start_ns += self->offsets[event->track];
    snd_chunk_add(&self->chunk, &moved);
    return status;
}

/* Adds the profile of one process, and says what became of its nodes in `nodes`. */
static snd_status
add_profile(merging *self, const found_process *one, const snd_profile *profile, uint32_t *nodes)
{
    uint32_t *sites = snd_malloc((profile->site_count + 1u) * sizeof *sites);
    snd_buffer bytes = {0};
    snd_status status = sites == NULL ? SND_NO_MEMORY : SND_OK;

    if (status == SND_OK && profile->track_count != one->track_count)
        status = SND_BUSY; /* it grew since it was looked at */
    if (status == SND_OK)
        status = snd_merger_add(self->merger, one->id, profile, sites, nodes);
    if (status == SND_OK) {
        snd_part_encode(profile, self->merger, sites, nodes, &bytes);
        status = write_part(self, one->id, &bytes);
    }
    snd_buffer_free(&bytes);
    snd_free(sites);
    return status;
}

/* A process of a merged recording: its nodes are nodes of that. */
static snd_status
add_part(input *self, snd_reader *reader, const snd_profile *all, const found_process *one)
{
    snd_profile *own = NULL;
    uint32_t *inside = NULL, *nodes = NULL;
    snd_status status = snd_reader_part(reader, all, one->place, &own, &inside);
    if (status == SND_OK) {
        nodes = snd_malloc((own->node_count + 1u) * sizeof *nodes);
        status = nodes == NULL ? SND_NO_MEMORY : add_profile(self->merging, one, own, nodes);
    }
    for (uint32_t i = 0; status == SND_OK && i < own->node_count; i++)
        self->nodes[inside[i]] = nodes[i];
    snd_profile_free(own);
    snd_free(inside);
    snd_free(nodes);
    return status;
}

static void
place_tracks(input *self, const snd_profile *all, const found_process *one, int is_merged)
{
    const snd_merger *merger = self->merging->merger;
    uint32_t line = snd_merger_line(merger, one->id);

    for (uint32_t i = 0; i < all->track_count; i++)
        if (all->tracks[i].process == one->place && (all->tracks[i].summed_on != 0) == is_merged) {
            self->tracks[i] = line++;
            self->offsets[i] = snd_merger_offset(merger, one->id) - all->processes[one->place].offset_ns;
        }
}

static snd_status
add_processes(input *self, snd_reader *reader, const snd_profile *all, uint32_t number)
{
    merging *whole = self->merging;
    int is_merged = 0;
    snd_status status = snd_reader_is_merged(reader, &is_merged);

    for (uint32_t i = 0; i < whole->found_count && status == SND_OK; i++) {
        const found_process *one = &whole->found[i];
        if (one->input != number || one->id == SND_NONE)
            continue;
        if (one->place >= all->process_count)
            return SND_BUSY;
        status = is_merged ? add_part(self, reader, all, one) : add_profile(whole, one, all, self->nodes);
        if (status == SND_OK)
            place_tracks(self, all, one, is_merged);
    }
    return status;
}

static snd_status
add_all(input *self, snd_reader *reader, const snd_profile *all, uint32_t number)
{
    self->nodes = snd_malloc((all->node_count + 1u) * sizeof *self->nodes);
    self->tracks = snd_malloc((all->track_count + 1u) * sizeof *self->tracks);
    self->offsets = snd_calloc(all->track_count + 1u, sizeof *self->offsets);
    if (self->nodes == NULL || self->tracks == NULL || self->offsets == NULL)
        return SND_NO_MEMORY;
    memset(self->nodes, 0xff, (all->node_count + 1u) * sizeof *self->nodes);
    memset(self->tracks, 0xff, (all->track_count + 1u) * sizeof *self->tracks);
    snd_status status = add_processes(self, reader, all, number);
    if (status == SND_OK)
        status = snd_reader_timeline(reader, all, take_event, self);
    if (status == SND_NO_TIMELINE)
        status = SND_OK;
    return status == SND_OK ? flush_chunk(self) : status;
}

/* ---- the next one is read while this one is added ---- */

typedef struct reading {
    const char *path;
    pthread_t thread;
    int has_thread;
    snd_reader *reader;
    snd_profile *all;
    snd_status status;
    int error;
} reading;

static void *
read_input(void *context)
{
    reading *self = context;

    self->status = snd_reader_open(self->path, &self->reader);
    if (self->status == SND_OK)
        self->status = snd_reader_profile(self->reader, &self->all);
    self->error = errno;
    return NULL;
}

static void
start_reading(reading *self, const char *path)
{
    *self = (reading){.path = path};
    self->has_thread = sqlite3_threadsafe() != 0 && snd_worker_start_beside(&self->thread, read_input, self);
}

static void
wait_for_reading(reading *self)
{
    if (self->has_thread)
        pthread_join(self->thread, NULL);
    else if (self->path != NULL)
        read_input(self);
    errno = self->error;
}

static void
free_reading(reading *self)
{
    snd_profile_free(self->all);
    snd_reader_free(self->reader);
    *self = (reading){0};
}

static snd_status
add_input(merging *self, uint32_t number, const reading *from)
{
    input state = {.merging = self};
    snd_status status = from->all == NULL ? from->status : add_all(&state, from->reader, from->all, number);
    int saved = errno;

    snd_chunk_free(&state.chunk);
    snd_free(state.nodes);
    snd_free(state.tracks);
    snd_free(state.offsets);
    errno = saved;
    return fail(self, number, status);
}

/* ---- all of it ---- */

/* For qsort: the input whose first process started first comes first. */
typedef struct turn {
    uint32_t input;
    uint64_t start_ns;
} turn;

static int
compare_turns(const void *a, const void *b)
{
    const turn *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->input < y->input ? -1 : x->input > y->input;
}

static turn *
make_turns(const merging *self)
{
    turn *turns = snd_malloc((self->count + 1u) * sizeof *turns);

    for (uint32_t i = 0; turns != NULL && i < self->count; i++)
        turns[i] = (turn){i, UINT64_MAX};
    for (uint32_t i = 0; turns != NULL && i < self->found_count; i++) {
        const found_process *one = &self->found[i];
        if (one->id != SND_NONE && snd_merger_offset(self->merger, one->id) < turns[one->input].start_ns)
            turns[one->input].start_ns = snd_merger_offset(self->merger, one->id);
    }
    if (turns != NULL)
        qsort(turns, self->count, sizeof *turns, compare_turns);
    return turns;
}

static snd_status
add_inputs(merging *self)
{
    turn *turns = make_turns(self);
    snd_status status = turns == NULL ? SND_NO_MEMORY : SND_OK;
    uint32_t count = 0;
    reading pair[2] = {{0}}; /* the one at hand and the next */
    int error = 0;           /* errno of the failure */

    while (turns != NULL && count < self->count && turns[count].start_ns != UINT64_MAX)
        count++; /* those behind have no process that counts */
    if (count != 0)
        start_reading(&pair[0], self->paths[turns[0].input]);
    for (uint32_t i = 0; i < count; i++) {
        reading *now = &pair[i % 2], *next = &pair[(i + 1) % 2];
        wait_for_reading(now);
        if (status == SND_OK && i + 1 < count)
            start_reading(next, self->paths[turns[i + 1].input]);
        if (status == SND_OK)
            status = add_input(self, turns[i].input, now);
        error = status == SND_OK || error != 0 ? error : errno;
        free_reading(now);
    }
    snd_free(turns);
    errno = error;
    return status == SND_OK ? snd_merger_finish(self->merger) : status;
}

static snd_status
write_sum(merging *self)
{
    snd_status status = close_database(self, 1);
    if (status == SND_OK)
        status = snd_writer_checkpoint(self->writer, snd_merger_sum(self->merger), NULL);
    if (status != SND_OK)
        return status;
    status = snd_files_remove_journal(self->target);
    return status == SND_OK && rename(self->path, self->target) != 0 ? SND_SYSTEM : status;
}

static snd_status
merge(merging *self)
{
    self->merger = snd_merger_new();
    self->known = snd_profile_new();
    if (self->merger == NULL || self->known == NULL)
        return SND_NO_MEMORY;
    snd_status status = find_processes(self);
    if (status != SND_OK)
        return status;
    self->result->failed = self->out;
    status = create(self);
    if (status == SND_OK)
        status = add_inputs(self);
    if (status == SND_OK)
        status = write_sum(self);
    return status;
}

snd_status
snd_merge_files(const char *out, const char *const *paths, uint32_t count, snd_merge_result *result)
{
    merging self = {.out = out, .paths = paths, .count = count, .result = result};

    *result = (snd_merge_result){.failed = out};
    snd_status status = merge(&self);
    int saved = errno;
    if (self.db != NULL)
        (void)close_database(&self, 0);
    if (status != SND_OK && self.writer != NULL) /* else nothing at that path is ours */
        snd_files_remove(self.path);
    snd_unfinished_end();
    snd_writer_free(self.writer);
    snd_merger_free(self.merger);
    snd_profile_free(self.known);
    snd_free(self.found);
    snd_free(self.tracks);
    snd_free(self.path);
    free(self.target);
    errno = saved;
    return status;
}
