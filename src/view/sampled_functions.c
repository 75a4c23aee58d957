/* The view of functions of a recording of samples: self and total time of each, on all threads. */
#include "base/alloc.h"
#include "view/arrange.h"
#include "view/sample_table.h"
#include "view/walk.h"

enum {
    FUNCTION,
    SELF,
    TOTAL_CPU = SELF + SND_SAMPLE_COLUMN_COUNT,
    TOTAL,
    TOTAL_SHARE,
    CODE,
    PLACE,
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
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, 0},
};

/* Per function. */
typedef struct sums {
    snd_samples_numbers self;
    uint64_t total_ns, total_cpu_ns; /* recursion counts once */
    uint32_t open;
} sums;

/* A function's total is that of its outermost nodes, with all below them. What stands in no function goes to the last
 * of the sums. */
static snd_status
add_up(const snd_samples *samples, sums *functions)
{
    snd_walk walk;
    snd_status status = snd_walk_make(samples, &walk);
    if (status != SND_OK)
        return status;
    for (uint32_t i = 0; i < walk.step_count; i++) {
        uint32_t node = walk.steps[i].node, function = snd_samples_function_of(samples, node);
        snd_samples_numbers numbers;
        if (function == SND_NONE)
            function = samples->function_count;
        if (walk.steps[i].leaves) {
            functions[function].open--;
            continue;
        }
        if (snd_samples_read(samples, node, &numbers))
            snd_samples_add(&functions[function].self, &numbers);
        if (function == samples->function_count) { /* nothing is called from nowhere */
            functions[function].total_ns = snd_samples_time(&functions[function].self);
            functions[function].total_cpu_ns = snd_samples_cpu(&functions[function].self);
        }
        else if (functions[function].open == 0) {
            functions[function].total_ns += walk.totals[node];
            functions[function].total_cpu_ns += walk.cpu_totals[node];
        }
        functions[function].open++;
    }
    snd_walk_free(&walk);
    return SND_OK;
}

static snd_status
add_row(const snd_samples *samples, snd_table *table, uint32_t function, const sums *of)
{
    const snd_profile_site *site = snd_samples_site(samples, function);
    snd_buffer name = {0}, place = {0};
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
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
    if (*site->file != '\0')
        snd_set_text(table, &cells[FILE_NAME], site->file);
    if (site->kind == SND_SITE_LINE)
        snd_set_whole(&cells[LINE], site->first_line);
    return snd_table_check(table, cells);
}

/* Regions, and what is no function, stand here only where time was found in nothing else. */
static int
is_listed(const snd_samples *samples, uint32_t function, const sums *of)
{
    if (snd_samples_time(&of->self) != 0 || of->self.samples != 0)
        return 1;
    return of->total_ns != 0 && function < samples->function_count &&
           snd_samples_site(samples, function)->kind != SND_SITE_REGION;
}

static snd_status
add_rows(const snd_samples *samples, snd_table *table)
{
    sums *functions = snd_calloc((size_t)samples->function_count + 1, sizeof *functions);
    snd_status status = functions == NULL ? SND_NO_MEMORY : add_up(samples, functions);

    for (uint32_t i = 0; i <= samples->function_count && status == SND_OK; i++)
        if (is_listed(samples, i, &functions[i]))
            status = add_row(samples, table, i, &functions[i]);
    snd_free(functions);
    return status;
}

snd_status
snd_view_sampled_functions(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_samples samples;
    snd_status status = snd_samples_make(profile, options, &samples);
    if (status != SND_OK)
        return status;
    snd_table *table = snd_table_new("functions", columns, COLUMN_COUNT);
    if (table != NULL) {
        snd_sample_table_adapt(table, SELF, options);
        table->columns[options->with_waiting ? TOTAL_CPU : TOTAL].traits &= ~SHOWN;
    }
    status = table == NULL ? SND_NO_MEMORY : add_rows(&samples, table);
    if (status == SND_OK && !options->with_waiting) /* those that never ran in the order of what they waited */
        status = snd_table_sort(table, "self_ns");
    status = snd_sample_table_finish(&samples, status, options->with_waiting ? "self_ns" : "self_cpu_ns", table, out);
    snd_samples_free(&samples);
    return status;
}
