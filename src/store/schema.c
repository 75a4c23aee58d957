/* The recording's tables. */
#include "store/schema.h"

/* A column of the view of samples. */
#define TIME(metric) ", coalesce(sum(value) FILTER (WHERE metric.name = '" metric "'), 0) AS " metric "_ns"
#define BYTES(metric) ", coalesce(sum(value) FILTER (WHERE metric.name = '" metric "'), 0) AS " metric
#define CPU_TIMES TIME("python") TIME("native") TIME("system")
#define WAIT_TIMES \
    TIME("wait_cpu") TIME("wait_lock") TIME("wait_gil") TIME("wait_io") TIME("wait_sleep") TIME("wait_other")

const char snd_schema_sql[] =
    "PRAGMA application_id = 1399811684;"
    "PRAGMA user_version = 4;"
    "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,"
    " meaning TEXT NOT NULL);"
    "CREATE TABLE track (id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL, thread_id INTEGER NOT NULL,"
    " thread_count INTEGER NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
    " dropped_entries INTEGER NOT NULL, dropped_events INTEGER NOT NULL);"
    "CREATE TABLE site (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL,"
    " line INTEGER NOT NULL, detail TEXT NOT NULL, first_line INTEGER NOT NULL);"
    "CREATE TABLE node (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES node,"
    " track INTEGER NOT NULL REFERENCES track, site INTEGER NOT NULL REFERENCES site);"
    "CREATE TABLE value (node INTEGER NOT NULL REFERENCES node, metric INTEGER NOT NULL REFERENCES metric,"
    " value NOT NULL, PRIMARY KEY (node, metric)) WITHOUT ROWID;"
    "CREATE TABLE histogram (node INTEGER PRIMARY KEY REFERENCES node, buckets BLOB NOT NULL);"
    "CREATE TABLE timeline (id INTEGER PRIMARY KEY, track INTEGER NOT NULL REFERENCES track,"
    " first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL, events INTEGER NOT NULL, size INTEGER NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE TABLE source (file TEXT PRIMARY KEY, size INTEGER NOT NULL, text BLOB NOT NULL);"
    "CREATE TABLE series (name TEXT NOT NULL, unit TEXT NOT NULL, at_ns INTEGER NOT NULL, value REAL NOT NULL,"
    " PRIMARY KEY (name, at_ns)) WITHOUT ROWID;"
    "CREATE TABLE history (node INTEGER PRIMARY KEY REFERENCES node, points BLOB NOT NULL);"
    "CREATE TABLE size (power INTEGER PRIMARY KEY, python_blocks INTEGER NOT NULL, python_bytes INTEGER NOT NULL,"
    " native_blocks INTEGER NOT NULL, native_bytes INTEGER NOT NULL);"
    "CREATE VIEW measure AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name,"
    " site.file, site.line, site.detail, metric.name AS metric, metric.unit, value.value FROM value"
    " JOIN node ON node.id = value.node JOIN site ON site.id = node.site"
    " JOIN track ON track.id = node.track JOIN metric ON metric.id = value.metric;"
    "CREATE VIEW call AS SELECT node, parent, thread, kind, name, file, line, detail,"
    " sum(value) FILTER (WHERE metric = 'count') AS count,"
    " sum(value) FILTER (WHERE metric = 'recursive') AS recursive,"
    " sum(value) FILTER (WHERE metric = 'total') AS total_ns,"
    " sum(value) FILTER (WHERE metric = 'self') AS self_ns,"
    " sum(value) FILTER (WHERE metric = 'suspended') AS suspended_ns"
    " FROM measure WHERE kind IN ('function', 'builtin') GROUP BY node;"
    "CREATE VIEW region AS SELECT node, parent, thread, name, file, line,"
    " sum(value) FILTER (WHERE metric = 'count') AS count,"
    " sum(value) FILTER (WHERE metric = 'total') AS total_ns,"
    " sum(value) FILTER (WHERE metric = 'self') AS self_ns,"
    " sum(value) FILTER (WHERE metric = 'min') AS min_ns,"
    " sum(value) FILTER (WHERE metric = 'max') AS max_ns,"
    " sum(value) FILTER (WHERE metric = 'suspended') AS suspended_ns"
    " FROM measure WHERE kind = 'region' GROUP BY node;"
    /* not from measure: frames that only called others have no values */
    "CREATE VIEW sample AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, site.file,"
    " site.line, site.first_line, coalesce(sum(value) FILTER (WHERE metric.name = 'samples'), 0) AS "
    "samples" CPU_TIMES WAIT_TIMES " FROM node JOIN site ON site.id = node.site JOIN track ON track.id = node.track"
    " LEFT JOIN value ON value.node = node.id LEFT JOIN metric ON metric.id = value.metric"
    " WHERE site.kind IN ('line', 'native', 'other') GROUP BY node.id;"
    "CREATE VIEW memory AS SELECT node.id AS node, node.parent, track.name AS thread, site.kind, site.name, site.file,"
    " site.line" BYTES("alloc_python") BYTES("alloc_native") BYTES("alloc_blocks") BYTES("temporary") BYTES("live")
        BYTES("live_average") BYTES("live_peak")
            BYTES("copied") " FROM value JOIN node ON node.id = value.node"
                            " JOIN site ON site.id = node.site JOIN track ON track.id = node.track JOIN metric ON "
                            "metric.id = value.metric"
                            " WHERE metric.name IN ('taken', 'copied') OR metric.name LIKE 'alloc_%' OR metric.name "
                            "LIKE 'live%'"
                            " OR metric.name = 'temporary' GROUP BY node.id;";
