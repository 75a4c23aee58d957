/* The view of lines: per file its lines with their time, then its functions. */
#include "base/alloc.h"
#include "view/core/source.h"
#include "view/lines/lines.h"
#include "view/memory/memory_table.h"
#include "view/sampled/callees.h"
#include "view/sampled/sample_table.h"

#include <stdlib.h>
#include <string.h>

/* Files below this share, in per cent, are put together; of functions, those above the second are named. */
#define FILE_SHARE 1.0
#define FUNCTION_SHARE 0.1
/* Lines around one with time that are shown too. */
#define CONTEXT 1u

enum { FILE_NAME, PLACE, LINE, FUNCTION, CALLEES, TIME, SOURCE = TIME + SND_SAMPLE_COLUMN_COUNT, COLUMN_COUNT };

#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO)

static const snd_column columns[] = {
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, 0},
    [CALLEES] = {"c_functions", "C functions", SND_UNIT_TEXT, 0},
    SND_SAMPLE_COLUMNS(TIME, "cpu_ns", "CPU", "time_ns", "time", "percent", 0, PART),
    [SOURCE] = {"source", "source", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN | SND_COLUMN_NO_EMPTY},
};

#define CURVE_CELLS 10u

enum {
    PYTHON,
    NATIVE,
    PEAK,
    AVERAGE,
    GROWTH,
    TIMELINE,
    COPY_RATE,
    COPIED,
    PEAK_ERROR,
    GPU,
    GPU_MEMORY,
    MEMORY_COLUMN_COUNT
};

#define MEMORY_PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL)
#define LATE (MEMORY_PART | SND_COLUMN_LATE)

static const snd_column columns_of_memory[] = {
    [PYTHON] = {"alloc_python_bytes", "mem python", SND_UNIT_BYTES, MEMORY_PART},
    [NATIVE] = {"alloc_native_bytes", "mem native", SND_UNIT_BYTES, MEMORY_PART},
    [PEAK] = {"peak_bytes", "mem peak", SND_UNIT_BYTES, LATE},
    [AVERAGE] = {"live_average_bytes", "mem avg", SND_UNIT_BYTES, MEMORY_PART},
    [GROWTH] = {"live_bytes", "growth", SND_UNIT_BYTES, LATE},
    [TIMELINE] = {"timeline", "over time", SND_UNIT_SPARK, MEMORY_PART},
    [COPY_RATE] = {"copied_bytes_per_second", "copies", SND_UNIT_RATE, MEMORY_PART},
    [COPIED] = {"copied_bytes", "copied", SND_UNIT_BYTES, 0},
    [PEAK_ERROR] = {"peak_error_bytes", "±", SND_UNIT_BYTES, 0},
    [GPU] = {"gpu_percent", "GPU", SND_UNIT_PERCENT, SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO},
    [GPU_MEMORY] = {"gpu_memory_bytes", "GPU memory", SND_UNIT_BYTES, MEMORY_PART},
};

/* Returns how many columns of memory this profile has: 0 without memory, those of the GPU only where one was used. */
static uint32_t
memory_columns(const snd_profile *profile, snd_column *out)
{
    int has_gpu = profile->columns[SND_METRIC_GPU] != NULL, has_memory = snd_profile_has_memory(profile);
    uint32_t count = has_gpu ? MEMORY_COLUMN_COUNT : has_memory ? GPU : 0;

    memcpy(out, columns_of_memory, count * sizeof *out);
    return count;
}

/* The cells of these columns in the table's last row, from number `at` on; NULL: the line has no memory. */
static void
put_memory(const snd_samples *samples, const snd_memory_view_line *line, snd_table *table, uint32_t at)
{
    snd_cell *cells = snd_table_last(table)->cells + at;
    const snd_memory_view_numbers *numbers = line == NULL ? NULL : &line->numbers;
    snd_buffer spark = {0};

    if (line == NULL)
        return;
    uint64_t peak = snd_memory_view_whole(numbers, SND_METRIC_LIVE_PEAK),
             copied = snd_memory_view_whole(numbers, SND_METRIC_COPIED);
    snd_set_whole(&cells[PYTHON], snd_memory_view_whole(numbers, SND_METRIC_ALLOC_PYTHON));
    snd_set_whole(&cells[NATIVE], snd_memory_view_whole(numbers, SND_METRIC_ALLOC_NATIVE));
    snd_set_whole(&cells[PEAK], peak);
    snd_set_whole(&cells[AVERAGE], snd_memory_view_whole(numbers, SND_METRIC_LIVE_AVERAGE));
    snd_set_whole(&cells[GROWTH], snd_memory_view_whole(numbers, SND_METRIC_LIVE));
    snd_memory_view_spark(&line->history, CURVE_CELLS, &spark);
    snd_set_buffer(table, &cells[TIMELINE], &spark);
    snd_set_whole(&cells[COPY_RATE], snd_memory_view_rate(samples->profile, copied));
    snd_set_whole(&cells[COPIED], copied);
    snd_set_error(&cells[PEAK_ERROR], snd_memory_view_error(numbers, SND_METRIC_PEAK_VARIANCE), peak);
    if (samples->profile->columns[SND_METRIC_GPU] == NULL)
        return;
    snd_set_share(&cells[GPU], snd_memory_view_share(snd_memory_view_whole(numbers, SND_METRIC_GPU),
                                                     snd_samples_time(&samples->all)));
    snd_set_whole(&cells[GPU_MEMORY], snd_memory_view_whole(numbers, SND_METRIC_GPU_MEMORY));
}

/* A table in the making. The columns of memory stand before the source. */
typedef struct maker {
    snd_samples samples;
    snd_memory_view memory; /* no lines where none was recorded */
    uint32_t source;
    int has_samples;
    int is_whole; /* all lines of the files are shown */
    snd_lines lines;
    snd_callees callees;
    snd_source_changes changes;
    snd_table *table;
} maker;

/* The time and the memory of a function in its file. */
typedef struct sum {
    uint32_t function;
    snd_samples_numbers numbers;
    snd_memory_view_line memory;
} sum;

/* Of all that was allocated, in per cent. */
static double
memory_share(const maker *self, const snd_memory_view_numbers *numbers)
{
    return snd_memory_view_share(snd_memory_view_allocated(numbers), snd_memory_view_allocated(&self->memory.all));
}

/* ---- rows ---- */

/* Rows of a file stand below its heading, at depth 1. */
static void
add_row(maker *self, const char *file, const snd_samples_numbers *numbers, const snd_memory_view_line *memory,
        snd_cell **cells)
{
    *cells = snd_table_row(self->table, 1);
    snd_set_text(self->table, &(*cells)[FILE_NAME], file);
    snd_sample_cells(&self->samples, numbers, &(*cells)[TIME]);
    if (self->source != SOURCE)
        put_memory(&self->samples, memory, self->table, SOURCE);
    snd_table_last(self->table)->colour =
        snd_colour_of_share(snd_samples_share(&self->samples, snd_samples_ranked(&self->samples, numbers)));
}

static void
add_line(maker *self, const snd_line *line, const snd_source_lines *source)
{
    const char *file = self->lines.files[line->file].name;
    snd_buffer place = {0}, text = {0}, called = {0};
    snd_cell *cells;
    add_row(self, file, &line->numbers, snd_memory_view_find(&self->memory, file, line->line), &cells);
    snd_buffer_printf(&place, "%s:%u", snd_own_name(&self->samples.own, file), line->line);
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[LINE], line->line);
    snd_set_text(self->table, &cells[FUNCTION], snd_samples_site(&self->samples, line->function)->name);
    snd_callees_text(&self->callees, snd_callees_line(file, line->line), &called);
    if (called.size != 0)
        snd_set_buffer(self->table, &cells[CALLEES], &called);
    snd_source_line(source, line->line, &text);
    if (source->count != 0)
        snd_set_buffer(self->table, &cells[self->source], &text);
}

static void
add_context(maker *self, uint32_t line, const snd_source_lines *source)
{
    snd_buffer text = {0};
    snd_cell *cells = snd_table_row(self->table, 1);
    snd_table_set_extra(self->table, SND_COLOUR_DIM);
    snd_set_whole(&cells[LINE], line);
    snd_source_line(source, line, &text);
    snd_set_buffer(self->table, &cells[self->source], &text);
}

/* ---- the lines of a file ---- */

/* Whether a line without time is shown: near one with time, or where the function of the next one starts. */
static int
is_near(const maker *self, const snd_line *next, uint32_t after, uint32_t line)
{
    if (self->is_whole)
        return 1;
    if (after != 0 && line <= after + CONTEXT)
        return 1;
    if (next == NULL)
        return 0;
    return line + CONTEXT >= next->line || line == snd_samples_site(&self->samples, next->function)->first_line;
}

/* What stands for `count` lines that are not shown, the last of them `line`; one line is as short as a mark. */
static void
add_skipped(maker *self, uint32_t line, uint32_t count, const snd_source_lines *source)
{
    if (count == 0)
        return;
    if (count == 1) {
        add_context(self, line, source);
        return;
    }
    snd_work_need(snd_table_add_heading(self->table, 1, "  ..."));
    snd_table_last(self->table)->colour = SND_COLOUR_DIM;
}

/* The lines without time between line `after` and the next one with time (NULL: the end): those near as context, a run
 * of several others as one mark; above the first line, nothing. */
static void
add_gap(maker *self, uint32_t after, const snd_line *next, const snd_source_lines *source)
{
    uint32_t before = next == NULL || next->line > source->count ? source->count + 1 : next->line;
    int is_inside = after != 0 && next != NULL;
    uint32_t skipped = 0, skipped_count = 0;

    for (uint32_t i = after < source->count ? after + 1 : before; i < before; i++) {
        if (snd_source_is_blank(source, i) && !self->is_whole)
            continue;
        if (!is_near(self, next, after, i)) {
            skipped = i;
            skipped_count += is_inside ? 1 : 0;
            continue;
        }
        add_skipped(self, skipped, skipped_count, source);
        add_context(self, i, source);
        skipped_count = 0;
        is_inside = next != NULL;
    }
    if (next != NULL)
        add_skipped(self, skipped, skipped_count, source);
}

static void
add_lines(maker *self, const snd_line_file *file, const snd_source_lines *source)
{
    const snd_line *lines = self->lines.lines + file->first;
    uint32_t before = 0;

    for (uint32_t i = 0; i < file->count; i++) {
        add_gap(self, before, &lines[i], source);
        add_line(self, &lines[i], source);
        before = lines[i].line;
    }
    add_gap(self, before, NULL, source);
}

/* ---- the functions of a file ---- */

static int
compare_functions(const void *a, const void *b)
{
    const snd_line *x = *(const snd_line *const *)a, *y = *(const snd_line *const *)b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int
compare_sums(const void *a, const void *b, void *samples)
{
    const sum *x = a, *y = b;
    int difference = snd_samples_compare(samples, &x->numbers, &y->numbers);

    if (difference != 0)
        return difference;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* Both arrays have room for every line of the file. */
static uint32_t
sum_functions(const maker *self, const snd_line_file *file, const snd_line **order, sum *sums)
{
    const snd_line *lines = self->lines.lines + file->first;
    uint32_t used = 0, count = file->count;

    for (uint32_t i = 0; i < count; i++)
        order[i] = &lines[i];
    qsort(order, count, sizeof *order, compare_functions);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || order[i]->function != order[i - 1]->function)
            sums[used++] = (sum){.function = order[i]->function};
        snd_samples_add(&sums[used - 1].numbers, &order[i]->numbers);
        const snd_memory_view_line *memory = snd_memory_view_find(&self->memory, file->name, order[i]->line);
        if (memory == NULL)
            continue;
        snd_memory_view_add(&sums[used - 1].memory.numbers, &memory->numbers);
        snd_memory_view_add_history(&sums[used - 1].memory.history, &memory->history);
    }
    qsort_r(sums, used, sizeof *sums, compare_sums, (void *)&self->samples);
    return used;
}

static void
add_function(maker *self, const snd_line_file *file, const sum *of)
{
    const snd_profile_site *site = snd_samples_site(&self->samples, of->function);
    snd_cell *cells;
    add_row(self, file->name, &of->numbers, &of->memory, &cells);
    snd_table_last(self->table)->is_extra = 1;
    if (site->first_line != 0) /* where a function of a .pyx file starts is unknown */
        snd_set_whole(&cells[LINE], site->first_line);
    snd_set_text(self->table, &cells[self->source], site->name);
}

static void
add_functions(maker *self, const snd_line_file *file)
{
    const snd_line **order = snd_malloc(((size_t)file->count + 1) * sizeof(*order));
    sum *sums = snd_malloc(((size_t)file->count + 1) * sizeof *sums);
    snd_buffer text = {0};

    uint32_t count = sum_functions(self, file, order, sums);
    snd_buffer_printf(&text, "functions of %s", snd_own_name(&self->samples.own, file->name));
    snd_work_need(snd_table_add_heading(self->table, 1, snd_buffer_str(&text)));
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || snd_samples_is_large(&self->samples, &sums[i].numbers, FUNCTION_SHARE) ||
            memory_share(self, &sums[i].memory.numbers) >= FUNCTION_SHARE)
            add_function(self, file, &sums[i]);
}

/* ---- files ---- */

static void
add_file_memory(const maker *self, const snd_line_file *file, snd_memory_view_line *all)
{
    for (uint32_t i = file->first; i < file->first + file->count; i++) {
        const snd_memory_view_line *line = snd_memory_view_find(&self->memory, file->name, self->lines.lines[i].line);
        if (line == NULL)
            continue;
        snd_memory_view_add(&all->numbers, &line->numbers);
        snd_memory_view_add_history(&all->history, &line->history);
    }
}

/* Its share of the time or, where there are no samples, of the memory at the peak. */
static void
put_share(const maker *self, const snd_samples_numbers *numbers, const snd_memory_view_numbers *memory, snd_buffer *out)
{
    uint64_t time = snd_samples_ranked(&self->samples, numbers), waited = snd_samples_waited(numbers);
    uint64_t peak = snd_memory_view_whole(memory, SND_METRIC_LIVE_PEAK);
    int with_waiting = self->samples.options->with_waiting;
    uint64_t whole = snd_memory_view_whole(&self->memory.all, SND_METRIC_LIVE_PEAK);

    if (self->has_samples) {
        snd_buffer_printf(out, "%s = %.2f%% (%.3fs) out of %.3fs", with_waiting ? "% of time" : "% of CPU time",
                          snd_samples_share(&self->samples, time), (double)time / 1e9,
                          (double)self->samples.whole_ns / 1e9);
        if (!with_waiting && waited != 0)
            snd_buffer_printf(out, ", waited %.3fs", (double)waited / 1e9);
        return;
    }
    snd_buffer_printf(out, "%% of memory = %.2f%% (", snd_memory_view_share(peak, whole));
    snd_memory_view_put(peak, 0, out);
    snd_buffer_text(out, ") out of ");
    snd_memory_view_put(whole, 0, out);
    snd_buffer_text(out, " at the peak");
}

static void
add_head(maker *self, const char *name, const snd_samples_numbers *numbers, const snd_memory_view_numbers *memory)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "%s: ", name);
    put_share(self, numbers, memory, &text);
    snd_work_need(snd_table_add_heading(self->table, 0, snd_buffer_str(&text)));
}

/* Why the source is not shown; NULL: it is. */
static void
add_missing(maker *self, const char *why)
{
    snd_buffer text = {0};

    if (why == NULL)
        return;
    snd_buffer_printf(&text, "source not shown: %s", why);
    snd_work_need(snd_table_add_heading(self->table, 1, snd_buffer_str(&text)));
    snd_table_last(self->table)->colour = SND_COLOUR_DIM;
}

static void
add_file(maker *self, const snd_line_file *file)
{
    snd_source_lines source = {0};
    snd_memory_view_line memory = {0};
    snd_work_need(snd_source_open(self->samples.profile, file->name, &source));

    snd_source_note(&self->changes, file->name, &source);
    add_file_memory(self, file, &memory);
    add_head(self, snd_own_name(&self->samples.own, file->name), &file->numbers, &memory.numbers);
    add_missing(self, snd_source_why(&source));
    add_lines(self, file, &source);
    add_functions(self, file);
}

static void
add_other(maker *self, const char *text, const snd_samples_numbers *numbers, const snd_memory_view_line *memory)
{
    snd_cell *cells;
    add_row(self, text, numbers, memory, &cells);
    snd_set_text(self->table, &cells[PLACE], text);
    snd_set_text(self->table, &cells[self->source], text);
}

/* Whether a file has rows of its own: the first one, and those with much time or much memory. */
static int
is_large(const maker *self, uint32_t number)
{
    const snd_line_file *file = &self->lines.files[number];
    snd_memory_view_line memory = {0};

    if (number == 0 || self->samples.options->show_all ||
        snd_samples_is_large(&self->samples, &file->numbers, FILE_SHARE))
        return 1;
    add_file_memory(self, file, &memory);
    return memory_share(self, &memory.numbers) >= FILE_SHARE;
}

static void
add_small_files(maker *self, const snd_samples_numbers *numbers, const snd_memory_view_line *memory, uint32_t count)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "(%u file%s below 1%%)", count, count == 1 ? "" : "s");
    add_other(self, snd_buffer_str(&text), numbers, memory);
}

/* Both lists call the same things by the same names. */
static const char *
name_of(const snd_line_rest *rest)
{
    return rest->name == NULL ? SND_SAMPLES_OUTSIDE : rest->name;
}

static const snd_memory_view_line *
memory_of_rest(const maker *self, const char *name)
{
    for (uint32_t i = self->memory.count; i-- > 0 && self->memory.lines[i].file == NULL;)
        if (strcmp(self->memory.lines[i].name, name) == 0)
            return &self->memory.lines[i];
    return NULL;
}

static int
has_rest(const maker *self, const char *name)
{
    for (uint32_t i = 0; i < self->lines.rest_count; i++)
        if (strcmp(name_of(&self->lines.rests[i]), name) == 0)
            return 1;
    return 0;
}

/* What no line of the program led to: with time, then with memory alone. */
static void
add_rests(maker *self)
{
    const snd_lines *lines = &self->lines;

    for (uint32_t i = 0; i < lines->rest_count; i++) {
        const char *name = name_of(&lines->rests[i]);
        add_other(self, name, &lines->rests[i].numbers, memory_of_rest(self, name));
    }
    for (uint32_t i = 0; i < self->memory.count; i++) {
        const snd_memory_view_line *line = &self->memory.lines[i];
        if (line->file == NULL && !has_rest(self, line->name))
            add_other(self, line->name, &(snd_samples_numbers){0}, line);
    }
}

static void
add_elsewhere(maker *self)
{
    const snd_lines *lines = &self->lines;
    snd_samples_numbers numbers = {0}, small = {0};
    snd_memory_view_line memory = {0};
    uint32_t small_count = 0;
    snd_memory_view_numbers all = {0};
    int has_memory = 0;

    for (uint32_t i = 0; i < lines->file_count; i++) {
        if (is_large(self, i))
            continue;
        snd_samples_add(&small, &lines->files[i].numbers);
        add_file_memory(self, &lines->files[i], &memory);
        small_count++;
    }
    numbers = small;
    all = memory.numbers;
    for (uint32_t i = 0; i < lines->rest_count; i++)
        snd_samples_add(&numbers, &lines->rests[i].numbers);
    for (uint32_t i = self->memory.count; i-- > 0 && self->memory.lines[i].file == NULL; has_memory = 1)
        snd_memory_view_add(&all, &self->memory.lines[i].numbers);
    if (lines->rest_count != 0 || small_count != 0 || has_memory)
        add_head(self, "elsewhere", &numbers, &all);
    if (small_count != 0)
        add_small_files(self, &small, &memory, small_count);
    add_rests(self);
}

static void
add_files(maker *self)
{

    for (uint32_t i = 0; i < self->lines.file_count; i++)
        if (is_large(self, i))
            add_file(self, &self->lines.files[i]);
    add_elsewhere(self);
}

static void
make_table(maker *self)
{
    snd_column all[COLUMN_COUNT + MEMORY_COLUMN_COUNT];
    uint32_t more = memory_columns(self->samples.profile, all + SOURCE);

    memcpy(all, columns, SOURCE * sizeof *all);
    self->source = SOURCE + more;
    all[self->source] = columns[SOURCE];
    self->table = snd_table_new("lines", all, COLUMN_COUNT + more);
    self->table->is_grouped = 1;
    self->table->has_headings = 1;
    self->table->heading_column = PLACE;
    snd_sample_table_adapt(self->table, TIME, self->samples.options);
    for (uint32_t i = TIME; i < SOURCE && !self->has_samples; i++)
        self->table->columns[i].traits &= ~SND_COLUMN_SHOWN;
    add_files(self);
}

/* The sentence below, and all that was only needed to make the table. */
static void
finish(maker *self, snd_table **out)
{
    snd_buffer text = {0};

    snd_work_need(snd_source_set_note(&self->changes, &self->samples.own, self->table));
    if (self->has_samples)
        snd_sample_table_finish(&self->samples, NULL, self->table, out);
    else {
        snd_memory_view_footer(self->samples.profile, &self->memory.all, &text);
        snd_work_need(snd_table_set_footer(self->table, snd_buffer_str(&text)));
        *out = self->table;
    }
}

static void
ask_lines(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {.has_samples = snd_profile_has_samples(profile) || !snd_profile_has_memory(profile),
                  .is_whole = options->whole_files};
    if (self.has_samples)
        snd_samples_make(profile, options, &self.samples);
    else
        snd_samples_weigh(profile, options, SND_METRIC_COUNT_OF, &self.samples);
    snd_memory_view_make(&self.samples, 0, &self.memory);
    snd_lines_make(&self.samples, &self.memory, &self.lines);
    snd_callees_make(&self.samples, snd_callees_by_line, &self.callees);
    make_table(&self);
    finish(&self, out);
}

SND_VIEW(lines, ask_lines)
