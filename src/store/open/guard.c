/* What protects us from a database that somebody else made. */
#include "store/open/guard.h"

#include "base/alloc.h"
#include "store/reader_private.h"
#include "store/schema.h"

/* More than any recording of ours has in one cell. */
#define CELL_LIMIT (16 << 20)

/* Of what a user asks. */
#define QUERY_LIMIT (1 << 20)

/* More than the text of any of our tables, and than SQLite takes to read all of them, in thousands of steps. */
#define SCHEMA_CELL_LIMIT (64 << 10)
#define SCHEMA_STEPS 100

/* What a row takes in a page at least: where it is, and itself. */
#define ROW_SIZE 6u

int
snd_guard_start(sqlite3 *db)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, SCHEMA_CELL_LIMIT},
        {SQLITE_LIMIT_SQL_LENGTH, SCHEMA_CELL_LIMIT},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    /* what does not fit into memory would be written to a file */
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY", NULL, NULL,
                        NULL);
}

static int
count_steps(void *context)
{
    int *left = context;
    return --*left < 0;
}

snd_status
snd_guard_check(sqlite3 *db)
{
    int left = SCHEMA_STEPS;

    sqlite3_progress_handler(db, 1000, count_steps, &left);
    snd_status status = snd_schema_check(db);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, CELL_LIMIT);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, QUERY_LIMIT);
    return left < 0 ? SND_DAMAGED : status;
}

static uint64_t
file_size(sqlite3 *db)
{
    int64_t pages = 0, page_size = 0;

    if (snd_reader_number(db, "PRAGMA page_count", &pages) != SQLITE_OK ||
        snd_reader_number(db, "PRAGMA page_size", &page_size) != SQLITE_OK || pages < 0 || page_size < 0)
        return 0;
    return (uint64_t)pages * (uint64_t)page_size;
}

static uint64_t
row_size(sqlite3_stmt *row)
{
    uint64_t size = ROW_SIZE;

    for (int i = sqlite3_data_count(row); i-- > 0;) {
        int type = sqlite3_column_type(row, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            size += (uint64_t)sqlite3_column_bytes(row, i);
    }
    return size;
}

snd_status
snd_guard_row(sqlite3_stmt *row, snd_guard_budget *budget)
{
    if (!budget->is_known) { /* the file does not change while the statement reads it */
        budget->left = file_size(sqlite3_db_handle(row));
        budget->is_known = 1;
    }
    uint64_t size = row_size(row);
    if (size > budget->left)
        return SND_DAMAGED;
    budget->left -= size;
    return snd_alloc_is_stopped() ? SND_NO_MEMORY : SND_OK;
}
