/* The view of operators: what NumPy's and PyTorch's did, with regions beside them. */
#include "view/ops/ops.h"

#include "base/alloc.h"
#include "base/text.h"
#include "view/core/arrange.h"
#include "view/core/footer.h"
#include "view/sampled/sample_table.h"

#include <math.h>
#include <stdlib.h>

enum {
    NAME,
    KIND,
    SHAPES,
    PLACE,
    CALLS,
    SELF,
    SELF_SHARE,
    TOTAL,
    TOTAL_SHARE,
    AVERAGE,
    MIN,
    MAX,
    READ,
    WRITTEN,
    FLOPS,
    SPEED,
    COPIES,
    CASTS,
    FILE_NAME,
    LINE,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SHOWN | SND_COLUMN_OPTIONAL)
#define RARE (PART | SND_COLUMN_NO_EMPTY)
/* Work that another dtype or layout would save. */
#define EXTRA (RARE | SND_COLUMN_LATE | SND_COLUMN_NO_ZERO | SND_COLUMN_NOTABLE)

static const snd_column columns[] = {
    [NAME] = {"name", "name", SND_UNIT_TEXT, SHOWN | SND_COLUMN_MAIN},
    [KIND] = {"kind", "kind", SND_UNIT_TEXT, 0},
    [SHAPES] = {"shapes", "inputs", SND_UNIT_TEXT, SHOWN | SND_COLUMN_NO_EMPTY},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN | SND_COLUMN_NO_EMPTY},
    [CALLS] = {"calls", "calls", SND_UNIT_COUNT, SHOWN},
    [SELF] = {"self_ns", "self", SND_UNIT_NS, SHOWN},
    [SELF_SHARE] = {"self_percent", "self %", SND_UNIT_PERCENT, PART | SND_COLUMN_LATE},
    [TOTAL] = {"total_ns", "total", SND_UNIT_NS, SHOWN},
    [TOTAL_SHARE] = {"total_percent", "total %", SND_UNIT_PERCENT, PART},
    [AVERAGE] = {"average_ns", "average", SND_UNIT_NS, PART | SND_COLUMN_LATE},
    [MIN] = {"min_ns", "min", SND_UNIT_NS, 0},
    [MAX] = {"max_ns", "max", SND_UNIT_NS, 0},
    [READ] = {"read_bytes", "read", SND_UNIT_BYTES, RARE | SND_COLUMN_NO_ZERO},
    [WRITTEN] = {"written_bytes", "written", SND_UNIT_BYTES, RARE | SND_COLUMN_NO_ZERO},
    [FLOPS] = {"flops", "operations", SND_UNIT_NUMBER, 0},
    [SPEED] = {"gflops_per_second", "GFLOP/s", SND_UNIT_NUMBER, RARE},
    [COPIES] = {"copies", "copies", SND_UNIT_COUNT, EXTRA},
    [CASTS] = {"casts", "casts", SND_UNIT_COUNT, EXTRA},
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, 0},
};

static double
share_of(const snd_ops *ops, uint64_t ns)
{
    return ops->whole_ns == 0 ? 0 : 100.0 * (double)ns / (double)ops->whole_ns;
}

static void
put_times(const snd_ops *ops, const snd_ops_row *row, snd_cell *cells)
{
    snd_set_whole(&cells[CALLS], row->count);
    snd_set_whole(&cells[SELF], row->self_ns);
    snd_set_share(&cells[SELF_SHARE], share_of(ops, row->self_ns));
    snd_set_whole(&cells[TOTAL], row->total_ns);
    snd_set_share(&cells[TOTAL_SHARE], share_of(ops, row->total_ns));
    if (row->count != 0)
        snd_set_whole(&cells[AVERAGE], row->total_ns / row->count);
    snd_set_whole(&cells[MIN], row->min_ns);
    snd_set_whole(&cells[MAX], row->max_ns);
}

/* Three digits say enough: a fourth would be another one in the next run. */
static double
rounded(double value)
{
    double step = pow(10, floor(log10(value)) - 2);

    return round(value / step) * step;
}

/* Only operators do these. */
static void
put_work(const snd_ops_row *row, snd_cell *cells)
{
    snd_set_whole(&cells[READ], row->read_bytes);
    snd_set_whole(&cells[WRITTEN], row->written_bytes);
    if (row->flops > 0)
        cells[FLOPS] = (snd_cell){.is_there = 1, .real = row->flops};
    if (snd_ops_speed(row) > 0)
        cells[SPEED] = (snd_cell){.is_there = 1, .real = rounded(snd_ops_speed(row))};
    snd_set_whole(&cells[COPIES], row->copies);
    snd_set_whole(&cells[CASTS], row->casts);
}

static void
put_place(const snd_own *own, const snd_ops_row *row, snd_table *table, snd_cell *cells)
{
    snd_buffer place = {0};

    snd_buffer_printf(&place, "%s:%u", snd_own_name(own, row->site->file), row->site->line);
    snd_set_buffer(table, &cells[PLACE], &place);
    snd_set_text(table, &cells[FILE_NAME], row->site->file);
    snd_set_whole(&cells[LINE], row->site->line);
}

static void
add_row(const snd_own *own, const snd_ops *ops, const snd_ops_row *row, snd_table *table)
{
    snd_cell *cells = snd_table_row(table, 0);

    snd_set_text(table, &cells[NAME], row->name);
    snd_set_text(table, &cells[KIND], snd_site_kind_name(row->site->kind));
    if (*row->shapes != '\0')
        snd_set_text(table, &cells[SHAPES], row->shapes);
    if (*row->stack != '\0')
        put_place(own, row, table, cells);
    put_times(ops, row, cells);
    if (row->site->kind == SND_SITE_OP)
        put_work(row, cells);
}

/* The arrays that operators copied or cast. */
static void
add_extra_work(const snd_ops *ops, snd_buffer *text)
{
    uint64_t copies = 0, casts = 0;

    for (uint32_t i = 0; i < ops->count; i++) {
        copies += ops->rows[i].copies;
        casts += ops->rows[i].casts;
    }
    if (copies != 0)
        snd_buffer_printf(text, ", %llu %s", (unsigned long long)copies, copies == 1 ? "copy" : "copies");
    if (casts != 0)
        snd_footer_add_count(text, ", ", casts, "cast");
}

/* PyTorch's own profiler, which collected its operators. */
static void
add_torch_cost(const snd_profile *profile, uint64_t spent_ns, snd_buffer *text)
{
    uint64_t events = snd_profile_info_number(profile, "torch_events");
    int has_window = snd_profile_info(profile, "torch_window") != NULL;
    char spent[SND_DURATION_SIZE];

    if (events == 0)
        return;
    snd_duration_short(spent_ns, spent);
    snd_footer_add_count(text, "\nPyTorch: ", events, "event");
    snd_buffer_printf(text, "%s; its profiler adds 1 to 8 µs to each operator, and took %s CPU to start, stop and read",
                      has_window ? " in a window of the run (--ops-window)" : "", spent);
}

static void
add_footer(const snd_profile *profile, const snd_ops *ops, snd_table *table)
{
    snd_buffer text = {0};
    char spent[SND_DURATION_SIZE];

    snd_duration_text(ops->whole_ns, spent);
    snd_footer_add_count(&text, "", ops->calls, "call");
    snd_buffer_text(&text, " of operators");
    add_extra_work(ops, &text);
    snd_buffer_printf(&text, "; percentages are of %s in operators and regions, ", spent);
    snd_footer_add_dropped(profile, &text);
    uint64_t each_ns = snd_profile_info_number(profile, "own_op_cost_ns");
    uint64_t torch_ns = snd_profile_info_number(profile, "own_torch_ns");
    if (each_ns != 0 || torch_ns != 0)
        snd_footer_add_cost(profile, "about", ops->entries * each_ns + torch_ns, &text);
    add_torch_cost(profile, torch_ns, &text);
    snd_footer_set(profile, &text, table);
}

static int
compare_self(const void *left, const void *right)
{
    const snd_ops_row *a = *(const snd_ops_row *const *)left, *b = *(const snd_ops_row *const *)right;

    return a->self_ns == b->self_ns ? (a > b) - (a < b) : a->self_ns < b->self_ns ? 1 : -1;
}

/* Operators, or regions: those with the most time of their own first. */
static void
add_group(const snd_own *own, const snd_ops *ops, snd_site_kind kind, snd_table *table)
{
    const snd_ops_row **rows = snd_malloc((ops->count + 1) * sizeof *rows);
    uint32_t count = 0;

    for (uint32_t i = 0; i < ops->count; i++)
        if ((ops->rows[i].site->kind == SND_SITE_REGION) == (kind == SND_SITE_REGION))
            rows[count++] = &ops->rows[i];
    qsort(rows, count, sizeof *rows, compare_self);
    for (uint32_t i = 0; i < count; i++)
        add_row(own, ops, rows[i], table);
}

static void
fill(const snd_profile *profile, const snd_view_options *options, const snd_ops *ops, snd_table *table)
{
    snd_own own;

    snd_own_start(&own, profile, options);
    add_group(&own, ops, SND_SITE_OP, table);
    uint32_t count = table->row_count;
    snd_work_need(snd_table_add_heading(table, 0, "regions"));
    snd_table_set_extra(table, SND_COLOUR_BY_SHARE);
    add_group(&own, ops, SND_SITE_REGION, table);
    if (table->row_count == count + 1)
        table->row_count = count; /* there are none */
    else
        table->has_headings = 1;
    table->heading_column = KIND;
    add_footer(profile, ops, table);
}

static void
ask_ops(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    const snd_ops_question asked = {
        .profile = profile, .by_shape = options->by_shape, .lines = options->by_line ? 1 : 0};
    snd_ops ops;

    if (!snd_profile_has_kind(profile, SND_SITE_OP))
        snd_work_end(SND_NO_DATA);
    snd_work_need(snd_ops_make(&asked, &ops));
    snd_table *table = snd_table_new("ops", columns, COLUMN_COUNT);
    fill(profile, options, &ops, table);
    *out = table;
}

SND_VIEW(ops, ask_ops)
