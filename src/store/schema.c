/* The recording's tables: what each version of sonde wrote. */
#include "store/schema.h"

#include "store/open/files.h"
#include "store/reader_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A column of the view of samples. */
#define TIME(metric) ", coalesce(sum(value) FILTER (WHERE metric.name = '" metric "'), 0) AS " metric "_ns"
#define BYTES(metric) ", coalesce(sum(value) FILTER (WHERE metric.name = '" metric "'), 0) AS " metric
#define CPU_TIMES TIME("python") TIME("native") TIME("system")
#define WAIT_TIMES \
    TIME("wait_cpu") TIME("wait_lock") TIME("wait_gil") TIME("wait_io") TIME("wait_sleep") TIME("wait_other")

/* Operators; of each node its sums. */
#define OP_VIEW                                                                \
    "CREATE VIEW op AS SELECT node, parent, thread, name, detail, file, line," \
    " sum(value) FILTER (WHERE metric = 'count') AS count,"                    \
    " sum(value) FILTER (WHERE metric = 'total') AS total_ns,"                 \
    " sum(value) FILTER (WHERE metric = 'self') AS self_ns,"                   \
    " sum(value) FILTER (WHERE metric = 'min') AS min_ns,"                     \
    " sum(value) FILTER (WHERE metric = 'max') AS max_ns,"                     \
    " sum(value) FILTER (WHERE metric = 'op_read') AS read_bytes,"             \
    " sum(value) FILTER (WHERE metric = 'op_written') AS written_bytes,"       \
    " sum(value) FILTER (WHERE metric = 'op_flops') AS flops,"                 \
    " sum(value) FILTER (WHERE metric = 'op_copies') AS copies,"               \
    " sum(value) FILTER (WHERE metric = 'op_casts') AS casts"                  \
    " FROM measure WHERE kind = 'op' GROUP BY node"

#define NOW SND_SCHEMA_VERSION

/* A table or a view, with the versions that have it. A change is another text of the same name, from the next version
 * on: recordings of strangers are compared with these. */
static const struct object {
    int since, until;
    const char *sql; /* as SQLite keeps it */
} objects[] = {
    {1, NOW, "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"},
    {1, NOW,
     "CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,"
     " meaning TEXT NOT NULL)"},
    {1, 6,
     "CREATE TABLE track (id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, thread_id INTEGER NOT NULL,"
     " thread_count INTEGER NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
     " dropped_entries INTEGER NOT NULL, dropped_events INTEGER NOT NULL)"},
    {7, NOW,
     "CREATE TABLE track (id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, thread_id INTEGER NOT NULL,"
     " thread_count INTEGER NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
     " dropped_entries INTEGER NOT NULL, dropped_events INTEGER NOT NULL, process INTEGER REFERENCES process,"
     " summed_on INTEGER REFERENCES track)"},
    {7, NOW,
     "CREATE TABLE process (id INTEGER PRIMARY KEY, host TEXT NOT NULL, process_id INTEGER NOT NULL,"
     " parent_id INTEGER, rank INTEGER, program TEXT NOT NULL, arguments TEXT NOT NULL, probes TEXT NOT NULL,"
     " start_realtime_ns INTEGER NOT NULL, start_monotonic_ns INTEGER NOT NULL, offset_ns INTEGER NOT NULL,"
     " length_ns INTEGER NOT NULL, cpu_ns INTEGER, complete INTEGER NOT NULL)"},
    {7, NOW,
     "CREATE TABLE part (process INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, size INTEGER NOT NULL,"
     " data BLOB NOT NULL, PRIMARY KEY (process, number))"},
    {1, 1,
     "CREATE TABLE site (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL,"
     " line INTEGER NOT NULL)"},
    {2, 2,
     "CREATE TABLE site (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL,"
     " line INTEGER NOT NULL, detail TEXT NOT NULL)"},
    {3, NOW,
     "CREATE TABLE site (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL,"
     " line INTEGER NOT NULL, detail TEXT NOT NULL, first_line INTEGER NOT NULL)"},
    {1, NOW,
     "CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node,"
     " track INTEGER NOT NULL REFERENCES track, site INTEGER NOT NULL REFERENCES site)"},
    {1, NOW,
     "CREATE TABLE value (node INTEGER NOT NULL REFERENCES node, metric INTEGER NOT NULL REFERENCES metric,"
     " value NOT NULL, PRIMARY KEY (node, metric)) WITHOUT ROWID"},
    {1, NOW, "CREATE TABLE histogram (node INTEGER PRIMARY KEY REFERENCES node, buckets BLOB NOT NULL)"},
    {1, NOW,
     "CREATE TABLE timeline (id INTEGER PRIMARY KEY, track INTEGER NOT NULL REFERENCES track,"
     " first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL, events INTEGER NOT NULL, size INTEGER NOT NULL,"
     " data BLOB NOT NULL)"},
    {3, 7, "CREATE TABLE source (file TEXT PRIMARY KEY, size INTEGER NOT NULL, text BLOB NOT NULL)"},
    {8, NOW, "CREATE TABLE source (file TEXT PRIMARY KEY, size INTEGER NOT NULL, text BLOB, sha256 BLOB NOT NULL)"},
    {4, NOW,
     "CREATE TABLE series (name TEXT NOT NULL, unit TEXT NOT NULL, at_ns INTEGER NOT NULL, value REAL NOT NULL,"
     " PRIMARY KEY (name, at_ns)) WITHOUT ROWID"},
    {4, NOW, "CREATE TABLE history (node INTEGER PRIMARY KEY REFERENCES node, points BLOB NOT NULL)"},
    {4, NOW,
     "CREATE TABLE size (power INTEGER PRIMARY KEY, python_blocks INTEGER NOT NULL, python_bytes INTEGER NOT NULL,"
     " native_blocks INTEGER NOT NULL, native_bytes INTEGER NOT NULL)"},
    {1, 1,
     "CREATE VIEW measure AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name,"
     " site.file, site.line, metric.name AS metric, metric.unit, value.value FROM value"
     " JOIN node ON node.id = value.node JOIN site ON site.id = node.site"
     " JOIN track ON track.id = node.track JOIN metric ON metric.id = value.metric"},
    {2, NOW,
     "CREATE VIEW measure AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name,"
     " site.file, site.line, site.detail, metric.name AS metric, metric.unit, value.value FROM value"
     " JOIN node ON node.id = value.node JOIN site ON site.id = node.site"
     " JOIN track ON track.id = node.track JOIN metric ON metric.id = value.metric"},
    {2, NOW,
     "CREATE VIEW call AS SELECT node, parent, thread, kind, name, file, line, detail,"
     " sum(value) FILTER (WHERE metric = 'count') AS count,"
     " sum(value) FILTER (WHERE metric = 'recursive') AS recursive,"
     " sum(value) FILTER (WHERE metric = 'total') AS total_ns,"
     " sum(value) FILTER (WHERE metric = 'self') AS self_ns,"
     " sum(value) FILTER (WHERE metric = 'suspended') AS suspended_ns"
     " FROM measure WHERE kind IN ('function', 'builtin') GROUP BY node"},
    {1, NOW,
     "CREATE VIEW region AS SELECT node, parent, thread, name, file, line,"
     " sum(value) FILTER (WHERE metric = 'count') AS count,"
     " sum(value) FILTER (WHERE metric = 'total') AS total_ns,"
     " sum(value) FILTER (WHERE metric = 'self') AS self_ns,"
     " sum(value) FILTER (WHERE metric = 'min') AS min_ns,"
     " sum(value) FILTER (WHERE metric = 'max') AS max_ns,"
     " sum(value) FILTER (WHERE metric = 'suspended') AS suspended_ns"
     " FROM measure WHERE kind = 'region' GROUP BY node"},
    {9, NOW,
     "CREATE VIEW counter AS SELECT node, thread, name, file, line,"
     " sum(value) FILTER (WHERE metric = 'count') AS updates,"
     " sum(value) FILTER (WHERE metric = 'value_last') AS last,"
     " sum(value) FILTER (WHERE metric = 'value_min') AS min,"
     " sum(value) FILTER (WHERE metric = 'value_max') AS max,"
     " sum(value) FILTER (WHERE metric = 'value_sum') / sum(value) FILTER (WHERE metric = 'count') AS average"
     " FROM measure WHERE kind = 'counter' GROUP BY node"},
    {9, NOW,
     "CREATE VIEW mark AS SELECT node, thread, name, detail, sum(value) FILTER (WHERE metric = 'count') AS count"
     " FROM measure WHERE kind = 'mark' GROUP BY node"},
    /* early files of these versions */
    {5, 6, OP_VIEW},
    {5, NOW, OP_VIEW " HAVING sum(value) FILTER (WHERE metric IN ('count', 'open')) > 0"},
    /* classes and operators have no values of their own */
    {6, NOW,
     "CREATE VIEW graph AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, "
     "site.detail,"
     " sum(value) FILTER (WHERE metric.name = 'count') AS count,"
     " sum(value) FILTER (WHERE metric.name = 'total') AS total_ns,"
     " sum(value) FILTER (WHERE metric.name = 'graph_vm') AS vm_ns,"
     " sum(value) FILTER (WHERE metric.name = 'op_flops') AS flops,"
     " sum(value) FILTER (WHERE metric.name = 'graph_created') AS created_bytes,"
     " sum(value) FILTER (WHERE metric.name = 'graph_inplace') AS inplace_bytes,"
     " sum(value) FILTER (WHERE metric.name = 'graph_view') AS view_bytes,"
     " sum(value) FILTER (WHERE metric.name = 'graph_peak') AS peak_bytes,"
     " sum(value) FILTER (WHERE metric.name = 'graph_before') AS nodes_before,"
     " sum(value) FILTER (WHERE metric.name = 'graph_after') AS nodes_after"
     " FROM node JOIN site ON site.id = node.site JOIN track ON track.id = node.track"
     " LEFT JOIN value ON value.node = node.id LEFT JOIN metric ON metric.id = value.metric"
     " WHERE site.kind LIKE 'graph%' GROUP BY node.id"
     " HAVING coalesce(sum(value) FILTER (WHERE metric.name = 'graph_gone'), 0) = 0"},
    /* not from measure: frames that only called others have no values */
    {3, 7,
     "CREATE VIEW sample AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, site.file,"
     " site.line, site.first_line, coalesce(sum(value) FILTER (WHERE metric.name = 'samples'), 0) AS "
     "samples" CPU_TIMES WAIT_TIMES " FROM node JOIN site ON site.id = node.site JOIN track ON track.id = node.track"
     " LEFT JOIN value ON value.node = node.id LEFT JOIN metric ON metric.id = value.metric"
     " WHERE site.kind IN ('line', 'native', 'other') GROUP BY node.id"},
    /* with the CPU time of threads and regions in which no frame was seen */
    {8, NOW,
     "CREATE VIEW sample AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, site.file,"
     " site.line, site.first_line, coalesce(sum(value) FILTER (WHERE metric.name = 'samples'), 0) AS "
     "samples" CPU_TIMES WAIT_TIMES " FROM node JOIN site ON site.id = node.site JOIN track ON track.id = node.track"
     " LEFT JOIN value ON value.node = node.id LEFT JOIN metric ON metric.id = value.metric"
     " WHERE site.kind IN ('line', 'native', 'other') OR metric.name IN ('python', 'native', 'system')"
     " GROUP BY node.id"},
    {4, NOW,
     "CREATE VIEW memory AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, site.file,"
     " site.line" BYTES("alloc_python") BYTES("alloc_native") BYTES("alloc_blocks") BYTES("temporary") BYTES("live")
         BYTES("live_average") BYTES("live_peak")
             BYTES("copied") " FROM value JOIN node ON node.id = value.node"
                             " JOIN site ON site.id = node.site JOIN track ON track.id = node.track JOIN metric ON "
                             "metric.id = value.metric"
                             " WHERE metric.name IN ('taken', 'copied') OR metric.name LIKE 'alloc_%' OR metric.name "
                             "LIKE 'live%'"
                             " OR metric.name = 'temporary' GROUP BY node.id"},
};
enum { OBJECT_COUNT = sizeof objects / sizeof objects[0] };
_Static_assert(OBJECT_COUNT <= 64, "one bit each");

static int
is_of(const struct object *self, int64_t version)
{
    return self->since <= version && version <= self->until;
}

/* The third word of its text. */
static int
is_named(const struct object *self, const char *name)
{
    const char *at = self->sql + (strncmp(self->sql, "CREATE TABLE ", 13) == 0 ? 13 : 12);
    size_t len = strlen(name);

    return strncmp(at, name, len) == 0 && at[len] == ' ';
}

static int
is_same_name(const struct object *a, const struct object *b)
{
    char name[64];
    return sscanf(b->sql, "CREATE %*s %63s", name) == 1 && is_named(a, name);
}

int
snd_schema_create(sqlite3 *db, int version)
{
    char head[96];

    snprintf(head, sizeof head, "PRAGMA application_id = %d; PRAGMA user_version = %d", SND_SCHEMA_APPLICATION,
             version);
    int result = sqlite3_exec(db, head, NULL, NULL, NULL);
    for (int i = 0; i < OBJECT_COUNT && result == SQLITE_OK; i++) {
        int is_last = is_of(&objects[i], version);
        for (int k = i + 1; k < OBJECT_COUNT && is_last; k++)
            is_last = !is_of(&objects[k], version) || !is_same_name(&objects[i], &objects[k]);
        if (is_last)
            result = sqlite3_exec(db, objects[i].sql, NULL, NULL, NULL);
    }
    return result;
}

/* ---- what a file has ---- */

static int
is_text(sqlite3_stmt *row, int column, const char *text)
{
    return sqlite3_column_type(row, column) == SQLITE_TEXT &&
           strcmp((const char *)sqlite3_column_text(row, column), text) == 0 &&
           (size_t)sqlite3_column_bytes(row, column) == strlen(text);
}

/* SQLite makes one for a primary key or a unique column by itself. It is refused without such a table. */
static int
is_own_index(sqlite3_stmt *row)
{
    char name[64];
    const char *table = (const char *)sqlite3_column_text(row, 2);

    snprintf(name, sizeof name, "sqlite_autoindex_%s_1", table == NULL ? "" : table);
    return is_text(row, 0, "index") && is_text(row, 1, name) && sqlite3_column_type(row, 3) == SQLITE_NULL;
}

/* The object that the row is; OBJECT_COUNT when it is none of the version. */
static int
find_object(sqlite3_stmt *row, int64_t version)
{
    const char *name = (const char *)sqlite3_column_text(row, 1);
    int i = 0;

    while (i < OBJECT_COUNT && !(is_of(&objects[i], version) && is_text(row, 3, objects[i].sql)))
        i++;
    if (i == OBJECT_COUNT || name == NULL || !is_text(row, 2, name) || !is_named(&objects[i], name) ||
        !is_text(row, 0, objects[i].sql[7] == 'T' ? "table" : "view"))
        return OBJECT_COUNT;
    return i;
}

/* Whether each name that the version has was found, in one of its texts. */
static int
is_whole(uint64_t found, int64_t version)
{
    int is_there = 1;

    for (int i = 0; i < OBJECT_COUNT && is_there; i++) {
        is_there = !is_of(&objects[i], version);
        for (int k = 0; k < OBJECT_COUNT && !is_there; k++)
            is_there = (found >> k & 1) != 0 && is_same_name(&objects[i], &objects[k]);
    }
    return is_there;
}

static snd_status
check_objects(sqlite3 *db, int64_t version)
{
    sqlite3_stmt *row = NULL;
    uint64_t found = 0;
    snd_status status = SND_OK;
    int result = sqlite3_prepare_v2(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema", -1, &row, NULL);

    while (result == SQLITE_OK && status == SND_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        int object = is_own_index(row) ? -1 : find_object(row, version);
        if (object == OBJECT_COUNT || (object >= 0 && (found >> object & 1) != 0))
            status = SND_DAMAGED;
        else if (object >= 0)
            found |= (uint64_t)1 << object;
        result = SQLITE_OK;
    }
    sqlite3_finalize(row);
    if (status == SND_OK)
        status = snd_sqlite_status(db, result);
    return status == SND_OK && !is_whole(found, version) ? SND_DAMAGED : status;
}

/* Other encodings take another room in memory than in the file. */
static snd_status
check_encoding(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    int result = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &row, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(row);
    int is_ours = result == SQLITE_ROW && is_text(row, 0, "UTF-8");
    sqlite3_finalize(row);
    snd_status status = snd_sqlite_status(db, result);
    return status == SND_OK && !is_ours ? SND_DAMAGED : status;
}

snd_status
snd_schema_check(sqlite3 *db)
{
    int64_t application = 0, version = 0;
    int result = snd_reader_number(db, "PRAGMA application_id", &application);
    if (result == SQLITE_OK)
        result = snd_reader_number(db, "PRAGMA user_version", &version);
    if (result != SQLITE_OK)
        return snd_sqlite_status(db, result);
    if (application != SND_SCHEMA_APPLICATION)
        return SND_NOT_A_RECORDING;
    if (version > SND_SCHEMA_VERSION)
        return SND_NEWER;
    snd_status status = check_encoding(db);
    return status == SND_OK ? check_objects(db, version) : status;
}

/* ---- SQLite ---- */

snd_status
snd_sqlite_status(sqlite3 *db, int result)
{
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return SND_OK;
    case SQLITE_NOMEM:
        return SND_NO_MEMORY;
    case SQLITE_NOTADB:
        return SND_NOT_A_RECORDING;
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT: /* it had more to read than a recording has */
    case SQLITE_ERROR:     /* a table or a column is missing */
        return SND_DAMAGED;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SND_BUSY;
    case SQLITE_AUTH:
        return SND_READ_ONLY;
    case SQLITE_FULL:
        errno = ENOSPC;
        return SND_SYSTEM;
    default: {
        int extended = db == NULL ? result : sqlite3_extended_errcode(db);
        if (extended == SND_SQLITE_FOREIGN_JOURNAL)
            return SND_FOREIGN_JOURNAL;
        if (extended == SND_SQLITE_WAL)
            return SND_WAL;
        int code = db == NULL ? 0 : sqlite3_system_errno(db);
        errno = code != 0 ? code : EIO;
        return SND_SYSTEM;
    }
    }
}

int
snd_sqlite_bind(sqlite3_stmt *statement, const int64_t *values, int count)
{
    int result = SQLITE_OK;
    for (int i = 0; i < count && result == SQLITE_OK; i++)
        result = sqlite3_bind_int64(statement, i + 1, values[i]);
    return result;
}

int
snd_sqlite_run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}
