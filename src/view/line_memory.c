/* The columns of memory in the view of lines. */
#include "view/line_memory.h"

#include "view/memory_table.h"

#include <string.h>

#define CURVE_CELLS 10u

enum { PYTHON, NATIVE, PEAK, AVERAGE, GROWTH, TIMELINE, COPY_RATE, COPIED, PEAK_ERROR, GPU, GPU_MEMORY, COLUMN_COUNT };

#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO | SND_COLUMN_NO_EMPTY | SND_COLUMN_OPTIONAL)
#define LATE (PART | SND_COLUMN_LATE)

static const snd_column columns_of_memory[] = {
    [PYTHON] = {"alloc_python_bytes", "mem python", SND_UNIT_BYTES, PART},
    [NATIVE] = {"alloc_native_bytes", "mem native", SND_UNIT_BYTES, PART},
    [PEAK] = {"peak_bytes", "mem peak", SND_UNIT_BYTES, LATE},
    [AVERAGE] = {"live_average_bytes", "mem avg", SND_UNIT_BYTES, PART},
    [GROWTH] = {"live_bytes", "growth", SND_UNIT_BYTES, LATE},
    [TIMELINE] = {"timeline", "over time", SND_UNIT_SPARK, PART},
    [COPY_RATE] = {"copied_bytes_per_second", "copies", SND_UNIT_RATE, PART},
    [COPIED] = {"copied_bytes", "copied", SND_UNIT_BYTES, 0},
    [PEAK_ERROR] = {"peak_error_bytes", "+-", SND_UNIT_BYTES, 0},
    [GPU] = {"gpu_percent", "GPU", SND_UNIT_PERCENT, SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO},
    [GPU_MEMORY] = {"gpu_memory_bytes", "GPU memory", SND_UNIT_BYTES, PART},
};

uint32_t
snd_line_memory_columns(const snd_profile *profile, snd_column *columns)
{
    int has_gpu = profile->columns[SND_METRIC_GPU] != NULL, has_memory = snd_memory_view_exists(profile);
    uint32_t count = has_gpu ? COLUMN_COUNT : has_memory ? GPU : 0;

    memcpy(columns, columns_of_memory, count * sizeof *columns);
    return count;
}

void
snd_line_memory_cells(const snd_samples *samples, const snd_memory_view_line *line, snd_table *table, uint32_t at)
{
    snd_cell *cells = table->cells + (size_t)(table->row_count - 1) * table->column_count + at;
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
