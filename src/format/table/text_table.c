/* A table for people: texts to the left, numbers to the right, one line a row. */
#include "format/table/format.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "format/table/draw.h"

#include <math.h>
#include <string.h>

/* Deeper rows say their depth in words: ten thousand levels of dots help nobody. */
#define INDENT_LIMIT 32u
/* Lines that show a tree are 3 cells a level, less where that would take more than half of the terminal. */
#define GUIDE_LIMIT 30u
#define GUIDE_CELLS 3u
/* On a narrow terminal the main column is cut to the first width, then other columns go, then to the second. */
#define GOOD_MAIN_COLUMN 20u
#define GOOD_TREE_COLUMN 44u
#define LEAST_MAIN_COLUMN 16u
#define GAP 2u

void
snd_format_cell(snd_unit unit, const snd_cell *cell, snd_buffer *out)
{
    char text[SND_DURATION_SIZE + SND_BYTES_SIZE]; /* room for either */

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
    case SND_UNIT_BYTES:
    case SND_UNIT_RATE:
        snd_bytes_text((uint64_t)cell->whole, text);
        snd_buffer_printf(out, "%s%s", text, unit == SND_UNIT_RATE ? "/s" : "");
        break;
    case SND_UNIT_BAR:
        snd_draw_bar(cell->real, SND_BAR_CELLS, 1, out);
        break;
    case SND_UNIT_SPARK:
        snd_draw_spark(cell->text, 1, out);
        break;
    case SND_UNIT_COUNT:
    case SND_UNIT_US:
        snd_buffer_printf(out, "%lld", (long long)cell->whole);
        break;
    }
}

static int
is_zero(snd_unit unit, const snd_cell *cell)
{
    if (snd_unit_is_real(unit))
        return cell->real == 0;
    return !snd_unit_is_text(unit) && cell->whole == 0;
}

int
snd_format_is_notable(const snd_table *table, uint32_t row, uint32_t column)
{
    const snd_column *about = &table->columns[column];
    const snd_cell *cell = &table->rows[row].cells[column];

    return (about->traits & SND_COLUMN_NOTABLE) && cell->is_there && !is_zero(about->unit, cell);
}

void
snd_format_cell_of(const snd_table *table, uint32_t row, uint32_t column, snd_buffer *out)
{
    const snd_column *about = &table->columns[column];
    const snd_cell *cell = &table->rows[row].cells[column];

    if (!cell->is_quiet && (!(about->traits & SND_COLUMN_NO_ZERO) || !is_zero(about->unit, cell)))
        snd_format_cell(about->unit, cell, out);
}

uint32_t
snd_format_main_column(const snd_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].traits & SND_COLUMN_MAIN)
            return c;
    return 0;
}

/* ---- cells as text ---- */

/* All cells as text, one after the other, and where each starts. */
typedef struct layout {
    const snd_table *table;
    const snd_format_options *options;
    snd_buffer text;
    size_t *starts;
    size_t *widths;       /* per column; 0: not printed */
    uint32_t *levels;     /* per row of a tree with guides: bit n, another row follows at depth n */
    uint32_t guide_cells; /* a level */
    uint32_t main;
    uint32_t last; /* the last column that is printed */
} layout;

static const char *
text_of(const layout *self, size_t cell)
{
    return self->text.data + self->starts[cell];
}

static void
put_guides(layout *self, uint32_t row, uint32_t depth)
{
    static const char *const lines[2][4] = {{"   ", "|  ", "`- ", "|- "}, {"   ", "│  ", "└─ ", "├─ "}};
    uint32_t levels = self->levels[row];

    for (uint32_t i = 1; i <= depth && depth <= GUIDE_LIMIT; i++) {
        const char *line = lines[self->options->unicode != 0][(i == depth ? 2u : 0u) + (levels >> i & 1u)];
        const char *end = line + strlen(line), *at = line;
        for (uint32_t cell = 0; cell < self->guide_cells; cell++)
            snd_utf8_next(&at, end);
        snd_buffer_put(&self->text, line, (size_t)(at - line));
    }
    if (depth > GUIDE_LIMIT)
        snd_buffer_printf(&self->text, "(%u deep) ", depth);
    else if (depth != 0 && self->guide_cells < GUIDE_CELLS)
        snd_buffer_char(&self->text, ' ');
}

static void
put_indent(layout *self, uint32_t row)
{
    uint32_t depth = self->table->rows[row].depth;

    if (!self->table->is_tree)
        return;
    if (self->levels != NULL) {
        put_guides(self, row, depth);
        return;
    }
    for (uint32_t i = 0; i < depth && i < INDENT_LIMIT; i++)
        snd_buffer_text(&self->text, ". ");
    if (depth > INDENT_LIMIT)
        snd_buffer_printf(&self->text, "(%u deep) ", depth);
}

/* From the end: a row goes on at its depth when a sibling was met since the last row that is less deep. */
static void
find_levels(layout *self)
{
    uint32_t open = 0, deepest = 1;

    for (uint32_t r = self->table->row_count; r-- > 0;) {
        uint32_t depth = self->table->rows[r].depth < 31 ? self->table->rows[r].depth : 31;
        self->levels[r] = open;
        open = (open & ((1u << depth) - 1)) | 1u << depth;
        deepest = depth > deepest ? depth : deepest;
    }
    self->guide_cells = self->options->width == 0 ? GUIDE_CELLS : self->options->width / 2 / deepest;
    if (self->guide_cells > GUIDE_CELLS)
        self->guide_cells = GUIDE_CELLS;
    if (self->guide_cells == 0)
        self->guide_cells = 1;
}

/* What is drawn follows the terminal. */
static void
put_cell(layout *self, uint32_t row, uint32_t column)
{
    const snd_cell *cell = &self->table->rows[row].cells[column];
    snd_unit unit = self->table->columns[column].unit;

    if (unit == SND_UNIT_BAR && cell->is_there)
        snd_draw_bar(cell->real, SND_BAR_CELLS, self->options->unicode, &self->text);
    else if (unit == SND_UNIT_SPARK && cell->is_there)
        snd_draw_spark(cell->text, self->options->unicode, &self->text);
    else {
        size_t from = self->text.size;
        snd_format_cell_of(self->table, row, column, &self->text);
        if (!self->options->unicode && (unit == SND_UNIT_NS || unit == SND_UNIT_LABEL))
            snd_text_plain(&self->text, from);
    }
}

static void
make_cell_texts(layout *self)
{
    const snd_table *table = self->table;
    size_t cell = 0;

    for (uint32_t c = 0; c < table->column_count; c++, cell++) {
        self->starts[cell] = self->text.size;
        snd_utf8_clean(table->columns[c].title, &self->text);
        if (!self->options->unicode)
            snd_text_plain(&self->text, self->starts[cell]);
        snd_buffer_char(&self->text, '\0');
    }
    for (uint32_t r = 0; r < table->row_count; r++)
        for (uint32_t c = 0; c < table->column_count; c++, cell++) {
            self->starts[cell] = self->text.size;
            if (c == self->main)
                put_indent(self, r);
            put_cell(self, r, c);
            snd_buffer_char(&self->text, '\0');
        }
}

/* ---- widths ---- */

static void
measure_cells(layout *self)
{
    const snd_table *table = self->table;
    size_t cell = table->column_count;

    for (uint32_t r = 0; r < table->row_count; r++)
        for (uint32_t c = 0; c < table->column_count; c++, cell++) {
            size_t width = table->rows[r].heading != NULL ? 0 : snd_utf8_width(text_of(self, cell));
            if (width > self->widths[c])
                self->widths[c] = width;
        }
    for (uint32_t c = 0; c < table->column_count; c++) {
        size_t title = snd_utf8_width(text_of(self, c));
        int is_empty = self->widths[c] == 0 && (table->columns[c].traits & SND_COLUMN_NO_EMPTY);
        if (!is_empty && title > self->widths[c])
            self->widths[c] = title;
    }
}

/* What the columns beside the main one take. */
static size_t
width_of_others(const layout *self)
{
    size_t all = 0;

    for (uint32_t c = 0; c < self->table->column_count; c++)
        if (c != self->main && self->widths[c] != 0)
            all += self->widths[c] + GAP;
    return all;
}

/* Leaves out a column, if it is one of those with `traits`, and its neighbours to the left that are of one kind with
 * it: parts of a sum say nothing without each other. Returns the last column that was looked at. */
static uint32_t
leave_out(layout *self, uint32_t column, unsigned traits)
{
    const unsigned mask = SND_COLUMN_OPTIONAL | SND_COLUMN_LATE;
    const snd_column *columns = self->table->columns;

    while ((columns[column].traits & mask) == traits) {
        self->widths[column] = 0;
        if (column == 0 || columns[column - 1].unit != columns[column].unit ||
            (columns[column - 1].traits & mask) != traits)
            break;
        column--;
    }
    return column;
}

static void
fit(layout *self, size_t limit)
{
    size_t *main = &self->widths[self->main];
    size_t good = self->table->is_tree ? GOOD_TREE_COLUMN : GOOD_MAIN_COLUMN;

    if (*main < good)
        good = *main;
    for (uint32_t c = self->table->column_count; c > 0 && width_of_others(self) + good > limit;)
        c = leave_out(self, c - 1, SND_COLUMN_OPTIONAL);
    for (uint32_t c = self->table->column_count; c > 0 && width_of_others(self) + good > limit;)
        c = leave_out(self, c - 1, SND_COLUMN_OPTIONAL | SND_COLUMN_LATE);
    size_t others = width_of_others(self);
    size_t left = limit > others + LEAST_MAIN_COLUMN ? limit - others : LEAST_MAIN_COLUMN;
    if (*main > left)
        *main = left;
}

static void
measure(layout *self)
{
    measure_cells(self);
    if (self->options->width != 0)
        fit(self, self->options->width);
    for (uint32_t c = 0; c < self->table->column_count; c++)
        if (self->widths[c] != 0)
            self->last = c;
}

/* ---- lines ---- */

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

/* A label is a number in all but the first column. */
static int
stands_left(snd_unit unit, uint32_t column)
{
    return unit == SND_UNIT_TEXT || unit == SND_UNIT_BAR || unit == SND_UNIT_SPARK ||
           (unit == SND_UNIT_LABEL && column == 0);
}

/* Bold and magenta, which no row is; then the row goes on in its colour. */
static void
put_notable(const char *text, const char *row_colour, snd_buffer *out)
{
    snd_buffer_printf(out, "\033[1;35m%s\033[0m%s", text, row_colour);
}

/* The cells from `first` on, the head or a row in `colour`; NULL: without colours. */
static void
put_line(const layout *self, size_t first, const char *colour, snd_buffer *out)
{
    size_t gap = 0, start = out->size;
    uint32_t row = (uint32_t)(first / self->table->column_count);

    for (uint32_t c = 0; c < self->table->column_count; c++) {
        const char *text = text_of(self, first + c);
        size_t width = self->widths[c];
        if (width == 0)
            continue;
        snd_buffer_repeat(out, ' ', gap);
        gap = GAP;
        int is_text = stands_left(self->table->columns[c].unit, c);
        if (!is_text)
            snd_buffer_repeat(out, ' ', width - snd_utf8_width(text));
        size_t used = c == self->main ? put_fitting(out, text, width, self->options->unicode) : snd_utf8_width(text);
        if (colour != NULL && row > 0 && snd_format_is_notable(self->table, row - 1, c))
            put_notable(text, colour, out);
        else if (c != self->main)
            snd_buffer_text(out, text);
        if (is_text && c != self->last)
            snd_buffer_repeat(out, ' ', width - used);
    }
    while (out->size > start && out->data[out->size - 1] == ' ')
        out->size--;
    snd_buffer_char(out, '\n');
}

static void
put_rule(const layout *self, snd_buffer *out)
{
    size_t gap = 0;

    for (uint32_t c = 0; c < self->table->column_count; c++) {
        if (self->widths[c] == 0)
            continue;
        snd_buffer_repeat(out, ' ', gap);
        snd_buffer_repeat(out, '-', self->widths[c]);
        gap = GAP;
    }
    snd_buffer_char(out, '\n');
}

static snd_row_colour
kind_of_colour(const snd_table *table, uint32_t row)
{
    if (table->rows[row].colour != SND_COLOUR_BY_SHARE)
        return table->rows[row].colour;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const snd_cell *cell = &table->rows[row].cells[c];
        if (table->columns[c].unit == SND_UNIT_PERCENT && cell->is_there &&
            (table->rows[row].depth > 0 || !table->is_tree))
            return snd_colour_of_share(cell->real);
    }
    return SND_COLOUR_PLAIN;
}

static const char *
colour_of(const snd_table *table, uint32_t row)
{
    static const char *const colours[] = {
        [SND_COLOUR_BY_SHARE] = "",     [SND_COLOUR_DIM] = "\033[2m",   [SND_COLOUR_PLAIN] = "",
        [SND_COLOUR_COOL] = "\033[36m", [SND_COLOUR_WARM] = "\033[33m", [SND_COLOUR_HOT] = "\033[31m",
    };
    if (table->rows[row].heading != NULL && table->rows[row].colour == SND_COLOUR_BY_SHARE)
        return "\033[1m";
    return colours[kind_of_colour(table, row)];
}

/* Headings at the left have an empty line above them. */
static void
put_heading(const layout *self, uint32_t row, snd_buffer *out)
{
    const char *text = self->table->rows[row].heading;
    snd_buffer clean = {0};

    if (row != 0 && self->table->rows[row].depth == 0)
        snd_buffer_char(out, '\n');
    snd_utf8_clean(text, &clean);
    out->failed |= clean.failed;
    put_fitting(out, snd_buffer_str(&clean), self->options->width == 0 ? SIZE_MAX : self->options->width,
                self->options->unicode);
    snd_buffer_char(out, '\n');
    snd_buffer_free(&clean);
}

static void
put_rows(const layout *self, snd_buffer *out)
{
    const snd_table *table = self->table;
    const snd_format_options *options = self->options;

    if (!options->no_head) {
        snd_buffer_text(out, options->colour ? "\033[1m" : "");
        put_line(self, 0, NULL, out);
        snd_buffer_text(out, options->colour ? "\033[0m" : "");
        put_rule(self, out);
    }
    for (uint32_t r = 0; r < table->row_count; r++) {
        const char *colour = options->colour ? colour_of(table, r) : "";
        snd_buffer_text(out, colour);
        if (table->rows[r].heading != NULL)
            put_heading(self, r, out);
        else
            put_line(self, ((size_t)r + 1) * table->column_count, options->colour ? colour : NULL, out);
        snd_buffer_text(out, *colour == '\0' ? "" : "\033[0m");
    }
}

void
snd_format_table(const snd_table *table, const snd_format_options *options, snd_buffer *out)
{
    size_t cells = ((size_t)table->row_count + 1) * table->column_count;
    layout self = {
        .table = table,
        .options = options,
        .starts = snd_calloc(cells + 1, sizeof(size_t)),
        .widths = snd_calloc((size_t)table->column_count + 1, sizeof(size_t)),
        .levels = table->has_guides ? snd_calloc((size_t)table->row_count + 1, sizeof(uint32_t)) : NULL,
        .main = snd_format_main_column(table),
    };

    if (self.levels != NULL)
        find_levels(&self);
    if (self.starts != NULL && self.widths != NULL && (self.levels != NULL || !table->has_guides))
        make_cell_texts(&self);
    else
        self.text.failed = 1;
    if (self.text.failed)
        out->failed = 1;
    else if (table->column_count > 0) {
        measure(&self);
        put_rows(&self, out);
    }
    size_t footer = out->size;
    if (table->footer != NULL && !options->no_footer)
        snd_buffer_printf(out, "%s\n", table->footer);
    if (!options->unicode)
        snd_text_plain(out, footer);
    snd_text_wrap(out, footer, options->width);
    snd_buffer_free(&self.text);
    snd_free(self.starts);
    snd_free(self.widths);
    snd_free(self.levels);
}
