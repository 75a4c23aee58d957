#include "store/tables.h"

#include "model/processes.h"
#include "store/reader_private.h"

#include <string.h>

/* ---- writing ---- */

static void
bind_known(sqlite3_stmt *insert, int place, int is_known, uint64_t value)
{
    if (is_known)
        sqlite3_bind_int64(insert, place, (int64_t)value);
    else
        sqlite3_bind_null(insert, place);
}

static int
write_process(sqlite3_stmt *insert, uint32_t id, const snd_process *process)
{
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_text(insert, 2, process->host, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 3, process->process_id);
    bind_known(insert, 4, process->parent_id != 0, process->parent_id);
    bind_known(insert, 5, process->has_rank, process->rank);
    sqlite3_bind_text(insert, 6, process->program, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 7, process->arguments, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 8, process->probes, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 9, (int64_t)process->start_realtime_ns);
    sqlite3_bind_int64(insert, 10, (int64_t)process->start_monotonic_ns);
    sqlite3_bind_int64(insert, 11, (int64_t)process->offset_ns);
    sqlite3_bind_int64(insert, 12, (int64_t)process->length_ns);
    bind_known(insert, 13, process->has_cpu, process->cpu_ns);
    sqlite3_bind_int64(insert, 14, process->is_complete);
    return snd_sqlite_run(insert);
}

int
snd_store_processes(sqlite3 *db, const snd_profile *profile)
{
    sqlite3_stmt *insert = NULL;
    int result = sqlite3_prepare_v2(db,
                                    "INSERT OR REPLACE INTO process VALUES"
                                    " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                                    -1, &insert, NULL);

    for (uint32_t i = 0; i < profile->process_count && result == SQLITE_OK; i++)
        result = write_process(insert, i, &profile->processes[i]);
    if (profile->process_count == 0 && result == SQLITE_OK) {
        snd_process only = snd_process_describe(profile);
        result = write_process(insert, 0, &only);
    }
    sqlite3_finalize(insert);
    return result;
}

/* ---- reading ---- */

static uint64_t
number_at(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);
    return value < 0 ? 0 : (uint64_t)value;
}

static int
is_known(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) != SQLITE_NULL;
}

static snd_status
take_process(sqlite3_stmt *row, snd_profile *profile, void *context)
{
    uint32_t id, process_id, parent_id;

    (void)context;
    if (!snd_reader_id_at(row, 0, UINT32_MAX, &id) || id != profile->process_count ||
        !snd_reader_id_at(row, 2, UINT32_MAX, &process_id))
        return SND_DAMAGED;
    if (!snd_reader_id_at(row, 3, UINT32_MAX, &parent_id))
        parent_id = 0;
    snd_process process = {
        .host = snd_reader_text_at(row, 1),
        .process_id = process_id,
        .parent_id = parent_id,
        .has_rank = is_known(row, 4),
        .rank = number_at(row, 4),
        .program = snd_reader_text_at(row, 5),
        .arguments = snd_reader_text_at(row, 6),
        .probes = snd_reader_text_at(row, 7),
        .start_realtime_ns = number_at(row, 8),
        .start_monotonic_ns = number_at(row, 9),
        .offset_ns = number_at(row, 10),
        .length_ns = number_at(row, 11),
        .has_cpu = is_known(row, 12),
        .cpu_ns = number_at(row, 12),
        .is_complete = number_at(row, 13) != 0,
    };
    return snd_profile_add_process(profile, &process, &id);
}

snd_status
snd_load_processes(sqlite3 *db, int64_t version, snd_profile *profile)
{
    snd_process only = snd_process_describe(profile);
    uint32_t id;

    if (version < 7)
        return snd_profile_add_process(profile, &only, &id);
    snd_status status = snd_reader_each_row(
        db,
        "SELECT id, host, process_id, parent_id, rank, program, arguments, probes, start_realtime_ns,"
        " start_monotonic_ns, offset_ns, length_ns, cpu_ns, complete FROM process ORDER BY id",
        take_process, profile, NULL);
    if (status == SND_OK && profile->process_count == 0) /* no checkpoint yet */
        status = snd_profile_add_process(profile, &only, &id);
    return status;
}
