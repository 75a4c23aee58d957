/* The view of sizes: allocations by the size of their blocks, Python and native apart. */
#include "view/memory/memory_table.h"

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
    snd_set_share(&cells[SHARE], snd_memory_view_share(size->python_bytes + size->native_bytes, whole));
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
    self.table = snd_table_new("sizes", columns, COLUMN_COUNT);
    add_sizes(self.table, profile->memory.sizes);
    snd_memory_view_finish(&self, NULL, NULL, out);
}

SND_VIEW(sizes, ask_sizes)
