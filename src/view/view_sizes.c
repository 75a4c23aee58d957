/* The view of sizes: allocations by the size of their blocks, Python and native apart. */
#include "view/memory_table.h"

enum { SIZE, PYTHON_BLOCKS, PYTHON_BYTES, NATIVE_BLOCKS, NATIVE_BYTES, SHARE, LEAST, COLUMN_COUNT };

#define PART (SND_COLUMN_SHOWN | SND_COLUMN_NO_ZERO)

static const snd_column columns[] = {
    [SIZE] = {"size", "size from", SND_UNIT_LABEL, SND_COLUMN_SHOWN},
    [PYTHON_BLOCKS] = {"python_blocks", "python blocks", SND_UNIT_COUNT, PART | SND_COLUMN_OPTIONAL},
    [PYTHON_BYTES] = {"python_bytes", "python", SND_UNIT_BYTES, PART},
    [NATIVE_BLOCKS] = {"native_blocks", "native blocks", SND_UNIT_COUNT, PART | SND_COLUMN_OPTIONAL},
    [NATIVE_BYTES] = {"native_bytes", "native", SND_UNIT_BYTES, PART},
    [SHARE] = {"bytes_percent", "bytes", SND_UNIT_BAR, SND_COLUMN_SHOWN},
    [LEAST] = {"least_bytes", "least bytes", SND_UNIT_BYTES, 0},
};

static int
is_used(const snd_block_size *size)
{
    return size->python_blocks != 0 || size->native_blocks != 0 || size->python_bytes != 0 || size->native_bytes != 0;
}

static snd_status
add_size(snd_table *table, unsigned power, const snd_block_size *size, uint64_t whole)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    snd_buffer label = {0};
    snd_cell *cells;
    snd_status status = snd_table_add_row(table, 0, &cells);
    if (status != SND_OK)
        return status;
    snd_buffer_printf(&label, "%u %s", 1u << power % 10, units[power / 10]); /* a power of two has no digits to round */
    snd_set_buffer(table, &cells[SIZE], &label);
    snd_set_whole(&cells[PYTHON_BLOCKS], size->python_blocks);
    snd_set_whole(&cells[PYTHON_BYTES], size->python_bytes);
    snd_set_whole(&cells[NATIVE_BLOCKS], size->native_blocks);
    snd_set_whole(&cells[NATIVE_BYTES], size->native_bytes);
    snd_set_share(&cells[SHARE], snd_memory_view_share(size->python_bytes + size->native_bytes, whole));
    snd_set_whole(&cells[LEAST], UINT64_C(1) << power);
    return snd_table_check(table, cells);
}

/* Every class between the smallest and the largest that were met has a row. */
static snd_status
add_sizes(snd_table *table, const snd_block_size *sizes)
{
    uint64_t whole = 0;
    unsigned first = SND_BLOCK_SIZES, last = 0;
    snd_status status = SND_OK;

    for (unsigned i = 0; i < SND_BLOCK_SIZES; i++) {
        whole += sizes[i].python_bytes + sizes[i].native_bytes;
        if (is_used(&sizes[i])) {
            first = first < i ? first : i;
            last = i;
        }
    }
    for (unsigned i = first; i <= last && status == SND_OK; i++)
        status = add_size(table, i, &sizes[i], whole);
    return status;
}

snd_status
snd_view_sizes(const snd_profile *profile, const snd_view_options *options, snd_table **out)
{
    snd_memory_view_maker self;
    snd_status status = profile->memory.sizes == NULL ? SND_NO_DATA : snd_memory_view_start(profile, options, 0, &self);
    if (status != SND_OK)
        return status;
    self.table = snd_table_new("sizes", columns, COLUMN_COUNT);
    status = self.table == NULL ? SND_NO_MEMORY : add_sizes(self.table, profile->memory.sizes);
    return snd_memory_view_finish(&self, status, NULL, NULL, out);
}
