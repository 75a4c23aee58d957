/* A table for people: texts to the left, numbers to the right, one line a row. */
#include "format/format.h"

#include "base/alloc.h"
#include "base/duration.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* Deeper rows say their depth in words: ten thousand levels of dots help nobody. */
#define INDENT_LIMIT 32u
#define LEAST_FIRST_COLUMN 16u
#define GAP 2u

static void
put_indent(snd_buffer *out, uint32_t depth)
{
    for (uint32_t i = 0; i < depth && i < INDENT_LIMIT; i++)
        snd_buffer_text(out, ". ");
    if (depth > INDENT_LIMIT)
        snd_buffer_printf(out, "(%u deep) ", depth);
}

void
snd_format_cell(snd_unit unit, const snd_cell *cell, snd_buffer *out)
{
    char text[SND_DURATION_SIZE];

    if (!cell->is_there)
        return;
    switch (unit) {
    case SND_UNIT_TEXT:
    case SND_UNIT_LABEL:
        snd_utf8_clean(cell->text, out);
        break;
    case SND_UNIT_NS:
        snd_duration_text((uint64_t)cell->whole, text);
        snd_buffer_text(out, text);
        break;
    case SND_UNIT_PERCENT:
        snd_buffer_printf(out, "%.2f%%", cell->real);
        break;
    case SND_UNIT_NUMBER:
        snd_buffer_printf(out, cell->real == floor(cell->real) && fabs(cell->real) < 1e15 ? "%.0f" : "%.6g",
                          cell->real);
        break;
    case SND_UNIT_COUNT:
    case SND_UNIT_US:
        snd_buffer_printf(out, "%lld", (long long)cell->whole);
        break;
    }
}

/* All cells as text, one after the other, and where each starts. */
typedef struct layout {
    snd_buffer text;
    size_t *starts;
    size_t *widths; /* per column */
} layout;

static const char *
text_of(const layout *self, size_t cell)
{
    return self->text.data + self->starts[cell];
}

static void
make_cell_texts(layout *self, const snd_table *table)
{
    size_t cell = 0;

    for (uint32_t c = 0; c < table->column_count; c++, cell++) {
        self->starts[cell] = self->text.size;
        snd_utf8_clean(table->columns[c].title, &self->text);
        snd_buffer_char(&self->text, '\0');
    }
    for (uint32_t r = 0; r < table->row_count; r++)
        for (uint32_t c = 0; c < table->column_count; c++, cell++) {
            self->starts[cell] = self->text.size;
            if (c == 0)
                put_indent(&self->text, table->depths[r]);
            snd_format_cell(table->columns[c].unit, &table->cells[(size_t)r * table->column_count + c], &self->text);
            snd_buffer_char(&self->text, '\0');
        }
}

static void
measure(layout *self, const snd_table *table, unsigned limit)
{
    size_t all = 0;

    for (size_t cell = 0; cell < ((size_t)table->row_count + 1) * table->column_count; cell++) {
        size_t width = snd_utf8_width(text_of(self, cell));
        if (width > self->widths[cell % table->column_count])
            self->widths[cell % table->column_count] = width;
    }
    for (uint32_t c = 0; c < table->column_count; c++)
        all += self->widths[c] + (c == 0 ? 0 : GAP);
    if (limit == 0 || all <= limit)
        return;
    /* a narrow terminal costs the names their ends */
    size_t others = all - self->widths[0];
    self->widths[0] = limit > others + LEAST_FIRST_COLUMN    ? limit - others
                      : self->widths[0] < LEAST_FIRST_COLUMN ? self->widths[0]
                                                             : LEAST_FIRST_COLUMN;
}

/* As much of the text as fits, its end marked where it was cut. Returns the cells used. */
static size_t
put_fitting(snd_buffer *out, const char *text, size_t width, int unicode)
{
    const char *mark = unicode ? "\xe2\x80\xa6" : "..";
    size_t mark_width = unicode ? 1 : 2;
    size_t full = snd_utf8_width(text);
    const char *end = text + strlen(text);
    size_t used = 0;

    if (full <= width) {
        snd_buffer_text(out, text);
        return full;
    }
    while (text < end) {
        const char *from = text;
        uint32_t character = snd_utf8_next(&text, end);
        size_t cells = character == SND_UTF8_BAD ? 1 : snd_utf8_cells(character);
        if (used + cells + mark_width > width)
            break;
        snd_buffer_put(out, from, (size_t)(text - from));
        used += cells;
    }
    snd_buffer_text(out, mark);
    return used + mark_width;
}

static void
put_line(const layout *self, const snd_table *table, size_t first, const snd_format_options *options, snd_buffer *out)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        const char *text = text_of(self, first + c);
        if (c == 0) {
            size_t used = put_fitting(out, text, self->widths[c], options->unicode);
            if (table->column_count > 1)
                snd_buffer_repeat(out, ' ', self->widths[c] - used);
            continue;
        }
        size_t padding = self->widths[c] - snd_utf8_width(text);
        int is_text = table->columns[c].unit == SND_UNIT_TEXT;
        snd_buffer_repeat(out, ' ', GAP + (is_text ? 0 : padding));
        snd_buffer_text(out, text);
        if (is_text && c + 1 < table->column_count)
            snd_buffer_repeat(out, ' ', padding);
    }
    snd_buffer_char(out, '\n');
}

static void
put_rule(const layout *self, const snd_table *table, snd_buffer *out)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        snd_buffer_repeat(out, ' ', c == 0 ? 0 : GAP);
        snd_buffer_repeat(out, '-', self->widths[c]);
    }
    snd_buffer_char(out, '\n');
}

/* Rows by their share of the whole: red from a fifth, yellow from a twentieth. */
static const char *
colour_of(const snd_table *table, uint32_t row)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        const snd_cell *cell = &table->cells[(size_t)row * table->column_count + c];
        if (table->columns[c].unit == SND_UNIT_PERCENT && cell->is_there && (table->depths[row] > 0 || !table->is_tree))
            return cell->real >= 20 ? "\033[31m" : cell->real >= 5 ? "\033[33m" : NULL;
    }
    return NULL;
}

static void
put_rows(const layout *self, const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    if (!options->no_head) {
        snd_buffer_text(out, options->colour ? "\033[1m" : "");
        put_line(self, table, 0, options, out);
        snd_buffer_text(out, options->colour ? "\033[0m" : "");
        put_rule(self, table, out);
    }
    for (uint32_t r = 0; r < table->row_count; r++) {
        const char *colour = options->colour ? colour_of(table, r) : NULL;
        if (colour != NULL)
            snd_buffer_text(out, colour);
        put_line(self, table, ((size_t)r + 1) * table->column_count, options, out);
        if (colour != NULL)
            snd_buffer_text(out, "\033[0m");
    }
}

void
snd_format_table(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    size_t cells = ((size_t)table->row_count + 1) * table->column_count;
    layout self = {
        .starts = snd_calloc(cells + 1, sizeof(size_t)),
        .widths = snd_calloc((size_t)table->column_count + 1, sizeof(size_t)),
    };

    if (self.starts != NULL && self.widths != NULL)
        make_cell_texts(&self, table);
    else
        self.text.failed = 1;
    if (self.text.failed)
        out->failed = 1;
    else if (table->column_count > 0) {
        measure(&self, table, options->width);
        put_rows(&self, table, options, out);
    }
    if (table->footer != NULL && !options->no_footer)
        snd_buffer_printf(out, "%s\n", table->footer);
    snd_buffer_free(&self.text);
    snd_free(self.starts);
    snd_free(self.widths);
}
