/* Reading a recording into a profile. */
#include "store/reader.h"

#include "base/alloc.h"
#include "os/file.h"
#include "store/chunk.h"
#include "store/open/files.h"
#include "store/open/guard.h"
#include "store/reader_private.h"
#include "store/schema.h"
#include "store/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int
snd_reader_number(sqlite3 *db, const char *sql, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        *number = sqlite3_column_int64(statement, 0);
        result = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return result;
}

/* SQLite takes the missing end of the last page for zeros. A file that is being written only grows. */
static snd_status
check_size(sqlite3 *db, const char *path)
{
    struct stat about;
    int64_t pages = 0, page_size = 0;
    int result = snd_reader_number(db, "PRAGMA page_count", &pages);

    if (result == SQLITE_OK)
        result = snd_reader_number(db, "PRAGMA page_size", &page_size);
    if (result != SQLITE_OK)
        return snd_sqlite_status(db, result);
    if (stat(path, &about) != 0)
        return SND_SYSTEM;
    return page_size <= 0 || about.st_size / page_size < pages ? SND_DAMAGED : SND_OK;
}

static snd_status
start(snd_reader *self, const char *path)
{
    int result = snd_files_open_reading(path, &self->db);
    if (result == SQLITE_OK) {
        sqlite3_busy_timeout(self->db, 5000);
        result = snd_guard_start(self->db);
    }
    snd_status status = snd_sqlite_status(self->db, result);
    if (status == SND_OK)
        status = snd_guard_check(self->db);
    return status == SND_OK ? check_size(self->db, path) : status;
}

snd_status
snd_reader_open(const char *path, snd_reader **out)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return SND_SYSTEM;
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return SND_SYSTEM;
    }
    if (!S_ISREG(about.st_mode)) /* opening a pipe would wait for its writer */
        return SND_NOT_A_RECORDING;
    snd_reader *self = snd_calloc(1, sizeof *self);
    if (self == NULL)
        return SND_NO_MEMORY;
    snd_status status = start(self, path);
    if (status == SND_NOT_A_RECORDING && snd_files_is_blank(self->db))
        status = SND_EMPTY;
    if (status != SND_OK) {
        int saved = errno;
        snd_reader_free(self);
        errno = saved;
        return status;
    }
    *out = self;
    return SND_OK;
}

void
snd_reader_free(snd_reader *self)
{
    if (self == NULL)
        return;
    sqlite3_close(self->db);
    snd_reader_free_only(self);
    snd_free(self);
}

void
snd_reader_limit_memory(uint64_t size)
{
    sqlite3_hard_heap_limit64(size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

const char *
snd_reader_library(void)
{
    return "SQLite " SQLITE_VERSION;
}

const char *
snd_reader_text_at(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text == NULL ? "" : (const char *)text;
}

int
snd_reader_id_at(sqlite3_stmt *row, int column, uint64_t limit, uint32_t *id)
{
    sqlite3_value *cell = sqlite3_column_value(row, column); /* asked twice, looked up once */
    if (sqlite3_value_type(cell) != SQLITE_INTEGER)
        return 0;
    int64_t value = sqlite3_value_int64(cell);
    if (value < 0 || (uint64_t)value >= limit)
        return 0;
    *id = (uint32_t)value;
    return 1;
}

snd_status
snd_reader_each_row(sqlite3 *db, const char *sql, snd_reader_row *take, snd_profile *profile, void *context)
{
    sqlite3_stmt *statement = NULL;
    snd_guard_budget budget = {0};
    snd_status status = SND_OK;
    int result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    while (result == SQLITE_OK && status == SND_OK) {
        result = sqlite3_step(statement);
        if (result == SQLITE_DONE)
            break;
        if (result == SQLITE_ROW) {
            status = snd_guard_row(statement, &budget);
            if (status == SND_OK)
                status = take(statement, profile, context);
            result = SQLITE_OK;
        }
    }
    sqlite3_finalize(statement);
    return status != SND_OK ? status : snd_sqlite_status(db, result);
}

/* What is kept from row to row. */
typedef struct loading {
    snd_metric metrics[SND_READER_METRICS]; /* by their number in the recording */
    uint64_t source_size;                   /* of all so far */
} loading;

static snd_status
take_info(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    (void)context;
    return snd_profile_set_info(profile, snd_reader_text_at(row, 0), snd_reader_text_at(row, 1));
}

static snd_status
take_track(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    uint32_t id, on;
    snd_profile_track track = {
        .process_id = (uint32_t)sqlite3_column_int64(row, 1),
        .thread_id = (uint32_t)sqlite3_column_int64(row, 2),
        .thread_count = (uint32_t)sqlite3_column_int64(row, 3),
        .name = snd_reader_text_at(row, 4),
        .start_ns = (uint64_t)sqlite3_column_int64(row, 5),
        .end_ns = (uint64_t)sqlite3_column_int64(row, 6),
        .dropped_entries = (uint64_t)sqlite3_column_int64(row, 7),
        .dropped_events = (uint64_t)sqlite3_column_int64(row, 8),
    };

    (void)context;
    if (!snd_reader_id_at(row, 0, UINT32_MAX, &id) || id != profile->track_count)
        return SND_DAMAGED;
    if (sqlite3_column_type(row, 9) == SQLITE_NULL)
        track.process = SND_NONE;
    else if (!snd_reader_id_at(row, 9, profile->process_count, &track.process))
        return SND_DAMAGED;
    if (sqlite3_column_type(row, 10) != SQLITE_NULL) {
        if (!snd_reader_id_at(row, 10, id, &on) || profile->tracks[on].summed_on != 0 || track.process == SND_NONE)
            return SND_DAMAGED;
        track.summed_on = on + 1;
    }
    return snd_profile_add_track(profile, &track, &id);
}

static snd_status
take_site(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    uint32_t id, line, first_line;
    snd_profile_site site = {.kind = snd_site_kind_find(snd_reader_text_at(row, 1)),
                             .name = snd_reader_text_at(row, 2)};

    (void)context;
    if (!snd_reader_id_at(row, 0, UINT32_MAX, &id) || id != profile->site_count ||
        !snd_reader_id_at(row, 4, UINT32_MAX, &line) || !snd_reader_id_at(row, 6, UINT32_MAX, &first_line) ||
        site.kind == SND_SITE_KIND_COUNT)
        return SND_DAMAGED;
    site.file = snd_reader_text_at(row, 3);
    site.line = line;
    site.detail = snd_reader_text_at(row, 5);
    site.first_line = first_line;
    return snd_profile_add_site(profile, &site, &id);
}

static snd_status
take_node(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    uint32_t id, parent = SND_NONE, track, site;

    (void)context;
    if (!snd_reader_id_at(row, 0, UINT32_MAX, &id) || id != profile->node_count)
        return SND_DAMAGED;
    if (sqlite3_column_type(row, 1) != SQLITE_NULL && !snd_reader_id_at(row, 1, id, &parent))
        return SND_DAMAGED;
    if (!snd_reader_id_at(row, 2, profile->track_count, &track) || profile->tracks[track].summed_on != 0 ||
        !snd_reader_id_at(row, 3, profile->site_count, &site))
        return SND_DAMAGED;
    return snd_profile_add_node(profile, parent, track, site, &id);
}

static snd_status
take_value(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    const snd_metric *metrics = ((const loading *)context)->metrics;
    uint32_t node, metric;
    snd_value value;

    if (!snd_reader_id_at(row, 0, profile->node_count, &node) || !snd_reader_id_at(row, 1, SND_READER_METRICS, &metric))
        return SND_DAMAGED;
    if (metrics[metric] == SND_METRIC_COUNT_OF)
        return SND_OK;
    if (snd_metric_get(metrics[metric])->is_real)
        value.real = sqlite3_column_double(row, 2);
    else
        value.whole = (uint64_t)sqlite3_column_int64(row, 2);
    return snd_profile_set(profile, node, metrics[metric], value);
}

static snd_status
take_histogram(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    uint64_t counts[SND_HISTOGRAM_BUCKETS];
    uint32_t node;

    (void)context;
    if (!snd_reader_id_at(row, 0, profile->node_count, &node))
        return SND_DAMAGED;
    const void *bytes = sqlite3_column_blob(row, 1);
    snd_status status = snd_histogram_decode(bytes, (size_t)sqlite3_column_bytes(row, 1), counts);
    return status != SND_OK ? status : snd_profile_set_histogram(profile, node, counts);
}

/* A source whose text is not in the recording. */
static snd_status
take_digest(sqlite3_stmt *row, snd_profile *profile, uint32_t size)
{
    snd_source source = {.file = snd_reader_text_at(row, 0), .size = size};
    const void *digest = sqlite3_column_blob(row, 3);

    if (digest == NULL || sqlite3_column_bytes(row, 3) != SND_SHA256_SIZE)
        return SND_DAMAGED;
    if (profile->source_count >= SND_SOURCE_COUNT_LIMIT)
        return SND_OK;
    memcpy(source.sha256, digest, SND_SHA256_SIZE);
    return snd_profile_copy_source(profile, &source);
}

static snd_status
take_source(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    loading *self = context;
    char *text = NULL;
    uint32_t size;

    if (!snd_reader_id_at(row, 1, UINT32_MAX, &size))
        return SND_DAMAGED;
    if (sqlite3_column_type(row, 2) == SQLITE_NULL)
        return take_digest(row, profile, size);
    if (size > SND_SOURCE_LIMIT || self->source_size + size > SND_SOURCE_TOTAL_LIMIT ||
        profile->source_count >= SND_SOURCE_COUNT_LIMIT)
        return SND_OK; /* a view does without it */
    self->source_size += size;
    const void *packed = sqlite3_column_blob(row, 2);
    snd_status status = snd_unpack(packed, (size_t)sqlite3_column_bytes(row, 2), size, &text);
    if (status == SND_OK)
        status = snd_profile_add_source(profile, snd_reader_text_at(row, 0), text, size);
    snd_free(text);
    return status;
}

/* Sites of version 1 had no detail, those of version 2 no first line. */
static const char *
site_sql(int64_t version)
{
    if (version < 2)
        return "SELECT id, kind, name, file, line, '', 0 FROM site ORDER BY id";
    if (version < 3)
        return "SELECT id, kind, name, file, line, detail, 0 FROM site ORDER BY id";
    return "SELECT id, kind, name, file, line, detail, first_line FROM site ORDER BY id";
}

/* Sources before version 8 were texts. */
static const char *
source_sql(int64_t version)
{
    return version < 8 ? "SELECT file, size, text FROM source WHERE text IS NOT NULL ORDER BY file"
                       : "SELECT file, size, text, sha256 FROM source ORDER BY file";
}

/* Those before version 7 were all of one process. */
static const char *
track_sql(int64_t version)
{
    if (version < 7)
        return "SELECT id, process_id, thread_id, thread_count, name, start_ns, end_ns, dropped_entries,"
               " dropped_events, 0, NULL FROM track ORDER BY id";
    return "SELECT id, process_id, thread_id, thread_count, name, start_ns, end_ns, dropped_entries, dropped_events,"
           " process, summed_on FROM track ORDER BY id";
}

/* Facts, processes and tracks. */
static snd_status
load_lines(snd_reader *self, int64_t *version, snd_profile *profile)
{
    int result = snd_reader_number(self->db, "PRAGMA user_version", version);
    if (result != SQLITE_OK)
        return snd_sqlite_status(self->db, result);
    snd_status status = snd_reader_each_row(self->db, "SELECT key, value FROM info", take_info, profile, NULL);
    if (status == SND_OK)
        status = snd_load_processes(self->db, *version, profile);
    if (status == SND_OK)
        status = snd_reader_each_row(self->db, track_sql(*version), take_track, profile, NULL);
    return status;
}

static snd_status
load(snd_reader *self, snd_profile *profile)
{
    loading state = {0};
    int64_t version = 0;
    snd_status status = load_lines(self, &version, profile);
    if (status == SND_OK)
        status = snd_reader_metrics(self->db, state.metrics);
    if (status != SND_OK)
        return status;
    const struct {
        const char *sql;
        snd_reader_row *take;
    } steps[] = {
        {site_sql(version), take_site},
        {"SELECT id, parent, track, site FROM node ORDER BY id", take_node},
        {"SELECT node, metric, value FROM value", take_value},
        {"SELECT node, buckets FROM histogram", take_histogram},
        {source_sql(version), take_source},
    };

    size_t count = sizeof steps / sizeof steps[0] - (version < 3); /* sources are the last */
    for (size_t i = 0; i < count && status == SND_OK; i++)
        status = snd_reader_each_row(self->db, steps[i].sql, steps[i].take, profile, &state);
    return status == SND_OK && version >= 4 ? snd_load_memory(self->db, profile) : status;
}

/* One transaction: the program may be writing its next checkpoint. */
static snd_status
load_at_once(snd_reader *self, snd_status (*what)(snd_reader *, snd_profile *), snd_profile **out)
{
    snd_profile *profile = snd_profile_new();
    if (profile == NULL)
        return SND_NO_MEMORY;
    profile->load_text = snd_file_load;
    snd_status status = snd_sqlite_status(self->db, sqlite3_exec(self->db, "BEGIN", NULL, NULL, NULL));
    if (status == SND_OK)
        status = what(self, profile);
    sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != SND_OK) {
        snd_profile_free(profile);
        return status;
    }
    *out = profile;
    return SND_OK;
}

snd_status
snd_reader_profile(snd_reader *self, snd_profile **out)
{
    snd_profile *all = NULL;
    if (self->only == NULL)
        return load_at_once(self, load, out);
    snd_status status = load_at_once(self, load, &all);
    if (status != SND_OK)
        return status;
    status = snd_reader_take_only(self, all, out);
    snd_profile_free(all);
    return status;
}

static snd_status
load_outline(snd_reader *self, snd_profile *profile)
{
    int64_t version = 0;
    return load_lines(self, &version, profile);
}

snd_status
snd_reader_outline(snd_reader *self, snd_profile **out)
{
    return load_at_once(self, load_outline, out);
}
