/* The user's own questions to a recording. An authorizer lets them read and nothing else. */
#include "base/alloc.h"
#include "store/reader_private.h"

#include <stdio.h>
#include <string.h>

/* The pragmas that tell something; most others change something, even without a value. */
static int
reads_only(const char *pragma, const char *value)
{
    static const char *const plain[] = {"user_version", "application_id", "page_count", "page_size", "table_list"};

    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (value == NULL && sqlite3_stricmp(pragma, plain[i]) == 0)
            return 1;
    return sqlite3_stricmp(pragma, "table_info") == 0;
}

static int
allow_reading(void *context, int action, const char *first, const char *second, const char *third, const char *fourth)
{
    (void)context, (void)third, (void)fourth;
    if (action == SQLITE_PRAGMA)
        return reads_only(first, second) ? SQLITE_OK : SQLITE_DENY;
    if (action == SQLITE_FUNCTION && second != NULL && strcmp(second, "load_extension") == 0)
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

static void
read_cell(sqlite3_stmt *row, int column, snd_query_cell *cell)
{
    *cell = (snd_query_cell){0};
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        cell->type = SND_QUERY_WHOLE;
        cell->whole = sqlite3_column_int64(row, column);
        break;
    case SQLITE_FLOAT:
        cell->type = SND_QUERY_REAL;
        cell->real = sqlite3_column_double(row, column);
        break;
    case SQLITE_TEXT:
        cell->type = SND_QUERY_TEXT;
        cell->text = (const char *)sqlite3_column_text(row, column);
        break;
    case SQLITE_BLOB:
        cell->type = SND_QUERY_BLOB;
        cell->whole = sqlite3_column_bytes(row, column);
        break;
    default:
        break;
    }
}

static int
give_rows(sqlite3_stmt *statement, int count, snd_query_row *row, void *context, snd_status *status)
{
    snd_query_cell *cells = snd_calloc((size_t)count + 1, sizeof *cells);
    int result = cells == NULL ? SQLITE_NOMEM : SQLITE_ROW;

    while (result == SQLITE_ROW && *status == SND_OK) {
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW)
            break;
        for (int i = 0; i < count; i++)
            read_cell(statement, i, &cells[i]);
        *status = row(context, count, cells);
    }
    snd_free(cells);
    return result;
}

static snd_status
give_head(sqlite3_stmt *statement, int count, snd_query_head *head, void *context)
{
    const char **names = snd_calloc((size_t)count + 1, sizeof *names);
    if (names == NULL)
        return SND_NO_MEMORY;
    for (int i = 0; i < count; i++)
        names[i] = sqlite3_column_name(statement, i);
    snd_status status = head(context, count, names);
    snd_free(names);
    return status;
}

static snd_status
fail(snd_reader *self, int result)
{
    snprintf(self->message, sizeof self->message, "%s", sqlite3_errmsg(self->db));
    snd_status status = snd_sqlite_status(self->db, result);
    return (result & 0xff) == SQLITE_ERROR ? SND_BAD_QUERY : status;
}

static int
is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n;")] == '\0';
}

snd_status
snd_reader_query(snd_reader *self, const char *sql, snd_query_head *head, snd_query_row *row, void *context)
{
    sqlite3_stmt *statement = NULL;
    const char *rest = "";
    snd_status status = SND_OK;

    int result = snd_event_table_add(self->db);
    sqlite3_set_authorizer(self->db, allow_reading, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(self->db, sql, -1, &statement, &rest);
    if (result != SQLITE_OK)
        status = fail(self, result);
    else if (statement == NULL || !is_blank(rest)) {
        snprintf(self->message, sizeof self->message, "%s",
                 statement == NULL ? "it is empty" : "it has more than one statement");
        status = SND_BAD_QUERY;
    }
    else {
        int count = sqlite3_column_count(statement);
        status = give_head(statement, count, head, context);
        result = status == SND_OK ? give_rows(statement, count, row, context, &status) : SQLITE_DONE;
        if (result != SQLITE_DONE && result != SQLITE_ROW)
            status = fail(self, result);
    }
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(self->db, NULL, NULL);
    return status;
}

const char *
snd_reader_message(const snd_reader *self)
{
    return self->message;
}
