/* Bytes as changes of single cells of a recording. */
#include "cells.h"

#include "fuzz.h"
#include "read.h"
#include "seed.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHANGE_LIMIT = 16 };

static const struct {
    const char *table;
    const char *key;
    const char *columns[14];
    unsigned count;
} tables[] = {
    {"info", "key", {"key", "value"}, 2},
    {"metric", "id", {"id", "name"}, 2},
    {"track",
     "id",
     {"id", "process_id", "thread_id", "thread_count", "name", "start_ns", "end_ns", "dropped_entries",
      "dropped_events", "process", "summed_on"},
     11},
    {"site", "id", {"id", "kind", "name", "file", "line", "detail", "first_line"}, 7},
    {"node", "id", {"id", "parent", "track", "site"}, 4},
    {"value", "node, metric", {"node", "metric", "value"}, 3},
    {"histogram", "node", {"node", "buckets"}, 2},
    {"timeline", "id", {"id", "track", "first_ns", "last_ns", "events", "size", "data"}, 7},
    {"source", "file", {"file", "size", "text"}, 3},
    {"series", "name, at_ns", {"name", "unit", "at_ns", "value"}, 4},
    {"history", "node", {"node", "points"}, 2},
    {"size", "power", {"power", "python_blocks", "python_bytes", "native_blocks", "native_bytes"}, 5},
    {"process",
     "id",
     {"id", "host", "process_id", "parent_id", "rank", "program", "arguments", "probes", "start_realtime_ns",
      "start_monotonic_ns", "offset_ns", "length_ns", "cpu_ns", "complete"},
     14},
    {"part", "process, number", {"process", "number", "size", "data"}, 4},
};
#define TABLES (sizeof tables / sizeof tables[0])

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint8_t
next_byte(input *self)
{
    return self->at < self->end ? *self->at++ : 0;
}

static void
next_bytes(input *self, void *into, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)into)[i] = next_byte(self);
}

/* 0: no value, but no row is to be left in the table. */
static int
bind_value(input *self, sqlite3_stmt *update)
{
    char text[256];
    int64_t whole;
    double real;
    uint8_t chosen = next_byte(self), kind = chosen % 6, len;

    if (chosen == 255)
        return 0;
    switch (kind) {
    case 0:
        sqlite3_bind_int(update, 1, (int8_t)next_byte(self));
        break;
    case 1:
        next_bytes(self, &whole, sizeof whole);
        sqlite3_bind_int64(update, 1, whole);
        break;
    case 2:
        next_bytes(self, &real, sizeof real);
        sqlite3_bind_double(update, 1, real);
        break;
    case 5:
        sqlite3_bind_null(update, 1);
        break;
    default:
        len = next_byte(self);
        next_bytes(self, text, len);
        if (kind == 3)
            sqlite3_bind_text(update, 1, text, len, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(update, 1, text, len, SQLITE_TRANSIENT);
    }
    return 1;
}

/* What the database itself refuses (a key twice, no value at all) is left as it was. */
static void
change_cell(input *self, sqlite3 *db)
{
    unsigned table = next_byte(self) % TABLES;
    unsigned chosen = next_byte(self); /* what is beyond the columns leads to later rows */
    unsigned column = chosen % tables[table].count;
    unsigned row = next_byte(self) + 256 * (chosen / tables[table].count);
    const char *key = tables[table].key;
    sqlite3_stmt *update = NULL;
    char sql[256];

    snprintf(sql, sizeof sql, "UPDATE %s SET %s = ?1 WHERE (%s) = (SELECT %s FROM %s LIMIT 1 OFFSET %u)",
             tables[table].table, tables[table].columns[column], key, key, tables[table].table, row);
    MUST(sqlite3_prepare_v2(db, sql, -1, &update, NULL) == SQLITE_OK);
    int is_update = bind_value(self, update);
    if (is_update)
        sqlite3_step(update);
    sqlite3_finalize(update);
    snprintf(sql, sizeof sql, "DELETE FROM %s", tables[table].table);
    if (!is_update)
        sqlite3_exec(db, sql, NULL, NULL, NULL);
}

typedef struct made {
    uint8_t bytes[1 << 17];
    size_t size;
} made;

static void
make(const char *path, int is_merged, made *out)
{
    if (is_merged)
        seed_merged(path);
    else
        seed_recording(path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(file, out->bytes, sizeof out->bytes);
    close(file);
    MUST(size > 0 && (size_t)size < sizeof out->bytes);
    out->size = (size_t)size;
}

static sqlite3 *
open_quickly(const char *path)
{
    sqlite3 *db = NULL;

    MUST(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    return db;
}

void
cells_write(const char *path, int is_merged, const uint8_t *data, size_t size)
{
    static made seeds[2];
    made *seed = &seeds[is_merged != 0];
    input self = {data, data + size};

    if (seed->size == 0)
        make(path, is_merged, seed);
    read_write(path, seed->bytes, seed->size);
    sqlite3 *db = open_quickly(path);
    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    for (int i = 0; i < CHANGE_LIMIT && self.at < self.end; i++)
        change_cell(&self, db);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

void
cells_change(const char *path, const char *sql)
{
    sqlite3 *db = open_quickly(path);

    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
}
