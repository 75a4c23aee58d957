/* Writing a recording. */
#include "store/writer.h"

#include "base/alloc.h"
#include "os/file.h"
#include "os/process.h"
#include "os/unfinished.h"
#include "store/chunk.h"
#include "store/open/files.h"
#include "store/schema.h"
#include "store/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_LEVEL 6 /* zlib's own choice: a text is packed once */

typedef struct pending {
    struct pending *next;
    uint32_t track;
    uint64_t first_ns, last_ns, events, size;
    snd_buffer data;
} pending;

struct snd_writer {
    char *path;
    uint32_t sites, nodes; /* written so far */
    unsigned char *owed;   /* per node: changed, but the checkpoint that should have said so failed */
    uint32_t owed_count;
    uint32_t *sources; /* per source: the revision that is written, plus 1; 0: none is */
    uint32_t source_count;
    pending *chunks;
    pending **chunks_end;
    size_t pending_size;
};

/* Somebody's own database is not ours to replace: the application id stands at byte 68 of the file. */
int
snd_writer_may_replace(const char *path)
{
    static const unsigned char ours[] = {SND_SCHEMA_APPLICATION >> 24, SND_SCHEMA_APPLICATION >> 16 & 0xff,
                                         SND_SCHEMA_APPLICATION >> 8 & 0xff, SND_SCHEMA_APPLICATION & 0xff};
    unsigned char head[72] = {0};
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return 0; /* a device would be replaced by a file, a pipe waited for */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return 1;
    ssize_t size = read(file, head, sizeof head);
    close(file);
    return size == 0 || (size == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
                         memcmp(head + 68, ours, sizeof ours) == 0);
}

static int
open_database(const char *path, sqlite3 **db)
{
    int result = snd_files_open_writing(path, db);
    if (result == SQLITE_OK) {
        sqlite3_busy_timeout(*db, 250);
        /* a crash of the machine may cost the recording; a crash of the program cannot */
        result = sqlite3_exec(*db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    }
    return result;
}

static int
write_metrics(sqlite3 *db)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT INTO metric VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL);

    for (unsigned i = 0; i < SND_METRIC_COUNT_OF && result == SQLITE_OK; i++) {
        const snd_metric_info *info = snd_metric_get((snd_metric)i);
        sqlite3_bind_int64(insert, 1, i);
        sqlite3_bind_text(insert, 2, info->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, info->unit, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 4, info->meaning, -1, SQLITE_STATIC);
        result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static snd_status
create(const char *path)
{
    sqlite3 *db = NULL;

    if (!snd_writer_may_replace(path))
        return SND_NOT_A_RECORDING;
    snd_status status = snd_files_create(path);
    if (status != SND_OK)
        return status;
    int result = open_database(path, &db);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = snd_schema_create(db, SND_SCHEMA_VERSION);
    if (result == SQLITE_OK)
        result = write_metrics(db);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    status = snd_sqlite_status(db, result);
    int saved = errno;
    sqlite3_close(db);
    if (status != SND_OK)
        snd_files_remove(path);
    errno = saved;
    return status;
}

snd_status
snd_writer_open(const char *path, snd_writer **out)
{
    snd_writer *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    self->chunks_end = &self->chunks;
    self->path = snd_strdup(path);
    snd_status status = self->path == NULL ? SND_NO_MEMORY : create(path);
    if (status != SND_OK) {
        int saved = errno;
        snd_writer_free(self);
        errno = saved;
        return status;
    }
    *out = self;
    return SND_OK;
}

static void
free_chunks(snd_writer *self)
{
    while (self->chunks != NULL) {
        pending *next = self->chunks->next;
        snd_buffer_free(&self->chunks->data);
        snd_free(self->chunks);
        self->chunks = next;
    }
    self->chunks_end = &self->chunks;
    self->pending_size = 0;
}

void
snd_writer_free(snd_writer *self)
{
    if (self == NULL)
        return;
    free_chunks(self);
    snd_free(self->owed);
    snd_free(self->sources);
    snd_free(self->path);
    snd_free(self);
}

const char *
snd_writer_path(const snd_writer *self)
{
    return self->path;
}

snd_status
snd_writer_add_chunk(snd_writer *self, uint32_t track, const snd_chunk *chunk)
{
    pending *added = snd_calloc(1, sizeof *added);
    if (added == NULL)
        return SND_NO_MEMORY;
    *added = (pending){NULL, track, chunk->first_ns, chunk->last_ns, chunk->events, chunk->bytes.size, {0}};
    snd_status status = snd_chunk_pack(chunk, &added->data);
    if (status != SND_OK) {
        snd_buffer_free(&added->data);
        snd_free(added);
        return status;
    }
    *self->chunks_end = added;
    self->chunks_end = &added->next;
    self->pending_size += added->data.size;
    return SND_OK;
}

size_t
snd_writer_pending(const snd_writer *self)
{
    return self->pending_size;
}

static int
write_infos(sqlite3 *db, const snd_profile *profile)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO info VALUES (?1, ?2)", -1, &insert, NULL);

    for (uint32_t i = 0; i < profile->info_count && result == SQLITE_OK; i++) {
        sqlite3_bind_text(insert, 1, profile->infos[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, profile->infos[i].value, -1, SQLITE_STATIC);
        result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

/* NULL where there is none. */
static void
bind_id(sqlite3_stmt *insert, int place, int is_there, uint32_t id)
{
    if (is_there)
        sqlite3_bind_int64(insert, place, id);
    else
        sqlite3_bind_null(insert, place);
}

static int
write_tracks(sqlite3 *db, const snd_profile *profile)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db,
                                    "INSERT OR REPLACE INTO track VALUES"
                                    " (?1, ?2, ?3, ?4, ?9, ?5, ?6, ?7, ?8, ?10, ?11)",
                                    -1, &insert, NULL);

    for (uint32_t i = 0; i < profile->track_count && result == SQLITE_OK; i++) {
        const snd_profile_track *track = &profile->tracks[i];
        const int64_t values[] = {i,
                                  track->process_id,
                                  track->thread_id,
                                  track->thread_count,
                                  (int64_t)track->start_ns,
                                  (int64_t)track->end_ns,
                                  (int64_t)track->dropped_entries,
                                  (int64_t)track->dropped_events};
        result = snd_sqlite_bind(insert, values, 8);
        sqlite3_bind_text(insert, 9, track->name, -1, SQLITE_STATIC);
        bind_id(insert, 10, track->process != SND_NONE, track->process);
        bind_id(insert, 11, track->summed_on != 0, track->summed_on - 1);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_sites(sqlite3 *db, const snd_profile *profile, uint32_t from)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT INTO site VALUES (?1, ?4, ?5, ?6, ?2, ?7, ?3)", -1, &insert, NULL);

    for (uint32_t i = from; i < profile->site_count && result == SQLITE_OK; i++) {
        const snd_profile_site *site = &profile->sites[i];
        const int64_t values[] = {i, site->line, site->first_line};
        result = snd_sqlite_bind(insert, values, 3);
        sqlite3_bind_text(insert, 4, snd_site_kind_name(site->kind), -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 5, site->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 6, site->file, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 7, site->detail, -1, SQLITE_STATIC);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_nodes(sqlite3 *db, const snd_profile *profile, uint32_t from)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT INTO node VALUES (?1, ?4, ?2, ?3)", -1, &insert, NULL);

    for (uint32_t i = from; i < profile->node_count && result == SQLITE_OK; i++) {
        const snd_profile_node *node = &profile->nodes[i];
        const int64_t values[] = {i, node->track, node->site, node->parent};
        result = snd_sqlite_bind(insert, values, node->parent == SND_NONE ? 3 : 4);
        if (node->parent == SND_NONE)
            sqlite3_bind_null(insert, 4);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_histogram(sqlite3_stmt *insert, uint32_t node, const uint64_t *counts)
{
    snd_buffer bytes = {0};

    snd_histogram_encode(counts, &bytes);
    sqlite3_bind_int64(insert, 1, node);
    int result =
        bytes.failed ? SQLITE_NOMEM : sqlite3_bind_blob64(insert, 2, snd_buffer_str(&bytes), bytes.size, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = snd_sqlite_run(insert);
    snd_buffer_free(&bytes);
    return result;
}

static int
write_values(sqlite3_stmt *insert, const snd_profile *profile, uint32_t node)
{
    int result = SQLITE_OK;

    for (snd_metric_set left = profile->nodes[node].present; left != 0 && result == SQLITE_OK; left &= left - 1) {
        snd_metric metric = snd_metric_first(left);
        snd_value value = profile->columns[metric][node];
        sqlite3_bind_int64(insert, 1, node);
        sqlite3_bind_int64(insert, 2, metric);
        if (snd_metric_get(metric)->is_real) /* SQLite takes NaN for NULL */
            sqlite3_bind_double(insert, 3, isnan(value.real) ? 0.0 : value.real);
        else
            sqlite3_bind_int64(insert, 3, (int64_t)value.whole);
        result = snd_sqlite_run(insert);
    }
    return result;
}

/* The first node from `from` on whose byte is 1; `count` when there is none. */
static uint32_t
next_marked(const unsigned char *marks, uint32_t from, uint32_t count)
{
    const unsigned char *found = from < count ? memchr(marks + from, 1, count - from) : NULL;
    return found == NULL ? count : (uint32_t)(found - marks);
}

static int
write_changed(sqlite3 *db, const snd_profile *profile, const unsigned char *owed)
{
    uint32_t count = profile->node_count;
    sqlite3_stmt *value = NULL;
    sqlite3_stmt *histogram = NULL;
    int result = sqlite3_prepare_v2(
        db, "INSERT INTO value VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value", -1, &value, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO histogram VALUES (?1, ?2)", -1, &histogram, NULL);

    for (uint32_t i = next_marked(owed, 0, count); i < count && result == SQLITE_OK;
         i = next_marked(owed, i + 1, count)) {
        result = write_values(value, profile, i);
        if (result == SQLITE_OK && profile->histograms != NULL && profile->histograms[i] != NULL)
            result = write_histogram(histogram, i, profile->histograms[i]);
    }
    sqlite3_finalize(value);
    sqlite3_finalize(histogram);
    return result;
}

static int
write_chunks(sqlite3 *db, const pending *chunks)
{
    sqlite3_stmt *insert = NULL;
    int result =
        sqlite3_prepare_v2(db, "INSERT INTO timeline VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6)", -1, &insert, NULL);

    for (const pending *chunk = chunks; chunk != NULL && result == SQLITE_OK; chunk = chunk->next) {
        const int64_t values[] = {chunk->track, (int64_t)chunk->first_ns, (int64_t)chunk->last_ns,
                                  (int64_t)chunk->events, (int64_t)chunk->size};
        result = snd_sqlite_bind(insert, values, 5);
        sqlite3_bind_blob64(insert, 6, snd_buffer_str(&chunk->data), chunk->data.size, SQLITE_STATIC);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_source(sqlite3_stmt *insert, const snd_source *source)
{
    unsigned char digest[SND_SHA256_SIZE];
    snd_buffer packed = {0};
    snd_status status = SND_OK;

    memcpy(digest, source->sha256, sizeof digest);
    if (source->text != NULL) {
        snd_sha256(source->text, source->size, digest);
        status = snd_pack(source->text, source->size, SOURCE_LEVEL, &packed);
    }
    int result = status == SND_OK ? SQLITE_OK : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 1, source->file, -1, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int64(insert, 2, (int64_t)source->size);
    if (result == SQLITE_OK) /* NULL where there is no text */
        result = sqlite3_bind_blob64(insert, 3, packed.data, packed.size, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = sqlite3_bind_blob64(insert, 4, digest, sizeof digest, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = snd_sqlite_run(insert);
    snd_buffer_free(&packed);
    return result;
}

/* Those that are new or changed; what no reader would take is left out. */
static int
write_sources(sqlite3 *db, const snd_profile *profile, const uint32_t *written)
{
    sqlite3_stmt *insert = NULL;
    uint64_t total = 0;
    int result = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO source VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL);

    for (uint32_t i = 0; i < profile->source_count && i < SND_SOURCE_COUNT_LIMIT && result == SQLITE_OK; i++) {
        const snd_source *source = &profile->sources[i];
        size_t size = source->text == NULL ? 0 : source->size;
        if (size > SND_SOURCE_LIMIT || total + size > SND_SOURCE_TOTAL_LIMIT)
            continue;
        total += size;
        if (written[i] != source->revision + 1)
            result = write_source(insert, source);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_all(snd_writer *self, sqlite3 *db, const snd_profile *profile)
{
    int result = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = write_infos(db, profile);
    if (result == SQLITE_OK)
        result = snd_store_processes(db, profile);
    if (result == SQLITE_OK)
        result = write_tracks(db, profile);
    if (result == SQLITE_OK)
        result = write_sites(db, profile, self->sites);
    if (result == SQLITE_OK)
        result = write_nodes(db, profile, self->nodes);
    if (result == SQLITE_OK)
        result = write_changed(db, profile, self->owed);
    if (result == SQLITE_OK)
        result = snd_store_memory(db, profile, self->owed);
    if (result == SQLITE_OK)
        result = write_chunks(db, self->chunks);
    if (result == SQLITE_OK)
        result = write_sources(db, profile, self->sources);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return result;
}

static snd_status
make_source_room(snd_writer *self, uint32_t count)
{
    int is_there = snd_make_longer(&self->sources, count, &self->source_count, sizeof *self->sources, 0);
    return is_there ? SND_OK : SND_NO_MEMORY;
}

/* Adds `changed` to what is owed, so that a failed checkpoint forgets nothing. */
static snd_status
remember_owed(snd_writer *self, const snd_profile *profile, const unsigned char *changed)
{
    if (!snd_make_longer(&self->owed, profile->node_count, &self->owed_count, 1, 1))
        return SND_NO_MEMORY;
    uint32_t count = self->owed_count;
    if (changed == NULL && count != 0)
        memset(self->owed, 1, count);
    for (uint32_t i = changed == NULL ? count : next_marked(changed, 0, count); i < count;
         i = next_marked(changed, i + 1, count))
        self->owed[i] = 1;
    return SND_OK;
}

snd_status
snd_writer_checkpoint(snd_writer *self, const snd_profile *profile, const unsigned char *changed)
{
    sqlite3 *db = NULL;
    snd_status status = remember_owed(self, profile, changed);
    if (status == SND_OK)
        status = make_source_room(self, profile->source_count);
    if (status != SND_OK)
        return status;
    if (access(self->path, F_OK) != 0) { /* somebody removed it: start again */
        status = create(self->path);
        if (status != SND_OK)
            return status;
        self->sites = self->nodes = 0;
        if (self->owed_count != 0)
            memset(self->owed, 1, self->owed_count);
        if (self->source_count != 0)
            memset(self->sources, 0, self->source_count * sizeof *self->sources);
    }
    int result = open_database(self->path, &db);
    if (result == SQLITE_OK)
        result = write_all(self, db, profile);
    status = snd_sqlite_status(db, result);
    int saved = errno;
    sqlite3_close(db);
    errno = saved;
    if (status != SND_OK)
        return status;
    self->sites = profile->site_count;
    self->nodes = profile->node_count;
    for (uint32_t i = 0; i < profile->source_count; i++)
        self->sources[i] = profile->sources[i].revision + 1;
    if (self->owed_count != 0)
        memset(self->owed, 0, self->owed_count);
    free_chunks(self);
    return SND_OK;
}

/* ---- a whole recording at once ---- */

static snd_status
save_beside(const snd_profile *profile, const char *path, const char *target)
{
    snd_writer *writer = NULL;
    snd_status status = snd_writer_open(path, &writer);

    if (status != SND_OK)
        return status;
    status = snd_writer_checkpoint(writer, profile, NULL);
    if (status == SND_OK)
        status = snd_files_remove_journal(target);
    if (status == SND_OK && rename(path, target) != 0)
        status = SND_SYSTEM;
    int saved = errno;
    if (status != SND_OK)
        snd_files_remove(path);
    snd_writer_free(writer);
    errno = saved;
    return status;
}

snd_status
snd_writer_save(const snd_profile *profile, const char *path)
{
    snd_buffer name = {0};
    char *target;

    if (!snd_writer_may_replace(path))
        return SND_NOT_A_RECORDING;
    if ((target = snd_file_target(path)) == NULL)
        return SND_SYSTEM;
    snd_buffer_printf(&name, "%s.%u.part", target, snd_process_id());
    snd_status status = snd_buffer_status(&name);
    if (status == SND_OK) {
        snd_unfinished_begin(snd_buffer_str(&name));
        status = save_beside(profile, snd_buffer_str(&name), target);
        snd_unfinished_end();
    }
    int saved = errno;
    snd_buffer_free(&name);
    free(target);
    errno = saved;
    return status;
}
