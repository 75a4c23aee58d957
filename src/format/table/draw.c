/* Small drawings in text. */
#include "format/table/draw.h"

#include "base/text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define PLOT_ROWS 12u
#define PLOT_COLUMNS 200u
#define LEAST_COLUMNS 20u
#define LABEL_CELLS 9u

/* Parts of a cell, from left and from below. */
static const char *const parts_of_bar[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
static const char *const parts_of_column[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char plain_levels[] = " .:-=+*#@";

void
snd_draw_bar(double percent, unsigned cells, int unicode, snd_buffer *out)
{
    double share = percent >= 100 ? 1 : percent > 0 ? percent / 100 : 0; /* not a number: 0 */
    unsigned eighths = (unsigned)(share * cells * 8 + 0.5);

    if (eighths == 0 && share > 0)
        eighths = 1;
    if (!unicode) {
        snd_buffer_repeat(out, '#', (eighths + 7) / 8);
        return;
    }
    for (; eighths >= 8; eighths -= 8)
        snd_buffer_text(out, parts_of_bar[8]);
    snd_buffer_text(out, parts_of_bar[eighths]);
}

void
snd_draw_spark(const char *levels, int unicode, snd_buffer *out)
{
    for (; *levels != '\0'; levels++) {
        if (*levels < '0' || *levels > '8')
            continue;
        if (unicode)
            snd_buffer_text(out, parts_of_column[*levels - '0']);
        else
            snd_buffer_char(out, plain_levels[*levels - '0']);
    }
}

/* ---- the plot ---- */

/* What is drawn: the largest value in each column. */
typedef struct canvas {
    double area[PLOT_COLUMNS], line[PLOT_COLUMNS];
    unsigned columns;
    double top;
    uint64_t end_ns;
    int unicode;
} canvas;

/* Numbers from a file: what is none is nothing. */
static double
clean(double value)
{
    return value > 0 ? (value < 1e18 ? value : 1e18) : 0;
}

static unsigned
column_of(const canvas *self, uint64_t at_ns)
{
    double part = self->end_ns == 0 ? 0 : (double)at_ns / (double)self->end_ns;
    unsigned column = (unsigned)((part < 1 ? part : 1) * self->columns);

    return column < self->columns ? column : self->columns - 1;
}

static void
take(const canvas *self, const snd_series *series, double *values)
{
    double last = 0;
    uint32_t next = 0;

    for (unsigned c = 0; c < self->columns; c++) {
        values[c] = last; /* as it was until the next point */
        for (int is_first = 1; series != NULL && next < series->count; next++, is_first = 0) {
            if (column_of(self, series->points[next].at_ns) > c)
                break;
            last = clean(series->points[next].value);
            if (is_first || last > values[c])
                values[c] = last;
        }
    }
}

static uint64_t
end_of(const snd_series *series)
{
    return series == NULL || series->count == 0 ? 0 : series->points[series->count - 1].at_ns;
}

static void
start(const snd_plot *plot, unsigned width, int unicode, canvas *self)
{
    *self = (canvas){.unicode = unicode, .end_ns = plot->end_ns};
    unsigned cells = width == 0 ? 100 : width;
    self->columns = cells > LABEL_CELLS + 3 + LEAST_COLUMNS ? cells - LABEL_CELLS - 3 : LEAST_COLUMNS;
    if (self->columns > PLOT_COLUMNS)
        self->columns = PLOT_COLUMNS;
    if (self->end_ns == 0)
        self->end_ns = end_of(plot->area) > end_of(plot->line) ? end_of(plot->area) : end_of(plot->line);
    take(self, plot->area, self->area);
    take(self, plot->line, self->line);
    for (unsigned c = 0; c < self->columns; c++) {
        double higher = self->area[c] > self->line[c] ? self->area[c] : self->line[c];
        self->top = higher > self->top ? higher : self->top;
    }
    if (self->top <= 0)
        self->top = 1;
}

/* In eighths of a row, from below; rows are counted from below too. */
static unsigned
height_of(const canvas *self, double value)
{
    return (unsigned)(value / self->top * PLOT_ROWS * 8 + 0.5);
}

static void
put_cell(const canvas *self, unsigned row, unsigned column, int has_line, snd_buffer *out)
{
    unsigned area = height_of(self, self->area[column]), line = height_of(self, self->line[column]);
    unsigned filled = area <= row * 8 ? 0 : area - row * 8 < 8 ? area - row * 8 : 8;
    unsigned at = line == 0 ? 0 : (line - 1) / 8;

    if (has_line && at == row && line != 0 && (filled < 8 || line < area))
        snd_buffer_text(out, self->unicode ? "•" : "*");
    else if (self->unicode)
        snd_buffer_text(out, parts_of_column[filled]);
    else
        snd_buffer_text(out, filled >= 4 ? "#" : filled > 0 ? "." : " ");
}

static void
put_label(double value, snd_buffer *out)
{
    char text[SND_BYTES_SIZE];

    snd_bytes_text(snd_bytes_of(value), text);
    snd_buffer_printf(out, "%*s ", (int)LABEL_CELLS, text);
}

static void
trim(snd_buffer *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->size--;
    snd_buffer_char(out, '\n');
}

static void
put_rows(const canvas *self, const snd_plot *plot, snd_buffer *out)
{
    for (unsigned row = PLOT_ROWS; row-- > 0;) {
        if ((row + 1) % 4 == 0)
            put_label(self->top * (row + 1) / PLOT_ROWS, out);
        else
            snd_buffer_repeat(out, ' ', LABEL_CELLS + 1);
        snd_buffer_text(out, self->unicode ? "│" : "|");
        for (unsigned c = 0; c < self->columns; c++)
            put_cell(self, row, c, plot->line != NULL, out);
        trim(out);
    }
}

static void
put_axis(const canvas *self, snd_buffer *out)
{
    put_label(0, out);
    snd_buffer_text(out, self->unicode ? "└" : "+");
    for (unsigned c = 0; c < self->columns; c++)
        snd_buffer_text(out, self->unicode ? "─" : "-");
    snd_buffer_char(out, '\n');
}

/* Times below the axis at its quarters, where there is room; the last one ends with the axis. */
static void
put_times(const canvas *self, snd_buffer *out)
{
    unsigned ticks = self->columns >= 48 ? 4 : 2;
    size_t used = 0;

    snd_buffer_repeat(out, ' ', LABEL_CELLS + 2);
    for (unsigned i = 0; i <= ticks; i++) {
        char text[SND_DURATION_SIZE];
        snd_duration_text(i == 0 ? 0 : (uint64_t)((double)self->end_ns * i / ticks), text);
        size_t len = i == 0 ? 1 : snd_utf8_width(text), middle = (size_t)self->columns * i / ticks;
        size_t from = i == 0 ? 0 : i == ticks ? self->columns - len : middle - len / 2;
        snd_buffer_repeat(out, ' ', i == 0 ? 0 : from > used ? from - used : 1);
        snd_buffer_text(out, i == 0 ? "0" : text);
        used = (i == 0 || from > used ? from : used + 1) + len;
    }
    snd_buffer_char(out, '\n');
}

static void
put_mark(const canvas *self, const snd_plot *plot, snd_buffer *out)
{
    size_t at = column_of(self, plot->mark_ns), len = snd_utf8_width(plot->mark);
    int is_left = at + 2 + len > self->columns && at > len; /* the words stand before the mark */

    snd_buffer_repeat(out, ' ', LABEL_CELLS + 2 + at - (is_left ? len + 1 : 0));
    if (is_left)
        snd_buffer_printf(out, "%s ", plot->mark);
    snd_buffer_text(out, self->unicode ? "▲" : "^");
    if (!is_left)
        snd_buffer_printf(out, " %s", plot->mark);
    snd_buffer_char(out, '\n');
}

void
snd_draw_plot(const snd_plot *plot, unsigned width, int unicode, snd_buffer *out)
{
    canvas self;

    if ((plot->area == NULL || plot->area->count == 0) && (plot->line == NULL || plot->line->count == 0))
        return;
    start(plot, width, unicode, &self);
    put_rows(&self, plot, out);
    put_axis(&self, out);
    put_times(&self, out);
    if (plot->mark != NULL)
        put_mark(&self, plot, out);
}
