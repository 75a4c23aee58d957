/* The rows of a comparison as tables. */
#include "base/text.h"
#include "view/compare/diff.h"
#include "view/sampled/sample_table.h"

#include <math.h>

enum {
    NAME,
    BEFORE_TEXT,
    AFTER_TEXT,
    DIFFERENCE_TEXT,
    CHANGE_TEXT,
    NOISE_TEXT,
    VERDICT,
    COUNT_TEXT,
    EACH_TEXT,
    PLACE,
    TABLE,
    UNIT,
    BEFORE,
    AFTER,
    DIFFERENCE,
    PERCENT,
    NOISE,
    NOISE_FROM,
    BEFORE_COUNT,
    AFTER_COUNT,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define EXTRA (SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY)

static const snd_column columns[] = {
    [NAME] = {"name", "", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [BEFORE_TEXT] = {"before_text", "before", SND_UNIT_LABEL, SHOWN},
    [AFTER_TEXT] = {"after_text", "after", SND_UNIT_LABEL, SHOWN},
    [DIFFERENCE_TEXT] = {"difference_text", "difference", SND_UNIT_LABEL, SHOWN},
    [CHANGE_TEXT] = {"change_text", "change", SND_UNIT_LABEL, SHOWN},
    [NOISE_TEXT] = {"noise_text", "noise", SND_UNIT_LABEL, EXTRA | SND_COLUMN_LATE},
    [VERDICT] = {"verdict", "verdict", SND_UNIT_TEXT, SHOWN},
    [COUNT_TEXT] = {"count_text", "entries", SND_UNIT_LABEL, EXTRA},
    [EACH_TEXT] = {"each_text", "each", SND_UNIT_LABEL, EXTRA},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, EXTRA | SND_COLUMN_LATE},
    [TABLE] = {"table", "table", SND_UNIT_TEXT, 0},
    [UNIT] = {"unit", "unit", SND_UNIT_TEXT, 0},
    [BEFORE] = {"before", "before", SND_UNIT_COUNT, 0},
    [AFTER] = {"after", "after", SND_UNIT_COUNT, 0},
    [DIFFERENCE] = {"difference", "difference", SND_UNIT_COUNT, 0},
    [PERCENT] = {"percent", "change", SND_UNIT_PERCENT, 0},
    [NOISE] = {"noise", "noise", SND_UNIT_COUNT, 0},
    [NOISE_FROM] = {"noise_from", "noise from", SND_UNIT_TEXT, 0},
    [BEFORE_COUNT] = {"before_count", "entries before", SND_UNIT_COUNT, 0},
    [AFTER_COUNT] = {"after_count", "entries after", SND_UNIT_COUNT, 0},
};

/* ---- texts ---- */

void
snd_diff_number(snd_unit unit, double number, snd_buffer *out)
{
    char text[SND_DURATION_SIZE + SND_BYTES_SIZE]; /* room for either */

    if (unit == SND_UNIT_NS)
        snd_duration_text(snd_bytes_of(number), text);
    else if (unit == SND_UNIT_BYTES)
        snd_bytes_text(snd_bytes_of(number), text);
    if (unit == SND_UNIT_COUNT)
        snd_buffer_printf(out, "%.0f", number);
    else
        snd_buffer_text(out, text);
}

static void
put_relation(double before, double after, snd_buffer *out)
{
    if (before <= 0)
        return;
    if (after >= 2 * before)
        snd_buffer_printf(out, "%.3gx", after / before);
    else
        snd_buffer_printf(out, "%+.1f%%", 100 * (after - before) / before);
}

void
snd_diff_change(const snd_diff_row *row, snd_buffer *out)
{
    put_relation(row->sides[SND_BEFORE].estimate.value, row->sides[SND_AFTER].estimate.value, out);
}

/* Noise that is known from nothing in the recordings has a mark. */
static void
put_noise(const snd_diff_row *row, snd_buffer *out)
{
    int is_unknown = row->sides[SND_BEFORE].estimate.source == SND_NOISE_UNKNOWN ||
                     row->sides[SND_AFTER].estimate.source == SND_NOISE_UNKNOWN;

    if (row->noise == 0 || row->is_unrated)
        return;
    snd_diff_number(row->unit, row->noise, out);
    snd_buffer_text(out, is_unknown ? "?" : "");
}

/* "10", "10 -> 12". */
static void
put_counts(const snd_diff_row *row, snd_buffer *out)
{
    uint64_t before = row->sides[SND_BEFORE].count, after = row->sides[SND_AFTER].count;

    if (row->unit == SND_UNIT_COUNT || (before == 0 && after == 0))
        return;
    snd_buffer_printf(out, "%llu", (unsigned long long)before);
    if (before != after)
        snd_buffer_printf(out, " -> %llu", (unsigned long long)after);
}

/* The change of one entry, where there are more or fewer of them. */
static void
put_each(const snd_diff_row *row, snd_buffer *out)
{
    const snd_diff_side *before = &row->sides[SND_BEFORE], *after = &row->sides[SND_AFTER];

    if (row->unit != SND_UNIT_COUNT && before->count != 0 && after->count != 0 && before->count != after->count)
        put_relation(before->estimate.value / (double)before->count, after->estimate.value / (double)after->count, out);
}

static const char *
noise_from(const snd_diff_row *row)
{
    snd_noise_source before = row->sides[SND_BEFORE].estimate.source, after = row->sides[SND_AFTER].estimate.source;

    if (row->is_unrated)
        return "unknown";
    if (before == SND_NOISE_UNKNOWN || after == SND_NOISE_UNKNOWN)
        return "run to run";
    return before == SND_NOISE_EXACT && after == SND_NOISE_EXACT ? "exact" : "recordings";
}

static const char *
unit_name(snd_unit unit)
{
    return unit == SND_UNIT_NS ? "ns" : unit == SND_UNIT_BYTES ? "bytes" : "calls";
}

static snd_row_colour
colour_of(const snd_diff_row *row)
{
    switch (row->verdict) {
    case SND_DIFF_MORE:
        return SND_COLOUR_HOT;
    case SND_DIFF_LESS:
        return SND_COLOUR_COOL;
    case SND_DIFF_NEW:
        return SND_COLOUR_WARM;
    case SND_DIFF_GONE:
        return SND_COLOUR_COOL;
    default:
        return SND_COLOUR_DIM;
    }
}

/* ---- rows ---- */

/* As a whole number. A damaged file may hold any other. */
static void
set_real(snd_cell *cell, double number)
{
    const double most = 9e18;

    *cell = (snd_cell){.is_there = 1, .whole = llround(fmax(-most, fmin(number, most)))};
}

static void
set_texts(snd_table *table, const snd_diff_row *row, snd_cell *cells)
{
    snd_buffer before = {0}, after = {0}, difference = {0}, change = {0}, noise = {0}, counts = {0}, each = {0};

    if (row->sides[SND_BEFORE].is_there)
        snd_diff_number(row->unit, row->sides[SND_BEFORE].estimate.value, &before);
    if (row->sides[SND_AFTER].is_there)
        snd_diff_number(row->unit, row->sides[SND_AFTER].estimate.value, &after);
    snd_buffer_text(&difference, row->difference < 0 ? "-" : row->difference > 0 ? "+" : "");
    snd_diff_number(row->unit, fabs(row->difference), &difference);
    snd_diff_change(row, &change);
    put_noise(row, &noise);
    put_counts(row, &counts);
    put_each(row, &each);
    snd_set_buffer(table, &cells[BEFORE_TEXT], &before);
    snd_set_buffer(table, &cells[AFTER_TEXT], &after);
    snd_set_buffer(table, &cells[DIFFERENCE_TEXT], &difference);
    snd_set_buffer(table, &cells[CHANGE_TEXT], &change);
    snd_set_buffer(table, &cells[NOISE_TEXT], &noise);
    snd_set_buffer(table, &cells[COUNT_TEXT], &counts);
    snd_set_buffer(table, &cells[EACH_TEXT], &each);
}

static void
set_numbers(snd_table *table, const snd_diff_row *row, snd_cell *cells)
{
    double percent = snd_diff_percent(row);

    snd_set_text(table, &cells[TABLE], snd_diff_infos[row->kind].name);
    snd_set_text(table, &cells[UNIT], unit_name(row->unit));
    if (row->sides[SND_BEFORE].is_there)
        set_real(&cells[BEFORE], row->sides[SND_BEFORE].estimate.value);
    if (row->sides[SND_AFTER].is_there)
        set_real(&cells[AFTER], row->sides[SND_AFTER].estimate.value);
    set_real(&cells[DIFFERENCE], row->difference);
    if (!isnan(percent))
        snd_set_share(&cells[PERCENT], percent);
    if (!row->is_unrated)
        set_real(&cells[NOISE], row->noise);
    snd_set_text(table, &cells[NOISE_FROM], noise_from(row));
    if (row->sides[SND_BEFORE].count != 0)
        snd_set_whole(&cells[BEFORE_COUNT], row->sides[SND_BEFORE].count);
    if (row->sides[SND_AFTER].count != 0)
        snd_set_whole(&cells[AFTER_COUNT], row->sides[SND_AFTER].count);
}

static void
add_row(snd_table *table, const snd_diff_row *row)
{
    snd_cell *cells = snd_table_row(table, 0);
    snd_table_last(table)->colour = colour_of(row);
    snd_set_text(table, &cells[NAME], row->name);
    snd_set_text(table, &cells[VERDICT], snd_diff_verdict_text(row));
    snd_set_text(table, &cells[PLACE], row->place);
    set_texts(table, row, cells);
    set_numbers(table, row, cells);
}

typedef struct question {
    const snd_diff *diff;
    snd_diff_kind kind;
} question;

static snd_table *
make_table(const void *context)
{
    const question *asked = context;
    const snd_diff *self = asked->diff;
    snd_diff_kind kind = asked->kind;
    snd_column described[COLUMN_COUNT];

    for (int i = 0; i < COLUMN_COUNT; i++)
        described[i] = columns[i];
    described[NAME].title = snd_diff_infos[kind].row;
    if (kind == SND_DIFF_CALLS)
        described[COUNT_TEXT].title = "calls";
    if (kind == SND_DIFF_OPS)
        described[PLACE].title = "inputs";
    snd_table *table = snd_table_new("diff", described, COLUMN_COUNT);
    for (uint32_t i = 0; i < self->count; i++)
        if (self->rows[i].kind == kind)
            add_row(table, &self->rows[i]);
    return table;
}

snd_status
snd_diff_table(const snd_diff *self, snd_diff_kind kind, snd_table **out)
{
    return snd_table_make(make_table, &(question){self, kind}, out);
}

snd_status
snd_diff_append(snd_table *self, const snd_table *more)
{
    for (uint32_t r = 0; r < more->row_count; r++) {
        snd_cell *cells;
        snd_status status = snd_table_add_row(self, 0, &cells);
        if (status != SND_OK)
            return status;
        for (uint32_t c = 0; c < self->column_count; c++) {
            cells[c] = more->rows[r].cells[c];
            if (cells[c].text != NULL && (cells[c].text = snd_table_text(self, cells[c].text)) == NULL)
                return SND_NO_MEMORY;
        }
    }
    return SND_OK;
}

snd_status
snd_diff_select(const snd_table *self, snd_table **out)
{
    static const int wanted[] = {TABLE,   NAME,  PLACE,      UNIT,    BEFORE,       AFTER,      DIFFERENCE,
                                 PERCENT, NOISE, NOISE_FROM, VERDICT, BEFORE_COUNT, AFTER_COUNT};
    enum { COUNT = sizeof wanted / sizeof wanted[0] };
    const char *names[COUNT];
    uint32_t unknown;

    for (int i = 0; i < COUNT; i++)
        names[i] = columns[wanted[i]].name;
    return snd_table_select(self, names, COUNT, &unknown, out);
}
