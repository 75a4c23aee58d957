/* The table `event` of `sonde sql`: the timeline, unpacked. A virtual table that is in no file: it reads the chunks of
 * the table `timeline` one after the other. */
#include "base/alloc.h"
#include "store/chunk.h"
#include "store/reader_private.h"

#include <string.h>

enum { TRACK, NODE, KIND, NAME, DETAIL, TASK, AT, DURATION, VALUE };
#define COLUMNS                                                                                                        \
    "CREATE TABLE event (track INTEGER, node INTEGER, kind TEXT, name TEXT, detail TEXT, task INTEGER, at_ns INTEGER," \
    " duration_ns INTEGER, value REAL)"

typedef struct table {
    sqlite3_vtab base; /* must be first */
    sqlite3 *db;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base; /* must be first */
    sqlite3_stmt *chunks, *site;
    snd_profile_event *events; /* of the chunk at hand */
    uint32_t count, capacity;
    uint32_t at;
    int64_t track, row;
    int64_t known; /* the node that `site` stands at; -1: none */
    int is_over;
} cursor;

static int
connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out, char **error)
{
    (void)context, (void)count, (void)arguments, (void)error;
    int result = sqlite3_declare_vtab(db, COLUMNS);
    table *self = result == SQLITE_OK ? sqlite3_malloc(sizeof *self) : NULL;
    if (self == NULL)
        return result == SQLITE_OK ? SQLITE_NOMEM : result;
    *self = (table){.db = db};
    *out = &self->base;
    return SQLITE_OK;
}

static int
disconnect(sqlite3_vtab *self)
{
    sqlite3_free(self);
    return SQLITE_OK;
}

static int
best_index(sqlite3_vtab *self, sqlite3_index_info *info)
{
    (void)self;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    cursor *self = sqlite3_malloc(sizeof *self);

    (void)vtab;
    if (self == NULL)
        return SQLITE_NOMEM;
    *self = (cursor){.is_over = 1};
    *out = &self->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *given)
{
    cursor *self = (cursor *)given;

    sqlite3_finalize(self->chunks);
    sqlite3_finalize(self->site);
    snd_free(self->events);
    sqlite3_free(self);
    return SQLITE_OK;
}

static snd_status
take_event(void *context, const snd_profile_event *event)
{
    cursor *self = context;

    if (!snd_make_room(&self->events, self->count + 1, &self->capacity, sizeof *self->events))
        return SND_NO_MEMORY;
    self->events[self->count++] = *event;
    return SND_OK;
}

/* Up to the next chunk that has events. */
static int
next_chunk(cursor *self)
{
    int result = SQLITE_ROW;

    self->at = self->count = 0;
    while (self->count == 0 && (result = sqlite3_step(self->chunks)) == SQLITE_ROW) {
        int64_t size = sqlite3_column_int64(self->chunks, 1);
        const void *data = sqlite3_column_blob(self->chunks, 2);
        size_t packed = (size_t)sqlite3_column_bytes(self->chunks, 2);
        snd_status status = size < 0 ? SND_DAMAGED : snd_chunk_unpack(data, packed, (uint64_t)size, take_event, self);
        if (status != SND_OK)
            return status == SND_NO_MEMORY ? SQLITE_NOMEM : SQLITE_CORRUPT;
        self->track = sqlite3_column_int64(self->chunks, 0);
    }
    self->is_over = result == SQLITE_DONE;
    return result == SQLITE_ROW || result == SQLITE_DONE ? SQLITE_OK : result;
}

static int
filter(sqlite3_vtab_cursor *given, int number, const char *text, int count, sqlite3_value **values)
{
    cursor *self = (cursor *)given;
    sqlite3 *db = ((table *)given->pVtab)->db;

    (void)number, (void)text, (void)count, (void)values;
    sqlite3_finalize(self->chunks);
    self->chunks = NULL;
    self->row = 0;
    self->known = -1;
    int result = sqlite3_prepare_v2(db, "SELECT track, size, data FROM timeline ORDER BY id", -1, &self->chunks, NULL);
    if (result == SQLITE_OK && self->site == NULL)
        result = sqlite3_prepare_v2(
            db, "SELECT kind, name, detail FROM node JOIN site ON site.id = node.site WHERE node.id = ?1", -1,
            &self->site, NULL);
    return result == SQLITE_OK ? next_chunk(self) : result;
}

static int
next(sqlite3_vtab_cursor *given)
{
    cursor *self = (cursor *)given;

    self->row++;
    return ++self->at < self->count ? SQLITE_OK : next_chunk(self);
}

static int
is_over(sqlite3_vtab_cursor *given)
{
    return ((cursor *)given)->is_over;
}

/* Lets `site` stand at the node; 0: there is no such node. */
static int
find_site(cursor *self, uint32_t node)
{
    if (self->known == node)
        return 1;
    sqlite3_reset(self->site);
    self->known = sqlite3_bind_int64(self->site, 1, node) == SQLITE_OK && sqlite3_step(self->site) == SQLITE_ROW
                      ? (int64_t)node
                      : -1;
    return self->known >= 0;
}

static int
is_counter(cursor *self, uint32_t node)
{
    return find_site(self, node) && strcmp(snd_reader_text_at(self->site, 0), "counter") == 0;
}

static int
column(sqlite3_vtab_cursor *given, sqlite3_context *out, int number)
{
    cursor *self = (cursor *)given;
    const snd_profile_event *event = &self->events[self->at];

    switch (number) {
    case TRACK:
        sqlite3_result_int64(out, self->track);
        break;
    case NODE:
        sqlite3_result_int64(out, event->node);
        break;
    case TASK:
        sqlite3_result_int64(out, event->task);
        break;
    case AT:
        sqlite3_result_int64(out, (int64_t)event->start_ns);
        break;
    case DURATION:
        if (!is_counter(self, event->node))
            sqlite3_result_int64(out, (int64_t)event->duration_ns);
        break;
    case VALUE:
        if (is_counter(self, event->node))
            sqlite3_result_double(out, event->value);
        break;
    default:
        if (find_site(self, event->node))
            sqlite3_result_value(out, sqlite3_column_value(self->site, number - KIND));
    }
    return SQLITE_OK;
}

static int
row_id(sqlite3_vtab_cursor *given, sqlite3_int64 *out)
{
    *out = ((cursor *)given)->row;
    return SQLITE_OK;
}

int
snd_event_table_add(sqlite3 *db)
{
    /* without xCreate: nobody can make a table of it in a file */
    static const sqlite3_module module = {
        .xConnect = connect,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = is_over,
        .xColumn = column,
        .xRowid = row_id,
    };

    int result = sqlite3_create_module_v2(db, "event", &module, NULL, NULL);
    /* used once: it is connected now, before somebody may only read */
    return result == SQLITE_OK ? sqlite3_exec(db, "SELECT 1 FROM event LIMIT 0", NULL, NULL, NULL) : result;
}
