#include "store/tables.h"

#include "base/alloc.h"
#include "base/varint.h"
#include "store/reader_private.h"

#include <math.h>
#include <string.h>

/* ---- writing ---- */

static int
write_series(sqlite3 *db, const snd_profile_memory *memory)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_exec(db, "DELETE FROM series", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(db, "INSERT INTO series VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL);

    for (uint32_t i = 0; i < memory->series_count; i++) {
        const snd_series *series = &memory->series[i];
        for (uint32_t k = 0; k < series->count && result == SQLITE_OK; k++) {
            sqlite3_bind_text(insert, 1, series->name, -1, SQLITE_STATIC);
            sqlite3_bind_text(insert, 2, series->unit, -1, SQLITE_STATIC);
            sqlite3_bind_int64(insert, 3, (int64_t)series->points[k].at_ns);
            sqlite3_bind_double(insert, 4, isnan(series->points[k].value) ? 0.0 : series->points[k].value);
            result = snd_sqlite_run(insert);
        }
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_sizes(sqlite3 *db, const snd_profile_memory *memory)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO size VALUES (?1, ?2, ?3, ?4, ?5)", -1, &insert, NULL);

    for (unsigned i = 0; memory->sizes != NULL && i < SND_BLOCK_SIZES && result == SQLITE_OK; i++) {
        const snd_block_size *size = &memory->sizes[i];
        const int64_t values[] = {i, (int64_t)size->python_blocks, (int64_t)size->python_bytes,
                                  (int64_t)size->native_blocks, (int64_t)size->native_bytes};
        if (size->python_blocks == 0 && size->native_blocks == 0)
            continue;
        result = snd_sqlite_bind(insert, values, 5);
        if (result == SQLITE_OK)
            result = snd_sqlite_run(insert);
    }
    sqlite3_finalize(insert);
    return result;
}

static int
write_history(sqlite3_stmt *insert, uint32_t node, const snd_history *history)
{
    snd_buffer bytes = {0};

    for (uint32_t i = 0; i < history->count; i++) {
        snd_varint_put(&bytes, history->points[i].live);
        snd_varint_put(&bytes, history->points[i].taken);
        snd_varint_put(&bytes, history->points[i].freed);
    }
    sqlite3_bind_int64(insert, 1, node);
    int result =
        bytes.failed ? SQLITE_NOMEM : sqlite3_bind_blob64(insert, 2, snd_buffer_str(&bytes), bytes.size, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = snd_sqlite_run(insert);
    snd_buffer_free(&bytes);
    return result;
}

static int
write_histories(sqlite3 *db, const snd_profile *profile, const unsigned char *marks)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO history VALUES (?1, ?2)", -1, &insert, NULL);

    for (uint32_t i = 0; i < profile->memory.history_count && result == SQLITE_OK; i++) {
        const snd_history *history = profile->memory.histories[i];
        if (history != NULL && marks[i])
            result = write_history(insert, i, history);
    }
    sqlite3_finalize(insert);
    return result;
}

int
snd_store_memory(sqlite3 *db, const snd_profile *profile, const unsigned char *marks)
{
    int result = write_series(db, &profile->memory);
    if (result == SQLITE_OK)
        result = write_sizes(db, &profile->memory);
    if (result == SQLITE_OK)
        result = write_histories(db, profile, marks);
    return result;
}

/* ---- reading ---- */

/* Points of one series come together. */
typedef struct loading {
    char name[64], unit[32];
    snd_point points[SND_SERIES_POINTS];
    uint32_t count;
} loading;

static snd_status
keep_series(loading *self, snd_profile *profile)
{
    snd_status status =
        self->count == 0 ? SND_OK : snd_profile_set_series(profile, self->name, self->unit, self->points, self->count);
    self->count = 0;
    return status;
}

static snd_status
take_point(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    loading *self = context;
    const char *name = snd_reader_text_at(row, 0), *unit = snd_reader_text_at(row, 1);
    int64_t at = sqlite3_column_int64(row, 2);
    double value = sqlite3_column_double(row, 3);
    snd_status status = SND_OK;

    if (strlen(name) >= sizeof self->name || strlen(unit) >= sizeof self->unit || at < 0 || !isfinite(value))
        return SND_DAMAGED;
    if (self->count != 0 && strcmp(name, self->name) != 0)
        status = keep_series(self, profile);
    if (self->count == SND_SERIES_POINTS || status != SND_OK)
        return status == SND_OK ? SND_DAMAGED : status;
    memcpy(self->name, name, strlen(name) + 1);
    memcpy(self->unit, unit, strlen(unit) + 1);
    self->points[self->count++] = (snd_point){(uint64_t)at, value};
    return SND_OK;
}

static snd_status
take_size(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    snd_block_size *sizes = context;
    uint32_t power;

    (void)profile;
    if (!snd_reader_id_at(row, 0, SND_BLOCK_SIZES, &power))
        return SND_DAMAGED;
    sizes[power] = (snd_block_size){
        .python_blocks = (uint64_t)sqlite3_column_int64(row, 1),
        .python_bytes = (uint64_t)sqlite3_column_int64(row, 2),
        .native_blocks = (uint64_t)sqlite3_column_int64(row, 3),
        .native_bytes = (uint64_t)sqlite3_column_int64(row, 4),
    };
    return SND_OK;
}

static snd_status
take_history(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    const unsigned char *at = sqlite3_column_blob(row, 1);
    const unsigned char *end = at == NULL ? NULL : at + sqlite3_column_bytes(row, 1);
    snd_history history = {0};
    uint32_t node;

    (void)context;
    if (!snd_reader_id_at(row, 0, profile->node_count, &node))
        return SND_DAMAGED;
    while (at < end) {
        if (history.count == SND_HISTORY_POINTS)
            return SND_DAMAGED;
        snd_history_point *point = &history.points[history.count++];
        if (!snd_varint_get(&at, end, &point->live) || !snd_varint_get(&at, end, &point->taken) ||
            !snd_varint_get(&at, end, &point->freed))
            return SND_DAMAGED;
    }
    return snd_profile_set_history(profile, node, &history);
}

snd_status
snd_load_memory(sqlite3 *db, snd_profile *profile)
{
    snd_block_size sizes[SND_BLOCK_SIZES] = {0};
    int64_t has_sizes = 0;
    loading *series = snd_calloc(1, sizeof *series);
    if (series == NULL)
        return SND_NO_MEMORY;
    snd_status status = snd_reader_each_row(db, "SELECT name, unit, at_ns, value FROM series ORDER BY name, at_ns",
                                            take_point, profile, series);
    if (status == SND_OK)
        status = keep_series(series, profile);
    snd_free(series);
    if (status == SND_OK)
        status = snd_reader_each_row(db, "SELECT node, points FROM history", take_history, profile, NULL);
    if (status == SND_OK)
        status = snd_sqlite_status(db, snd_reader_number(db, "SELECT EXISTS (SELECT 1 FROM size)", &has_sizes));
    if (status != SND_OK || has_sizes == 0)
        return status;
    status = snd_reader_each_row(db, "SELECT power, python_blocks, python_bytes, native_blocks, native_bytes FROM size",
                                 take_size, profile, sizes);
    return status == SND_OK ? snd_profile_set_sizes(profile, sizes) : status;
}
