/* The view of memory: who owned it when the program had most, line by line, and what was allocated there. */
#include "view/memory/memory_table.h"

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
