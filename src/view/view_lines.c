/* The view of lines: per file its lines with their time, then its functions. */
#include "base/alloc.h"
#include "view/line_memory.h"
#include "view/lines.h"
#include "view/memory_table.h"
#include "view/sample_table.h"
#include "view/source.h"

#include <stdlib.h>
#include <string.h>

/* Files below this share, in per cent, are put together; of functions, those above the second are named. */
#define FILE_SHARE 1.0
#define FUNCTION_SHARE 0.1
/* Lines around one with time that are shown too. */
#define CONTEXT 1u

enum { FILE_NAME, PLACE, LINE, FUNCTION, TIME, SOURCE = TIME + SND_SAMPLE_COLUMN_COUNT, COLUMN_COUNT };

#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO)

static const snd_column columns[] = {
    [FILE_NAME] = {"file", "file", SND_UNIT_TEXT, 0},
    [PLACE] = {"place", "place", SND_UNIT_TEXT, 0},
    [LINE] = {"line", "line", SND_UNIT_COUNT, SND_COLUMN_SHOWN},
    [FUNCTION] = {"function", "function", SND_UNIT_TEXT, 0},
    SND_SAMPLE_COLUMNS(TIME, "cpu_ns", "CPU", "time_ns", "time", "percent", 0, PART),
    [SOURCE] = {"source", "source", SND_UNIT_TEXT, SND_COLUMN_SHOWN | SND_COLUMN_MAIN | SND_COLUMN_NO_EMPTY},
};

/* A table in the making. The columns of memory stand before the source. */
typedef struct maker {
    snd_samples samples;
    snd_memory_view memory; /* no lines where none was recorded */
    uint32_t source;
    int has_samples;
    snd_lines lines;
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
static snd_status
add_row(maker *self, const char *file, const snd_samples_numbers *numbers, const snd_memory_view_line *memory,
        snd_cell **cells)
{
    snd_status status = snd_table_add_row(self->table, 1, cells);
    if (status != SND_OK)
        return status;
    snd_set_text(self->table, &(*cells)[FILE_NAME], file);
    snd_sample_cells(&self->samples, numbers, &(*cells)[TIME]);
    if (self->source != SOURCE)
        snd_line_memory_cells(&self->samples, memory, self->table, SOURCE);
    snd_table_last(self->table)->look =
        snd_look_of_share(snd_samples_share(&self->samples, snd_samples_ranked(&self->samples, numbers)));
    return SND_OK;
}

static snd_status
add_line(maker *self, const snd_line *line, const snd_source_lines *source)
{
    const char *file = self->lines.files[line->file].name;
    snd_buffer place = {0}, text = {0};
    snd_cell *cells;
    snd_status status =
        add_row(self, file, &line->numbers, snd_memory_view_find(&self->memory, file, line->line), &cells);
    if (status != SND_OK)
        return status;
    snd_buffer_printf(&place, "%s:%u", snd_own_name(&self->samples.own, file), line->line);
    snd_set_buffer(self->table, &cells[PLACE], &place);
    snd_set_whole(&cells[LINE], line->line);
    snd_set_text(self->table, &cells[FUNCTION], snd_samples_site(&self->samples, line->function)->name);
    snd_source_line(source, line->line, &text);
    if (source->count != 0)
        snd_set_buffer(self->table, &cells[self->source], &text);
    snd_buffer_free(&text);
    return snd_table_check(self->table, cells);
}

static snd_status
add_context(maker *self, uint32_t line, const snd_source_lines *source)
{
    snd_buffer text = {0};
    snd_cell *cells;
    snd_status status = snd_table_add_row(self->table, 1, &cells);
    if (status != SND_OK)
        return status;
    *snd_table_last(self->table) = (snd_row){.is_extra = 1, .look = SND_LOOK_DIM};
    snd_set_whole(&cells[LINE], line);
    snd_source_line(source, line, &text);
    snd_set_buffer(self->table, &cells[self->source], &text);
    return snd_table_check(self->table, cells);
}

/* ---- the lines of a file ---- */

/* Whether a line without time is shown: near one with time, or where the function of the next one starts. */
static int
is_near(const maker *self, const snd_line *next, uint32_t after, uint32_t line)
{
    if (after != 0 && line <= after + CONTEXT)
        return 1;
    if (next == NULL)
        return 0;
    return line + CONTEXT >= next->line || line == snd_samples_site(&self->samples, next->function)->first_line;
}

/* What stands for `count` lines that are not shown, the last of them `line`; one line is as short as a mark. */
static snd_status
add_skipped(maker *self, uint32_t line, uint32_t count, const snd_source_lines *source)
{
    if (count < 2)
        return count == 0 ? SND_OK : add_context(self, line, source);
    snd_status status = snd_table_add_heading(self->table, 1, "  ...");
    if (status == SND_OK)
        snd_table_last(self->table)->look = SND_LOOK_DIM;
    return status;
}

/* The lines without time between line `after` and the next one with time (NULL: the end): those near as context, a run
 * of several others as one mark; above the first line, nothing. */
static snd_status
add_gap(maker *self, uint32_t after, const snd_line *next, const snd_source_lines *source)
{
    uint32_t before = next == NULL || next->line > source->count ? source->count + 1 : next->line;
    snd_status status = SND_OK;
    int is_inside = after != 0 && next != NULL;
    uint32_t skipped = 0, skipped_count = 0;

    for (uint32_t i = after < source->count ? after + 1 : before; i < before && status == SND_OK; i++) {
        if (snd_source_is_blank(source, i))
            continue;
        if (!is_near(self, next, after, i)) {
            skipped = i;
            skipped_count += is_inside ? 1 : 0;
            continue;
        }
        status = add_skipped(self, skipped, skipped_count, source);
        if (status == SND_OK)
            status = add_context(self, i, source);
        skipped_count = 0;
        is_inside = next != NULL;
    }
    return status == SND_OK && next != NULL ? add_skipped(self, skipped, skipped_count, source) : status;
}

static snd_status
add_lines(maker *self, const snd_line_file *file, const snd_source_lines *source)
{
    const snd_line *lines = self->lines.lines + file->first;
    snd_status status = SND_OK;
    uint32_t before = 0;

    for (uint32_t i = 0; i < file->count && status == SND_OK; i++) {
        status = add_gap(self, before, &lines[i], source);
        if (status == SND_OK)
            status = add_line(self, &lines[i], source);
        before = lines[i].line;
    }
    return status == SND_OK ? add_gap(self, before, NULL, source) : status;
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

static snd_status
add_function(maker *self, const snd_line_file *file, const sum *of)
{
    const snd_profile_site *site = snd_samples_site(&self->samples, of->function);
    snd_cell *cells;
    snd_status status = add_row(self, file->name, &of->numbers, &of->memory, &cells);
    if (status != SND_OK)
        return status;
    snd_table_last(self->table)->is_extra = 1;
    snd_set_whole(&cells[LINE], site->first_line);
    snd_set_text(self->table, &cells[self->source], site->name);
    return snd_table_check(self->table, cells);
}

static snd_status
add_functions(maker *self, const snd_line_file *file)
{
    const snd_line **order = snd_malloc(((size_t)file->count + 1) * sizeof(*order));
    sum *sums = snd_malloc(((size_t)file->count + 1) * sizeof *sums);
    snd_buffer text = {0};
    snd_status status = SND_NO_MEMORY;

    if (order != NULL && sums != NULL) {
        uint32_t count = sum_functions(self, file, order, sums);
        snd_buffer_printf(&text, "functions of %s", snd_own_name(&self->samples.own, file->name));
        status = snd_buffer_status(&text);
        if (status == SND_OK)
            status = snd_table_add_heading(self->table, 1, snd_buffer_str(&text));
        for (uint32_t i = 0; i < count && status == SND_OK; i++)
            if (i == 0 || snd_samples_is_large(&self->samples, &sums[i].numbers, FUNCTION_SHARE) ||
                memory_share(self, &sums[i].memory.numbers) >= FUNCTION_SHARE)
                status = add_function(self, file, &sums[i]);
    }
    snd_buffer_free(&text);
    snd_free(order);
    snd_free(sums);
    return status;
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

static snd_status
add_head(maker *self, const char *name, const snd_samples_numbers *numbers, const snd_memory_view_numbers *memory)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "%s: ", name);
    put_share(self, numbers, memory, &text);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_table_add_heading(self->table, 0, snd_buffer_str(&text));
    snd_buffer_free(&text);
    return status;
}

/* Why the source is not shown; NULL: it is. */
static snd_status
add_missing(maker *self, const char *why)
{
    snd_buffer text = {0};

    if (why == NULL)
        return SND_OK;
    snd_buffer_printf(&text, "source not shown: %s", why);
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = snd_table_add_heading(self->table, 1, snd_buffer_str(&text));
    if (status == SND_OK)
        snd_table_last(self->table)->look = SND_LOOK_DIM;
    snd_buffer_free(&text);
    return status;
}

static snd_status
add_file(maker *self, const snd_line_file *file)
{
    snd_source_lines source = {0};
    snd_memory_view_line memory = {0};
    snd_status status = snd_source_open(self->samples.profile, file->name, &source);

    snd_source_note(&self->changes, file->name, &source);
    add_file_memory(self, file, &memory);
    if (status == SND_OK)
        status = add_head(self, snd_own_name(&self->samples.own, file->name), &file->numbers, &memory.numbers);
    if (status == SND_OK)
        status = add_missing(self, snd_source_why(&source));
    if (status == SND_OK)
        status = add_lines(self, file, &source);
    if (status == SND_OK)
        status = add_functions(self, file);
    snd_source_close(&source);
    return status;
}

static snd_status
add_other(maker *self, const char *text, const snd_samples_numbers *numbers, const snd_memory_view_line *memory)
{
    snd_cell *cells;
    snd_status status = add_row(self, text, numbers, memory, &cells);
    if (status != SND_OK)
        return status;
    snd_set_text(self->table, &cells[PLACE], text);
    snd_set_text(self->table, &cells[self->source], text);
    return snd_table_check(self->table, cells);
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

static snd_status
add_small_files(maker *self, const snd_samples_numbers *numbers, const snd_memory_view_line *memory, uint32_t count)
{
    snd_buffer text = {0};

    snd_buffer_printf(&text, "(%u file%s below 1%%)", count, count == 1 ? "" : "s");
    snd_status status = snd_buffer_status(&text);
    if (status == SND_OK)
        status = add_other(self, snd_buffer_str(&text), numbers, memory);
    snd_buffer_free(&text);
    return status;
}

/* Both lists call the same things by the same names. */
static const char *
name_of(const snd_line_rest *rest)
{
    return rest->name == NULL ? SND_MEMORY_OUTSIDE : rest->name;
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
static snd_status
add_rests(maker *self)
{
    const snd_lines *lines = &self->lines;
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < lines->rest_count && status == SND_OK; i++) {
        const char *name = name_of(&lines->rests[i]);
        status = add_other(self, name, &lines->rests[i].numbers, memory_of_rest(self, name));
    }
    for (uint32_t i = 0; i < self->memory.count && status == SND_OK; i++) {
        const snd_memory_view_line *line = &self->memory.lines[i];
        if (line->file == NULL && !has_rest(self, line->name))
            status = add_other(self, line->name, &(snd_samples_numbers){0}, line);
    }
    return status;
}

static snd_status
add_elsewhere(maker *self)
{
    const snd_lines *lines = &self->lines;
    snd_samples_numbers numbers = {0}, small = {0};
    snd_memory_view_line memory = {0};
    uint32_t small_count = 0;
    snd_memory_view_numbers all = {0};
    int has_memory = 0;
    snd_status status = SND_OK;

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
        status = add_head(self, "elsewhere", &numbers, &all);
    if (status == SND_OK && small_count != 0)
        status = add_small_files(self, &small, &memory, small_count);
    return status == SND_OK ? add_rests(self) : status;
}

static snd_status
add_files(maker *self)
{
    snd_status status = SND_OK;

    for (uint32_t i = 0; i < self->lines.file_count && status == SND_OK; i++)
        if (is_large(self, i))
            status = add_file(self, &self->lines.files[i]);
    return status == SND_OK ? add_elsewhere(self) : status;
}

static snd_status
make_table(maker *self)
{
    snd_column all[COLUMN_COUNT + SND_LINE_MEMORY_COLUMNS];
    uint32_t more = snd_line_memory_columns(self->samples.profile, all + SOURCE);

    memcpy(all, columns, SOURCE * sizeof *all);
    self->source = SOURCE + more;
    all[self->source] = columns[SOURCE];
    self->table = snd_table_new("lines", all, COLUMN_COUNT + more);
    if (self->table == NULL)
        return SND_NO_MEMORY;
    self->table->is_grouped = 1;
    self->table->has_headings = 1;
    self->table->heading_column = PLACE;
    snd_sample_table_adapt(self->table, TIME, self->samples.options);
    for (uint32_t i = TIME; i < SOURCE && !self->has_samples; i++)
        self->table->columns[i].traits &= ~SND_COLUMN_SHOWN;
    return add_files(self);
}

/* The sentence below, and all that was only needed to make the table. */
static snd_status
finish(maker *self, snd_status status, snd_table **out)
{
    snd_buffer text = {0};

    if (status == SND_OK)
        status = snd_source_set_note(&self->changes, &self->samples.own, self->table);
    if (self->has_samples)
        status = snd_sample_table_finish(&self->samples, status, NULL, self->table, out);
    else {
        snd_memory_view_footer(self->samples.profile, &self->memory.all, &text);
        if (status == SND_OK)
            status = snd_buffer_status(&text);
        if (status == SND_OK)
            status = snd_table_set_footer(self->table, snd_buffer_str(&text));
        if (status == SND_OK)
            *out = self->table;
        else
            snd_table_free(self->table);
    }
    snd_buffer_free(&text);
    snd_lines_free(&self->lines);
    snd_memory_view_free(&self->memory);
    snd_samples_free(&self->samples);
    return status;
}

snd_status
snd_view_lines(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    maker self = {.has_samples = snd_samples_exist(profile) || !snd_memory_view_exists(profile)};
    snd_status status = self.has_samples ? snd_samples_make(profile, options, &self.samples)
                                         : snd_samples_weigh(profile, options, SND_METRIC_COUNT_OF, &self.samples);
    if (status != SND_OK)
        return status;
    status = snd_memory_view_make(&self.samples, 0, &self.memory);
    if (status == SND_OK)
        status = snd_lines_make(&self.samples, &self.memory, &self.lines);
    if (status == SND_OK)
        status = make_table(&self);
    return finish(&self, status, out);
}
