/* sonde sql: any question to a recording, read-only. */
#include "cli/commands.h"
#include "cli/common.h"

#include <string.h>

typedef struct answer {
    snd_table *table;
    int is_typed; /* the first row has said what the columns hold */
} answer;

static snd_status
take_head(void *context, int count, const char *const *names)
{
    answer *self = context;
    snd_column columns[64];

    if (count > 64)
        return SND_BAD_ARGUMENT;
    for (int i = 0; i < count; i++)
        columns[i] = (snd_column){names[i], names[i], SND_UNIT_TEXT, 1};
    self->table = snd_table_new("sql", columns, (uint32_t)count);
    return self->table == NULL ? SND_NO_MEMORY : SND_OK;
}

/* A column is of numbers when its first row is; a later text there is still printed as text. */
static void
set_types(answer *self, int count, const snd_query_cell *cells)
{
    for (int i = 0; i < count; i++)
        if (cells[i].type == SND_QUERY_WHOLE)
            self->table->columns[i].unit = SND_UNIT_COUNT;
        else if (cells[i].type == SND_QUERY_REAL)
            self->table->columns[i].unit = SND_UNIT_NUMBER;
    self->is_typed = 1;
}

static snd_status
set_cell(snd_table *table, snd_unit unit, const snd_query_cell *from, snd_cell *to)
{
    snd_buffer text = {0};

    if (from->type == SND_QUERY_NULL)
        return SND_OK;
    double number = from->type == SND_QUERY_WHOLE ? (double)from->whole : from->real;
    *to = (snd_cell){
        .is_there = 1, .real = number, .whole = from->type == SND_QUERY_REAL ? (int64_t)number : from->whole};
    if (unit != SND_UNIT_TEXT)
        return SND_OK;
    if (from->type == SND_QUERY_TEXT)
        snd_buffer_text(&text, from->text);
    else if (from->type == SND_QUERY_BLOB)
        snd_buffer_printf(&text, "(%lld bytes)", (long long)from->whole);
    else
        snd_buffer_printf(&text, "%.10g", number);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK && (to->text = snd_table_text(table, snd_buffer_str(&text))) == NULL)
        status = SND_NO_MEMORY;
    snd_buffer_free(&text);
    return status;
}

static snd_status
take_row(void *context, int count, const snd_query_cell *cells)
{
    answer *self = context;
    snd_cell *row;

    if (!self->is_typed)
        set_types(self, count, cells);
    snd_status status = snd_table_add_row(self->table, 0, &row);
    for (int i = 0; i < count && status == SND_OK; i++)
        status = set_cell(self->table, self->table->columns[i].unit, &cells[i], &row[i]);
    return status;
}

static int
ask(const snd_opened *recording, const char *sql, const snd_format *format, const snd_arguments *given)
{
    answer self = {0};
    snd_format_options look = snd_terminal_options(given);
    snd_status status = snd_reader_query(recording->reader, sql, take_head, take_row, &self);
    int exit_status = SND_EXIT_USAGE;

    if (status == SND_OK)
        exit_status = snd_print_table(self.table, format, &look, NULL);
    else if (status == SND_BAD_QUERY)
        snd_complain("the query is not valid: %s", snd_reader_message(recording->reader));
    else if (status == SND_BAD_ARGUMENT)
        snd_complain("a query may have 64 columns at most");
    else
        snd_complain_status(recording->path, status);
    snd_table_free(self.table);
    return exit_status;
}

static int
run(const snd_arguments *given)
{
    const char *name = snd_arguments_value(given, "format");
    const snd_format *format = snd_format_find(name == NULL ? "table" : name);
    static const char *const names[] = {"table", "csv", "json"};
    snd_opened recording;
    int status = SND_EXIT_USAGE;

    if (format == NULL || format->write_table == NULL)
        return snd_complain_unknown("format", name, names, 3);
    if (given->word_count != 2)
        return snd_complain("sql needs a recording and a query: sonde sql FILE 'select …'");
    if (snd_opened_open(given, &recording))
        status = ask(&recording, given->words[1], format, given);
    snd_opened_close(&recording);
    return status;
}

static const snd_option options[] = {
    {"format", 'f', "NAME", "table, csv or json"},
    {0},
};

const snd_command snd_command_sql = {
    .name = "sql",
    .usage = "FILE 'select …'",
    .about = "ask a recording anything in SQL (reading only)",
    .options = options,
    .run = run,
};
