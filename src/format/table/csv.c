/* Comma-separated values (RFC 4180, lines end with a newline). */
#include "format/table/format.h"

static void
put_cell(snd_buffer *out, snd_unit unit, const snd_cell *cell, int is_exact)
{
    if (!cell->is_there)
        return;
    if (snd_unit_is_text(unit) && !is_exact) /* names come from anybody */
        snd_buffer_csv_text(out, cell->text);
    else if (snd_unit_is_text(unit))
        snd_buffer_csv(out, cell->text);
    else if (snd_unit_is_real(unit))
        snd_buffer_printf(out, "%.15g", cell->real);
    else
        snd_buffer_printf(out, "%lld", (long long)cell->whole);
}

void
snd_format_csv(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (c != 0)
            snd_buffer_char(out, ',');
        snd_buffer_csv(out, table->columns[c].name);
    }
    snd_buffer_char(out, '\n');
    for (uint32_t r = 0; r < table->row_count; r++) {
        if (table->rows[r].is_extra)
            continue;
        for (uint32_t c = 0; c < table->column_count; c++) {
            if (c != 0)
                snd_buffer_char(out, ',');
            put_cell(out, table->columns[c].unit, &table->rows[r].cells[c], options->is_exact);
        }
        snd_buffer_char(out, '\n');
    }
}
