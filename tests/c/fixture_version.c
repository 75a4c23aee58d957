/* Recordings as older versions of sonde wrote them. */
#include "fixture_version.h"

#include "base/buffer.h"
#include "check.h"
#include "store/schema.h"

#include <stdio.h>
#include <unistd.h>

static void
run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, message);
    REQUIRE(message == NULL);
}

void
change_file(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    run_sql(db, "PRAGMA synchronous = OFF");
    run_sql(db, sql);
    sqlite3_close(db);
}

/* One statement for each table: its columns, from the newer file. */
static const char copies[] =
    "SELECT 'INSERT INTO main.' || t.name || ' SELECT ' || (SELECT group_concat(name) FROM pragma_table_info(t.name))"
    " || ' FROM newer.' || t.name FROM main.sqlite_schema AS t WHERE type = 'table'";

void
make_version(const char *path, int version)
{
    snd_buffer newer = {0}, sql = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;

    snd_buffer_printf(&newer, "%s.newer", path);
    REQUIRE(rename(path, snd_buffer_str(&newer)) == 0);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    run_sql(db, "PRAGMA synchronous = OFF");
    REQUIRE(snd_schema_create(db, version) == SQLITE_OK);
    REQUIRE(sqlite3_prepare_v2(db, copies, -1, &row, NULL) == SQLITE_OK);
    snd_buffer_printf(&sql, "ATTACH '%s' AS newer", snd_buffer_str(&newer));
    while (sqlite3_step(row) == SQLITE_ROW)
        snd_buffer_printf(&sql, ";%s", (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    run_sql(db, snd_buffer_str(&sql));
    sqlite3_close(db);
    unlink(snd_buffer_str(&newer));
    snd_buffer_free(&newer);
    snd_buffer_free(&sql);
}
