/* A recording has the tables that its version of sonde wrote, and nothing else. */
#include "store/schema.h"

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "fixture_merge.h"
#include "fixture_version.h"
#include "store/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
make_recording(const char *path)
{
    snd_profile *profile = small_profile();

    unlink(path);
    write_profile(path, profile, 3);
    snd_profile_free(profile);
}

static void
what_every_version_wrote_is_read(void)
{
    const char *path = temp_path("versions.sonde");

    for (int version = 1; version <= SND_SCHEMA_VERSION; version++) {
        make_recording(path);
        make_version(path, version);
        CHECK(read_status(path) == SND_OK);
        for (int other = -1; other <= SND_SCHEMA_VERSION; other++) {
            char sql[64];
            snprintf(sql, sizeof sql, "PRAGMA user_version = %d", other);
            change_file(path, sql);
            CHECK(read_status(path) == (other == version ? SND_OK : SND_DAMAGED));
        }
    }
}

/* Until HAVING came to it. */
static void
both_texts_of_a_view_of_versions_5_and_6_are_known(void)
{
    const char *path = temp_path("five.sonde");

    for (int version = 5; version <= 7; version++) {
        make_recording(path);
        make_version(path, version);
        change_file(path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
                          " substr(sql, 1, instr(sql, ' HAVING') - 1) WHERE name = 'op'");
        CHECK(read_status(path) == (version < 7 ? SND_OK : SND_DAMAGED));
    }
}

static void
what_no_version_wrote_is_refused(void)
{
    static const char *const changes[] = {
        "ALTER TABLE node ADD COLUMN twice AS (id * 2)",
        "CREATE TABLE other (id INTEGER PRIMARY KEY)",
        "CREATE VIEW other AS SELECT 1",
        "CREATE INDEX other ON node (parent)",
        "CREATE TRIGGER other AFTER INSERT ON info BEGIN SELECT 1; END",
        "ANALYZE",
        "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE counted", /* sqlite_sequence stays */
        "DROP VIEW memory",
        "DROP VIEW memory; CREATE VIEW memory AS SELECT 1",
        "DROP TABLE history",
        "DROP TABLE size; CREATE VIEW size AS SELECT 1 AS power",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'info'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'value NOT NULL',"
        " 'value AS (zeroblob(1000000))') WHERE name = 'value'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'value TEXT NOT NULL',"
        " 'value TEXT AS (hex(zeroblob(1000000)))') WHERE name = 'info'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'infos' WHERE name = 'info'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = 'info'",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES"
        " ('table', 'other', 'other', 0, 'CREATE VIRTUAL TABLE other USING fts5(text)')",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'memory'",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('view', 'other', 'other', 0, NULL)",
    };
    const char *path = temp_path("foreign.sonde");

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make_recording(path);
        change_file(path, changes[i]);
        snd_status status = read_status(path);
        if (status != SND_DAMAGED)
            fprintf(stderr, "%s: %s\n", changes[i], snd_status_text(status));
        CHECK(status == SND_DAMAGED);
    }
}

static void
another_encoding_is_refused(void)
{
    const char *path = temp_path("wide.sonde");
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "PRAGMA encoding = 'UTF-16le'", NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(snd_schema_create(db, SND_SCHEMA_VERSION) == SQLITE_OK);
    sqlite3_close(db);
    CHECK(read_status(path) == SND_DAMAGED);
}

/* ---- pages that lead in circles ---- */

static void
put_number(unsigned char *at, uint32_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> 8 * (size - 1 - i));
}

/* A page of a table that has `cells` times the rows of the page `child`. */
static void
fill_page(unsigned char *page, uint32_t page_size, uint32_t child, uint32_t cells)
{
    memset(page, 0, page_size);
    page[0] = 5;
    put_number(page + 3, cells - 1, 2);
    put_number(page + 5, page_size - 5 * (cells - 1), 2);
    put_number(page + 8, child, 4);
    for (uint32_t i = 0; i + 1 < cells; i++) {
        uint32_t at = page_size - 5 * (i + 1);
        put_number(page + 12 + 2 * i, at, 2);
        put_number(page + at, child, 4);
        page[at + 4] = (unsigned char)(i + 1);
    }
}

static uint32_t
root_of(const char *path, const char *table)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name = ?1", -1, &row, NULL) == SQLITE_OK);
    sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    REQUIRE(sqlite3_step(row) == SQLITE_ROW);
    uint32_t root = (uint32_t)sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return root;
}

/* A tree of `depth` pages with 32 to the power of that times the rows that the table had. */
static void
multiply_rows(const char *path, const char *table, uint32_t depth)
{
    uint32_t root = root_of(path, table);
    size_t size;
    char *file = read_file(path, &size);
    uint32_t page_size = (uint32_t)(unsigned char)file[16] << 8 | (unsigned char)file[17];
    uint32_t pages = (uint32_t)(size / page_size);
    char *grown = calloc(pages + depth, page_size);

    REQUIRE(grown != NULL);
    memcpy(grown, file, size);
    memcpy(grown + (size_t)pages * page_size, file + (size_t)(root - 1) * page_size, page_size); /* the rows */
    for (uint32_t i = 1; i < depth; i++)
        fill_page((unsigned char *)grown + (size_t)(pages + i) * page_size, page_size, pages + i, 32);
    fill_page((unsigned char *)grown + (size_t)(root - 1) * page_size, page_size, pages + depth, 32);
    put_number((unsigned char *)grown + 28, pages + depth, 4);
    write_file(path, grown, (size_t)(pages + depth) * page_size);
    free(grown);
    free(file);
}

/* 32 to the power of 10 rows would be read for weeks. */
static void
a_table_has_no_more_rows_than_fit_into_the_file(void)
{
    static const char *const names[] = {"histogram", "size"};
    const char *path = temp_path("circles.sonde");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_recording(path);
        change_file(path, "INSERT INTO size VALUES (3, 1, 1, 1, 1)");
        multiply_rows(path, names[i], 10);
        snd_status status = read_status(path);
        if (status != SND_DAMAGED)
            fprintf(stderr, "%s: %s\n", names[i], snd_status_text(status));
        CHECK(status == SND_DAMAGED);
    }
}

int
main(void)
{
    RUN(what_every_version_wrote_is_read);
    RUN(both_texts_of_a_view_of_versions_5_and_6_are_known);
    RUN(what_no_version_wrote_is_refused);
    RUN(another_encoding_is_refused);
    RUN(a_table_has_no_more_rows_than_fit_into_the_file);
    return check_report();
}
