/* The views of memory: its owners by line and by call stack, copies, sizes, the footprint. */
#include "base/text.h"
#include "view/memory/memory_table.h"
#include "view/sampled/tree_table.h"

enum {
    FILE_NAME,
    PEAK,
    SHARE,
    PEAK_ERROR,
    PYTHON,
    NATIVE,
    ERROR,
    BLOCKS,
    AVERAGE,
    GROWTH,
    TEMPORARY,
    TEMPORARY_SHARE,
    TAKEN,
    FREED,
    TIMELINE,
    WHERE,
    COLUMN_COUNT = WHERE + SND_PLACE_COLUMN_COUNT
};

#define SHOWN SND_COLUMN_SHOWN
#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_OPTIONAL)
#define LATE (PART | SND_COLUMN_LATE)

static const snd_column columns[] = {
    [FILE_NAME] = SND_FILE_COLUMN,
    [PEAK] = {"peak_bytes", "peak", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_ZERO},
    [SHARE] = {"peak_percent", "share", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_NO_ZERO},
    [PEAK_ERROR] = {"peak_error_bytes", "±", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
    [PYTHON] = {"alloc_python_bytes", "python", SND_UNIT_BYTES, PART},
    [NATIVE] = {"alloc_native_bytes", "native", SND_UNIT_BYTES, PART},
    [ERROR] = {"alloc_error_bytes", "±", SND_UNIT_BYTES, 0},
    [BLOCKS] = {"alloc_blocks", "blocks", SND_UNIT_COUNT, PART},
    [AVERAGE] = {"live_average_bytes", "average", SND_UNIT_BYTES, PART},
    [GROWTH] = {"live_bytes", "growth", SND_UNIT_BYTES, LATE},
    [TEMPORARY] = {"temporary_bytes", "temporary", SND_UNIT_BYTES, 0},
    [TEMPORARY_SHARE] = {"temporary_percent", "temporary %", SND_UNIT_PERCENT, PART},
    [TAKEN] = {"taken", "sampled", SND_UNIT_COUNT, 0},
    [FREED] = {"freed", "freed", SND_UNIT_COUNT, 0},
    [TIMELINE] = {"timeline", "over time", SND_UNIT_SPARK, 0},
    SND_PLACE_COLUMNS(WHERE),
};

static void
add_line(snd_memory_view_maker *self, const snd_memory_view_line *line)
{
    const snd_memory_view_numbers *numbers = &line->numbers;
    uint64_t peak = snd_memory_view_whole(numbers, SND_METRIC_LIVE_PEAK),
             allocated = snd_memory_view_allocated(numbers);
    uint64_t whole = snd_memory_view_whole(&self->memory.all, SND_METRIC_LIVE_PEAK);
    uint64_t temporary = snd_memory_view_whole(numbers, SND_METRIC_TEMPORARY);
    snd_buffer spark = {0};
    snd_cell *cells;
    snd_memory_view_add_row(self, line, &cells);
    snd_set_whole(&cells[PEAK], peak);
    snd_set_share(&cells[SHARE], snd_memory_view_share(peak, whole));
    snd_set_error(&cells[PEAK_ERROR], snd_memory_view_error(numbers, SND_METRIC_PEAK_VARIANCE), peak);
    snd_set_whole(&cells[PYTHON], snd_memory_view_whole(numbers, SND_METRIC_ALLOC_PYTHON));
    snd_set_whole(&cells[NATIVE], snd_memory_view_whole(numbers, SND_METRIC_ALLOC_NATIVE));
    snd_set_error(&cells[ERROR], snd_memory_view_error(numbers, SND_METRIC_ALLOC_VARIANCE), allocated);
    snd_set_whole(&cells[BLOCKS], snd_memory_view_whole(numbers, SND_METRIC_ALLOC_BLOCKS));
    snd_set_whole(&cells[AVERAGE], snd_memory_view_whole(numbers, SND_METRIC_LIVE_AVERAGE));
    snd_set_whole(&cells[GROWTH], snd_memory_view_whole(numbers, SND_METRIC_LIVE));
    snd_set_share(&cells[TEMPORARY_SHARE], snd_memory_view_share(temporary, allocated));
    snd_set_whole(&cells[TEMPORARY], temporary);
    snd_set_whole(&cells[TAKEN], snd_memory_view_whole(numbers, SND_METRIC_TAKEN));
    snd_set_whole(&cells[FREED], snd_memory_view_whole(numbers, SND_METRIC_FREED));
    snd_memory_view_spark(&line->history, 10, &spark);
    snd_set_buffer(self->table, &cells[TIMELINE], &spark);
}

/* Whether a line has more than copies and the GPU's time. */
static int
has_memory(const snd_memory_view_numbers *numbers)
{
    return snd_memory_view_allocated(numbers) != 0 || snd_memory_view_whole(numbers, SND_METRIC_LIVE_PEAK) != 0 ||
           snd_memory_view_whole(numbers, SND_METRIC_LIVE) != 0 ||
           snd_memory_view_whole(numbers, SND_METRIC_LIVE_AVERAGE) != 0;
}

static void
ask_memory(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    snd_memory_view_start(profile, options, 0, &self);
    self.place = WHERE;
    self.table = snd_table_new("memory", columns, COLUMN_COUNT);

    for (uint32_t i = 0; i < self.memory.count; i++)
        if (has_memory(&self.memory.lines[i].numbers))
            add_line(&self, &self.memory.lines[i]);
    snd_memory_view_finish(&self, "peak_bytes", NULL, out);
}

SND_VIEW(memory, ask_memory)

/* ---- the view of copies: which lines copied how much memory ---- */

enum {
    COPIES_FILE_NAME,
    COPIED,
    COPIES_SHARE,
    COPIES_ERROR,
    RATE,
    COPIES,
    EACH,
    COPIES_WHERE,
    COPIES_COLUMN_COUNT = COPIES_WHERE + SND_PLACE_COLUMN_COUNT
};

static const snd_column copies_columns[] = {
    [COPIES_FILE_NAME] = SND_FILE_COLUMN,
    [COPIED] = {"copied_bytes", "copied", SND_UNIT_BYTES, SHOWN},
    [COPIES_SHARE] = {"copied_percent", "share", SND_UNIT_PERCENT, SHOWN | SND_COLUMN_OPTIONAL | SND_COLUMN_LATE},
    [COPIES_ERROR] = {"copied_error_bytes", "±", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
    [RATE] = {"copied_bytes_per_second", "rate", SND_UNIT_RATE, SHOWN},
    [COPIES] = {"copies", "copies", SND_UNIT_COUNT, SHOWN | SND_COLUMN_OPTIONAL},
    [EACH] = {"bytes_per_copy", "each", SND_UNIT_BYTES, SHOWN | SND_COLUMN_OPTIONAL},
    SND_PLACE_COLUMNS(COPIES_WHERE),
};

static void
copies_add_line(snd_memory_view_maker *self, const snd_memory_view_line *line)
{
    uint64_t copied = snd_memory_view_whole(&line->numbers, SND_METRIC_COPIED);
    uint64_t copies = snd_memory_view_whole(&line->numbers, SND_METRIC_COPIES);
    uint64_t whole = snd_memory_view_whole(&self->memory.all, SND_METRIC_COPIED);
    snd_cell *cells;
    snd_memory_view_add_row(self, line, &cells);
    snd_set_whole(&cells[COPIED], copied);
    snd_set_share(&cells[COPIES_SHARE], snd_memory_view_share(copied, whole));
    snd_set_error(&cells[COPIES_ERROR], snd_memory_view_error(&line->numbers, SND_METRIC_COPY_VARIANCE), copied);
    snd_set_whole(&cells[RATE], snd_memory_view_rate(self->samples.profile, copied));
    snd_set_whole(&cells[COPIES], copies);
    if (copies != 0)
        snd_set_whole(&cells[EACH], copied / copies);
}

static void
ask_copies(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    snd_memory_view_start(profile, options, 0, &self);
    self.place = COPIES_WHERE;
    self.table = snd_table_new("copies", copies_columns, COPIES_COLUMN_COUNT);

    for (uint32_t i = 0; i < self.memory.count; i++)
        if (snd_memory_view_whole(&self.memory.lines[i].numbers, SND_METRIC_COPIED) != 0)
            copies_add_line(&self, &self.memory.lines[i]);
    snd_memory_view_finish(&self, "copied_bytes", NULL, out);
}

SND_VIEW(copies, ask_copies)

/* ---- the view of sizes: allocations by the size of their blocks, Python and native apart ---- */

enum { SIZE, PYTHON_BLOCKS, PYTHON_BYTES, NATIVE_BLOCKS, NATIVE_BYTES, SIZES_SHARE, LEAST, SIZES_COLUMN_COUNT };

#define SIZES_PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO)

static const snd_column sizes_columns[] = {
    [SIZE] = {"size", "size from", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [PYTHON_BLOCKS] = {"python_blocks", "python blocks", SND_UNIT_COUNT, SIZES_PART | SND_COLUMN_OPTIONAL},
    [PYTHON_BYTES] = {"python_bytes", "python", SND_UNIT_BYTES, SIZES_PART},
    [NATIVE_BLOCKS] = {"native_blocks", "native blocks", SND_UNIT_COUNT, SIZES_PART | SND_COLUMN_OPTIONAL},
    [NATIVE_BYTES] = {"native_bytes", "native", SND_UNIT_BYTES, SIZES_PART},
    [SIZES_SHARE] = {"bytes_percent", "bytes", SND_UNIT_BAR, SND_COLUMN_SHOWN},
    [LEAST] = {"least_bytes", "least bytes", SND_UNIT_BYTES, 0},
};

static int
is_used(const snd_block_size *size)
{
    return size->python_blocks != 0 || size->native_blocks != 0 || size->python_bytes != 0 || size->native_bytes != 0;
}

static void
add_size(snd_table *table, unsigned power, const snd_block_size *size, uint64_t whole)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    snd_buffer label = {0};
    snd_cell *cells = snd_table_row(table, 0);
    snd_buffer_printf(&label, "%u %s", 1u << power % 10, units[power / 10]); /* a power of two has no digits to round */
    snd_set_buffer(table, &cells[SIZE], &label);
    snd_set_whole(&cells[PYTHON_BLOCKS], size->python_blocks);
    snd_set_whole(&cells[PYTHON_BYTES], size->python_bytes);
    snd_set_whole(&cells[NATIVE_BLOCKS], size->native_blocks);
    snd_set_whole(&cells[NATIVE_BYTES], size->native_bytes);
    snd_set_share(&cells[SIZES_SHARE], snd_memory_view_share(size->python_bytes + size->native_bytes, whole));
    snd_set_whole(&cells[LEAST], UINT64_C(1) << power);
}

/* Every class between the smallest and the largest that were met has a row. */
static void
add_sizes(snd_table *table, const snd_block_size *sizes)
{
    uint64_t whole = 0;
    unsigned first = SND_BLOCK_SIZES, last = 0;

    for (unsigned i = 0; i < SND_BLOCK_SIZES; i++) {
        whole += sizes[i].python_bytes + sizes[i].native_bytes;
        if (is_used(&sizes[i])) {
            first = first < i ? first : i;
            last = i;
        }
    }
    for (unsigned i = first; i <= last; i++)
        add_size(table, i, &sizes[i], whole);
}

static void
ask_sizes(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    if (profile->memory.sizes == NULL)
        snd_work_end(SND_NO_DATA);
    snd_memory_view_start(profile, options, 0, &self);
    self.table = snd_table_new("sizes", sizes_columns, SIZES_COLUMN_COUNT);
    add_sizes(self.table, profile->memory.sizes);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(sizes, ask_sizes)

/* ---- the view of the footprint: the heap and the resident memory over time ---- */

enum { AT, HEAP, RSS, GPU_MEMORY, FOOTPRINT_COLUMN_COUNT };

static const snd_column footprint_columns[] = {
    [AT] = {"at_ns", "time", SND_UNIT_NS, SHOWN},
    [HEAP] = {"heap_bytes", "heap", SND_UNIT_BYTES, SHOWN},
    [RSS] = {"rss_bytes", "RSS", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
    [GPU_MEMORY] = {"gpu_memory_bytes", "GPU", SND_UNIT_BYTES, SHOWN | SND_COLUMN_NO_EMPTY},
};

/* The series behind the columns from the second on, and how far each was read. */
typedef struct cursor {
    const snd_series *series[FOOTPRINT_COLUMN_COUNT];
    uint32_t next[FOOTPRINT_COLUMN_COUNT];
} cursor;

/* The earliest time that was not read yet. 0: there is none. */
static int
find_next(const cursor *self, uint64_t *at_ns)
{
    int is_there = 0;

    for (unsigned c = HEAP; c < FOOTPRINT_COLUMN_COUNT; c++) {
        const snd_series *series = self->series[c];
        if (series == NULL || self->next[c] >= series->count)
            continue;
        uint64_t at = series->points[self->next[c]].at_ns;
        *at_ns = !is_there || at < *at_ns ? at : *at_ns;
        is_there = 1;
    }
    return is_there;
}

static void
add_rows(snd_table *table, cursor *self)
{
    uint64_t at_ns = 0;

    while (find_next(self, &at_ns)) {
        snd_cell *cells = snd_table_row(table, 0);
        snd_set_whole(&cells[AT], at_ns);
        for (unsigned c = HEAP; c < FOOTPRINT_COLUMN_COUNT; c++) {
            const snd_series *series = self->series[c];
            if (series != NULL && self->next[c] < series->count && series->points[self->next[c]].at_ns == at_ns)
                snd_set_whole(&cells[c], snd_bytes_of(series->points[self->next[c]++].value));
        }
    }
}

static void
ask_footprint(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    cursor series = {.series = {[HEAP] = snd_profile_series(profile, "heap"),
                                [RSS] = snd_profile_series(profile, "rss"),
                                [GPU_MEMORY] = snd_profile_series(profile, "gpu_memory")}};
    if (series.series[HEAP] == NULL)
        snd_work_end(SND_NO_DATA);
    snd_memory_view_start(profile, options, 0, &self);
    /* without a GPU there is no such column, rather than an empty one */
    self.table = snd_table_new("footprint", footprint_columns,
                               series.series[GPU_MEMORY] == NULL ? GPU_MEMORY : FOOTPRINT_COLUMN_COUNT);
    add_rows(self.table, &series);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(footprint, ask_footprint)

/* ---- the view of memory by call stack: who owned it when the program had most ---- */

enum { OWNERS_PEAK, OWNERS_SHARE, ABOUT };

static const snd_column owners_columns[] = {
    [OWNERS_PEAK] = {"peak_bytes", "peak", SND_UNIT_BYTES, SND_COLUMN_SHOWN},
    [OWNERS_SHARE] = {"peak_percent", "share", SND_UNIT_PERCENT, SND_COLUMN_SHOWN},
    SND_TREE_COLUMNS(ABOUT),
};

static void
put(const snd_samples *samples, const snd_samples_numbers *numbers, snd_cell *cells)
{
    uint64_t peak = snd_samples_time(numbers);

    snd_set_whole(&cells[OWNERS_PEAK], peak);
    snd_set_share(&cells[OWNERS_SHARE], snd_samples_share(samples, peak));
}

static const snd_tree_numbers of_memory = {"owners", owners_columns, ABOUT, put};

static void
ask_owners(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_view_options chosen = *options;
    snd_memory_view_maker self;

    chosen.by_time = 0; /* what was live at one moment has no order in time */
    snd_memory_view_start(profile, &chosen, 0, &self);
    snd_tree_table_make(&self.samples, &of_memory, &self.table);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(owners, ask_owners)
