/* {view, columns: [{name, unit}], rows: [{…}]}. */
#include "base/text.h"
#include "format/table/format.h"

#include <math.h>

static const char *
unit_name(snd_unit unit)
{
    static const char *const names[] = {
        [SND_UNIT_TEXT] = "text",     [SND_UNIT_LABEL] = "text",  [SND_UNIT_COUNT] = "count",
        [SND_UNIT_NS] = "ns",         [SND_UNIT_US] = "us",       [SND_UNIT_PERCENT] = "percent",
        [SND_UNIT_NUMBER] = "number", [SND_UNIT_BYTES] = "bytes", [SND_UNIT_RATE] = "bytes/s",
        [SND_UNIT_BAR] = "percent",   [SND_UNIT_SPARK] = "text",
    };
    return names[unit];
}

static void
put_cell(snd_buffer *out, snd_unit unit, const snd_cell *cell)
{
    int is_real = snd_unit_is_real(unit);

    if (!cell->is_there || (is_real && !isfinite(cell->real)))
        snd_buffer_text(out, "null");
    else if (snd_unit_is_text(unit))
        snd_json_string(out, cell->text);
    else if (is_real)
        snd_buffer_printf(out, "%.15g", cell->real);
    else
        snd_buffer_printf(out, "%lld", (long long)cell->whole);
}

static void
put_columns(const snd_table *table, snd_buffer *out)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        snd_buffer_text(out, c == 0 ? "{\"name\": " : ", {\"name\": ");
        snd_json_string(out, table->columns[c].name);
        snd_buffer_printf(out, ", \"unit\": \"%s\"}", unit_name(table->columns[c].unit));
    }
}

static void
put_row(const snd_table *table, uint32_t row, snd_buffer *out)
{
    snd_buffer_text(out, "\n  {");
    if (table->is_tree)
        snd_buffer_printf(out, "\"depth\": %u", table->rows[row].depth);
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (c != 0 || table->is_tree)
            snd_buffer_text(out, ", ");
        snd_json_string(out, table->columns[c].name);
        snd_buffer_text(out, ": ");
        put_cell(out, table->columns[c].unit, &table->rows[row].cells[c]);
    }
    snd_buffer_char(out, '}');
}

void
snd_format_json(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    (void)options;
    snd_buffer_text(out, "{\"view\": ");
    snd_json_string(out, table->view);
    snd_buffer_text(out, ",\n \"columns\": [");
    put_columns(table, out);
    snd_buffer_text(out, "],\n \"rows\": [");
    uint32_t count = 0;
    for (uint32_t r = 0; r < table->row_count; r++) {
        if (table->rows[r].is_extra)
            continue;
        snd_buffer_text(out, count++ == 0 ? "" : ",");
        put_row(table, r, out);
    }
    snd_buffer_text(out, count == 0 ? "]}\n" : "\n ]}\n");
}
