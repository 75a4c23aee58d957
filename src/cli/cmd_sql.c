/* sonde sql: any question to a recording, read-only. */
#include "cli/commands.h"
#include "cli/core/common.h"

#include <string.h>

enum { COLUMN_LIMIT = 64 };

typedef struct answer {
    snd_table *table;
    int is_known[COLUMN_LIMIT]; /* a row has said what the column holds */
} answer;

static snd_status
take_head(void *context, int count, const char *const *names)
{
    answer *self = context;
    snd_column columns[COLUMN_LIMIT];

    if (count > COLUMN_LIMIT)
        return SND_BAD_ARGUMENT;
    for (int i = 0; i < count; i++)
        columns[i] = (snd_column){names[i], names[i], SND_UNIT_TEXT, 1};
    self->table = snd_table_new("sql", columns, (uint32_t)count);
    return self->table == NULL ? SND_NO_MEMORY : SND_OK;
}

/* A column holds whole numbers, or numbers, as long as all its rows do; else texts. */
static snd_unit
unit_with(snd_unit so_far, int is_known, const snd_query_cell *cell)
{
    const int64_t exact = INT64_C(1) << 53; /* beyond it a double cannot stand for a whole number */
    int is_small = cell->whole <= exact && cell->whole >= -exact;

    if (cell->type == SND_QUERY_WHOLE && (!is_known || so_far == SND_UNIT_COUNT))
        return SND_UNIT_COUNT;
    if (cell->type == SND_QUERY_WHOLE && so_far == SND_UNIT_NUMBER && is_small)
        return SND_UNIT_NUMBER;
    if (cell->type == SND_QUERY_REAL && (!is_known || so_far != SND_UNIT_TEXT))
        return SND_UNIT_NUMBER;
    return SND_UNIT_TEXT;
}

/* The cell in all forms: which one counts is known after the last row. */
static snd_status
set_cell(snd_table *table, const snd_query_cell *from, snd_cell *to)
{
    snd_buffer text = {0};

    to->is_there = 1;
    to->whole = from->whole;
    to->real = from->type == SND_QUERY_WHOLE ? (double)from->whole : from->real;
    if (from->type == SND_QUERY_TEXT)
        snd_buffer_text(&text, from->text);
    else if (from->type == SND_QUERY_BLOB)
        snd_buffer_printf(&text, "(%lld bytes)", (long long)from->whole);
    else if (from->type == SND_QUERY_WHOLE)
        snd_buffer_printf(&text, "%lld", (long long)from->whole);
    else
        snd_buffer_printf(&text, "%.15g", from->real);
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
    snd_status status = snd_table_add_row(self->table, 0, &row);

    for (int i = 0; i < count && status == SND_OK; i++) {
        if (cells[i].type == SND_QUERY_NULL)
            continue;
        snd_unit *unit = &self->table->columns[i].unit;
        *unit = unit_with(*unit, self->is_known[i], &cells[i]);
        self->is_known[i] = 1;
        status = set_cell(self->table, &cells[i], &row[i]);
    }
    return status;
}

static int
ask(const snd_opened *recording, const char *sql, const snd_format *format, const snd_arguments *given)
{
    answer self = {0};
    snd_format_options look = snd_terminal_options(given);
    look.is_exact = 1; /* what a query answers is what there is */
    snd_status status = snd_reader_query(recording->reader, sql, take_head, take_row, &self);
    int exit_status = SND_EXIT_USAGE;

    if (status == SND_OK)
        exit_status = snd_print_table(self.table, format, &look, NULL);
    else if (status == SND_BAD_QUERY)
        snd_complain("the query is not valid: %s", snd_reader_message(recording->reader));
    else if (status == SND_BAD_ARGUMENT)
        snd_complain("a query may return at most 64 columns");
    else
        snd_complain_status(recording->path, status);
    snd_table_free(self.table);
    return exit_status;
}

static int
run(const snd_arguments *given)
{
    const snd_format *format = snd_table_format(given);
    snd_opened recording;
    int status = SND_EXIT_USAGE;

    if (format == NULL)
        return SND_EXIT_USAGE;
    if (given->word_count != 2)
        return snd_complain("sql needs a recording and a query: sonde sql FILE 'select …'");
    if (snd_opened_open(given, 2, &recording))
        status = ask(&recording, given->words[1], format, given);
    snd_opened_close(&recording);
    return status;
}

static const snd_setting options[] = {
    {"format", SND_FORMAT_TABLE_CHOICE, SND_TEXT("NAME"), .letter = 'f', .choices = SND_FORMAT_TABLE_WORDS},
    {0},
};

const snd_command snd_command_sql = {
    .name = "sql",
    .usage = "FILE 'select …'",
    .about = "query a recording with SQL (read-only)",
    .options = options,
    .run = run,
    .reads = SND_READS_AS_ASKED,
    .examples = {{"sonde sql run.sonde 'select name, line from site limit 5'", "list some of the functions and lines"},
                 {"sonde sql run.sonde 'select * from info' --format csv", "write the metadata as CSV"}},
};
