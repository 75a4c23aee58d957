/* The view of functions for a profile of samples. */
#include "base/alloc.h"
#include "view/core/arrange.h"
#include "view/sampled/callees.h"
#include "view/sampled/sample_table.h"

enum {
    FUNCTION,
    SELF,
    TOTAL_CPU = SELF + SND_SAMPLE_COLUMN_COUNT,
    TOTAL,
    TOTAL_SHARE,
    CODE,
    PLACE,
    CALLEES,
    FILE_NAME,
    LINE,
    COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define TOTAL_TRAITS (SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE)
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY)

static const snd_column columns[] = {
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, SHOWN},
    SND_SAMPLE_COLUMNS(SELF, "self_cpu_ns", "self CPU", "self_ns", "self", "self_percent", SHOWN | SND_COLUMN_NO_ZERO,
                       PART),
    [TOTAL_CPU] = {"total_cpu_ns", "total CPU", SND_UNIT_NS, TOTAL_TRAITS | SND_COLUMN_NO_ZERO},
    [TOTAL] = {"total_ns", "total", SND_UNIT_NS, TOTAL_TRAITS},
    [TOTAL_SHARE] = {"total_percent", "total %", SND_UNIT_PERCENT, SHOWN},
    [CODE] = {"code", "code", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
    [CALLEES] = {"c_functions", "C functions", SND_UNIT_TEXT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_NO_EMPTY},
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, 0},
};

/* Of a function, or of what stands in none. */
typedef struct sums {
    snd_samples_numbers self;
    uint64_t total_ns, total_cpu_ns; /* recursion counts once */
} sums;

/* Nothing is called from nowhere. */
static void
add_up(const snd_samples *samples, sums *functions)
{
    snd_rollup rows;

    snd_samples_rollup(samples, snd_samples_by_function, &rows);
    for (uint32_t i = 0; i < rows.count; i++)
        functions[i].self = snd_samples_row(&rows, i);
    for (unsigned state = 0; state < SND_SAMPLE_STATES; state++) {
        const uint64_t *totals = snd_rollup_totals(&rows, SND_SAMPLE_METRIC(state));
        for (uint32_t i = 0; i < rows.count; i++) {
            uint64_t ns = i == samples->function_count ? functions[i].self.states[state] : totals[i];
            functions[i].total_ns += ns;
            functions[i].total_cpu_ns += SND_SAMPLE_IS_CPU(state) ? ns : 0;
        }
    }
}

static void
add_row(const snd_samples *samples, const snd_callees *callees, snd_table *table, uint32_t function, const sums *of)
{
    const snd_profile_site *site = snd_samples_site(samples, function);
    snd_buffer name = {0}, place = {0}, called = {0};
    snd_cell *cells = snd_table_row(table, 0);
    snd_function_text(site, &name);
    snd_place_text(&samples->own, site, &place);
    snd_set_buffer(table, &cells[FUNCTION], &name);
    snd_sample_cells(samples, &of->self, &cells[SELF]);
    snd_set_whole(&cells[TOTAL_CPU], of->total_cpu_ns);
    snd_set_whole(&cells[TOTAL], of->total_ns);
    snd_set_share(&cells[TOTAL_SHARE],
                  snd_samples_share(samples, samples->options->with_waiting ? of->total_ns : of->total_cpu_ns));
    snd_set_text(table, &cells[CODE], snd_function_code(samples, function));
    snd_set_buffer(table, &cells[PLACE], &place);
    snd_callees_text(callees, function, &called);
    if (called.size != 0)
        snd_set_buffer(table, &cells[CALLEES], &called);
    if (*site->file != '\0')
        snd_set_text(table, &cells[FILE_NAME], site->file);
    if (site->kind == SND_SITE_LINE)
        snd_set_whole(&cells[LINE], site->first_line);
}

/* Regions, and what is no function, stand here only where time was found in nothing else. */
static int
is_listed(const snd_samples *samples, uint32_t function, const sums *of)
{
    if (snd_samples_is_any(&of->self))
        return 1;
    return of->total_ns != 0 && function < samples->function_count &&
           snd_samples_site(samples, function)->kind != SND_SITE_REGION;
}

static void
add_rows(const snd_samples *samples, snd_table *table)
{
    sums *functions = snd_calloc((size_t)samples->function_count + 1, sizeof *functions);
    snd_callees callees;

    add_up(samples, functions);
    snd_callees_make(samples, snd_callees_by_function, &callees);

    for (uint32_t i = 0; i <= samples->function_count; i++)
        if (is_listed(samples, i, &functions[i]))
            add_row(samples, &callees, table, i, &functions[i]);
}

static void
ask_sampled_functions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_samples_make(profile, options, &samples);
    snd_table *table = snd_table_new("functions", columns, COLUMN_COUNT);
    snd_sample_table_adapt(table, SELF, options);
    table->columns[options->with_waiting ? TOTAL_CPU : TOTAL].traits &= ~SHOWN;
    add_rows(&samples, table);
    if (!options->with_waiting) /* those that never ran in the order of what they waited */
        snd_work_need(snd_table_sort(table, "self_ns"));
    snd_sample_table_finish(&samples, options->with_waiting ? "self_ns" : "self_cpu_ns", table, out);
}

SND_VIEW(sampled_functions, ask_sampled_functions)
